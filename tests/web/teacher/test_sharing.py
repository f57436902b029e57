"""Sharing tests, banks and drafts with colleagues on the pages, and handing them over."""

import re

import pytest
from sqlalchemy import delete, select

from helpers.rights import FORM
from quaestor.store.models import Published, Share, Teacher


def words_of(response):
    """What a page says, without markup."""
    return " ".join(re.sub(r"<[^>]+>", " ", response.text).split())


KINDS = {"test": "tests", "bank": "banks", "draft": "drafts", "class": "classes"}


def path_of(school, kind):
    return f"/teacher/{KINDS[kind]}/{school.places[kind]}"


@pytest.mark.parametrize("kind", KINDS)
def test_a_thing_is_shared_changed_and_taken_back(school, kind):
    path = path_of(school, kind)
    assert school.get("other", path).status_code == 404
    page = words_of(school.get("teacher", f"{path}/sharing"))
    assert "colleague@school.example may edit" in page
    assert "looker@school.example may look" in page
    for extent in ("look", "edit"):
        sent = school.post("teacher", f"{path}/sharing", {"email": " Other@School.example ", "extent": extent})
        assert sent.headers["location"] == f"{path}/sharing"
        assert f"other@school.example may {extent}" in words_of(school.get("teacher", f"{path}/sharing"))
        assert school.get("other", path).status_code == 200
    number = school.people["other"].id
    school.post("teacher", f"{path}/sharing/end", {"teacher": str(number)})
    assert school.get("other", path).status_code == 404
    assert school.get("looker", path).status_code == 200


@pytest.mark.parametrize("kind", KINDS)
def test_a_colleague_sees_whose_it_is_and_may_leave(school, kind):
    path = path_of(school, kind)
    page = words_of(school.get("looker", f"{path}/sharing"))
    assert "It belongs to teacher@school.example, who shares it with you: you may look at it, but not change it." in page
    assert "Share it with a colleague" not in page
    assert "you may look at it and edit it, but not delete it" in words_of(school.get("colleague", f"{path}/sharing"))
    left = school.post("looker", f"{path}/sharing/end", {"teacher": str(school.people["looker"].id)})
    assert left.headers["location"] == {"test": "/teacher", "class": "/teacher/classes"}.get(kind, "/teacher/banks")
    assert school.get("colleague", path).status_code == 200
    if kind != "bank":  # which a shared test still opens to look at
        assert school.get("looker", path).status_code == 404


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"email": "nobody@school.example", "extent": "look"}, "No teacher here has this address."),
        ({"email": "teacher@school.example", "extent": "look"}, "This is the teacher whose it is already."),
        ({"email": "other@school.example", "extent": "own"}, "Please choose one of these."),
        ({"email": "other@school.example"}, "Please choose one of these."),
    ],
)
def test_what_cannot_be_shared_is_said_and_changes_nothing(school, sent, words):
    path = path_of(school, "test")
    answer = school.post("teacher", f"{path}/sharing", sent)
    assert answer.status_code == 400
    assert words in words_of(answer)
    with school.database.read() as work:
        assert len(work.scalars(select(Share)).all()) == 12


def test_lists_say_what_is_shared_by_and_with_whom(school):
    assert "Shared with colleague@school.example, looker@school.example" in words_of(school.get("teacher", "/teacher"))
    for who, how in (("colleague", "to edit"), ("looker", "to look at")):
        assert f"Shared by teacher@school.example, {how}" in words_of(school.get(who, "/teacher"))
        banks = words_of(school.get(who, "/teacher/banks"))
        assert banks.count(f"Shared by teacher@school.example, {how}") == 3  # a draft, two published banks
    assert "Shared" not in words_of(school.get("other", "/teacher"))
    assert "Shared with colleague@school.example, looker@school.example" in words_of(school.get("teacher", "/teacher/banks"))


LOOKED_AT = (
    "",
    "/results",
    "/results.csv",
    "/takers/{attempt}",
    "/takers/{over}",
    "/takers/{attempt}/export.json",
    "/live",
    "/report",
    "/letters",
)


