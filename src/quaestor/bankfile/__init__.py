"""What authors write, read and checked: from a document to a bank."""
