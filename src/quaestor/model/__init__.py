"""What is known: frozen, checked data."""
