"""The rules of a test: which question is asked next, when the test stops, what a skip means. A frozen value, readable from a file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from types import MappingProxyType
from typing import Any

from quaestor.bankfile.bank import Bank
from quaestor.errors import Problem, QuaestorError, Words, all_of_them, expect, format_value, is_among, nearest, several
from quaestor.i18n import say
from quaestor.inference.layout import layout_of
from quaestor.inference.lookahead import TargetError, Targets, wanted
from quaestor.selection.own_rules import RULES, OwnRule, own_rules
from quaestor.selection.ranking import check_options
from quaestor.selection.scores.known import DRAWN, UNCERTAINTY
from quaestor.selection.stopping.criterion import OF_SKILL, Criterion

MOST_AHEAD = 40_000  # sets of answers that a step looks at which looks further than one question ahead
MISSING, WRONG = "missing", "wrong"  # what a skip means, unless it names an answer class
Fault = tuple[str, str, object] | tuple[str, str, object, str]  # place, rule, value, perhaps a hint


class RulesError(QuaestorError):
    """Rules that cannot be followed, or that do not fit a bank: all of it in `problems`; `source` names the file, if there is one."""

    def __init__(self, problems: Sequence[Problem], source: str = "") -> None:
        self.problems, self.source = tuple(problems), source
        super().__init__(all_of_them(problems, source))


@dataclass(frozen=True)
class Content:
    """How much is asked of one skill or group (`of`): at least, at most, or a share of the questions."""

    of: str
    least: int = 0
    most: int | None = None
    share: float | None = None


@dataclass(frozen=True)
class Variety:
    """After so many questions in a row of the same skills, group or template another one is asked, for at most so much of the gain."""

    after: int = 2
    give_up: float = 0.2
    of: tuple[str, ...] = ("skill", "group", "template")

    def __post_init__(self) -> None:
        of = [self.of] if isinstance(self.of, str) else several("variety.of", self.of, "a list is expected")
        object.__setattr__(self, "of", tuple(of))


@dataclass(frozen=True)
class Robust:
    """Choose by vote: the bank is scored under so many networks of the set (vertices, drawn with the seed).

    `choose`: the question that is best for `most` of them, or the `least exposed` of those that are best for at least one.
    """

    networks: int = 32
    choose: str = "most"
    seed: int = 0


@dataclass(frozen=True)
class Exposure:
    """Who has seen what. `rates`: the share of takers that each question was asked; a question at or above `most` rests.

    `chances` (Sympson-Hetter): the probability that a question, once chosen, is really asked; if it is not, the next best is tried.
    """

    most: float | None = None
    rates: Mapping[str, float] = field(default_factory=dict, hash=False)
    chances: Mapping[str, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name in ("rates", "chances"):
            expect(f"exposure.{name}", getattr(self, name), Mapping, "a map from questions to numbers is expected")
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> tuple[Any, ...]:
        return Exposure, (self.most, dict(self.rates), dict(self.chances))


@dataclass(frozen=True)
class Rules:
    """How a test is run; docs/rules.md explains every rule. `score`, `then`, `bound`, `target`, `per` are those of `rank`."""

    score: str = "mode"
    then: str | None = "auto"
    bound: str = "upper"
    target: Targets = field(default="scope", hash=False)
    per: str | None = None
    stop: Criterion | None = None
    first: tuple[str, ...] = ()
    first_among: int = 1
    mandatory: tuple[str, ...] = ()
    among: int = 1
    progressive: float | None = None
    proportional: float | None = None
    exposure: Exposure = Exposure()
    content: tuple[Content, ...] = ()
    exclude: tuple[tuple[str, ...], ...] = ()
    testlets: tuple[tuple[str, ...], ...] = ()
    pilots: int = 0
    variety: Variety | None = None
    robust: Robust | None = None
    retire: Criterion | None = None
    skips: str = MISSING
    may_skip: bool = True
    only_next: bool = False
    withdrawn: tuple[str, ...] = ()
    least_answers: int | None = None
    ahead: int = 1
    shadow: bool = False
    narrow: tuple[OwnRule, ...] = ()

    def __post_init__(self) -> None:
        check_options(self.score, self.bound, self.then, self.per)
        _raise(_misshapen(self))
        for name in ("first", "mandatory", "content", "withdrawn"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "narrow", own_rules(self.narrow))
        for name in ("exclude", "testlets"):
            object.__setattr__(self, name, tuple(tuple(ids) for ids in getattr(self, name)))
        if isinstance(self.target, Sequence) and not isinstance(self.target, str):
            object.__setattr__(self, "target", tuple(self.target))
        _raise(_faults(self))

    @property
    def document(self) -> dict[str, Any]:
        """The rules as plain data: what differs from the default."""
        if type(self) is not Rules:
            raise QuaestorError(f"rules that are saved are Rules themselves, got {type(self).__name__}, which would be read back as Rules")
        return plain(self)

    @property
    def is_random(self) -> bool:
        """Whether anything is drawn: then another seed may lead to other questions."""
        drawn = self.among > 1 or self.first_among > 1 or bool(self.exposure.chances) or self.pilots > 0
        drawn = drawn or self.progressive is not None or self.proportional is not None
        return drawn or bool(DRAWN & {self.score, self.then}) or any(rule.draws for rule in self.narrow)

    @property
    def looks_far(self) -> bool:
        """Whether a step takes much longer than the gains of one question: it looks further ahead, or puts a whole test together."""
        return self.ahead > 1 or self.shadow or (self.stop is not None and any(one.looks_far for one in self.stop.simple()))

    def check(self, bank: Bank) -> None:
        """Refuse rules that name what a bank does not have."""
        layout_of(bank)  # which refuses what is no bank
        _raise(_misfits(self, bank))


def rules_of(stated: object) -> Rules:
    """Rules from what a caller gives: rules, or None for the default."""
    if not isinstance(stated, Rules | None):
        found = format_value(stated)
        raise RulesError([Problem("rules", "Rules(...) are expected", found, "qs.load_rules reads a file")])
    return Rules() if stated is None else stated


def plain(rules: Any) -> dict[str, Any]:
    """The fields of a part of the rules that differ from their defaults, as they stand in a file."""
    found = {}
    default = type(rules)("") if isinstance(rules, Content) else type(rules)()
    for one in fields(rules):
        value = getattr(rules, one.name)
        if value != getattr(default, one.name):
            found[one.name] = _plain_value(value)
    return found


def _plain_value(value: Any) -> Any:
    if isinstance(value, Criterion | OwnRule):
        return value.document
    if is_dataclass(value):
        return plain(value)
    if isinstance(value, Mapping):
        return {key: _plain_value(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [_plain_value(one) for one in value]
    return "none" if value is None else value


def _raise(faults: Iterator[Fault]) -> None:
    problems = [Problem(place, rule, format_value(value), hint[0] if hint else "") for place, rule, value, *hint in faults]
    if problems:
        raise RulesError(problems)


def _whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _misshapen(rules: Rules) -> Iterator[Fault]:
    """Fields that hold another kind of thing; one id where several are expected would have its letters taken for ids."""
    for name in ("first", "mandatory", "content", "exclude", "testlets", "withdrawn", "narrow"):
        value = getattr(rules, name)
        if not _listed(value):
            yield name, say("a list is expected"), value
        elif name in ("exclude", "testlets"):
            yield from ((f"{name}[{number}]", say("a list is expected"), ids) for number, ids in enumerate(value) if not _listed(ids))
            strange = (one for ids in value if _listed(ids) for one in ids if not isinstance(one, str))
            yield from ((name, say("a question of the bank"), one) for one in strange)
        elif name in ("first", "mandatory", "withdrawn"):
            yield from ((name, say("a question of the bank"), one) for one in value if not isinstance(one, str))
    if _listed(rules.narrow):
        strange = ((number, one) for number, one in enumerate(own_rules(rules.narrow)) if not isinstance(one, OwnRule))
        yield from ((f"narrow[{number}]", say("a registered rule is expected"), one, RULES.hint(one)) for number, one in strange)
    if _listed(rules.content):
        wrong = ((number, one) for number, one in enumerate(rules.content) if not isinstance(one, Content))
        yield from ((f"content[{number}]", say("a Content is expected"), one) for number, one in wrong)
    if not isinstance(rules.skips, str):
        yield "skips", say("one of {words} is expected", words="missing, wrong"), rules.skips
    kinds = {"exposure": Exposure, "variety": Variety | None, "robust": Robust | None, "only_next": bool, "may_skip": bool, "shadow": bool}
    for name, kind in kinds.items():
        if not isinstance(getattr(rules, name), kind):
            rule = say("true or false is expected") if kind is bool else say("{kind} is expected", kind=f"{name.capitalize()}(...)")
            yield name, rule, getattr(rules, name)
    target = rules.target
    if isinstance(target, Mapping):
        wrong_weights = ((skill, weight) for skill, weight in target.items() if not _weight(weight))
        yield from ((f"target.{skill}", say("a weight above 0"), weight) for skill, weight in wrong_weights)
    elif not isinstance(target, str) and not _listed(target):
        yield "target", say("scope, all, joint, skills, or weights by skill"), target
    if isinstance(target, Sequence | Mapping) and not target:
        yield "target", say("a target names at least one skill"), say("none")


def _listed(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _weight(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e100


def _faults(rules: Rules) -> Iterator[Fault]:
    """What is wrong with rules whatever the bank."""
    for name in ("stop", "retire"):
        if not isinstance(getattr(rules, name), Criterion | None):
            yield name, say("a criterion such as max_questions(20) is expected"), getattr(rules, name)
    for criterion in rules.retire.simple() if isinstance(rules.retire, Criterion) else ():
        if not criterion.is_of_skill:
            yield "retire", say("a criterion on one skill: {criteria}", criteria=", ".join(OF_SKILL)), criterion.name
    for name, least in (("first_among", 1), ("among", 1), ("pilots", 0), ("least_answers", 1), ("ahead", 1)):
        value = getattr(rules, name)
        if not _whole(value, least) and not (name == "least_answers" and value is None):
            yield name, say("a whole number of at least {least}", least=least), value
    yield from _progress_faults(rules)
    for number, content in enumerate(rules.content):
        yield from _content_faults(f"content[{number}]", content)
    if sum(content.share or 0 for content in rules.content) > 1 + 1e-9:
        yield "content", say("shares sum to at most 1"), sum(content.share or 0 for content in rules.content)
    for name in ("exclude", "testlets"):
        for number, ids in enumerate(getattr(rules, name)):
            if len(set(ids)) < max(2, len(ids)):
                yield f"{name}[{number}]", say("two or more different questions"), Words(", ".join(ids)) if ids else say("none")
    seen = [question for testlet in rules.testlets for question in testlet]
    yield from (("testlets", say("a question is in one testlet"), question) for question in dict.fromkeys(seen) if seen.count(question) > 1)
    if rules.variety is not None:
        yield from _variety_faults(rules.variety)
    if rules.robust is not None:
        yield from _robust_faults(rules.robust)
    yield from _exposure_faults(rules.exposure)
    yield from _far_faults(rules)


def _far_faults(rules: Rules) -> Iterator[Fault]:
    """What is wrong with looking further ahead, which adds up gains of several questions, and with whole tests."""
    if rules.shadow and not (isinstance(rules.stop, Criterion) and rules.stop.most_questions() is not None):
        yield "shadow", say("a whole test has a length: a stop with max_questions is needed"), say("none")
    if not _whole(rules.ahead, 2):
        return
    if rules.score not in UNCERTAINTY:
        yield "ahead", say("for the scores {words}, whose gains add up", words=", ".join(UNCERTAINTY)), rules.score
    if rules.target == "scope":
        yield "ahead", say("for a target that is the same for all questions: all, joint, or skills"), rules.target
    if rules.per is not None:
        yield "ahead", say("for gains of questions, not of minutes"), f"per: {rules.per}"


def _progress_faults(rules: Rules) -> Iterator[Fault]:
    """What is wrong with rules that weigh what questions tell against chance."""
    ways = ("progressive", "proportional")
    others = [name for name in (*ways, "among", "first_among") if not is_among(getattr(rules, name), (getattr(Rules, name),))]
    others += ["exposure.chances"] if rules.exposure.chances else []
    for name in (name for name in ways if getattr(rules, name) is not None):
        value = getattr(rules, name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e3:
            yield name, say("an acceleration of at least 0"), value
        if len(others) > 1:
            yield name, say("one way to draw a question"), Words(", ".join(others))


def _robust_faults(robust: Robust) -> Iterator[Fault]:
    if not _whole(robust.networks, 1):
        yield "robust.networks", say("a whole number of at least {least}", least=1), robust.networks
    if not is_among(robust.choose, ("most", "least exposed")):
        yield "robust.choose", say("one of {words} is expected", words="most, least exposed"), robust.choose
    if not _whole(robust.seed, 0):
        yield "robust.seed", say("a whole number of at least {least}", least=0), robust.seed


def _exposure_faults(exposure: Exposure) -> Iterator[Fault]:
    if exposure.most is not None and not (_share(exposure.most) and exposure.most > 0):
        yield "exposure.most", say("a rate above 0 and at most 1"), exposure.most
    for name in ("rates", "chances"):
        for question, value in getattr(exposure, name).items():
            if not _share(value):
                yield f"exposure.{name}.{question}", say("a number between 0 and 1"), value


def _content_faults(place: str, content: Content) -> Iterator[Fault]:
    if not _whole(content.least, 0):
        yield f"{place}.least", say("a whole number of at least {least}", least=0), content.least
    elif content.most is not None and not _whole(content.most, content.least):
        yield f"{place}.most", say("a whole number that is not below the least"), content.most
    if content.share is not None and not _share(content.share):
        yield f"{place}.share", say("a share between 0 and 1"), content.share


def _variety_faults(variety: Variety) -> Iterator[Fault]:
    if not _whole(variety.after, 1):
        yield "variety.after", say("a whole number of at least {least}", least=1), variety.after
    if not _share(variety.give_up):
        yield "variety.give_up", say("a share between 0 and 1"), variety.give_up
    for kind in variety.of:
        if not is_among(kind, ("skill", "group", "template")):
            yield "variety.of", say("one of {words} is expected", words="skill, group, template"), kind


def _misfits(rules: Rules, bank: Bank) -> Iterator[Fault]:
    """What does not fit a bank."""
    yield from _unknown_questions(rules, bank)
    yield from _misplaced_pilots(rules, bank)
    for name in ("progressive", "proportional"):
        if getattr(rules, name) is not None and (rules.stop is None or rules.stop.most_questions() is None):
            yield name, say("a limit on the questions of the test is needed, such as max_questions"), say("none")
    groups = {question.group for question in bank.questions.values() if question.group} if rules.content else set()
    for number, content in enumerate(rules.content):
        if content.of not in bank.skills and content.of not in groups:
            yield f"content[{number}].of", say("a skill or a group of the bank"), content.of, nearest(content.of, [*bank.skills, *groups])
    if rules.skips not in (MISSING, WRONG):
        lacking = [question.id for question in bank.questions.values() if rules.skips not in question.classes]
        if lacking:
            rule = say("missing, wrong, or an answer class that every question has (not {question})", question=lacking[0])
            yield "skips", rule, rules.skips
    if rules.ahead > 1:
        yield from _too_far(rules, bank)
    try:
        wanted(layout_of(bank), rules.target)
    except TargetError as error:
        yield "target", error.rule, error.value, error.hint
    for criterion in rules.stop.simple() if rules.stop is not None else ():
        if getattr(criterion, "over", "") == "joint" and not bank.is_precise:
            yield "stop", say("the joint uncertainty is for precise banks"), say("a credal bank")
        if criterion.name == "same_decision" and not bank.is_precise:
            yield "stop", say("whether more questions would change the result is known for precise banks"), say("a credal bank")
        skill = getattr(criterion, "skill", "")
        if skill not in ("", "each", *bank.skills):
            yield "stop", say("a skill of the bank, or each"), skill, nearest(skill, bank.skills)
        elif level := getattr(criterion, "level", ""):
            skills = list(bank.skills.values()) if skill in ("", "each") else [bank.skills[skill]]
            for other in (one for one in skills if level not in one.levels[1:]):
                words = {"skill": other.id, "levels": ", ".join(other.levels[1:])}
                yield "stop", say("a cut is a level of {skill} above the lowest: {levels}", **words), level


def _too_far(rules: Rules, bank: Bank) -> Iterator[Fault]:
    if not bank.is_precise:
        yield "ahead", say("looking further ahead is for precise banks"), say("a credal bank")
    answers = sum(batch.low.shape[0] * batch.low.shape[1] for batch in layout_of(bank).batches)  # to tables that are different
    if answers ** (rules.ahead - 1) > MOST_AHEAD:
        rule = say(
            "a step looks at no more than {most} sets of answers (here there are {answers} answers)", most=MOST_AHEAD, answers=answers
        )
        yield "ahead", rule, rules.ahead


def _unknown_questions(rules: Rules, bank: Bank) -> Iterator[Fault]:
    listed = [("first", rules.first), ("mandatory", rules.mandatory), ("withdrawn", rules.withdrawn)]
    listed += [(f"exclude[{n}]", ids) for n, ids in enumerate(rules.exclude)]
    listed += [(f"testlets[{n}]", ids) for n, ids in enumerate(rules.testlets)]
    listed += [("exposure.rates", tuple(rules.exposure.rates)), ("exposure.chances", tuple(rules.exposure.chances))]
    for place, ids in listed:
        for question in ids:
            if question not in bank.questions:
                yield place, say("a question of the bank"), question, nearest(question, bank.questions)


def _misplaced_pilots(rules: Rules, bank: Bank) -> Iterator[Fault]:
    for question in rules.mandatory:
        if question in bank.questions and bank.questions[question].pilot:
            yield "mandatory", say("a question that counts, not a pilot question"), question
    for number, testlet in enumerate(rules.testlets):
        if testlet[0] in bank.questions and bank.questions[testlet[0]].pilot:
            yield f"testlets[{number}]", say("a testlet begins with a question that counts, not a pilot question"), testlet[0]
    if rules.pilots and rules.pilots > (pilots := sum(question.pilot for question in bank.questions.values())):
        yield "pilots", say("at most as many pilot questions as the bank has"), say("{count} of {all}", count=rules.pilots, all=pilots)
