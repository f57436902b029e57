"""Files to banks and networks, and back."""
