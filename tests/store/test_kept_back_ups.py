"""A back-up of each version of the tables, made by the software of its time: it is restored, opened and verified."""

from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select

from quaestor.cli import main
from quaestor.store import privacy
from quaestor.store.attempts import taking
from quaestor.store.models import Attempt, Draft, Published, Pupil
from quaestor.store.outcomes import rescoring, results
from quaestor.web.operations.installation import open_database
from quaestor.web.settings import Settings

FILES = sorted((Path(__file__).parent / "back-ups").glob("*.zip"))


def test_one_of_each_version_is_kept(make_database):
    """When the tables change, keep one of the version before: `helpers.kept_back_up` writes it."""
    _, *earlier = make_database("sqlite").revisions()
    assert [file.stem for file in FILES] == sorted(earlier)


def restore(file, flag, where, capsys):
    """Restore and verify by the commands; what was stored is as the present engine finds it."""
    assert main(["restore", str(file), flag, where]) == 0
    assert capsys.readouterr().out == "restored: 1 tests, 3 attempts, 9 answers\n"
    stored = 5 if file.stem >= "0003" else 0
    assert main(["verify", flag, where]) == 0
    assert capsys.readouterr().out.startswith(f"{stored} stored outcomes verified: none would be otherwise now\n")


def go_on(database):
    """What was there is there, what was not stored then is worked out, and who was under way goes on."""
    rescoring.score_all(database, 1, lambda share: True)
    with database.read() as work:
        test = work.get_one(Published, 1)
        asked = 3 if test.revision else 4  # a question was withdrawn, which Bob had skipped
        found = results.outcomes(work, test)
        assert {one.name: (one.state, one.counted, one.right) for one in found if one.name != "Eve"} == {
            "Ada": ("over", asked, asked),
            "Bob": ("over", 3, 0),
        }
        mine = work.scalars(select(Attempt).where(Attempt.name == "Eve")).one()
        assert privacy.export(work, mine)["log"][0]["entry"] == "3/4"
    with database.work() as work:
        mine = work.get_one(Attempt, mine.id)
        taking.answer(work, mine, 2, "3.5")
        assert taking.state_of(work, mine).step == 3
        work.add(Draft(teacher_id=1, title="", head=1, created=mine.started, changed=mine.started))
        assert taking.enter(work, work.get_one(Pupil, 4).code, "").id == 4


@pytest.mark.parametrize("file", FILES[:1] + [pytest.param(file, marks=pytest.mark.long) for file in FILES[1:]], ids=lambda file: file.stem)
def test_it_is_restored_and_goes_on(file, tmp_path, capsys):
    data = str(tmp_path / "data")
    restore(file, "--data", data, capsys)
    with closing(open_database(Settings(data=data))) as database:
        go_on(database)


@pytest.mark.long
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_it_moves_to_postgresql(file, make_database, capsys):
    database = make_database("postgresql", migrated=False)
    restore(file, "--database", database.engine.url.render_as_string(hide_password=False), capsys)
    go_on(database)
