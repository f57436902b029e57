"""Loading and saving banks and networks; the ending of the file name selects the format."""

import os
import warnings
from collections.abc import Iterable, Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from quaestor.bankfile.bank import FORMATS, Bank, check_bank
from quaestor.errors import BankError, Locate, NetworkError, Problem, QuaestorError, expect, got, located, nearest, path_of
from quaestor.formats import bif, json_text, sheets, uai, yaml_text
from quaestor.formats.exchange.registry import QUESTION_ENDINGS, WRITERS, read_questions_bytes, recognised
from quaestor.formats.limits import read_bytes, read_text
from quaestor.i18n import say
from quaestor.model.network import A_NETWORK, Network

BANK_ENDINGS = (".yaml", ".yml", ".json", ".csv", ".xlsx")
MOST_PROBLEMS = 50  # of a sheet
NETWORK_ENDINGS = (".uai", ".bif")


def _bundle() -> Traversable:
    return resources.files("quaestor") / "banks"


def bundled_banks() -> list[str]:
    """The names of the banks that come with the package."""
    return sorted(entry.name.removesuffix(".yaml") for entry in _bundle().iterdir() if entry.name.endswith(".yaml"))


def load(path: str | Path) -> Bank:
    """Read and check a bank from a file, or a bundled bank by its bare name (`load("fractions")`).

    A file of questions of another system (Moodle XML, GIFT, Aiken, ...) becomes a bank with a skill for each category; an ExchangeWarning
    counts what was lost, and `read_questions` tells each. Raises BankError with every problem: file, place, rule, value.
    """
    path_of("path", path)
    name = str(path)
    if isinstance(path, str) and not Path(path).suffix and Path(path).name == path:
        names = bundled_banks()
        if path in names:
            return load_bytes((_bundle() / f"{path}.yaml").read_bytes(), ".yaml", name)
        if not os.path.exists(path):  # not Path.exists, which raises for a name that is too long
            hint = nearest(path, names) or say("bundled banks: {banks}", banks=", ".join(names))
            raise BankError([Problem("file", say("a file, or the name of a bundled bank"), f"'{path}'", hint)], name)
    ending = Path(path).suffix.lower()
    if ending not in (*BANK_ENDINGS, *QUESTION_ENDINGS):
        raise BankError([_ending(ending, QUESTION_ENDINGS)], name)
    try:
        data = read_bytes(Path(path))
    except BankError as error:
        raise BankError(error.problems, name) from error
    if ending not in BANK_ENDINGS:
        return _of_questions(data, name)
    try:
        return load_bytes(data, ending, name)
    except BankError:
        if is_of_others(data, name):
            return _of_questions(data, name)
        raise


def is_of_others(data: bytes, name: str) -> bool:
    """Whether a file is one of questions of another system, not a bank; some of them have endings that banks have too."""
    return Path(name).suffix.lower() in QUESTION_ENDINGS and recognised(data, name) is not None


class ExchangeWarning(UserWarning):
    """Some of what a file of another system holds, or of what a bank holds, did not come through."""


def _of_questions(data: bytes, name: str) -> Bank:
    imported = read_questions_bytes(data, name)
    try:
        bank = imported.to_bank()
    except BankError as error:
        raise BankError(error.problems, name) from error
    if imported.notes or imported.refused:
        summary = imported.summary
        warnings.warn(f"{name}: {summary}; quaestor.read_questions tells each", ExchangeWarning, stacklevel=3)
    return bank


def load_bytes(data: bytes, ending: str, name: str = "", unmarked: int = FORMATS[0]) -> Bank:
    """Read and check a bank from the content of a file with this ending; `name` is used in errors.

    `unmarked`: the format of a sheet that names none. What was stored is read as it was written, so by default that is the first one.
    """
    locate: Locate | None = None
    try:
        if ending == ".xlsx":
            return _of_sheets(sheets.read_xlsx(data), unmarked)
        text = read_text(data)
        if ending == ".csv":
            return _of_sheets(sheets.read_csv(text), unmarked)
        if ending == ".json":
            return Bank(json_text.parse(text))
        document, locate = yaml_text.parse(text), yaml_text.locator(text)
        return Bank(document, source=text, locate=locate)
    except BankError as error:
        raise BankError(located(error.problems, locate), name) from error


