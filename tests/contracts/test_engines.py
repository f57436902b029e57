"""One contract for all engines, and for the chooser, which replies as an engine does.

Whatever is asked (`now`, `answers`, `after`, of the question's own skills and of others) the reply is finite, between 0 and 1, holds what
every network of the set says, and is attained where it says so; it does not depend on the order of the answers or on who else is there.
"""

import numpy as np
import pytest

from helpers.contradictions import GRAPHS, TIMES, answered, contradicting
from helpers.contradictions import evidence_of as repeated
from helpers.engine_cases import (
    BANKS,
    CREDAL,
    ENGINES,
    SAFE,
    Case,
    case,
    check,
    engine_of,
    evidence_of,
    fitting,
    replies,
    replies_of,
    told,
)
from oracles.networks import EveryNetwork
from quaestor import Bank, Table, posterior
from quaestor.credal.rows import row_choices
from quaestor.inference.chooser import Chooser
from quaestor.inference.engines.enumeration import EnumerationEngine, combinations
from quaestor.inference.evidence import Evidence
from quaestor.inference.lookahead import lookahead
from quaestor.inference.partition import underflows

SHORT = {"precise": [0, 1], "binary": [0, 2], "levels": [0, 1], "many levels": [0, 3], "loops": [0, 1], "two skills": [0, 2]}
LONG = 12
# All but other settings of branch
PLAIN = ("odds", "hulls", "fills", "separators", "branch", "joint", "junction", "chooser", "vacuous", "enumeration")
long = pytest.mark.long


def seeds(short, stop=LONG):
    """Some seeds, and the others up to a number in the long run."""
    return [seed if seed in short else pytest.param(seed, marks=long) for seed in range(stop)]


def cases(kinds=tuple(BANKS), names=tuple(ENGINES), each=1):
    """Kinds of banks, engines that fit them, seeds; in the short run so many of `each`."""
    listed = []
    for kind in kinds:
        for name in fitting(kind, names):
            listed += [pytest.param(kind, name, seed, marks=() if seed in SHORT[kind][-each:] else long) for seed in range(LONG)]
    return pytest.mark.parametrize(("kind", "name", "seed"), listed)


def fitted(kind, name, seed):
    """The case of this kind and seed, unless it turns out that the engine does not fit it (a question that closes a loop)."""
    found = case(kind, seed)
    if not ENGINES[name].fits(found.model):
        pytest.skip("this engine does not fit this model")
    return found


# The oracle


@pytest.mark.parametrize("seed", seeds([0, 1], 20))
@pytest.mark.parametrize("kind", ["binary", "levels", "many levels", "two skills", "loops"])
def test_enumeration_finds_what_plain_loops_find(kind, seed):
    found = case(kind, seed, 2, 400)
    layout = found.evidence.layout
    for taker, given in enumerate(found.takers):
        loops = EveryNetwork(found.bank, [(question, answer, 1) for question, answer in given.items()], apart=taker == 1 and len(given) < 3)
        for skill in found.bank.skills:
            same(found.truth["now", layout.position[skill]], taker, loops.now(skill))
        for number, batch in enumerate(layout.batches):
            place = int(batch.index[0])
            question, row = layout.questions[place].id, batch.row[0]
            same(found.truth["answers", number], (taker, row), loops.answers(question))
            for skill in found.bank.skills:
                same(found.truth["after", number, layout.position[skill]], (taker, row), loops.after(question, skill))


def same(found, at, expected, near=1e-12):
    np.testing.assert_allclose(found.lower[at], expected[0], rtol=0, atol=near)
    np.testing.assert_allclose(found.upper[at], expected[1], rtol=0, atol=near)


# All engines


@cases(each=2)
def test_bounds_hold_what_every_network_says(kind, name, seed):
    found = fitted(kind, name, seed)
    for asked, reply in replies_of(name, found).items():
        # where plain numbers cannot hold the evidence no inner bounds of questions are known
        check(reply, found.truth[asked], ENGINES[name].near, with_inner=name != "vacuous" or asked[0] == "now")


