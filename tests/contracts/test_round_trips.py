"""Round trips: any bank written to a file and loaded again is the same bank, in every format."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.strategies import documents
from quaestor import Bank, dump, load

ENDINGS = (".yaml", ".json", ".csv", ".xlsx")

usual = settings.default.max_examples
unhurried = settings(suppress_health_check=[HealthCheck.too_slow], max_examples=usual // 2)  # a large document takes a while to draw


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("banks")


def assert_survives(bank, path):
    dump(bank, path)
    copy = load(path)
    assert copy.document == bank.document
    assert copy == bank
    assert (copy.version, copy.model_version) == (bank.version, bank.model_version)
    assert copy.network == bank.network
    assert [problem.place for problem in copy.warnings] == [problem.place for problem in bank.warnings]


@pytest.mark.parametrize("ending", ENDINGS)
@unhurried
@given(document=documents())
def test_any_bank_survives_a_file(folder, ending, document):
    assert_survives(Bank(document), folder / f"bank{ending}")


@pytest.mark.parametrize("ending", ENDINGS)
@unhurried
@given(document=documents(most_skills=3, most_questions=2), epsilon=st.floats(0, 1))
def test_any_widened_bank_survives_a_file(folder, ending, document, epsilon):
    assert_survives(Bank(document).widen(epsilon), folder / f"wide{ending}")


@settings(unhurried, max_examples=usual // 4)
@given(document=documents(), endings=st.permutations(ENDINGS))
def test_a_chain_of_conversions_ends_with_the_bank_it_began_with(folder, document, endings):
    bank = first = Bank(document)
    for ending in endings:
        dump(bank, folder / f"chain{ending}")
        bank = load(folder / f"chain{ending}")
    assert bank.document == first.document
