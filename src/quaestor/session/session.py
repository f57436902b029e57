"""One adaptive test being taken. The answer log is the session: everything else follows from bank, rules, seed and log."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from quaestor.bankfile.bank import Bank, check_bank
from quaestor.errors import AnswerError, QuaestorError, expect, format_kind, format_value, got, nearest
from quaestor.html_tables import html_table
from quaestor.i18n import said, say
from quaestor.inference.conflict import refuse_conflict
from quaestor.inference.evidence import MISSING as NOTHING
from quaestor.inference.evidence import Evidence, Stated
from quaestor.inference.lookahead import Lookahead
from quaestor.lazy import lazy
from quaestor.model.beliefs import Beliefs
from quaestor.model.question import Entry, Question
from quaestor.selection.choice import Choice
from quaestor.selection.ranking import Ranking
from quaestor.selection.rules import MISSING, WRONG, Rules
from quaestor.selection.rules_file import read_rules
from quaestor.selection.step import NO_QUESTION, Decision, step
from quaestor.session.log import (
    FORMAT,
    WITH_START,
    Answer,
    Late,
    SessionError,
    Weight,
    checked_minutes,
    checked_weight,
    read_document,
)


@dataclass(frozen=True)
class Stop:
    """Why the test is over, in words; `rule` is the name of the criterion."""

    reason: str
    rule: str = field(default=NO_QUESTION, compare=False, repr=False)


@dataclass(frozen=True, eq=False)
class Step:
    """One line of the log with what was known before and after; `gain` and `candidates` are those at the time the question was put.

    `gain` is None for late evidence and pilot questions; `asked_for` is the question that the rules would have asked.
    """

    event: Answer | Late
    gain: float | None
    candidates: Ranking
    asked_for: Question | None
    before: Beliefs
    after: Beliefs


@dataclass(frozen=True)
class Session:
    """A test of one taker: frozen, so every answer gives a new one. Random choices come from the seed and the number of questions asked.

    `start`: what was known of the taker before the first question (`session.start`), beside the bank's prior.
    """

    bank: Bank
    rules: Rules = field(default_factory=Rules)
    seed: int = 0
    log: tuple[Answer | Late, ...] = ()
    start: tuple[Late, ...] = ()

    def __post_init__(self) -> None:
        check_bank(self.bank, error=SessionError)
        expect("rules", self.rules, Rules, "Rules(...) are expected, as qs.load_rules reads them from a file", SessionError)
        for name, kinds in (("log", Answer | Late), ("start", Late)):
            events = getattr(self, name)
            if not isinstance(events, tuple) or not all(isinstance(event, kinds) for event in events):
                raise SessionError.at(name, got("what an earlier session has there is expected", format_kind(events)))
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise SessionError(got(say("a seed is a whole number of at least 0"), repr(self.seed)))
        self.rules.check(self.bank)

    def __repr__(self) -> str:
        return f"<Session on {self.bank.title or 'a bank'!r}: {len(self.asked)} asked, seed {self.seed}>"

    def _repr_html_(self) -> str:
        given = [event for event in self.log if isinstance(event, Answer)]
        texts = {name: question.text for name, question in self.bank.questions.items()}
        rows = [(number, one.question, texts[one.question], one.answer or "skipped") for number, one in enumerate(given, 1)]
        state = self.stopped.reason if self.stopped is not None else f"Next: {self.next.id}." if self.next is not None else ""
        title = f"{self.bank.title or 'A test'}: {len(given)} asked. {state}"
        asked = html_table(title, ("", "question", "text", "answer"), rows, len(rows))
        return asked + self.beliefs._repr_html_()

    def __reduce__(self) -> tuple[Any, ...]:
        return Session, (self.bank, self.rules, self.seed, self.log, self.start)

    # What follows from the log

    @property
    def asked(self) -> tuple[str, ...]:
        """The ids of the questions put so far, in order, skipped ones too."""
        return tuple(event.question for event in self.log if isinstance(event, Answer))

    @lazy
    def answers(self) -> dict[str, str]:
        """The answer classes that count, by question: what a skip means is a rule."""
        given = [event for event in self.log if isinstance(event, Answer)]
        return {event.question: answer for event in given if (answer := self._meant(event)) is not None}

    def _meant(self, event: Answer) -> str | None:
        """The class of an answer; of a skip what the rules say it means, None where it says nothing, as to a withdrawn question."""
        if event.question in self.rules.withdrawn:
            return None
        if event.answer is not None or self.rules.skips == MISSING:
            return event.answer
        return self.bank.questions[event.question].classes[0] if self.rules.skips == WRONG else self.rules.skips

    @lazy
    def evidence(self) -> Evidence:
        """What the start and the log say, as inference sees it."""
        found = Evidence.begin(self.bank, withdrawn=self.rules.withdrawn)
        for event in (*self.start, *self.log):
            found = self._extended(found, event)
        return found

    @property
    def stated(self) -> Stated:
        """What was seen otherwise, multiplied up for each skill: lower and upper likelihoods of its levels."""
        return self.evidence.stated

    def _extended(self, evidence: Evidence, event: Answer | Late) -> Evidence:
        layout = evidence.layout
        if isinstance(event, Late):
            ends = [weight if isinstance(weight, tuple) else (weight, weight) for weight in event.likelihood]
            return evidence.with_stated({event.skill: ([low for low, _ in ends], [high for _, high in ends])})
        question, answer = layout.number[event.question], self._meant(event)
        given = NOTHING if answer is None else layout.questions[question].classes.index(answer)
        minutes = None if event.minutes is None else np.array([event.minutes])
        return evidence.put(np.array([question]), np.array([given]), minutes)

    @lazy
    def decision(self) -> Decision:
        """The step of this one taker."""
        return step(self.rules, self.evidence, (self.seed,))

    @lazy
    def beliefs(self) -> Beliefs:
        """What is known of every skill."""
        return self.decision.beliefs()

    @property
    def most_left(self) -> int | None:
        """How many more questions that count the rules let be asked at most; None where they set no limit."""
        left = float(self.decision.most_left[0])
        return int(left) if np.isfinite(left) else None

    @property
    def at_most(self) -> int | None:
        """How many questions there are at most in all, pilots too: the same from the first to the last; None where no limit is set."""
        most = self.rules.stop.most_questions() if self.rules.stop is not None else None
        if most is None:
            return None
        pilots = self.bank.pilots
        named = pilots & {name for names in (self.rules.first, *self.rules.testlets) for name in names}
        planned = min(self.rules.pilots + len(named), len(pilots))
        return min(most, len(self.bank.questions) - len(pilots)) + max(planned, len(pilots.intersection(self.asked)))

    @lazy
    def ranking(self) -> Ranking:
        """All open questions, ranked by the rules' score, also when the test is over."""
        return self.decision.ranking()

    @property
    def ahead(self) -> Lookahead:
        """What each open question would tell of its own skills, also when the test is over."""
        return self.decision.ahead

    @lazy
    def choice(self) -> Choice | None:
        """How the next question was chosen; None when the test is over."""
        return None if self.stopped else self.decision.choice()

    @property
    def is_cut(self) -> bool:
        """Whether this step was cut short by a limit on time or memory (`limited`): its bounds hold, but nearer ones may be possible."""
        return bool(self.__dict__.get("cut", False))

    @lazy
    def stopped(self) -> Stop | None:
        """Why the test is over, or None."""
        rule = self.decision.rule[0]
        return Stop(self.decision.reason(), str(rule)) if rule else None

    @lazy
    def next(self) -> Question | None:
        """The question to ask now; None when the test is over."""
        number = int(self.decision.question[0])
        return self.evidence.layout.questions[number] if number >= 0 else None

    @lazy
    def history(self) -> tuple[Step, ...]:
        """Every line of the log with the gains and beliefs at that time."""
        steps: list[Step] = []
        for then in self.so_far[1:]:
            now, event = then.earlier, then.log[-1]
            ranking = now.ranking
            put = ranking.ids == (event.question if isinstance(event, Answer) else None)
            gain = float(ranking.gains[put][0]) if put.any() else None
            steps.append(Step(event, gain, ranking, now.next, now.beliefs, then.beliefs))
        return tuple(steps)

    @lazy
    def earlier(self) -> "Session":
        """The session before the last line of the log: the very one, where it is known, with all that it has worked out."""
        return replace(self, log=self.log[:-1])

    @property
    def so_far(self) -> "list[Session]":
        """All sessions on the way to this one, the empty one first."""
        found = [self]
        while found[-1].log:
            found.append(found[-1].earlier)
        return found[::-1]

    # What can be done

    def answer(self, question: str, answer: str | int, minutes: float | None = None) -> "Session":
        """The session after an answer, by the name (or number) of its class; any open question, unless a rule forbids it."""
        self._open(question)
        return self._with(Answer(question, _class_name(self, question, answer), None, checked_minutes(minutes)))

    def enter(self, question: str, entry: Entry, minutes: float | None = None) -> "Session":
        """The session after what a taker typed or ticked: it is classified, and both are logged."""
        self._open(question)
        asked = self.bank.questions[question]
        once = isinstance(entry, Iterable) and not isinstance(entry, str | Mapping)
        given: Entry = list(entry) if once else entry  # type: ignore[arg-type]
        return self._with(Answer(question, asked.classify(given), asked.written(given), checked_minutes(minutes)))

    def skip(self, question: str, minutes: float | None = None) -> "Session":
        """The session after a skip; it is not asked again."""
        self._open(question)
        if not self.rules.may_skip:
            raise SessionError(say("the rules let no question be skipped, got a skip of {question}", question=question))
        return self._with(Answer(question, None, None, checked_minutes(minutes)))

    def late(self, skill: str, seen: str | Sequence[Weight] | Mapping[str, Weight], note: str = "") -> "Session":
        """The session after evidence from elsewhere: a level (it is certain), or how likely what was seen is at each level.

        `s.late("division", "yes")`, `s.late("division", {"no": 0.2, "yes": 0.8}, "worked well in class")`; in credal banks also pairs.
        """
        if not isinstance(skill, str) or skill not in self.bank.skills:
            raise AnswerError(got(say("unknown skill"), format_value(skill), nearest(skill, self.bank.skills)))
        return self._with(Late(skill, self._likelihood(skill, seen), note))

    def undo(self) -> "Session":
        """The session before the last line of the log."""
        if not self.log:
            raise SessionError(say("there is nothing to undo: the log is empty"))
        return self.earlier

    def _open(self, question: str) -> None:
        if not isinstance(question, str) or question not in self.bank.questions:
            raise AnswerError(got(say("unknown question"), format_value(question), nearest(question, self.bank.questions)))
        if question in self.asked:
            raise AnswerError.at(question, say("a question is answered once; undo first to change it"))
        if question in self.rules.withdrawn:
            raise AnswerError.at(question, say("the rules have withdrawn this question: it is not asked any more"))
        if self.stopped:
            raise SessionError(say("the test is over: {reason} Got an answer to {question}", reason=self.stopped.reason, question=question))
        if self.rules.only_next and self.next is not None and question != self.next.id:
            raise SessionError(got(say("the rules let only the next question be answered, {next}", next=self.next.id), question))

    def _likelihood(self, skill: str, seen: Any) -> tuple[Weight, ...]:
        levels = self.bank.skills[skill].levels
        each = say("a weight for each of {levels}", levels=", ".join(levels))
        if isinstance(seen, str):
            if seen not in levels:
                raise AnswerError.at(skill, got(say("a level is one of {levels}", levels=", ".join(levels)), format_value(seen)))
            return tuple(1.0 if level == seen else 0.0 for level in levels)
        if isinstance(seen, Mapping):
            if set(seen) != set(levels):
                raise AnswerError.at(skill, got(each, format_value(dict(seen))))
            seen = [seen[level] for level in levels]
        if not isinstance(seen, Iterable):
            rule = say("a level, or a weight for each of {levels}", levels=", ".join(levels))
            raise AnswerError.at(skill, got(rule, format_value(seen)))
        weights = tuple(checked_weight(skill, weight) for weight in seen)
        if len(weights) != len(levels):
            raise AnswerError.at(skill, got(each, say("{count} {count:weight|weights}", count=len(weights))))
        if self.bank.is_precise and any(isinstance(weight, tuple) for weight in weights):
            raise AnswerError.at(skill, say("a precise bank takes numbers as weights, got pairs"))
        return weights

    def _with(self, event: Answer | Late) -> "Session":
        evidence = self._extended(self.evidence, event)
        refuse_conflict(evidence)
        made = object.__new__(Session)  # bank, rules and seed were checked when the first session was made
        same = {"bank": self.bank, "rules": self.rules, "seed": self.seed, "start": self.start}
        made.__dict__.update(same, log=(*self.log, event), evidence=evidence, earlier=self)
        return made

    # Files

    def to_json(self) -> str:
        """The session as JSON: bank versions, rules, seed, start (if there is one) and log."""
        bank = {"title": self.bank.title, "version": self.bank.version, "model_version": self.bank.model_version}
        begun = {"start": [_line(event) for event in self.start]} if self.start else {}
        document = {"session": WITH_START if self.start else FORMAT, "bank": bank, "rules": self.rules.document, "seed": self.seed, **begun}
        document["log"] = [_line(event) for event in self.log]
        text = json.dumps(document, ensure_ascii=False, indent=1)
        return text.encode(errors="backslashreplace").decode()  # half a letter, which UTF-8 cannot hold, as its code

    @staticmethod
    def from_json(bank: Bank, text: str) -> "Session":
        """The session that `to_json` wrote; refused when the bank's model is another one, naming both versions."""
        check_bank(bank, error=SessionError)
        document = read_document(text)
        saved = document["bank"]
        if saved.get("model_version") != bank.model_version:
            raise SessionError(
                say(
                    "the session was taken with model version {saved} of '{saved_title}' and goes on only with that one, got version"
                    " {given} of '{given_title}'",
                    saved=saved.get("model_version"),
                    saved_title=saved.get("title", ""),
                    given=bank.model_version,
                    given_title=bank.title,
                )
            )
        session = Session(bank, read_rules(document["rules"]), document["seed"])
        session = replace(session, start=tuple(_known(session, number, line) for number, line in enumerate(document.get("start", ()))))
        for number, line in enumerate(document["log"]):
            try:
                session = session._with(_event(session, line))
            except QuaestorError as error:
                raise SessionError.at(f"log[{number}]", said(error)) from error
        return session


