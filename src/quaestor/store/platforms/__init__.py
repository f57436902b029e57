"""Learning platforms (LTI 1.3): who they are, who came from them, and the grades that they are owed."""
