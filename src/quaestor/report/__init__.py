"""What people look at: tables, figures and words made from banks, beliefs and results."""