@cases(names=PLAIN)
def test_the_order_of_answers_does_not_matter(kind, name, seed):
    found = fitted(kind, name, seed)
    made = replies_of(name, found)
    evidence = Evidence.begin(found.bank, len(found.takers))
    ids = list(found.bank.questions)
    most = max(map(len, found.takers))
    lines = [[(ids.index(question), answer) for question, answer in reversed(given.items())] for given in found.takers]
    for step in range(most):  # one after the other, the last first; whoever has said all is skipped
        now = [line[step] if step < len(line) else (-1, -1) for line in lines]
        evidence = evidence.with_rows(np.array(now, dtype=np.int32)[:, :1], np.array(now)[:, 1:])
    turned = replies(ENGINES[name].make(evidence.model, evidence.takers), evidence, ENGINES[name].serves)
    for asked, reply in turned.items():
        known = told(found.truth[asked])
        for one, other in zip(reply.ends, made[asked].ends, strict=True):
            assert np.abs(one[known] - other[known]).max(initial=0) <= 1e-9


@cases(kinds=("binary", "levels", "loops", "two skills"), names=("odds", "hulls", "fills", "separators", "branch", "chooser"))
def test_wider_intervals_give_wider_bounds(kind, name, seed):
    narrow = fitted(kind, name, seed)
    wide = Case(narrow.bank.widen(0.02), narrow.takers)
    made = replies_of(name, wide)
    for variable in range(len(narrow.model.sizes)):
        assert_wider(made["now", variable], narrow.truth["now", variable])
    place = {batch.scope + batch.low.shape[1:2]: number for number, batch in enumerate(wide.batches)}
    for number, batch in enumerate(narrow.batches):
        there = place[batch.scope + batch.low.shape[1:2]]
        rows = batch.row, wide.batches[there].row  # question by question: the tables of two banks need not have the same order
        for asked in ("answers", *range(len(narrow.model.sizes))):
            key = ("answers",) if asked == "answers" else ("after", asked)
            if (key[0], there, *key[1:]) in made:
                assert_wider(made[(key[0], there, *key[1:])], narrow.truth[(key[0], number, *key[1:])], rows)


def assert_wider(wide, narrow, rows=None):
    every = slice(None), slice(None)
    for old, new in zip(*rows, strict=True) if rows else [every]:
        of_wide, of_narrow = (every if rows is None else (slice(None), row) for row in (new, old))
        known = told(narrow)[of_narrow]
        assert (wide.lower[of_wide][known] <= narrow.lower[of_narrow][known] + SAFE).all()
        assert (wide.upper[of_wide][known] >= narrow.upper[of_narrow][known] - SAFE).all()


@cases(names=PLAIN)
def test_takers_together_are_as_each_alone(kind, name, seed):
    """Also where they have answered different questions on two skills."""
    found = fitted(kind, name, seed)
    together = replies_of(name, found)
    for taker, given in enumerate(found.takers):
        alone = Case(found.bank, [given])
        if not ENGINES[name].fits(alone.model):
            continue
        for asked, reply in replies_of(name, alone).items():
            known = told(found.truth[asked])[taker]
            near = 1e-9 if kind in ("loops", "two skills") or name in ("hulls", "fills", "separators", "branch") else 1e-12
            for end in ("lower", "upper", "inner_lower", "inner_upper"):
                one, other = getattr(together[asked], end)[taker][known], getattr(reply, end)[0][known]
                assert np.abs(one - other).max(initial=0) <= near, (asked, end)


@pytest.mark.parametrize("seed", seeds([0, 1, 2]))
@pytest.mark.parametrize("name", CREDAL)
def test_width_zero_is_the_precise_value(name, seed):
    found = case("precise", seed)
    if not ENGINES[name].fits(found.model):
        pytest.skip("this engine does not fit this model")
    expected = replies_of("joint", found)
    for asked, reply in replies_of(name, found).items():
        known = told(found.truth[asked])
        if name == "vacuous":
            assert (reply.lower <= expected[asked].lower + SAFE).all()
            assert (reply.upper >= expected[asked].lower - SAFE).all()
            continue
        for end in reply.ends:
            assert np.abs(end[known] - expected[asked].lower[known]).max(initial=0) <= 1e-9


# Questions that tell nothing, and answers that cannot be given


def with_questions(found, *stated):
    """The case with further questions."""
    document = found.bank.document
    document["questions"] |= {f"more{number}": fields for number, fields in enumerate(stated)}
    return Case(Bank(document), found.takers)


