"""A test inside a notebook: the question, a field for its answer, and what is known, as widgets (extra `notebook`)."""

from html import escape
from importlib import import_module
from typing import Any

from quaestor.errors import QuaestorError
from quaestor.extras import from_extra
from quaestor.model.entries import Part
from quaestor.model.question import ONE_CHOICE, Question
from quaestor.plot.axes import expect
from quaestor.session.session import Session


def take(session: Session) -> "Taking":
    """Widgets with which a test is taken in a notebook; `.session` is the session as it is after the last answer."""
    expect("session", session, Session)
    return Taking(session)


class Taking:
    """The widgets of one test."""

    def __init__(self, session: Session) -> None:
        with from_extra():
            import ipywidgets
        self._kit: Any = ipywidgets
        self.session = session
        self.widget: Any = ipywidgets.VBox()
        self._fields: list[Any] = []
        self._show()

    def _ipython_display_(self) -> None:
        show: Any = import_module("IPython.display").display
        show(self.widget)

    def _show(self, problem: str = "") -> None:
        kit, session = self._kit, self.session
        known = kit.HTML(session.beliefs._repr_html_())
        if session.next is None:
            reason = session.stopped.reason if session.stopped is not None else ""
            self.widget.children = (kit.HTML(f"<b>The test is over.</b> {escape(reason)}"), known)
            return
        question = session.next
        self._fields = [_field(kit, part) for part in _parts(question)]
        answer, skip = kit.Button(description="Answer", button_style="primary"), kit.Button(description="Skip")
        answer.on_click(lambda _: self._answer(question))
        skip.on_click(lambda _: self._skip(question))
        said = kit.HTML(f"<span role='alert'>{escape(problem)}</span>")
        title = kit.HTMLMath(f"<b>Question {len(session.asked) + 1}</b> {escape(question.with_blanks or question.id)}")
        self.widget.children = (title, *self._fields, said, kit.HBox((answer, skip)), known)

    def _answer(self, question: Question) -> None:
        entries = [list(field.value) if isinstance(field.value, tuple) else field.value or "" for field in self._fields]
        try:
            if question.takes_entries:
                self.session = self.session.enter(question.id, entries if question.parts else entries[0])
            else:
                self.session = self.session.answer(question.id, str(entries[0]))
        except QuaestorError as error:
            self._show(str(error))
        else:
            self._show()

    def _skip(self, question: Question) -> None:
        try:
            self.session = self.session.skip(question.id)
        except QuaestorError as error:
            self._show(str(error))
        else:
            self._show()


def _parts(question: Question) -> list[tuple[str, str, tuple[str, ...]]]:
    """What is to be entered: a name, a kind and the options of each."""
    if question.parts:
        shared = tuple(sorted(question.options))
        return [(part.name, "choice" if part.options or shared else part.kind, _options(part, shared)) for part in question.parts]
    if not question.takes_entries:
        return [("", "choice", question.classes)]
    return [("", "choice" if question.kind in ONE_CHOICE else question.kind, question.options)]


def _options(part: Part, shared: tuple[str, ...]) -> tuple[str, ...]:
    return part.options or shared


def _field(kit: Any, part: tuple[str, str, tuple[str, ...]]) -> Any:
    name, kind, options = part
    if kind == "choices":
        return kit.SelectMultiple(options=options, description=name)
    if options:
        return (kit.Dropdown if name else kit.RadioButtons)(options=options, value=None, description=name)
    return kit.Text(description=name)
