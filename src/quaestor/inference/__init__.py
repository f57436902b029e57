"""What the answers say: bounds now, of the answers, and after each answer."""
