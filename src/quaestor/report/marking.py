"""How an answer is marked, and the right answers of a question."""

from quaestor.model.question import Question
from quaestor.session.log import Answer


def worth(question: Question, line: Answer) -> str:
    """Whether an answer was `right`, `partly` right, `wrong` or `skipped`."""
    if line.answer is None:
        return "skipped"
    return {0: "wrong", len(question.classes) - 1: "right"}.get(question.classes.index(line.answer), "partly")


def right_answers(question: Question) -> list[str]:
    """The right answers: the key, or, if none is stated, all options or accepted entries of the best class; of a question of several parts
    the key of all of them as one text.
    """
    if question.parts:
        return [question.written([part.accept[0] for part in question.parts])]
    stated = question.option_classes or question.accept
    return list(question.correct) or [written for written, kind in stated.items() if kind == question.classes[-1]]
