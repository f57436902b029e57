"""The fit of a whole bank, and people who do not fit it, in words and as plain data."""

import json

import numpy as np

import quaestor as qs
from oracles.learning import draw, school
from quaestor.learn.goodness import Goodness
from quaestor.learn.person_fit import Stranger
from quaestor.report.fit_words import SHOWN, Quality, people_words, plain_quality, quality_of, quality_parts

NOBODY = Goodness(None, 0.0, 1.0, 0, 20, None, "It cannot be told.")


def odd(count):
    return tuple(Stranger(f"P{n}", n, 20, 4.0, 1e-4, ("Q1",), ("Q2", "Q3")) for n in range(count))


def test_nobody_and_one_and_many():
    assert people_words(Quality(NOBODY, ())) == ["Nobody's answers stand out."]
    opening, only = people_words(Quality(NOBODY, odd(1)))
    assert opening.startswith("The answers of 1 person do not fit the bank (at most 5% of those named are expected to be chance).")
    assert opening.endswith("a reason to talk, not a proof.")
    assert only.startswith("P0: of 20 answers 1 is wrong where")
    many = people_words(Quality(NOBODY, odd(SHOWN + 3)))
    assert many[0].startswith(f"The answers of {SHOWN + 3} people do not fit the bank")
    assert len(many) == SHOWN + 2
    assert many[-1] == "3 more."


def test_a_bank_that_does_not_fit_blames_people():
    opening = people_words(Quality(Goodness(0.2, 0.04, 1e-6, 190, 400, None), odd(1)))[0]
    assert opening.endswith("But the bank as a whole does not fit, and then people are named whom a better bank would explain.")


def test_a_page_and_plain_data():
    found = Quality(NOBODY, odd(2))
    page = "".join(quality_parts(found))
    assert "<h2>How well the bank fits</h2>" in page
    assert "It cannot be told." in page
    assert page.count("<li>") == 2
    plain = plain_quality(found)
    assert plain["fit"]["verdict"] == "unknown"
    assert plain["fit"]["srmsr"] is None
    assert [one["person"] for one in plain["people_who_do_not_fit"]] == ["P0", "P1"]


def test_the_seed_decides_and_numbers_are_json():
    frame = draw(school(), 120)
    frame.iloc[0] = np.where(frame.iloc[0] == "right", "wrong", "right")
    found = [plain_quality(quality_of(qs.learn(school(), frame), seed)) for seed in (1, 1, 2)]
    assert json.dumps(found[0]) == json.dumps(found[1]) != json.dumps(found[2])
    assert found[0]["fit"]["m2"]["df"] == found[2]["fit"]["m2"]["df"]
