"""Quaestor as a tool in a learning platform: LTI 1.3 with deep linking, names and roles, and grades."""
