"""What protects the server and its users: cookies and form tokens, headers, limits, uploads read in processes of their own."""
