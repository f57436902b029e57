"""A question of a published test is corrected: what changes is shown before, everybody sees it afterwards, and nothing is lost."""

from html import unescape
from threading import Thread

import pytest
from sqlalchemy import select

from helpers.browsing import KINDS, ORDER, PICTURE, enter, give
from helpers.teacher_pages import put_test
from quaestor.store import corrections, job_queue, publishing
from quaestor.store.attempts import taking
from quaestor.store.attempts.answers import given
from quaestor.store.models import Attempt, Correction, Event, Job, Published, Scoring, Teacher
from quaestor.store.outcomes import changes, rescoring
from quaestor.web.teacher import correcting

RIGHT = {"one": "3/4", "several": ["two", "four"], "number": "3.5", "word": "Paris"}
LEVELS = KINDS.skills["sums"].levels


@pytest.fixture
def test(kept, ada):
    """A test of every kind of question, of the teacher who is signed in; its page."""
    with kept.work() as work:
        teacher = work.scalars(select(Teacher)).one()
        bank = publishing.keep_bank(work, teacher, KINDS, {"pie.png": PICTURE})
        made = publishing.publish(work, teacher, bank, ORDER, publishing.Conditions(), "Sums")
    return f"/teacher/tests/{made.id}"


def take(kept, name, **given):
    """Somebody answers the questions in their order, right unless something else is given; None skips, `stop=` ends before a step."""
    stop = given.pop("stop", 5)
    with kept.work() as work:
        attempt = taking.enter(work, work.query(Published).first().code, name)
        for step, question in enumerate(list(RIGHT)[: stop - 1], 1):
            entry = given.get(question, RIGHT[question])
            taking.skip(work, attempt, step) if entry is None else taking.answer(work, attempt, step, entry)
        return attempt.id


def score(kept):
    with kept.read() as work:
        tests = work.scalars(select(Published.id)).all()
    for number in tests:
        rescoring.score_all(kept, number, lambda share: True)


def count(kept, table):
    with kept.read() as work:
        return work.query(table).count()


def wish(act="key", right=(), typed="", note="", seen="0", sure=""):
    return {"act": act, "right": list(right), "typed": typed, "note": note, "seen": seen, **({"sure": sure} if sure else {})}


def taker(ada, kept, number):
    with kept.read() as work:
        return type(ada)(ada.app, base_url="http://localhost", cookies={"taker": work.get(Attempt, number).key})


def test_a_key_is_corrected_after_a_look_at_what_changes(kept, ada, test):
    first, second = take(kept, "Eve", one="2/6"), take(kept, "Ben")
    take(kept, "Zoe", stop=1)
    listed = ada.get(f"{test}/questions").text
    assert f'href="{test}/correct/one"' in listed
    page = unescape(ada.get(f"{test}/correct/one").text)
    assert 'value="3/4" checked' in page
    assert "Right at present:" in page
    assert "pie.png" in page
    asked = wish(right=["2/6"], note="The picture shows sixths.")
    page = unescape(ada.fill(f"{test}/correct/one", asked).text)
    assert "What will change" in page
    assert "The question was asked in 2 attempts." in page
    assert "More points: 1 attempt<" in page
    assert "Fewer points: 1 attempt<" in page
    assert "Another level of some skill: 2 attempts" in page
    assert count(kept, Correction) == 0
    assert ada.fill(f"{test}/correct/one", {**asked, "sure": "yes"}).headers["location"] == test
    with kept.read() as work:
        (job,) = work.scalars(select(Job)).all()
        assert (job.kind, job.subject, job.state) == (
            rescoring.KIND,
            test.removeprefix("/teacher/").replace("tests/", "test "),
            job_queue.WAITING,
        )
    page = ada.get(test).text
    assert "2 results are still being worked out anew ..." in page
    assert f'data-progress="/teacher/jobs/{job.id}/progress"' in page
    assert "Your result is being worked out anew." in taker(ada, kept, first).get(f"/take/{first}/result").text
    score(kept)
    page = ada.get(test).text
    assert "data-progress" not in page
    assert "was corrected." in page
    assert "The picture shows sixths." in page
    assert "2 of 2 results have changed" in page
    assert page.index(">Ben</a>") < page.index(">Eve</a>")
    for who, before, after in ((first, "3 of 4 points", "4 of 4 points"), (second, "4 of 4 points", "3 of 4 points")):
        page = taker(ada, kept, who).get(f"/take/{who}/result").text
        assert "Your result was worked out anew" in page
        assert "your teacher corrected what the right answer to this question is:" in page
        assert "The picture shows sixths." in page
        assert page.index(before) < page.index(after)
        path = ada.get(f"{test}/takers/{who}").text
        assert "Scored anew after a correction" in path
        assert path.index(before) < path.index(after)


