"""What somebody else writes is registered, named, saved and refused like what is built in."""

import json
from dataclasses import dataclass
from importlib.metadata import EntryPoint

import numpy as np
import pytest

import quaestor as qs
from quaestor import registry
from quaestor.inference.chooser import ENGINES
from quaestor.inference.engine import Bracket
from quaestor.inference.engines.hulls import HullEngine
from quaestor.registry import RegisterError
from quaestor.selection.own_rules import RULES
from quaestor.selection.rules_file import read_rules
from quaestor.selection.scores.known import BLIND, DRAWN, SCORES
from quaestor.selection.stopping.criteria import SIMPLE, MaxQuestions
from quaestor.selection.stopping.criterion import Criterion
from quaestor.simulate.behaviours import BEHAVIOURS
from quaestor.simulate.study import StudyError, read_study

BANK = qs.load("four-skills")


@pytest.fixture(autouse=True)
def nothing_stays():
    known = (SCORES, SIMPLE, BEHAVIOURS, RULES, ENGINES)
    before = [set(one) for one in known]
    yield
    for one, names in zip(known, before, strict=True):
        for name in set(one) - names:
            one.remove(name)


def spread(ahead, bound, draws):
    """Likely answers are spread."""
    return ahead.spread(lambda group: 1 - np.abs(group.answers[1][..., -1] - 0.5))


def missed(now, n: int):
    """{n} {n:question was|questions were} missed"""
    return np.asarray(now.questions) - np.asarray(now.right) >= n


def short(now, minutes: float = 1.0):
    """only questions of {minutes:g} minutes"""
    return now.plan.layout.minutes <= minutes


def careless(p, now, share: float):
    """{share:.0%} of the answers are of the worst class"""
    p *= 1 - share
    p[:, 0] += share
    return p


# Scores


def test_a_score_is_named_in_rules_files_and_sessions():
    assert qs.register.score(spread) is spread
    rules = read_rules({"score": "spread", "then": "spread"})
    session = qs.Session(BANK, rules).answer("Q1", "right")
    again = qs.Session.from_json(BANK, session.to_json())
    assert again.rules == rules
    assert again.next == session.next
    assert qs.rank(BANK, {"Q1": "right"}, score="spread").ids[0] == session.next.id
    text = session.to_json()
    SCORES.remove("spread")
    with pytest.raises(qs.QuaestorError, match=r"score.*got 'spread' \(one of your own is registered by qs.register.score first"):
        qs.Session.from_json(BANK, text)


def test_what_a_score_says_of_itself_is_forgotten_with_it():
    qs.register.score(name="dice", draws=True, blind=True)(lambda ahead, bound, draws: draws.random(ahead.open))
    assert "dice" in DRAWN & BLIND
    assert qs.Rules(score="dice").is_random
    qs.register.remove("score", "dice")
    assert "dice" not in DRAWN | BLIND


@pytest.mark.parametrize("kind", ["score", "then"])
def test_an_unknown_score_is_refused_with_the_nearest(kind):
    qs.register.score(spread)
    with pytest.raises(qs.QuaestorError, match=f"{kind} is one of .*got 'spraed' .did you mean 'spread'"):
        qs.Rules(**{kind: "spraed"})
    with pytest.raises(qs.QuaestorError, match=r"did you mean 'spread'"):
        read_rules({kind: "spraed"})
    for wrong in (3, ["spread"], spread, None)[: 3 if kind == "then" else 4]:
        with pytest.raises(qs.QuaestorError, match=f"{kind} is one of"):
            qs.Rules(**{kind: wrong})


@pytest.mark.parametrize(
    ("gains", "words"),
    [
        (lambda ahead: np.zeros(3), r"shape \(takers, questions\) = \(1, 64\), got an array of float64 of shape \(3,\)"),
        (lambda ahead: np.full(ahead.open.shape, np.nan), "got nan for Q1"),
        (lambda ahead: None, "got an array of object"),
        (lambda ahead: np.full(ahead.open.shape, "a"), "got an array of <U1"),
    ],
)
def test_gains_of_another_shape_are_refused(gains, words):
    qs.register.score(name="odd")(lambda ahead, bound, draws: gains(ahead))
    with pytest.raises(RegisterError, match=f"score odd: one number.*{words}"):
        qs.rank(BANK, score="odd")


# Stop criteria


