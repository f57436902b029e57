"""Credit for partly right answers: a class of its own in every format, out and in again, and what words then say of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quaestor as qs
from quaestor.bankfile import elicit
from quaestor.bankfile.bank import Bank
from quaestor.formats.exchange import gift, gift_writer, marking, moodle_writer, moodle_xml, own
from quaestor.formats.exchange.checking import checked
from quaestor.formats.exchange.credit import classes_of, credited, in_classes
from quaestor.formats.exchange.imported import to_document
from quaestor.formats.exchange.qti import packages, writer

HALVES = ["wrong", "half", "right"]
PARTLY = {
    "one": {"options": {"Bonn": "half", "Berlin": "right", "Rome": "wrong"}},
    "several": {"kind": "choices", "options": ["p", "q", "r"], "correct": ["p", "r"]},
    "text": {"kind": "text", "correct": "frog", "accept": {"toad": "half"}},
    "number": {"kind": "number", "correct": "4", "accept": {"9": "half"}, "tolerance": "1"},
    "pairs": {"kind": "matching", "pairs": {"frog": "wet", "cat": "dry"}},
    "order": {"kind": "ordering", "options": ["first", "second", "third"]},
    "gaps": {
        "kind": "gaps",
        "text": "[[1]] and [[2]]",
        "gaps": {"1": {"kind": "text", "correct": "cat"}, "2": {"options": ["mat", "hat"], "correct": "mat"}},
    },
}
DOCUMENT = {
    "quaestor": 2,
    "title": "Partly",
    "skills": {"a": {}},
    "questions": {
        name: {"text": f"{name}?", **fields, "classes": HALVES, "skill": "a", "difficulty": "medium", "confidence": "unsure"}
        for name, fields in PARTLY.items()
    },
}
FORMATS = {
    "moodle": (lambda bank: moodle_writer.write(bank, {}).data, moodle_xml.read, set()),
    "gift": (lambda bank: gift_writer.write(bank, {}).data, gift.read, {"order", "gaps"}),
    "qti 3.0": (lambda bank: writer.write(bank, {}, "3.0").data, packages.read, set()),
    "qti 2.1": (lambda bank: writer.write(bank, {}, "2.1").data, packages.read, set()),
}


@pytest.mark.parametrize("form", FORMATS)
def test_partial_credit_goes_out_and_comes_in_again(form):
    bank = Bank(DOCUMENT)
    write, read, _ = FORMATS[form]
    found = checked(read(write(bank), "x"))
    assert not found.refused
    assert Bank(to_document(found)).version == bank.version


@pytest.mark.parametrize("form", FORMATS)
def test_other_programs_see_the_credit_and_so_do_we_without_our_own_part(form, monkeypatch):
    write, read, unknown = FORMATS[form]
    data = write(Bank(DOCUMENT))
    monkeypatch.setattr(own, "merged", lambda visible, comments, notes: (visible, ""))
    monkeypatch.setattr(own, "bank_of", lambda comments: {})
    found = checked(read(data, "x"))
    assert {fields["text"].rstrip("?") for fields in found.questions.values()} >= PARTLY.keys() - unknown - {"gaps"}
    for fields in found.questions.values():
        assert fields["classes"] == HALVES, fields
    by_text = {fields["text"]: fields for fields in found.questions.values()}
    assert by_text["one?"]["options"] == PARTLY["one"]["options"]
    assert next(fields for text, fields in by_text.items() if text.startswith("text"))["accept"] == {"toad": "half"}
    assert next(fields for text, fields in by_text.items() if text.startswith("number"))["accept"] == {"9": "half"}


@pytest.mark.parametrize(
    ("data", "read"),
    [
        (b"::Q::Whose sun?{=York =%50%york =%25%Lancaster}", gift.read),
        (b"::Q::Whose sun?{=%50%york. =York =%25%Lancaster}", gift.read),
    ],
)
def test_what_cannot_be_told_from_a_better_answer_has_no_class_of_its_own(data, read):
    found = checked(read(data, "x.gift"))
    question = Bank(to_document(found)).questions["Q"]
    assert question.classes == ("wrong", "half", "right")
    assert {question.classify(entry) for entry in ("York", "york", "Lancaster", "x")} == {"wrong", "half", "right"}
    assert found.questions["Q"]["accept"] == {"Lancaster": "half"}
    assert any("york" in note.sentence and "50 %" in note.sentence for note in found.notes)


def test_a_question_of_qti_that_tells_letters_apart_has_no_class_that_nobody_reaches():
    notes = []
    made = marking.typed(["York"], notes, {"york": 50.0})
    assert made == {"kind": "text", "correct": "York"}
    assert [str(note) for note in notes] == ["credit for partly right answers was left out: 'york' 50 %"]


def test_answers_keep_their_order_and_what_a_class_is_not_worth_is_told():
    notes = []
    assert credited([("a", 100), ("b", 66.66667), ("c", 33.33333), ("d", 0)], notes) == (
        {"a": "right", "b": "two thirds", "c": "third", "d": "wrong"},
        {"classes": ["wrong", "third", "two thirds", "right"]},
    )
    assert not notes
    assert credited([("frog", 100), ("toad", 80)], notes)[0] == {"frog": "right", "toad": "half"}
    assert [str(note) for note in notes] == ["partly right answers count by their class: 'toad' 80 % as half"]
    assert list(dict.fromkeys(classes_of([100, 10, 20, 60, 90]).values())) == ["wrong", "quarter", "half", "three quarters", "right"]


def test_a_question_that_was_changed_elsewhere_keeps_the_classes_of_its_numbers():
    visible = {"options": {"x": "half", "y": "right", "z": "wrong"}, "classes": HALVES}
    assert in_classes(visible, ["wrong", "right"]) == {"options": {"x": "wrong", "y": "right", "z": "wrong"}}
    assert in_classes({"accept": {"x": "half"}, "classes": HALVES}, ["no", "so", "yes"]) == {"accept": {"x": "so"}}


@given(st.floats(0, 1), st.floats(0, 1), st.integers(2, 5), st.floats(0, 1), st.floats(0, 0.5))
def test_what_words_say_of_classes_holds_every_mix_of_steps(one, other, classes, within, shared):
    low, high = sorted((one, other))
    p, last = low + within * (high - low), classes - 1
    bounds = elicit.graded(low, high, classes)
    chances = [0.0] * classes
    for steps in range(2**last):  # every outcome of independent steps
        done = steps.bit_count()
        chances[done] += p**done * (1 - p) ** (last - done)
    mixed = [(1 - shared) * chance for chance in chances]
    mixed[0] += shared * (1 - p)
    mixed[-1] += shared * p
    assert sum(place * chance for place, chance in enumerate(mixed)) / last == pytest.approx(p)
    for (least, most), chance in zip(bounds, mixed, strict=True):
        assert least - 1e-12 <= chance <= most + 1e-12
    if classes == 2:
        assert bounds == [pytest.approx((1 - high, 1 - low)), pytest.approx((low, high))]


def test_a_half_right_answer_tells_little_and_never_everything():
    bank = Bank(DOCUMENT)
    assert not bank.is_precise
    now = qs.posterior(bank, {})["a"]
    for answer in HALVES:
        after = qs.posterior(bank, {"pairs": answer})["a"]
        assert (after.lower > 0.05).all()
        assert (after.upper < 0.95).all()
    half = qs.posterior(bank, {"pairs": "half"})["a"]
    assert half.lower[1] < now.lower[1] <= now.upper[1] < half.upper[1]
    assert qs.posterior(bank, {"pairs": "right"})["a"].lower[1] > qs.posterior(bank, {"pairs": "wrong"})["a"].lower[1]


def test_a_guess_is_worth_its_mean_share_of_the_points():
    fields = {
        "options": {"x": "half", "y": "right", "z": "wrong", "w": "wrong"},
        "classes": HALVES,
        "skill": "a",
        "difficulty": "very hard",
    }
    table = Bank({"quaestor": 2, "skills": {"a": {}}, "questions": {"q": fields}}).questions["q"].table
    assert table.upper[0] == pytest.approx([(0.625**2 + 0.625) / 2, 2 * 0.375 * 0.625, (0.375**2 + 0.375) / 2])