@cases(names=("odds", "hulls", "fills", "separators", "branch", "joint", "junction", "chooser", "enumeration"))
def test_a_question_with_equal_precise_rows_changes_nothing(kind, name, seed):
    plain = case(kind, seed)
    rows = [{level: [0.3, 0.7] for level in skill.levels} for skill in plain.bank.skills.values()]
    found = with_questions(plain, *({"skill": skill, "table": row} for skill, row in zip(plain.bank.skills, rows, strict=True)))
    if not ENGINES[name].fits(found.model):
        pytest.skip("this engine does not fit this model")
    engine, layout = engine_of(name, found), found.evidence.layout
    for number in range(len(rows)):
        batch, row = layout.batch_of(layout.number[f"more{number}"])
        assert batch.is_silent[row]
        for variable in range(len(layout.model.sizes)):
            now, after = engine.now(variable), engine.after(batch, variable)
            for end in ("lower", "upper"):
                before = getattr(now, end)[:, None]
                apart = np.abs(getattr(after, end)[:, row] - before).max()
                assert apart <= (0 if name == "chooser" and not layout.is_precise else 1e-9 + 2 * now.gap), (variable, end)


@pytest.mark.parametrize("seed", seeds([0, 2]))
@pytest.mark.parametrize("kind", BANKS)
def test_of_an_answer_that_cannot_be_given_the_chooser_claims_nothing(kind, seed):
    plain = case(kind, seed)
    never = [
        {"skill": name, "classes": ["a", "b", "c"], "table": {level: [0, 0.4, 0.6] for level in s.levels}}
        for name, s in plain.bank.skills.items()
    ]
    if plain.bank.is_precise:
        listed = never
    else:  # and one that the set allows at some levels only
        listed = [{**one, "table": {**one["table"], list(one["table"])[-1]: [0, [0.3, 0.5], [0.5, 0.7]]}} for one in never]
    found = with_questions(plain, *listed)
    layout = found.evidence.layout
    chooser = Chooser(found.model, len(found.takers))
    for number in range(len(never)):
        batch, row = layout.batch_of(layout.number[f"more{number}"])
        answers = chooser.answers(batch)
        assert (answers.upper[:, row, 0] <= SAFE).all()
        for variable in range(len(layout.model.sizes)):
            after = chooser.after(batch, variable)
            for end in (after.lower, after.upper, after.inner_lower, after.inner_upper):
                assert not np.isnan(end).any()
                assert ((end >= 0) & (end <= 1)).all()
            assert (after.lower <= after.upper).all()
            if variable in batch.scope or "odds" not in after.method:
                assert (after.lower[:, row, 0] == 0).all()
                assert (after.upper[:, row, 0] == (0 if layout.is_precise else 1)).all()


def test_of_another_skill_after_an_answer_that_cannot_be_given_nothing_is_claimed():
    never = {"skill": "b", "classes": ["x", "y", "z"], "table": {"no": [0, 0.4, 0.6], "yes": [0, 0.5, 0.5]}}
    skills = {"a": {"prior": [[0.4, 0.6], [0.4, 0.6]]}, "b": {"parents": ["a"], "table": {"no": [0.7, 0.3], "yes": [0.2, 0.8]}}}
    evidence = evidence_of(Bank({"skills": skills, "questions": {"q": never}}), [{}])
    found = Chooser(evidence.model).after(evidence.layout.batches[0], 0)
    assert found.lower[0, 0, 0].tolist() == [0, 0]
    assert found.upper[0, 0, 0].tolist() == [1, 1]


# Evidence that contradicts itself


def agrees_with_logarithms(bank, *takers):
    """The chooser's replies, of all that may be asked, hold what enumeration in logarithms finds; the methods that found them."""
    evidence = repeated(bank, *takers)
    expected = replies_to(EnumerationEngine, evidence)
    if not np.isfinite(expected["now", 0].lower).all():
        return {"impossible"}
    made = replies_to(Chooser, evidence)
    for asked, reply in made.items():
        check(reply, expected[asked], 2e-9 if "branch" in reply.method else 1e-9, with_inner="bracket" not in reply.method)
    return {reply.method for reply in made.values()}


def replies_to(engine, evidence):
    return replies(engine(evidence.model, evidence.takers), evidence)