def test_a_question_is_withdrawn_and_taken_back(kept, ada, test):
    number = take(kept, "Eve", several=["three"])
    assert ada.fill(f"{test}/correct/several", wish("withdrawn", sure="yes")).status_code == 303
    score(kept)
    page = unescape(ada.get(f"{test}/correct/several").text)
    assert "withdrawn</span>" in page
    assert 'value="restored" checked' in page
    assert 'value="withdrawn"' not in page
    assert "withdrawn</span>" in ada.get(f"{test}/questions").text
    child = taker(ada, kept, number)
    page = child.get(f"/take/{number}/result").text
    assert "your teacher took this question out of the test, so it does not count:" in page
    assert page.index("3 of 4 points") < page.index("3 of 3 points")
    assert ada.fill(f"{test}/correct/several", wish("restored", seen="1", sure="yes")).status_code == 303
    score(kept)
    page = child.get(f"/take/{number}/result").text
    assert "your teacher put this question back into the test, so it counts again:" in page
    assert page.index("3 of 3 points") < page.index("3 of 4 points", page.index("3 of 3 points"))


@pytest.mark.parametrize(
    ("question", "fields", "right"),
    [
        ("one", {"right": ["2/6", "1/8"]}, ("2/6", "1/8")),
        ("several", {"right": ["three"]}, ("three",)),
        ("number", {"typed": "4\r\n 9/2 \r\n\r\n"}, ("4", "9/2")),
        ("word", {"typed": "Lyon\nNice; or so"}, ("Lyon", "Nice; or so")),
    ],
)
def test_keys_of_every_kind(kept, ada, test, question, fields, right):
    assert ada.fill(f"{test}/correct/{question}", wish(**fields, sure="yes")).status_code == 303
    with kept.read() as work:
        assert corrections.key_of(corrections.question_of(work.query(Published).one(), question)) == right
    assert (
        "Nobody was asked this question yet, so no result changes."
        in ada.fill(f"{test}/correct/{question}", wish("withdrawn", seen="1")).text
    )
    page = ada.get(test).text
    assert "No result had to be worked out anew." in page


@pytest.mark.parametrize(
    ("question", "asked", "words"),
    [
        ("one", wish(), "At least one right answer is expected, got none."),
        ("one", wish(right=["5/4"]), "An option of the question, got 5/4."),
        ("one", wish(right=["3/4"]), "Another key than before is expected, got the same."),
        ("several", wish(right=["four", "two"]), "Another key than before is expected, got the same."),
        ("number", wish(typed="about four"), "A number is expected, such as 12, 0.75, 3/4 or 1 1/2, got 'about four'."),
        ("number", wish(typed="3.5"), "Another key than before is expected, got the same."),
        ("word", wish(typed="\n".join(map(str, range(201)))), "At most 200 right answers are expected, got 201."),
        ("word", wish(typed="x" * 501), "A right answer has at most 500 letters, got 501."),
        ("word", wish("withdrawn", note="x" * 1001), "At most 1000 letters, got 1001."),
        ("word", wish("restored"), "A question that is withdrawn, got word."),
        ("word", wish("burnt"), "Please choose one of these."),
        ("word", wish(""), "Please choose one of these."),
    ],
)
@pytest.mark.parametrize("sure", ["", "yes"])
def test_what_cannot_be_is_said_and_the_form_keeps_what_was_entered(kept, ada, test, question, asked, words, sure):
    page = ada.fill(f"{test}/correct/{question}", {**asked, "note": asked["note"] or "A note of mine", "sure": sure})
    text = unescape(page.text)
    assert page.status_code == 400
    assert words in text
    assert "What will change" not in text
    assert (asked["note"] or "A note of mine") in text
    assert asked["typed"] in text.replace("\r\n", "\n")
    assert count(kept, Correction) == 0
    assert count(kept, Job) == 0