def test_a_stop_function_is_a_criterion():
    made = qs.register.stop(missed)
    rules = qs.Rules(stop=qs.any_of(qs.max_questions(5), made(2)))
    assert rules.document == {"stop": {"any_of": [{"max_questions": 5}, {"missed": 2}]}}
    assert read_rules(rules.document) == rules
    assert str(rules.stop.words) == "5 questions were asked or 2 questions were missed"
    session = qs.Session(BANK, rules)
    while session.next:
        session = session.answer(session.next.id, "wrong")
    assert session.stopped.reason == "2 questions were missed."
    assert session.stopped.rule == "missed"
    assert qs.Session.from_json(BANK, session.to_json()).stopped == session.stopped
    found = qs.simulate(BANK, rules, students=50, seed=2)
    wrong = (found.answers == 0).sum(axis=1)
    assert found.stops["missed"] == (wrong == 2).sum() > 0


def test_settings_are_of_the_kind_that_the_function_says():
    made = qs.register.stop(missed)
    for wrong in (1.5, True, "2", None, [2]):
        with pytest.raises(qs.QuaestorError, match=r"missed.n: a whole number, got"):
            made(wrong)
    with pytest.raises(qs.RulesError, match=r"stop.missed: a whole number, got 1.5"):
        read_rules({"stop": {"missed": 1.5}})
    with pytest.raises(qs.RulesError, match=r"the settings are n"):
        read_rules({"stop": {"missed": {"m": 2}}})
    with pytest.raises(qs.RulesError, match=r"a known criterion is expected, got 'mised' \(did you mean 'missed'"):
        read_rules({"stop": {"mised": 2}})
    with pytest.raises(qs.RulesError, match=r"known: max_questions.*qs.register.stop"):
        read_rules({"stop": {"xyz": 2}})


def test_a_stop_function_gives_truths():
    made = qs.register.stop(name="odd")(lambda now: np.asarray(now.questions) + 0.5)
    with pytest.raises(RegisterError, match=r"stop odd: true or false for each taker, shape \(takers,\) = \(1,\), got an array of float64"):
        qs.Session(BANK, qs.Rules(stop=made())).next  # noqa: B018


def test_a_subclass_is_never_saved_as_its_parent():
    class Fewer(MaxQuestions):
        def holds(self, now):
            return np.asarray(now.questions) >= self.n - 1

    with pytest.raises(RegisterError, match=r"Fewer: a stop that is saved has a name of its own, got that of another, 'max_questions'"):
        qs.Rules(stop=Fewer(3)).document  # noqa: B018
    with pytest.raises(RegisterError, match=r"a class with a name of its own, got Fewer"):
        qs.register.stop(Fewer)

    @dataclass(frozen=True)
    class Mine(MaxQuestions):
        name = "max_questions"

    with pytest.raises(RegisterError, match=r"Mine: a stop that is saved has a name of its own"):
        qs.Session(BANK, qs.Rules(stop=qs.any_of(Mine(3)))).to_json()

    class Stricter(qs.Rules):
        pass

    with pytest.raises(qs.QuaestorError, match=r"Rules themselves, got Stricter"):
        Stricter().document  # noqa: B018


def test_a_criterion_that_is_a_class():
    @qs.register.stop
    @dataclass(frozen=True)
    class Sure(Criterion):
        least: float = 0.9
        name = "sure_of_all"

        def holds(self, now):
            return np.stack([bounds.lower.max(axis=-1) for bounds in now.beliefs.values()]).min(axis=0) >= self.least

        def decides(self, bounds):
            return bounds.lower.max(axis=-1) >= self.least

    rules = qs.Rules(retire=Sure(0.8))
    assert read_rules(rules.document) == rules == read_rules({"retire": {"sure_of_all": 0.8}})
    assert qs.Session(BANK, rules).next
    with pytest.raises(qs.RulesError, match=r"a criterion on one skill"):
        qs.Rules(retire=qs.register.stop(missed)(2))


# Rules


def test_a_rule_narrows_the_choice():
    bank = qs.Bank(
        {
            "skills": {"s": {"prior": [0.5, 0.5]}},
            "questions": {f"Q{n}": {"skill": "s", "right": [0.1 * n, 0.9], "minutes": n} for n in range(1, 5)},
        }
    )
    made = qs.register.rule(short)
    rules = qs.Rules(score="entropy", narrow=[made(2.0)])
    assert rules.document == {"score": "entropy", "narrow": [{"short": 2.0}]}
    assert read_rules(rules.document) == rules
    assert qs.Rules(narrow=["short"]) == qs.Rules(narrow=[made()]) == read_rules({"narrow": ["short"]})
    session = qs.Session(bank, rules)
    assert [(note.rule, note.text, note.left) for note in session.choice.narrowed] == [("short", "only questions of 2 minutes", 2)]
    found = qs.simulate(bank, rules, students=20, seed=1)
    assert set(found.asked.ravel()) <= {"Q1", "Q2"}
    assert found.length == 2
    with pytest.raises(qs.QuaestorError, match="the rule 'narrow'; simulate instead"):
        qs.expected(bank, rules)
    none = qs.Rules(narrow=[made(0.5)])
    assert qs.Session(bank, none).next is None
    kinder = qs.register.rule(name="short_if_any", or_all=True, words="short ones, if any")(lambda now: now.plan.layout.minutes <= 0.5)
    assert qs.Session(bank, qs.Rules(narrow=[kinder()])).next is not None


