"""The pages of a teacher: published tests, results, the people who may come here. All routes below it want a signed-in teacher."""
