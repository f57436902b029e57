"""Why this question, why this result, why stopped."""