def _of_sheets(read: sheets.Read, unmarked: int) -> Bank:
    """The bank in some sheets; what is wrong with cells and what is wrong with the bank is told together, up to a limit."""
    problems = read.problems
    try:
        bank = Bank({"quaestor": unmarked, **read.document}, locate=read.locate)
    except BankError as error:
        problems = [*problems, *error.problems]
    if not problems:
        return bank
    if len(problems) > MOST_PROBLEMS:
        rule, left = say("the first {most} problems are listed", most=MOST_PROBLEMS), len(problems) - MOST_PROBLEMS
        problems = [*problems[:MOST_PROBLEMS], Problem("file", rule, say("{count} more", count=left))]
    raise BankError(problems)


def dump(bank: Bank, path: str | Path, media: Mapping[str, bytes] | None = None) -> None:
    """Write a bank to a file; a bank that was loaded from YAML is written to YAML as it was, comments included.

    As Moodle XML (`.xml`), GIFT (`.gift`) or a package of QTI 3.0 (`.zip`) it goes with the `media` that its questions name; an
    ExchangeWarning lists what others will not see of it.
    """
    check_bank(bank)
    ending = path_of("path", path).suffix.lower()
    if ending in WRITERS:
        exported = WRITERS[ending](bank, media or {})
        save(exported.data, path)
        if exported.notes:
            told = "\n".join(str(note.sentence) for note in exported.notes[:MOST_PROBLEMS])
            warnings.warn(f"{path}: what other programs will not see:\n{told}", ExchangeWarning, stacklevel=2)
        return
    if ending not in BANK_ENDINGS:
        raise BankError([_ending(ending, WRITERS)], str(path))
    try:
        data = dump_bytes(bank, ending)
    except BankError as error:
        raise BankError(error.problems, str(path)) from error
    save(data, path)


def dump_bytes(bank: Bank, ending: str) -> bytes:
    """The bank as the content of a file with this ending."""
    if ending in (".yaml", ".yml"):
        return (bank.source or yaml_text.write(bank.document)).encode()
    if ending == ".json":
        return json_text.write(bank.document).encode()
    if ending == ".csv":
        return sheets.write_csv(bank.document).encode("utf-8-sig")
    if ending == ".xlsx":
        return sheets.write_xlsx(bank.document)
    raise BankError([_ending(ending, ())])


def _ending(found: str, others: Iterable[str]) -> Problem:
    endings = ", ".join(dict.fromkeys((*BANK_ENDINGS, *others)))
    return Problem("file", say("a bank file ends in one of {endings}", endings=endings), f"'{found}'")


def read_network(path: str | Path) -> Network:
    """Read a network from a UAI (BAYES or V-CREDAL) or BIF file; UAI variables are named "0", "1", ..."""
    reader = {".uai": uai.read, ".bif": bif.read}.get(path_of("path", path).suffix.lower())
    if reader is None:
        raise NetworkError(f"{path}: a network file ends in one of {', '.join(NETWORK_ENDINGS)}, got '{Path(path).suffix}'")
    try:
        return reader(read_text(read_bytes(Path(path))))
    except BankError as error:
        raise NetworkError(f"{path}: {error}") from error
    except NetworkError as error:
        raise NetworkError(f"{path}: {error}") from error


def write_network(network: Network, path: str | Path) -> None:
    """Write a network to a UAI (BAYES when precise, else V-CREDAL) or BIF file."""
    expect("network", network, Network, A_NETWORK, NetworkError)
    writer = {".uai": uai.write, ".bif": bif.write}.get(path_of("path", path).suffix.lower())
    if writer is None:
        raise NetworkError(f"{path}: a network file ends in one of {', '.join(NETWORK_ENDINGS)}, got '{Path(path).suffix}'")
    save(writer(network).encode(), path)


def save(data: bytes, path: str | Path) -> None:
    """Write a file; failures raise QuaestorError."""
    try:
        Path(path).write_bytes(data)
    except (OSError, ValueError) as error:  # ValueError: a name with a null character
        found = str(getattr(error, "strerror", None) or error)
        raise QuaestorError.at(str(path), got(say("the file can be written"), found)) from error
