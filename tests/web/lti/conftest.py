"""A platform and the tool without a real server, one pair for the tests of a module; each test finds both as new."""

import pytest

from helpers.lti_tool import emptied, placed_test, platform_and_app
from quaestor.web.lti import services


@pytest.fixture(scope="module")
def pair(migrated_file, tmp_path_factory):
    with platform_and_app(migrated_file, tmp_path_factory.mktemp("lti")) as made:
        yield made


@pytest.fixture
def database(pair):
    emptied(pair[2])
    services._tokens.clear()
    return pair[2]


@pytest.fixture
def platform(pair, database):
    pair[0].reset()
    pair[0].tool_keys = pair[1].state.keys_for_platforms
    return pair[0]


@pytest.fixture
def app(pair, platform):
    return pair[1]


@pytest.fixture
def placed(database, platform):
    """The number of a test that stands in the course."""
    return placed_test(database, platform)
