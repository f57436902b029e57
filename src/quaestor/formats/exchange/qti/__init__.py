"""QTI of all ages: 1.2 as Canvas and Respondus write it, 2.1, 2.2 and 3.0, as single items and as packages; written as 2.1 and 3.0."""