@pytest.mark.parametrize("wrong", ["shorter", 3, None, MaxQuestions(3)])
def test_what_is_no_rule_is_refused(wrong):
    qs.register.rule(short)
    with pytest.raises(qs.RulesError, match=r"narrow\[0\]: a registered rule is expected, got"):
        qs.Rules(narrow=[wrong])
    with pytest.raises(qs.RulesError, match=r"narrow: a list is expected, got 'short'"):
        qs.Rules(narrow="short")
    with pytest.raises(qs.RulesError, match=r"narrow\[0\]: a registered rule is expected, got 'shrt' .did you mean 'short'"):
        read_rules({"narrow": ["shrt"]})


def test_a_rule_that_draws_says_so():
    @qs.register.rule(draws=True)
    def half(now):
        """about half of the questions, drawn"""
        return now.draws(np.arange(now.takers), 100).random(~now.asked) < 0.5

    rules = qs.Rules(score="order", narrow=[half()], stop=qs.max_questions(3))
    assert rules.is_random
    with pytest.raises(qs.QuaestorError, match=r"draw nothing at random, got narrow: half"):
        qs.policy(BANK, rules, depth=2)
    found = qs.simulate(BANK, rules, students=20, seed=1)
    assert len({tuple(row) for row in found.asked.tolist()}) > 10
    assert (found.asked == qs.simulate(BANK, rules, students=30, seed=1).asked[:20]).all()


def test_a_mask_of_another_shape_is_refused():
    made = qs.register.rule(name="odd")(lambda now: np.ones(3, dtype=bool))
    with pytest.raises(RegisterError, match=r"rule odd: true or false for each question, shape \(takers, questions\) = \(1, 64\), got"):
        qs.Session(BANK, qs.Rules(narrow=[made()])).next  # noqa: B018


# Behaviours


def test_a_behaviour_is_a_function():
    made = qs.register.behaviour(careless)
    rules = qs.Rules(score="order", stop=qs.max_questions(10))
    found = qs.simulate(BANK, rules, students=200, seed=1, behaviour=made(0.25))
    same = qs.simulate(BANK, rules, students=200, seed=1, behaviour=qs.Behaviour(slips=0.25))
    assert (found.answers == same.answers).all()  # as the built-in one
    both = qs.simulate(BANK, rules, students=200, seed=1, behaviour=qs.Behaviour(guessing=0.1, own=made(0.25)))
    slips = qs.simulate(BANK, rules, students=200, seed=1, behaviour=qs.Behaviour(guessing=0.1, slips=0.25))
    assert (both.answers == slips.answers).all()


def test_what_is_missing_to_one_is_skipped():
    @qs.register.behaviour
    def tired(p, now, share: float):
        """{share:.0%} of the questions after the first are skipped"""
        return np.where((now.before > 0)[:, None], (1 - share) * p, p)

    found = qs.simulate(BANK, qs.Rules(score="order", stop=qs.max_questions(4)), students=400, seed=1, behaviour=tired(0.5))
    none = qs.simulate(BANK, qs.Rules(score="order", stop=qs.max_questions(4)), students=400, seed=1)
    skipped = found.answers == -1
    assert not skipped[:, 0].any()
    assert abs(skipped[:, 1:].mean() - 0.5) < 0.05
    assert (found.answers == none.answers)[~skipped].all()  # common random numbers


def test_a_behaviour_sees_levels_and_earlier_answers():
    seen = []

    @qs.register.behaviour
    def looks(p, now):
        """nothing changes"""
        seen.append(now)
        return p

    found = qs.simulate(BANK, qs.Rules(score="order", stop=qs.max_questions(3)), students=30, seed=1, behaviour=looks())
    assert [now.before.tolist() for now in seen] == [[step] * 30 for step in range(3)]
    last = seen[-1]
    assert last.levels.shape == (30, 4)
    assert last.answers.shape == (30, 64)
    assert (last.answers[:, :2] == found.answers[:, :2]).all()
    assert (last.answers[:, 2:] == -2).all()
    assert [last.ids[number] for number in last.questions] == found.asked[:, 2].tolist()


