"""Numbers before nouns: every text has both forms, in every language, so that no page says `1 questions`."""

import re

import pytest

from helpers.translations import messages, plurals
from quaestor.i18n import say
from quaestor.web.render.language import catalogue, translate

NOUNS = (
    "answers|bytes|characters|combinations|columns|days|draws|hints|hours|letters|levels|minutes|names|networks|people|probabilities"
    "|proposals|pupils|questions|results|rows|seconds|skills|students|tables|takers|things|thresholds|times|tokens|tries|values|weights"
)
NUMBER = re.compile(rf"\{{(?!all\b)(\w+)(?::[^}}|]*)?\}} (?:(?!of\b|in\b|to\b)[a-z]+ )?(?:{NOUNS})\b")
NOT_ONE = {  # numbers that are never one: limits of ours, sizes of what has at least two parts, counts beside an own text for one
    "{count} levels have {count} rising abilities",
    "{count} things to mend before this bank can be used",
    "{count} things to mend first",
    "{count} things to mend in {name}",
    "{count} times in {all}",
    "of a sheet the first {most:,} rows were read",
    "It has become easier: of takers like these, {before} were right in the first {since} answers, {after} in the {later} since then."
    " It may be known by now: another question in its place tells more.",
    "It has become harder: of takers like these, {before} were right in the first {since} answers, {after} in the {later} since then."
    " Have a look at its text, and at what was taught.",
    "It is being tried out and does not count. {count} answers say: right {shares} (nine in ten such ranges hold). About {more} more"
    " {more:answer|answers} make it ready for use.",
    "It is being tried out and does not count. {count} answers say: right {shares} (nine in ten such ranges hold). That is enough to use"
    " it: learn the bank from these answers.",
    "How well the bank fits on the whole cannot be told: no two questions were both answered by {fewest} people.",
    "Test from the shares of right answers to one and to two of {questions} questions: M2 = {statistic:.1f} with {df} degrees of freedom,"
    " {tail}; size RMSEA2 = {rmsea:.3f}, between {low:.3f} and {high:.3f}.",
    "{person}: of {answers} answers {missed} {missed:is|are} wrong where people with such answers are mostly right{these}, and {solved}"
    " {solved:is|are} right where they are mostly wrong{those}.",
    "a step looks at no more than {most} sets of answers (here there are {answers} answers)",
    "looking {ahead} questions ahead, it is expected to tell most",
    "Easier or harder than at first: by at least {points} points, compared with what the same takers’ other answers let expect. However"
    " often you look, at most one test in {count} ever names a question that stayed the same.",
    "{count:,} combinations of levels",
    "A wrong entry: at least {count} takers and half of those who answered, or at least {strong} and a fifth of the strong,"
    " typed the same.",
    "A wrong option: at least {count} strong takers answered, at least {chose} and a third of them chose it, and more than the table"
    " expects to be wrong.",
    "{people} for {levels} levels",
    "At least {count} characters; three or four words in a row are good.",
    "Share right: at least {count} takers of a level; at least {points} points away from the table; and so far that chance alone would"
    " hardly do it (one false alarm in twenty such pages).",
    "Skipped: asked at least {count} times and skipped in 3 of 10.",
    "Too short for {skill}: not even {most} more questions that separate “{low}” from “{high}” as well as {question} would be enough.",
    "it depends on {count} skills, whose table would have {rows:,} rows",
    "a text of {count:,} characters was cut at {most:,}",
    "a number has at most {most} characters",
    "a question has at most {most} right answers, got {count:,}",
    "a file of a package becomes at most {most} times as large when unpacked",
    "a package has at most {most:,} bytes when unpacked",
    "{count:,} bytes from {packed:,} in {name}",
    "a name has at most {most:,} letters",
    "a text in an element has at most {most:,} characters",
    "an attribute has at most {most:,} characters",
    "a OneRoster file has at most {most:,} bytes when unpacked",
    "{name} has at most {most:,} rows here",
    "a cell of {ending} has at most {most:,} characters",
    "a class list has at most {most} names",
    "a right answer has at most {most} letters",
    "at most {most} letters",
    "at most {most} right answers are expected",
    "a file has at most {most:,} bytes",
    "a grade of 1 to {most} letters",
    "a file has at most {most:,} values",
    "a file has at most {most:,} values, aliases included",
    "a row has {count} probabilities",
    "a sheet has at most {most:,} rows",
    "a sheet has at most {most} columns",
    "a table has at most {most:,} rows",
    "a text has at most {most} characters",
    "a workbook has at most {most:,} bytes when unpacked",
    "the cells of a sheet hold at most {most:,} characters",
    "an entry has at most {most} letters",
    "answers of at least {least} people are needed, got {count}",
    "at least {least} characters",
    "it was begun {count} times and broken off each time; perhaps it is too large for this server",
    "no free code of {letters} letters was found, got {count} draws of codes that are taken",
    "of the {count} open questions {claim}",
    "one line of 1 to {most} characters is expected",
    "one probability for each of the {count} levels ({levels})",
    "one row for each of the {count} combinations of levels",
    "this is done within {seconds:g} seconds and {megabytes:,} MB of memory",
    "the bank was saved by others all the time, got {count} tries; please try again",
}
ONE_FORM = {  # words that have one form only, and numbers beside which no word changes
    "de": r"^fertig$|Zeichen|Bytes|-mal|nie gestellt|(?:bei|es noch|von|zu)? ?\{NAME[^}|]*\}(?:\.| gefunden| erkannt|$)",
    "fr": r"\bfois\b|poids|chez \{NAME\}$|sur \{NAME\}",
}


def test_a_number_before_a_noun_chooses_its_form():
    bare = {text: NUMBER.findall(text) for text in messages() if text not in NOT_ONE}
    assert {text: messages()[text] for text, names in bare.items() if names} == {}


def test_no_exception_is_left_over():
    assert [text for text in NOT_ONE if not NUMBER.search(text) or text not in messages()] == []


@pytest.mark.parametrize("language", ONE_FORM)
def test_a_language_chooses_wherever_english_does_or_has_one_form_for_both(language):
    for text, words in catalogue(language).items():
        for name in {name for name, _ in plurals(text)} - {name for name, _ in plurals(words)}:
            assert re.search(ONE_FORM[language].replace("NAME", name), words), text


@pytest.mark.parametrize(
    ("made", "english", "german", "french"),
    [
        (say("{count} {count:question|questions}", count=1), "1 question", "1 Frage", "1 question"),
        (say("{count} {count:question|questions}", count=0), "0 questions", "0 Fragen", "0 question"),
        (say("{most} {most:question|questions}", most=1), "1 question", "1 Frage", "1 question"),
        (say("erased after {days} {days:day|days}", days=1), "erased after 1 day", "nach 1 Tag gelöscht", "effacés après 1 jour"),
        (
            say("Worth a look: {count} {count:hint|hints}", count=1),
            "Worth a look: 1 hint",
            "Bitte ansehen: 1 Hinweis",
            "À regarder\u202f: 1 remarque",
        ),
        (say("{count} {count:pupil|pupils}", count=1), "1 pupil", "1 Name", "1 élève"),
        (say("{count} {count:pupil|pupils}", count=2), "2 pupils", "2 Namen", "2 élèves"),
    ],
)
def test_one_is_said_in_the_singular(made, english, german, french):
    assert (made, translate("de", made), translate("fr", made)) == (english, german, french)
