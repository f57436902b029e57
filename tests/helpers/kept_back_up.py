"""A small back-up of the present version of the tables, to be kept in `tests/store/back-ups` before the tables are changed:

PYTHONPATH=src:tests python -m helpers.kept_back_up tests/store/back-ups/0003.zip
"""

import sys
import tempfile
from pathlib import Path

import quaestor as qs
from quaestor.store import backup, corrections, drafts, job_queue, limits, publishing, replies, teachers, timing
from quaestor.store.attempts import taking
from quaestor.store.classes import class_lists
from quaestor.store.database import Database
from quaestor.store.models import Attempt, Published, Pupil
from quaestor.store.outcomes import grades, rescoring

PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)
BANK = qs.Bank(
    {
        "title": "Kept",
        "skills": {"sums": {"levels": ["no", "partly", "yes"], "prior": [0.3, 0.4, 0.3]}, "words": {"prior": [[0.4, 0.5], [0.5, 0.6]]}},
        "questions": {
            "one": {
                "text": "Half and a quarter?",
                "options": ["3/4", "2/6"],
                "correct": "3/4",
                "skill": "sums",
                "right": [0.2, 0.6, 0.9],
            },
            "two": {
                "text": "Half of seven?",
                "kind": "number",
                "correct": "3.5",
                "skill": "sums",
                "right": [0.1, 0.6, 0.95],
                "media": "pie.png",
            },
            "three": {"text": "Twice four?", "kind": "number", "correct": "8", "skill": "sums", "right": [0.3, 0.7, 0.95]},
            "four": {
                "text": "The capital of France?",
                "kind": "text",
                "correct": "Paris",
                "skill": "words",
                "right": [[0.2, 0.3], [0.7, 0.9]],
            },
        },
    }
)
ANSWERS = {"Ada": ["3/4", "3.5", "8", "paris"], "Bob": ["2/6", "4", None, "Lyon"], "Eve": ["3/4"]}


def fill(database: Database) -> None:
    """A test with a class list: two pupils are through, one is under way, one has not begun; and something in every other table."""
    with database.work() as work:
        teacher = teachers.owner(work, "owner@school.example")
        teachers.set_password(work, teacher, "a long enough one")
        teachers.log_in(work, teacher)
        teachers.sign_in_link(work, teacher)
        token = teachers.by_token(work, teachers.api_token(work, teacher, "platform", ["sessions"]), "sessions")
        kept = publishing.keep_bank(work, teacher, BANK, {"pie.png": PICTURE})
        rules = qs.Rules(score="order", stop=qs.max_questions(4))
        test = publishing.publish(work, teacher, kept, rules, publishing.Conditions(by_list=True, retakes="any", keep_days=9000))
        for pupil in class_lists.add_pupils(work, test, [*ANSWERS, "Kim"]):
            if pupil.name in ANSWERS:
                attempt = taking.enter(work, pupil.code, "")
                for step, entry in enumerate(ANSWERS[pupil.name], 1):
                    taking.answer(work, attempt, step, entry) if entry is not None else taking.skip(work, attempt, step)
        limits.count(work, "code", address="192.0.2.1")
        replies.keep(work, token, "key", "/answers", "hash", 201, {"session": 1}, 1)
        draft = drafts.begin_draft(work, teacher, BANK.document, "begun", {"pie.png": PICTURE})
        job_queue.ask(work, teacher, "trial", f"draft {draft.id}", {})
    rescoring.score_all(database, 1, lambda share: True)
    with database.work() as work:
        corrections.withdraw(work, work.get_one(Published, 1), "three", "It was not taught.")
        timing.set_aside(work, work.get_one(Attempt, 2))
        timing.give_time(work, work.get_one(Pupil, 4), 5)
        work.get_one(Published, 1).grades = grades.read("90 1\n50 2\n0 3", "points").document
    rescoring.score_all(database, 1, lambda share: True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        made = Database(f"sqlite:///{folder}/quaestor.db")
        made.migrate()
        fill(made)
        backup.back_up(made, Path(sys.argv[1]))
        made.close()