@pytest.mark.parametrize("wrong", ["careless", 0.1, {"slips": 0.1}, careless, [0.1]])
def test_what_is_no_behaviour_is_refused(wrong):
    with pytest.raises(qs.QuaestorError, match=r"behaviour: a Behaviour, or one that was made by qs.register.behaviour, got"):
        qs.simulate(BANK, students=1, behaviour=wrong)
    with pytest.raises(qs.QuaestorError, match=r"behaviour.own: behaviours made by"):
        qs.Behaviour(own=wrong)
    with pytest.raises(qs.QuaestorError, match=r"called with its settings"):
        qs.simulate(BANK, students=1, behaviour=qs.register.behaviour(careless))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda p: p[:, :1], r"= \(5, 2\), got an array of float64 of shape \(5, 1\)"),
        (lambda p: p * 2, "summing to at most 1, got"),
        (lambda p: p - 1, "from 0 to 1"),
        (lambda p: np.full_like(p, np.nan), "from 0 to 1.*nan"),
        (lambda p: None, "got an array of object"),
    ],
)
def test_probabilities_of_another_shape_are_refused(change, words):
    made = qs.register.behaviour(name="odd")(lambda p, now: change(p))
    with pytest.raises(RegisterError, match=f"behaviour odd: probabilities.*{words}"):
        qs.simulate(BANK, students=5, behaviour=made())


def test_a_study_names_behaviours(tmp_path):
    stated = {"title": "T", "bank": "four-skills", "students": 10, "methods": {"m": {"rules": {"stop": {"max_questions": 2}}}}}
    made = qs.register.behaviour(careless)
    study = read_study({**stated, "behaviour": {"fatigue": 0.1, "careless": 0.2}}, tmp_path)
    assert study.behaviour == qs.Behaviour(fatigue=0.1, own=(made(0.2),))
    assert study.behaviour.document == {"fatigue": 0.1, "careless": 0.2}
    assert set(study.run()) == {"m"}
    with pytest.raises(StudyError, match=r"behaviour.carless: a known behaviour.*did you mean 'careless'"):
        read_study({**stated, "behaviour": {"carless": 0.2}}, tmp_path)
    with pytest.raises(StudyError, match=r"behaviour.careless: a number, got 'many'"):
        read_study({**stated, "behaviour": {"careless": "many"}}, tmp_path)


def test_a_folder_of_parquet_says_how_they_behaved(tmp_path):
    made = qs.register.behaviour(careless)
    qs.simulate(BANK, qs.Rules(stop=qs.max_questions(2)), students=5, behaviour=made(0.2), out=tmp_path / "out")
    about = json.loads((tmp_path / "out" / "_simulation.json").read_text(encoding="utf-8"))
    assert about["behaviour"] == {"careless": 0.2}
    assert about["own"] == {"behaviour careless": f"{__name__}:careless"}
    with pytest.raises(qs.QuaestorError, match=r"one simulation"):
        qs.simulate(BANK, qs.Rules(stop=qs.max_questions(2)), students=5, behaviour=made(0.3), out=tmp_path / "out")


# Engines


def test_an_engine_is_tried_first_and_named():
    @qs.register.engine(fits=lambda model: True, needs="any model")
    class plain_hulls(HullEngine):  # noqa: N801
        def now(self, variable):
            return super().now(variable)._replace(method="plain_hulls")

    bank = BANK.widen(0.05)
    assert next(iter(ENGINES)) == "plain_hulls"
    assert qs.posterior(bank).method == "plain_hulls" == qs.posterior(bank, method="plain_hulls").method
    qs.register.remove("engine", "plain_hulls")
    assert qs.posterior(bank).method == "odds"
    with pytest.raises(qs.QuaestorError, match=r"method is one of.*got 'plain_hulls' .did you mean 'hulls'"):
        qs.posterior(bank, method="plain_hulls")


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (lambda: (0, 1), "gives a Bracket of arrays of shape .takers, states. = .1, 2., got tuple"),
        (lambda: Bracket.exact(np.zeros(2), np.ones(2), "x"), r"got shape \(2,\)"),
        (lambda: Bracket.exact(np.full((1, 2), np.nan), np.ones((1, 2)), "x"), "got NaN"),
    ],
)
def test_replies_of_another_shape_are_refused(reply, words):
    @qs.register.engine(fits=lambda model: True, needs="any model", name="odd")
    class Odd(HullEngine):
        def now(self, variable):
            return reply()

    with pytest.raises(RegisterError, match=f"engine odd: `now` .*{words}"):
        qs.posterior(BANK.widen(0.05))


# What all kinds share


