"""A platform with a test in its course, and the tool without a real server."""

import pytest

from helpers.lti_platform import platform_for
from helpers.lti_tool import TOOL, application, placed_test


@pytest.fixture
def database(make_database):
    return make_database("sqlite")


@pytest.fixture
def platform(database):
    with platform_for(TOOL) as made:
        yield made


@pytest.fixture
def app(database, platform):
    return application(database, platform)


@pytest.fixture
def placed(database, platform):
    """The number of a test that stands in the course."""
    return placed_test(database, platform)
