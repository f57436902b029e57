"""How much asking each question is worth."""