@pytest.mark.parametrize(
    ("way", "function", "words"),
    [
        (qs.register.score, lambda ahead: 0, r"score: a function of \(ahead, bound, draws\), got <lambda>\(ahead\)"),
        (qs.register.score, 3, "score: a function of .* got 3"),
        (qs.register.score, lambda a, b, c, d: 0, "score: a function of"),
        (qs.register.score, lambda a, b, c: 0, "a name of letters, digits, - and _ that begins with a letter, got '<lambda>'"),
        (qs.register.stop, lambda: True, r"stop: a function of \(now, \*\*settings\), got"),
        (qs.register.stop, lambda now, *more: True, "stop: a function of"),
        (qs.register.stop, lambda now, **more: True, "stop: a function of"),
        (qs.register.stop, 3, "stop: a function of"),
        (qs.register.stop, dict, "stop: a function, or a frozen dataclass that is a Criterion, got dict"),
        (qs.register.rule, "short", "rule: a function of"),
        (qs.register.behaviour, lambda p: p, r"behaviour: a function of \(p, now, \*\*settings\)"),
        (qs.register.engine(fits=lambda model: True, needs="all"), object, "engine: a function of|engine: a class with the methods"),
    ],
)
def test_what_cannot_be_registered_is_refused(way, function, words):
    with pytest.raises(RegisterError, match=words):
        way(function)


def test_names_are_taken_once():
    for kind, name in (("score", "entropy"), ("stop", "max_questions"), ("stop", "any_of"), ("behaviour", "slips"), ("score", "auto")):
        given = {"score": spread, "stop": missed, "behaviour": careless}[kind]
        with pytest.raises(RegisterError, match=f"{kind}.*(not built in|that begins with a letter)"):
            getattr(qs.register, kind)(given, name=name)
    qs.register.score(spread)
    qs.register.score(spread)  # a cell of a notebook runs again
    with pytest.raises(RegisterError, match=r"score spread: a name that is free, got that of .*test_register:spread"):
        qs.register.score(missed_by_all, name="spread")
    with pytest.raises(RegisterError, match=r"score entropy: what was registered can be removed, got what is built in"):
        qs.register.remove("score", "entropy")
    with pytest.raises(RegisterError, match=r"kind is one of score, stop, behaviour, rule, engine, got 'scores'"):
        qs.register.remove("scores", "spread")


def missed_by_all(ahead, bound, draws):
    return spread(ahead, bound, draws)


def test_words_name_settings_only():
    with pytest.raises(RegisterError, match=r"words that name its settings in braces, got '\{m\}'"):
        qs.register.stop(missed, words="{m} were missed")
    with pytest.raises(RegisterError, match=r"fits: a function of"):
        qs.register.engine(fits=3, needs="x")
    with pytest.raises(RegisterError, match=r"needs says in words"):
        qs.register.engine(fits=lambda model: True, needs="")


def test_packages_declare_what_they_register(monkeypatch, tmp_path):
    (tmp_path / "of_a_package.py").write_text(
        "import quaestor as qs\n\n\n@qs.register.score\ndef packed(a, b, c):\n    return a.open * 1.0\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    points = {
        name: EntryPoint(name, value, "quaestor.scores")
        for name, value in {"packed": "of_a_package:packed", "absent": "no_such_module", "empty": "json"}.items()
    }
    monkeypatch.setattr(registry, "_declared", lambda kind: points if kind == "score" else {})
    assert "packed" not in SCORES
    assert qs.Session(BANK, qs.Rules(score="packed")).next is not None
    assert SCORES.home("packed") == "of_a_package:packed"
    with pytest.raises(qs.QuaestorError, match=r"did you mean 'packed'"):
        qs.Rules(score="paked")
    with pytest.raises(RegisterError, match=r"score absent: what can be imported from no_such_module, got ModuleNotFoundError"):
        qs.Rules(score="absent")
    with pytest.raises(RegisterError, match=r"score empty: json registers it by qs.register.score, got nothing"):
        qs.Rules(score="empty")


def test_entry_points_are_read_when_a_name_is_not_known(monkeypatch):
    asked = []
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: asked.append(group) or [])
    registry._declared.cache_clear()
    qs.Session(BANK, qs.Rules(score="entropy", stop=qs.max_questions(3))).to_json()
    assert asked == []
    with pytest.raises(qs.QuaestorError):
        qs.Rules(score="nobody")
    assert asked == ["quaestor.scores"]
    registry._declared.cache_clear()


def test_documents_are_json():
    made, rule = qs.register.stop(missed), qs.register.rule(short)
    json.dumps(qs.Rules(stop=made(2), narrow=[rule()]).document)
