"""What attempts came to: outcomes, results as sheets, grades, and what corrections change in them."""
