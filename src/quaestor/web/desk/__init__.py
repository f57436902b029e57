"""The teacher's desk: banks, published tests, results, and the people who may come here. All routes below it want a signed-in teacher."""