@pytest.mark.parametrize("path", LOOKED_AT)
def test_who_may_look_sees_no_personal_code_and_no_form_that_changes_something(school, path):
    where = f"{path_of(school, 'test')}{path.format(**school.places)}"
    seen, edited = (school.get(who, where).text for who in ("looker", "colleague"))
    codes = [secret for secret in school.secrets if re.fullmatch(r"[2-9A-Z]{8}", secret)]
    assert len(codes) == 3
    assert not any(code in seen for code in codes)
    if path in ("", "/results.csv"):
        assert any(code in edited for code in codes)
    forms = re.findall(r'<form method="post" action="([^"]*)"', seen)
    assert set(forms) <= {"/sign-out", "/language"}


def test_who_may_look_at_a_draft_has_its_forms_switched_off(school):
    path = path_of(school, "draft")
    for page in ("", "/questions/one", "/skills/sums", "/versions"):
        seen, edited = (school.get(who, path + page).text for who in ("looker", "colleague"))
        assert "<fieldset disabled>" in seen
        assert "<fieldset disabled>" not in edited
    assert "<fieldset disabled>" not in school.get("looker", f"{path}/questions").text


def test_a_test_of_a_shared_bank_is_the_publishers_with_a_bank_of_their_own(school):
    form = {"title": "Mine", "most": "2", "sure": "no", "mode": "practice", "retakes": "none"}
    made = school.post("colleague", f"{path_of(school, 'bank')}/publish", form)
    assert made.status_code == 303, made.text
    with school.database.read() as work:
        test = work.get(Published, int(made.headers["location"].rpartition("/")[2]))
        assert (test.teacher_id, test.bank.teacher_id) == (school.people["colleague"].id,) * 2
        assert test.bank_id != school.places["bank"]
    assert school.get("teacher", made.headers["location"]).status_code == 404


def test_a_share_that_ends_ends_for_a_page_that_is_open(school):
    """The stream of a live view, and a form that was opened before."""
    path = path_of(school, "test")
    assert school.get("colleague", f"{path}/live/rows").status_code == 200
    school.post("teacher", f"{path}/sharing/end", {"teacher": str(school.people["colleague"].id)})
    assert school.get("colleague", f"{path}/live/rows").status_code == 404
    assert school.get("colleague", f"{path}/live/events").status_code == 404
    assert school.post("colleague", f"{path}/close").status_code == 404


@pytest.mark.parametrize("kind", ["test", "draft"])
def test_a_thing_is_handed_over(school, kind):
    path = path_of(school, kind)
    for sent, words in (
        ({"email": "other@school.example"}, "Please tick that you are sure."),
        ({"email": "nobody@school.example", "sure": "yes"}, "No teacher here has this address."),
        ({"email": "locked@school.example", "sure": "yes"}, "This teacher is locked"),
    ):
        answer = school.post("teacher", f"{path}/sharing/hand-over", sent)
        assert (answer.status_code, words in words_of(answer)) == (400, True)
    done = school.post("teacher", f"{path}/sharing/hand-over", {"email": "other@school.example", "sure": "yes"})
    assert done.status_code == 303
    assert school.get("teacher", path).status_code == 404
    assert school.get("other", path).status_code == 200
    assert school.get("looker", path).status_code == 200
    if kind == "test":
        assert school.get("other", f"{path}/results").status_code == 200
        assert school.get("taker", f"/take/{school.places['attempt']}", school.places["attempt"]).status_code == 200


@pytest.mark.parametrize("who", ["teacher", "owner"])
def test_everything_is_handed_over_by_the_teacher_or_the_owner(school, who):
    if who == "teacher":
        assert "tick that you are sure" in words_of(school.post("teacher", "/teacher/account/hand-over", {"email": "other@school.example"}))
        sent = school.post("teacher", "/teacher/account/hand-over", {"email": "other@school.example", "sure": "yes"})
        assert sent.headers["location"] == "/teacher"
    else:
        page = f"/teacher/people/{school.places['person']}"
        assert school.post("owner", f"{page}/hand-over", {"to": "locked@school.example"}).status_code == 400
        sent = school.post("owner", f"{page}/hand-over", {"to": "other@school.example"})
        assert sent.headers["location"] == "/teacher/people"
    for kind in KINDS:
        assert school.get("teacher", path_of(school, kind)).status_code == 404
        assert school.get("other", path_of(school, kind)).status_code == 200
    assert school.get("teacher", "/teacher").status_code == 200


