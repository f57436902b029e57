"""The data folder: others can neither read nor write it, whatever it was before."""

import stat
from pathlib import Path

import pytest

from quaestor.errors import QuaestorError
from quaestor.web.operations import data_folder
from quaestor.web.operations.installation import make_database, open_database
from quaestor.web.settings import Settings


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def folder(tmp_path, migrated_file):
    """A folder as a careless copy leaves it."""
    made = tmp_path / "data"
    made.mkdir()
    (made / "quaestor.db").write_bytes(migrated_file.read_bytes())
    for path, bits in ((made, 0o755), (made / "quaestor.db", 0o644)):
        path.chmod(bits)
    return made


def test_a_new_folder_is_private_and_nothing_is_said(tmp_path, caplog):
    make_database(Settings(data=str(tmp_path / "new"))).close()
    assert mode(tmp_path / "new") == 0o700
    assert {path.name: mode(path) for path in (tmp_path / "new").iterdir()} == {"quaestor.db": 0o600, "quaestor.db.txt": 0o600}
    assert not caplog.records


@pytest.mark.parametrize("opened", [make_database, open_database])
def test_a_folder_that_others_can_read_is_mended_with_a_sentence(folder, caplog, opened):
    opened(Settings(data=str(folder))).close()
    assert (mode(folder), mode(folder / "quaestor.db")) == (0o700, 0o600)
    told = [record.getMessage() for record in caplog.records]
    assert f"data: others could read {folder} (mode 755); now only its owner can (mode 700)" in told
    caplog.clear()
    opened(Settings(data=str(folder))).close()
    assert not caplog.records


def test_what_the_database_writes_beside_itself_is_private_too(folder):
    database = make_database(Settings(data=str(folder)))
    with database.read() as work:
        work.connection()
        names = ("quaestor.db", "quaestor.db-shm", "quaestor.db-wal", "quaestor.db.txt")
        assert {path.name: mode(path) for path in folder.iterdir()} == dict.fromkeys(names, 0o600)
    database.close()


def test_what_cannot_be_mended_is_refused(folder, monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "chmod", refuse)
    with pytest.raises(QuaestorError) as caught:
        make_database(Settings(data=str(folder)))
    assert f"got {folder} (mode 755), which cannot be changed: Operation not permitted; change it by hand (chmod 700)" in str(caught.value)
    monkeypatch.setattr(Path, "chmod", lambda *_: None)
    with pytest.raises(QuaestorError, match="the file system keeps no modes"):
        make_database(Settings(data=str(folder)))


def test_a_folder_with_other_things_in_it_is_left_as_it_is(folder):
    (folder / "holiday.jpg").touch()
    make_database(Settings(data=str(folder))).close()
    assert (mode(folder), mode(folder / "quaestor.db")) == (0o755, 0o600)


def test_a_folder_that_others_share_and_may_write_to_is_refused(folder):
    (folder / "holiday.jpg").touch()
    folder.chmod(0o777)
    with pytest.raises(QuaestorError, match=r"data: a folder of its own, or one that not everybody may write to, got .* \(mode 777\)"):
        make_database(Settings(data=str(folder)))


def test_a_database_elsewhere_is_private_too(folder):
    open_database(Settings(database=f"sqlite:///{folder / 'quaestor.db'}")).close()
    assert (mode(folder), mode(folder / "quaestor.db")) == (0o755, 0o600)


def test_a_database_on_a_server_has_no_folder(tmp_path):
    data_folder.keep_private(Settings(database="postgresql+psycopg://me@localhost/nothing", data=str(tmp_path / "none")))
    assert not (tmp_path / "none").exists()
