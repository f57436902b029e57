"""Reading 10,000 questions of other systems: seconds and peak memory, each format in a process of its own."""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from machine import describe

import quaestor as qs

QUESTIONS = 10_000


def moodle_xml() -> str:
    """As Moodle writes it: five types in turn, HTML in CDATA, feedback, hints, penalties, a category for every hundred."""
    parts = ['<?xml version="1.0" encoding="UTF-8"?>\n<quiz>\n']
    for number in range(QUESTIONS):
        if number % 100 == 0:
            parts.append(f'<question type="category"><category><text>$course$/top/Part {number // 100}</text></category></question>\n')
        kind, inside = (_choice, _numerical, _typed, _truth, _pairs)[number % 5](number)
        parts.append(
            f'<question type="{kind}">\n<name><text>Question {number}</text></name>\n<questiontext format="html"><text><![CDATA['
            f"<p>What is <b>the answer</b> to number {number} with \\(x^{{{number}}}\\) &amp; so on?<br></p>]]></text></questiontext>\n"
            '<generalfeedback format="html"><text><![CDATA[<p>Think of it.</p>]]></text></generalfeedback>\n<defaultgrade>1.0000000'
            f"</defaultgrade>\n<penalty>0.3333333</penalty>\n<hidden>0</hidden>\n<idnumber></idnumber>\n{inside}"
            '<hint format="html"><text>A hint</text></hint>\n</question>\n'
        )
    return "".join([*parts, "</quiz>\n"])


def _answer(text: str, worth: int, more: str = "") -> str:
    feedback = '<feedback format="html"><text><![CDATA[<p>Because.</p>]]></text></feedback>'
    return f'<answer fraction="{worth}" format="html">\n<text><![CDATA[{text}]]></text>\n{feedback}\n{more}</answer>\n'


def _choice(number: int) -> tuple[str, str]:
    options = "".join(_answer(f"<p>option <i>{shift}</i> of {number}</p>", 100 if shift == 1 else 0) for shift in range(4))
    return "multichoice", f"<single>true</single>\n<shuffleanswers>true</shuffleanswers>\n{options}"


def _numerical(number: int) -> tuple[str, str]:
    return "numerical", _answer(str(number), 100, "<tolerance>0.5</tolerance>")


def _typed(number: int) -> tuple[str, str]:
    return "shortanswer", "<usecase>0</usecase>\n" + _answer(f"word {number}", 100) + _answer("*", 0)


def _truth(number: int) -> tuple[str, str]:
    return "truefalse", _answer("true", 100) + _answer("false", 0)


def _pairs(number: int) -> tuple[str, str]:
    row = '<subquestion format="html"><text><![CDATA[<p>left {0}</p>]]></text><answer><text>right {0}</text></answer></subquestion>\n'
    return "matching", "".join(row.format(shift) for shift in range(4))


def gift() -> str:
    """Five forms in turn."""
    forms = ("{{~one =two{0} ~three}}", "{{#{0}:0.5}}", "{{=word {0} =words {0}}}", "{{TRUE}}", "{{=a -> {0} =b -> x =c -> y}}")
    return "\n".join(
        f"::Question {number}::[html]<p>What is number {number}?</p>{forms[number % 5].format(number)}\n" for number in range(QUESTIONS)
    )


def measure(path: str) -> None:
    start = time.process_time()
    found = qs.read_questions(path)
    bank = found.to_bank()
    seconds = time.process_time() - start
    assert len(bank.questions) == QUESTIONS
    print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))


def main() -> None:
    if len(sys.argv) > 1:
        measure(sys.argv[1])
        return
    print(f"## Reading {QUESTIONS:,} questions of other systems\n\n{describe()}; median of 3 processes\n")
    print("| format | file, MB | seconds of the processor | peak memory of the process, MB |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("quiz.xml", moodle_xml()), ("quiz.gift", gift())):
            path = Path(folder) / name
            path.write_text(text, encoding="utf-8")
            runs = [json.loads(subprocess.check_output([sys.executable, __file__, str(path)])) for _ in range(3)]
            seconds, memory = sorted(runs)[1]
            print(
                f"| {'Moodle XML' if name.endswith('xml') else 'GIFT'} | {path.stat().st_size / 1e6:.1f} | {seconds:.2f} | {memory:.0f} |"
            )


if __name__ == "__main__":
    main()