def test_a_teacher_is_removed_and_another_one_gets_everything(school):
    page = f"/teacher/people/{school.places['person']}"
    assert '<option value="locked@school.example"' not in school.get("owner", page).text
    sent = {"email": "teacher@school.example", "to": "other@school.example"}
    assert school.post("owner", f"{page}/remove", {**sent, "to": "nobody@school.example"}).status_code == 400
    assert school.post("owner", f"{page}/remove", sent).headers["location"] == "/teacher/people"
    with school.database.read() as work:
        assert work.get(Teacher, school.places["person"]) is None
    assert school.get("owner", path_of(school, "test")).status_code == 404
    assert school.get("other", path_of(school, "test")).status_code == 200
    assert school.get("teacher", "/teacher").headers["location"] == "/sign-in"


def test_a_class_that_is_shared_shows_codes_only_to_those_who_may_edit_it(school):
    path, (name, *_) = path_of(school, "class"), school.names
    pupil = f"{path}/pupils/{school.places['pupil']}"
    code = re.search(r'<td class="code">(\w+)</td>', school.get("teacher", path).text)[1]
    for page in (path, f"{path}/growth", pupil):
        assert school.get("looker", page).status_code == 200
        assert code not in school.get("looker", page).text
    assert name in words_of(school.get("looker", path))
    assert "Shared with you by teacher@school.example." in words_of(school.get("looker", path))
    assert code in school.get("colleague", path).text
    assert code in school.get("colleague", pupil).text
    assert "Erase everything" not in words_of(school.get("colleague", pupil))
    assert "Sums of 5b" in words_of(school.get("colleague", "/teacher/classes"))
    assert "Shared by teacher@school.example, to edit" in words_of(school.get("colleague", "/teacher/classes"))


def test_who_may_edit_one_test_of_a_class_holds_no_codes_that_open_the_others(school):
    """Codes open all tests of a class: whoever may edit only one of them sees names."""
    test, where = school.places["test"], path_of(school, "test")
    with school.database.work() as work:
        of_class = work.get_one(Published, int(test)).class_id
        work.get_one(Published, int(school.places["second"])).class_id = of_class
        work.execute(delete(Share).where(Share.class_id == of_class))
        work.execute(delete(Share).where(Share.test_id == int(school.places["second"])))
    code = re.search(r'<td class="code">(\w+)</td>', school.get("teacher", where).text)[1]
    page = school.get("colleague", where)
    assert school.names[0] in page.text
    assert code not in page.text
    assert "The codes open all tests of the class" in words_of(page)
    refused = school.get("colleague", f"{where}/cards")
    assert refused.status_code == 403
    assert code not in refused.text
    school.post("teacher", f"{path_of(school, 'class')}/sharing", {"email": "colleague@school.example", "extent": "edit"})
    assert code in school.get("colleague", where).text
    assert code in school.get("colleague", f"{where}/cards").text.replace(" ", "")


def test_a_colleague_publishes_a_test_of_their_own_for_a_class_that_they_may_edit(school):
    sent = {**FORM, "title": "Physics", "class": school.places["class"]}
    bank = f"/teacher/banks/{school.places['bank']}/publish"
    assert "(shared by teacher@school.example)" in words_of(school.get("colleague", bank))
    made = school.post("colleague", bank, sent)
    assert made.status_code == 303
    assert "Physics" in words_of(school.get("teacher", path_of(school, "class")))
    assert school.get("teacher", made.headers["location"]).status_code == 404, "the test is the colleague's own"
    with school.database.read() as work:
        assert work.scalars(select(Published).where(Published.title == "Physics")).one().class_id == int(school.places["class"])