def _line(event: Answer | Late) -> dict[str, Any]:
    """A line of a log as it is saved."""
    line = {key: value for key, value in vars(event).items() if value not in (None, "")}
    return {**line, "answer": None} if isinstance(event, Answer) and event.answer is None else line


def _known(session: Session, number: int, line: Any) -> Late:
    """A line of a saved start, checked against the bank."""
    try:
        found = _event(session, line)
        if not isinstance(found, Late):
            raise AnswerError(got(say("a session starts from what was seen of skills"), format_value(line)))
    except QuaestorError as error:
        raise SessionError.at(f"start[{number}]", said(error)) from error
    return found


def _event(session: Session, line: Any) -> Answer | Late:
    """A line of a saved log, checked against the bank."""
    if isinstance(line, dict) and set(line) <= {"skill", "likelihood", "note"} and {"skill", "likelihood"} <= set(line):
        found = session.late(line["skill"], line["likelihood"], str(line.get("note", ""))).log[-1]
    elif isinstance(line, dict) and set(line) <= {"question", "answer", "entry", "minutes"} and {"question", "answer"} <= set(line):
        question = line["question"]
        if not isinstance(question, str) or question not in session.bank.questions or question in session.asked:
            raise AnswerError(got(say("a question of the bank, each once"), format_value(question)))
        answer = None if line["answer"] is None else _class_name(session, question, line["answer"])
        entry = line.get("entry")
        if not isinstance(entry, str | None):
            raise AnswerError.at(question, got(say("an entry is a text"), format_value(entry)))
        found = Answer(question, answer, entry, checked_minutes(line.get("minutes")))
    else:
        raise AnswerError(got(say("a line is an answer or what was seen of a skill"), format_value(line)))
    return found


def _class_name(session: Session, question: str, answer: Any) -> str:
    """The name of an answer class, given its name or its number."""
    layout = session.evidence.layout
    number = layout.number[question]
    return layout.questions[number].classes[layout.class_number(number, answer)]
