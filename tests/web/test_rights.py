"""Who may do what: a row for every route of the application, and what each kind of person and program may expect of it.

A route without a row fails, and so does a row without a route. A refused request changes nothing, tells nothing, and answers the same
whether the thing is somebody else's or is not there at all.
"""

import re
from base64 import b64encode

import pytest

from helpers import rights
from helpers.rights import FORMS, OK, ROWS, SIGN_IN, THINGS, address, filled, methods_and_paths, send, where
from helpers.school import opened, steady
from quaestor.store.secrets import hashed

CONFIGURED, NO_TEST = "section_of_test", b64encode(b'{"test": 123456}').decode()


@pytest.fixture(scope="module")
def school(tmp_path_factory, migrated_file):
    with opened(tmp_path_factory.mktemp("school"), migrated_file) as made:
        yield made


def test_every_route_has_a_row_and_every_row_a_route(school):
    there = set(methods_and_paths(school.app))
    lacking, idle = sorted(there - set(ROWS)), sorted(set(ROWS) - there)
    assert not lacking, (
        f"routes without a row in ROWS of {rights.__file__}: {lacking}. Add for each a line such as\n"
        f'    "{lacking[0]}": row(EDIT),\nwith who may use it (LOOK, EDIT, OWN, MINE, TEACHERS, OWNER, TAKER, ANYONE, API), the fields '
        "that a good request sends, and ok=<status> where it is not 200 for a GET or 303 for a form. `where` finds what stands in its path."
    )
    assert not idle, f"rows without a route in ROWS of {rights.__file__}: {idle}. Take them away, or correct their path."


def usual_status(key):
    return ROWS[key].ok or (303 if key in FORMS else 200)


def judge(school, key, who, response):
    """Hold a response against what a row expects for somebody."""
    expected = ROWS[key].who[who]
    status = response.status_code
    if expected == OK:
        assert status == usual_status(key), response.text
        return
    if expected == SIGN_IN and key.startswith("GET"):
        assert (status, response.headers["location"]) == (303, "/sign-in")
    else:
        assert status == (403 if expected == SIGN_IN else expected), response.text
    if expected == 400 and who in ("colleague", "looker"):
        return  # what is wrong is said on a page that they may see
    for secret in school.secrets:
        assert secret not in response.text


@pytest.mark.parametrize("key", ROWS)
def test_everybody_gets_what_the_row_says_and_refusals_change_nothing(school, key):
    one = ROWS[key]
    before = steady(school.pristine)
    refused = [who for who in one.who if one.who[who] != OK]
    for who in refused:
        judge(school, key, who, send(school, key, who))
    assert steady(school.dump()) == before, f"{key} by one of {refused} changed something"
    for who in one.who.keys() - refused:
        judge(school, key, who, send(school, key, who))
        after = steady(school.dump())
        if key.startswith("GET") or one.changes is False:
            assert after == before, f"{key} by {who} changed something"
        elif one.changes:
            assert after != before, f"{key} by {who}: a good request changes something, else its refusals prove nothing"
        if after != before:
            school.restore()


@pytest.mark.parametrize("key", FORMS)
def test_every_form_needs_the_token_of_its_browser(school, key):
    places = where(school, key)
    path = address(key, places)
    sent = {name: filled(value, places) for name, value in (ROWS[key].sent or {}).items()}
    before = steady(school.dump())
    for who in [who for who, expected in ROWS[key].who.items() if expected == OK][:2]:
        for token in ("", "0" * 64, hashed("form elsewhere")):
            response = school.post(who, path, sent, ROWS[key].files, places["attempt"], form_token=token)
            assert response.status_code == 403
    assert steady(school.dump()) == before


def bare(response):
    """The text of a response without what differs between any two: tokens, and the address that was asked for."""
    return re.sub(r'name="(form_token|once|back)" value="[^"]*"', "", response.text)


def refused_role(key):
    who = ROWS[key].who
    return "other" if who.get("other") in (403, 404) else "other_taker"


@pytest.mark.parametrize("key", THINGS)
def test_what_is_anothers_and_what_is_not_there_answer_alike(school, key):
    """The thing nearest to the front of the path, or of the body, is exchanged for one that nobody has."""
    path = key.partition(" ")[2]
    first = re.search(r"\{(\w+)", path)
    name = first[1] if first else {"/api/v1/sessions": "test", "/api/v1/tests": "bank", "/ims/cat/v1p0/sections": CONFIGURED}[path]
    who = refused_role(key)
    nobodys = NO_TEST if name == CONFIGURED else 123456
    known, unknown = send(school, key, who), send(school, key, who, **{name: nobodys})
    assert known.status_code == unknown.status_code
    assert bare(known) == bare(unknown)
    assert set(known.headers) == set(unknown.headers)
    assert steady(school.dump()) == steady(school.pristine)


@pytest.mark.parametrize("key", [key for key in THINGS if "/tests/{number}/takers/" in key or "/classes/{number}/pupils/" in key])
def test_a_taker_of_another_test_or_a_pupil_of_another_class_of_the_same_teacher_is_not_there(school, key):
    response = send(school, key, "teacher", number=school.places["second" if "/tests/" in key else "spare_class"])
    assert response.status_code == 404
    assert steady(school.dump()) == steady(school.pristine)


def test_methods_without_a_route_do_nothing(school):
    for key in ROWS:
        method = key.partition(" ")[0]
        target = address(key, where(school, key))
        for other in ("PUT", *(["DELETE"] if key.replace(method, "DELETE", 1) not in ROWS else [])):
            response = school.client.request(other, target, headers={**school.headers("teacher"), "authorization": "Bearer x"})
            assert response.status_code in (404, 405), (other, target)
    assert steady(school.dump()) == steady(school.pristine)