def test_the_key_of_a_question_that_rules_answers_out_is_not_offered(kept, ada):
    put_test(ada, rules="")
    with kept.work() as work:
        teacher, document = work.scalars(select(Teacher)).one(), KINDS.document
        sure = {**document["questions"]["number"], "right": [0.1, 0.6, 1.0]}
        bank = type(KINDS)({**document, "questions": {**document["questions"], "number": sure}})
        made = publishing.publish(
            work, teacher, publishing.keep_bank(work, teacher, bank, {"pie.png": PICTURE}), ORDER, publishing.Conditions()
        )
    where = f"/teacher/tests/{made.id}/correct/number"
    page = ada.get(where).text
    assert "The key of this question cannot be changed" in page
    assert 'value="key"' not in page
    assert "withdraw the question instead" in ada.fill(where, wish(typed="4")).text
    assert ada.fill(where, wish("withdrawn", sure="yes")).status_code == 303


def test_a_question_that_is_not_there(ada, test):
    for name in ("nine", "one/two", "..%2Fdelete", "%00"):
        assert ada.get(f"{test}/correct/{name}").status_code == 404
        assert ada.fill(f"{test}/correct/{name}", wish("withdrawn", sure="yes")).status_code == 404


def test_two_windows_do_not_correct_on_top_of_each_other(kept, ada, test):
    take(kept, "Eve")
    assert ada.fill(f"{test}/correct/one", wish("withdrawn", sure="yes")).status_code == 303
    page = ada.fill(f"{test}/correct/number", wish(typed="4", sure="yes"))
    assert page.status_code == 400
    assert "The test was corrected meanwhile, in another window perhaps; please look at it again." in page.text
    assert "What will change" in page.text
    assert 'name="seen" value="1"' in page.text
    assert count(kept, Correction) == 1
    assert ada.fill(f"{test}/correct/number", wish(typed="4", seen="x", sure="yes")).status_code == 400
    assert ada.fill(f"{test}/correct/number", wish(typed="4", seen="1", sure="yes")).status_code == 303
    again = ada.fill(f"{test}/correct/number", wish(typed="4", seen="1", sure="yes"))  # a double click
    assert "Another key than before is expected, got the same." in again.text
    score(kept)
    page = ada.get(test).text
    assert "The results were worked out together with the next correction." in page
    assert "1 of 1 result has changed" in page


