"""Reports for people: tables, figures and sentences made from banks, beliefs and results."""
