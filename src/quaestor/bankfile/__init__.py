"""From what authors write to a checked bank."""