def test_of_many_at_once_one_wins(kept, ada, test):
    take(kept, "Eve")
    token = ada.token()
    found = []

    def send(entry):
        data = {**wish(typed=entry, sure="yes"), "form_token": token}
        found.append(ada.post(f"{test}/correct/number", data=data, follow_redirects=False).status_code)

    threads = [Thread(target=send, args=(str(number),)) for number in range(4, 8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [303, 400, 400, 400]
    assert count(kept, Correction) == 1


def test_with_too_many_attempts_it_is_seen_afterwards(kept, ada, test, monkeypatch):
    take(kept, "Eve")
    take(kept, "Ben")
    monkeypatch.setattr(changes, "MOST", 1)
    page = ada.fill(f"{test}/correct/one", wish(right=["2/6"]))
    assert "What changes for them takes longer to work out" in page.text
    monkeypatch.undo()
    monkeypatch.setattr(correcting, "foresee", lambda *told: changes.foresee(*told, patience=-1.0))
    assert "What changes for them takes longer to work out" in ada.fill(f"{test}/correct/one", wish(right=["2/6"])).text


def test_who_was_not_asked_it_is_told_nothing(kept, ada, test):
    with kept.work() as work:
        attempt = taking.enter(work, work.query(Published).one().code, "Eve")
        taking.answer(work, attempt, 1, "3/4")
        work.get(Attempt, attempt.id).ended, number = publishing.now(), attempt.id
    ada.fill(f"{test}/correct/word", wish(typed="Rome", sure="yes"))
    score(kept)
    page = taker(ada, kept, number).get(f"/take/{number}/result").text
    assert "Your result" not in page
    assert "France" not in page
    assert "1 result was worked out anew; none has changed." in ada.get(test).text


def test_too_few_answers_are_no_level(kept, ada, test):
    number = take(kept, "Eve", one="2/6", several=None, number=None, word="Rome")
    ada.fill(f"{test}/correct/one", wish("withdrawn", sure="yes"))
    score(kept)
    page = taker(ada, kept, number).get(f"/take/{number}/result").text
    anew = page[page.index('id="anew"') : page.index("</section>", page.index('id="anew"'))]
    assert any(f">{level}</span>" in anew for level in LEVELS)
    assert "too few answers" in anew


def test_statistics_mark_answers_by_the_new_key(kept, ada, test):
    take(kept, "Eve", one="2/6")
    ada.fill(f"{test}/correct/one", wish(right=["2/6"], sure="yes"))
    with kept.read() as work:
        found = {line.question: line.answer for line in given(work, work.query(Published).one())}
        assert found["one"] == "right"
        assert work.scalars(select(Event.answer).where(Event.question == "one")).one() == "wrong"


def test_questions_that_nobody_was_asked_can_be_corrected_too(ada, test):
    page = ada.get(f"{test}/questions").text
    assert "Questions that nobody was asked" in page
    assert f'href="{test}/correct/word"' in page


def test_a_bank_of_before_a_correction_is_not_deleted(kept, ada, test):
    with kept.read() as work:
        before = work.query(Published).one().bank_id
    ada.fill(f"{test}/correct/one", wish(right=["2/6"], sure="yes"))
    page = ada.fill(f"/teacher/banks/{before}/delete")
    assert "A bank is deleted when no test uses it, got 1 that does; delete it first." in unescape(page.text)
    assert "Sums" in ada.get(f"/teacher/banks/{before}").text


# While takers are answering


@pytest.fixture
def corrected(kept, teacher_app):
    """A running test that is corrected behind its takers' backs."""
    code = give(kept, rules=ORDER)

    def correct(change, *told, **more):
        with kept.work() as work:
            change(work, work.query(Published).one(), *told, **more)

    return code, correct


def test_an_answer_to_a_question_that_was_withdrawn_meanwhile_is_not_taken_for_another(kept, teacher_app, corrected):
    code, correct = corrected
    child = enter(teacher_app, code)
    child.fill("/answer", entry="3/4")
    child.fill("/answer", entry=["two", "four"])
    assert "Half of seven?" in child.page.text
    correct(corrections.withdraw, "number")
    page = child.fill("/answer", entry="3.5")
    assert "Your answer to question 3 did not count: your teacher has just corrected the test." in page.text
    assert "This is the question to answer now." in page.text
    assert "The capital of" in page.text
    assert "3.5" not in page.text
    assert "did not count" in child.go(child.path).text
    assert count(kept, Event) == 2
    assert child.fill("/answer", entry="Paris").url.path.endswith("/result")


def test_the_last_question_is_withdrawn_while_it_is_answered(kept, teacher_app, corrected):
    code, correct = corrected
    child = enter(teacher_app, code)
    for entry in ("3/4", ["two", "four"], "3.5"):
        child.fill("/answer", entry=entry)
    correct(corrections.withdraw, "word")
    page = child.fill("/answer", entry="Paris")
    assert page.url.path.endswith("/result")
    assert count(kept, Event) == 3


def test_an_answer_on_its_way_while_the_key_is_corrected(kept, teacher_app, corrected):
    code, correct = corrected
    child = enter(teacher_app, code)
    with kept.read() as work:
        ready = taking.prepare(work, work.query(Attempt).one(), 1, "2/6")
    correct(corrections.correct_key, "one", ["2/6"])
    with kept.work() as work:
        taking.write(work, ready)
    score(kept)
    with kept.read() as work:
        attempt = work.query(Attempt).one()
        assert taking.state_of(work, attempt).session.log[0].answer == "right"
        assert {row.revision: row.points for row in work.scalars(select(Scoring))} == {1: 1.0}
    assert child.go(child.path).status_code == 200
    assert "Which are even?" in child.page.text


def test_pages_that_were_open_before_this_version_still_send_their_answers(teacher_app, kept):
    child = enter(teacher_app, give(kept, rules=ORDER))
    child.page._content = child.page.content.replace(b'name="asked"', b'name="nothing"')
    assert "Which are even?" in child.fill("/answer", entry="3/4").text