@pytest.mark.parametrize("seed", seeds(range(15), 300))
def test_no_wrong_number_is_called_exact_where_answers_contradict_each_other(seed):
    """Two and three levels, two skills and more, 20 to 800 answers on each."""
    graph = list(GRAPHS)[(0, 0, 1, 2, 0, 3, 4)[seed % 7]]
    bank = contradicting(seed, (3, 2, 3, 3)[seed % 4], graph, 300)
    agrees_with_logarithms(bank, answered(seed, bank, TIMES[seed % 5]))


def hard(levels, width=0.05, credal_table=False):
    """Skill `a`, and `b` that is never above it; one question on each. The prior is credal, and so is the table if wanted."""
    names = [f"l{level}" for level in range(levels)]
    rows = [[1 / (above + 1) if level <= above else 0 for level in range(levels)] for above in range(levels)]
    if credal_table:
        rows = [[[max(p - width, 0), min(p + width, 1)] if 0 < p < 1 else p for p in row] for row in rows]
    skills = {
        "a": {"levels": names, "prior": [[1 / levels - width, 1 / levels + width]] * levels},
        "b": {"levels": names, "parents": ["a"], "table": dict(zip(names, rows, strict=True))},
    }
    right = np.linspace(0.1, 0.9, levels).tolist()
    return Bank({"skills": skills, "questions": {"qa": {"skill": "a", "right": right}, "qb": {"skill": "b", "right": right}}})


@pytest.mark.parametrize("times", [20, 60, 130, 300, 800])
@pytest.mark.parametrize("levels", [2, 3])
def test_answers_against_a_prerequisite_are_worked_out_in_logarithms(levels, times):
    bank = hard(levels)
    given = [("qa", 0, times), ("qb", 1, times)]
    methods = agrees_with_logarithms(bank, given)
    assert methods == ({"odds"} if levels == 2 else {"fills"} if times == 800 else {"hulls"})
    loops, evidence = EveryNetwork(bank, given), repeated(bank, given)
    chooser = Chooser(evidence.model)
    for variable, skill in enumerate("ab"):
        for batch, question in zip(evidence.layout.batches, ("qa", "qb"), strict=True):
            same(chooser.after(batch, variable), (0, 0), loops.after(question, skill), 1e-9)
        same(chooser.now(variable), 0, loops.now(skill), 1e-9)


def test_the_front_doors_tell_the_same_of_contradicting_answers():
    """A bank with 130 questions on each of two skills: posterior and look-ahead against plain loops."""
    small = hard(3)
    document = small.document
    asked = {f"{name}{number}": fields for name, fields in document["questions"].items() for number in range(131)}
    bank = Bank({**document, "questions": asked})
    answers = {name: int(name[1] == "b") for name in asked if not name.endswith("130")}
    loops = EveryNetwork(small, [("qa", 0, 130), ("qb", 1, 130)])
    found, ahead = posterior(bank, answers), lookahead(bank, answers, "all")
    assert ahead.exact
    for skill in "ab":
        np.testing.assert_allclose([found[skill].lower, found[skill].upper], loops.now(skill), rtol=0, atol=1e-9)
    for group, question in zip(ahead.groups, ("qa", "qb"), strict=True):
        np.testing.assert_allclose([end[0, 0] for end in group.answers], loops.answers(question), rtol=0, atol=1e-9)
        for target in group.targets:
            np.testing.assert_allclose([end[0, 0] for end in target.after], loops.after(question, target.skill), rtol=0, atol=1e-9)


@pytest.mark.parametrize("times", [130, 300, 800])
def test_where_networks_are_many_every_one_of_them_is_inside(times):
    """Too many to try them all: what is claimed holds whatever vertices are drawn, also where plain numbers drown."""
    bank = hard(3, credal_table=True)
    bank = Bank({**bank.document, "imprecision": 0.03})
    given = [("qa", 0, times), ("qb", 1, times)]
    evidence = repeated(bank, given)
    assert combinations(evidence.model) > 1024
    made = replies_to(Chooser, evidence)
    if underflows(evidence.model, 1).any():
        assert {reply.method for reply in made.values()} == {"fills"}
        assert all(reply.gap == 0 for reply in made.values())
    rng = np.random.default_rng(times)
    for _ in range(12):
        one = repeated(bank.vertex(rng), given)
        for asked, reply in replies_to(lambda model, takers: ENGINES["joint"].make(model, takers), one).items():
            assert (made[asked].lower <= reply.lower + SAFE).all()
            assert (made[asked].upper >= reply.lower - SAFE).all()


