"""The engines of inference: one contract, each for the models it is best at."""
