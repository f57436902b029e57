"""How property tests run: the same examples every time; `pytest --hypothesis-profile=exploring` looks for others, and for longer."""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=100)
settings.register_profile("exploring", deadline=None, max_examples=2000, print_blob=True)
settings.load_profile("repeatable")
