"""Convert a bank, a network or another system's questions to another format, or write a form to fill in."""

import argparse
import json
from collections.abc import Iterable
from pathlib import Path

from quaestor.bankfile.bank import Bank
from quaestor.bankfile.networks import bank_from_network
from quaestor.errors import BankError, QuaestorError
from quaestor.formats.exchange.imported import Imported, Note
from quaestor.formats.exchange.qti.writer import VERSIONS
from quaestor.formats.exchange.qti.writer import write as qti_package
from quaestor.formats.exchange.registry import QUESTION_ENDINGS, WRITERS, read_questions
from quaestor.formats.files import BANK_ENDINGS, NETWORK_ENDINGS, dump, is_of_others, load, load_bytes, read_network, save, write_network
from quaestor.formats.limits import read_bytes
from quaestor.formats.template import template

FEW, MOST = 3, 20  # questions that are named where many have the same note; notes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("source", nargs="?", metavar="FROM", help="a bank, network or question file, or the name of a bundled bank")
    parser.add_argument("target", metavar="TO", help="the file to write; its ending names the format")
    parser.add_argument(
        "--skills", type=_names, default=[], metavar="A,B", help="of a network that becomes a bank: the variables that are skills"
    )
    parser.add_argument("--hidden", type=_names, default=[], metavar="C,D", help="of a network that becomes a bank: variables to sum out")
    parser.add_argument(
        "--skills-by",
        default="category",
        metavar="category|tag|NAME",
        help="of questions of another system: a skill for each category (the default), for each first tag, or one skill of this name",
    )
    parser.add_argument("--qti", choices=VERSIONS, default=VERSIONS[0], help="of a package of QTI (.zip): the version to write")
    parser.add_argument("--template", action="store_true", help="write a small example bank to start from (XLSX: with every column)")
    parser.add_argument("--json", action="store_true", help="print what was understood, lost and refused as JSON")


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def run(arguments: argparse.Namespace) -> int:
    """Convert, or write the form."""
    source, target = arguments.source, arguments.target
    report: dict[str, object] = {}
    if arguments.template and source is not None:
        raise QuaestorError("--template writes one file, got two names")
    if arguments.template:
        try:
            save(template(Path(target).suffix.lower()), target)
        except BankError as error:
            raise BankError(error.problems, target) from error
    elif source is None:
        raise QuaestorError("convert needs a file to read and a file to write, got one")
    elif _ending(source) in NETWORK_ENDINGS:
        _convert_network(arguments)
    elif (bank := _own_bank(source)) is not None:
        _write(bank, arguments, None, report)
    else:
        imported = read_questions(source)
        report = _import(imported, arguments)
        _write(imported.to_bank(arguments.skills_by), arguments, imported.media, report)
    if arguments.json:
        print(json.dumps({"wrote": target, **report}, ensure_ascii=False, indent=1))
    else:
        print(f"wrote {target}")
    return 0


def _ending(path: str) -> str:
    return Path(path).suffix.lower()


def _own_bank(source: str) -> Bank | None:
    """The bank in a file; None where it holds questions of another system."""
    ending = _ending(source)
    if ending in QUESTION_ENDINGS and ending not in BANK_ENDINGS:
        return None
    try:
        return load_bytes(read_bytes(Path(source)), ending, source) if ending in QUESTION_ENDINGS else load(source)
    except BankError as error:
        if ending in QUESTION_ENDINGS and Path(source).is_file() and is_of_others(read_bytes(Path(source)), source):
            return None
        raise BankError(error.problems, source) from error


def _convert_network(arguments: argparse.Namespace) -> None:
    source, target = arguments.source, arguments.target
    if _ending(target) not in (*BANK_ENDINGS, *WRITERS):
        write_network(read_network(source), target)
        return
    if not arguments.skills:
        raise QuaestorError(f"{target}: a network becomes a bank with --skills, the names of the variables to measure, got none")
    bank = bank_from_network(read_network(source), arguments.skills, arguments.hidden, title=Path(source).stem)
    _write(bank, arguments, {}, {})


def _write(bank: Bank, arguments: argparse.Namespace, media: dict[str, bytes] | None, report: dict[str, object]) -> None:
    """Write a bank; `media`: what its questions show, where it does not lie beside the bank's file."""
    ending = _ending(arguments.target)
    if ending in NETWORK_ENDINGS:
        write_network(bank.network, arguments.target)
    elif ending in WRITERS:
        shown = _beside(bank, arguments.source) if media is None else media
        exported = qti_package(bank, shown, arguments.qti) if ending == ".zip" else WRITERS[ending](bank, shown)
        save(exported.data, arguments.target)
        report["not_seen_by_others"] = _told(exported.notes)
        if not arguments.json:
            _print("what other programs will not see of it", exported.notes)
    else:
        _save_media(_beside(bank, arguments.source) if media is None else media, arguments.target, arguments.json)
        dump(bank, arguments.target)


def _beside(bank: Bank, source: str) -> dict[str, bytes]:
    """The pictures and sounds that lie below the folder of a bank's file; those that are missing are told by the writer."""
    found = {}
    for question in bank.questions.values():
        for name in question.files:
            path = Path(source).parent / name
            if path.is_file():
                found[name] = read_bytes(path)
    return found


def _import(imported: Imported, arguments: argparse.Namespace) -> dict[str, object]:
    if not arguments.json:
        print(imported.summary)
        _print("left out or changed", imported.notes)
        _print("refused", imported.refused)
    return {
        "understood": len(imported.questions),
        "notes": _told(imported.notes),
        "refused": _told(imported.refused),
    }


def _save_media(media: dict[str, bytes], target: str, is_quiet: bool) -> None:
    """Pictures and sounds go beside a bank file, which names them; those that are there already stay.

    Where another file has such a name nothing is written, nor is the bank then, which would show it.
    """
    if _ending(target) not in BANK_ENDINGS or not Path(target).parent.is_dir():  # the bank's file is refused there
        return
    places = {Path(target).parent / name: content for name, content in media.items()}
    present = {path for path in places if path.exists()}
    if others := [path for path in present if not path.is_file() or path.read_bytes() != places[path]]:
        raise QuaestorError(f"{min(others)}: this file is already there, with another content; write into another folder")
    for path, content in places.items():
        if path in present:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        save(content, path)
        if not is_quiet:
            print(f"wrote {path}")


def _told(notes: Iterable[Note]) -> list[dict[str, str]]:
    return [{"question": note.question, "place": str(note.place), "words": str(note.words)} for note in notes]


def _print(heading: str, notes: Iterable[Note]) -> None:
    """Notes as a list, those in the same words together, and not too many of them."""
    alike: dict[str, list[Note]] = {}
    for note in notes:
        alike.setdefault(str(note.words), []).append(note)
    if alike:
        print(f"{heading}:")
    for words, found in list(alike.items())[:MOST]:
        named = list(dict.fromkeys(note.question for note in found if note.question))
        more = f" and {len(named) - FEW} more" if len(named) > FEW else ""
        print(f"  {found[0].sentence}" if len(found) == 1 else f"  {words} ({', '.join(named[:FEW])}{more})" if named else f"  {words}")
    if len(alike) > MOST:
        print(f"  and {len(alike) - MOST} more, which --json tells")