@pytest.mark.parametrize("levels", [2, 3])
def test_takers_whose_numbers_drown_are_as_if_alone_and_so_are_the_others(levels):
    bank = hard(levels)
    takers = [[("qa", 0, times), ("qb", 1, other)] for times, other in ((0, 0), (800, 800), (1, 2), (300, 300), (20, 60), (800, 1))]
    together = repeated(bank, *takers)
    assert levels == 2 or underflows(together.model, len(takers)).tolist() == [False, True, False, False, False, False]
    made = replies_to(Chooser, together)
    for taker, given in enumerate(takers):
        for asked, reply in replies_to(Chooser, repeated(bank, given)).items():
            for end in ("lower", "upper", "inner_lower", "inner_upper"):
                np.testing.assert_allclose(getattr(made[asked], end)[taker], getattr(reply, end)[0], rtol=0, atol=1e-12)


# Faults that are known


@pytest.mark.parametrize("times", [180, 200, 250])
def test_three_skills_that_each_rule_out_the_others_drown_together(times):
    """Each skill's answers alone are not too much for plain numbers; what all three leave is below the smallest of them."""
    names = ["0", "1", "2"]
    table = {name: [float(name == other) for other in names] for name in names}
    skills = {"a": {"levels": names, "prior": [[0.3, 0.35], [0.3, 0.35], [0.3, 0.4]]}}
    skills |= {child: {"levels": names, "parents": [parent], "table": table} for child, parent in ("ba", "cb")}
    questions = {f"q{s}": {"skill": s, "right": [0.9 if level == place else 0.1 for level in range(3)]} for place, s in enumerate("abc")}
    agrees_with_logarithms(Bank({"skills": skills, "questions": questions}), [(question, 1, times) for question in questions])


def test_on_a_loop_the_bounds_of_a_taker_do_not_depend_on_who_else_is_there():
    """One has said nothing, another something of the skill that closes the loop: the first one's bounds are plain without it."""
    row = {"no, no": [0.9, 0.1], "no, yes": [0.6, 0.4], "yes, no": [0.5, 0.5], "yes, yes": [0.2, 0.8]}
    skills = {"a": {}, "b": {"parents": ["a"], "strength": 0.4}, "c": {"parents": ["a", "b"], "table": row}}
    bank = Bank({"skills": skills, "questions": {"q": {"skill": "c", "right": [0.2, 0.7]}}, "imprecision": 0.02})
    together = evidence_of(bank, [{}, {"q": 1}])
    alone = Chooser(evidence_of(bank, [{}]).model)
    for variable in range(3):
        found = Chooser(together.model, 2).now(variable)
        same(alone.now(variable), 0, (found.lower[0], found.upper[0]))


@pytest.mark.parametrize("seed", [27, 201, 311])
def test_a_set_of_messages_that_is_nearly_flat_keeps_its_corners(seed):
    """Four levels, of which the answers leave one so little that its likelihood hardly moves the others'."""
    rng, names = np.random.default_rng(seed), ["0", "1", "2", "3"]
    rng.dirichlet(np.ones(4))
    table = {name: rng.dirichlet(np.ones(4)).tolist() for name in names}
    skills = {"a": {"levels": names}, "b": {"levels": names, "parents": ["a"], "table": table}}
    bank = Bank({"skills": skills, "questions": {"q": {"skill": "b", "right": [[0.2, 0.3], 0.4, 0.6, 0.8]}}})
    stated = {"b": ([0.9, 0.006, 3e-4, 1e-17], [1, 0.016, 6e-4, 2e-14])}
    found, expected = (posterior(bank, {}, method, stated=stated)["a"] for method in ("auto", "enumeration"))
    np.testing.assert_allclose([found.lower, found.upper], [expected.lower, expected.upper], rtol=0, atol=1e-9)


def test_what_is_called_attained_is_attained_where_nothing_is_claimed():
    found = case("levels", 0)
    for asked, reply in replies_of("vacuous", found).items():
        check(reply, found.truth[asked])


def test_a_precise_row_has_one_way_to_be_filled():
    assert row_choices(Table.precise([1 / 8] * 8)) == 1
