"""The data model: frozen, checked data, without computation."""
