"""A test without a server: how large the file is, how soon its first question is there, and how long a step takes in Chromium.

Needs Chromium and the folder `tests` on its path.
"""

import tempfile
from pathlib import Path
from statistics import median

from machine import describe

import quaestor as qs
from helpers.chromium import started
from quaestor.session.sufficiency import asks_enough
from quaestor.web.offline.file import html_of

STEPS = """() => {
  const taken = [];
  let log = [];
  for (let now = stand(test, log); now.question !== null && taken.length < 20; now = stand(test, log)) {
    log = [...log, [now.question, log.length % test.questions[now.question].classes]];
    const begun = performance.now();
    stand(test, log);
    taken.push(performance.now() - begun);
  }
  return taken;
}"""


def main() -> None:
    """Print a row for each bank."""
    print(describe())
    print("| bank | questions | joint states | kB | first page (ms) | first question after the name (ms) | a step: middle, longest (ms) |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with started() as browser, tempfile.TemporaryDirectory() as folder:
        for name, bank in {"fractions": qs.load("fractions"), "german": qs.load("german"), "1,000 questions on 10 skills": large()}.items():
            rules = qs.Rules(stop=qs.any_of(qs.max_questions(15), qs.probability_above(0.9)), content=asks_enough(bank))
            path = Path(folder) / "test.html"
            path.write_text(html_of(bank, rules), encoding="utf-8")
            found = [measured(browser, path) for _ in range(5)]
            states = 1
            for skill in bank.skills.values():
                states *= len(skill.levels)
            first, question = (median(one[place] for one in found) for place in (0, 1))
            steps = found[0][2]
            print(
                f"| {name} | {len(bank.questions)} | {states} | {path.stat().st_size / 1000:.0f} | {first:.0f} | {question:.0f} "
                f"| {median(steps):.1f}, {max(steps):.1f} |"
            )


def measured(browser: object, path: Path) -> tuple[float, float, list[float]]:
    """Milliseconds to the first page, from the name to the first question, and of each step."""
    page = browser.new_page()  # type: ignore[attr-defined]
    page.goto(path.as_uri())
    first = page.evaluate("performance.getEntriesByType('navigation')[0].domComplete")
    asked = """() => { document.getElementById('name').value = 'Ada'; const begun = performance.now();
      document.querySelector('button.main').click(); return performance.now() - begun; }"""
    question = page.evaluate(asked)
    assert page.locator("form.question").count() == 1
    steps = page.evaluate(STEPS)
    page.close()
    return first, question, steps


def large() -> qs.Bank:
    """Ten skills of two levels, a thousand questions."""
    skills = {f"s{number}": ({} if number == 0 else {"parents": ["s0"], "strength": 0.5}) for number in range(10)}
    questions = {
        f"Q{number}": {
            "text": f"Question {number}?",
            "options": ["yes", "no"],
            "correct": "yes",
            "skill": f"s{number % 10}",
            "right": [0.1 + number % 7 / 20, 0.9 - number % 5 / 20],
        }
        for number in range(1000)
    }
    return qs.Bank({"title": "Large", "skills": skills, "questions": questions})


if __name__ == "__main__":
    main()
