"""How pages are made: templates, languages, prose, small pictures, and what every error becomes."""
