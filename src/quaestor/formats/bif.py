"""Networks in the Bayesian interchange format (BIF), which holds exact numbers only.

A root has `table p1, p2;`. A variable with parents has a line `(state, state) p1, p2;` for each combination of its parents' states, or
one `table`, in which the child's state varies slowest and the last parent's fastest, or a `default` for the combinations not listed.

Other programs take plain words only as names (pyAgrum: letters, digits, `_`, `.`, `-`; states may be whole numbers). A variable with
other names is written with plain ones, and with its own in a property, which such programs read over:
`property quaestor_names = [ "Wet grass", "no", "a bit", "yes" ];`, the variable's name and then its states, as in JSON.
"""

import json
import re
from collections.abc import Sequence
from itertools import product

import numpy as np

from quaestor.errors import NetworkError, nearest
from quaestor.formats.limits import check_table_size
from quaestor.model.network import Network, Variable
from quaestor.model.table import Array, Table

_TOKEN = re.compile(
    r'"(?P<quoted>[^"\n]*)"|(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<word>(?:(?!//|/\*)[^\s"{}\[\]();,|])+)|(?P<mark>[{}\[\]();|,])|(?P<bad>\S)',
    re.DOTALL,
)
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_WHOLE = re.compile(r"[0-9]+")
_KEYWORDS = frozenset({"network", "variable", "probability", "property", "type", "discrete", "default", "table"})
_NAMES = "quaestor_names"


def read(text: str) -> Network:
    """The network in a BIF text."""
    parser = _Parser(text)
    states: dict[str, tuple[str, ...]] = {}
    tables: dict[str, tuple[tuple[str, ...], Table]] = {}
    while (head := parser.take_any()) is not None:
        if head == "network":
            parser.take_name("a network's name")
            parser.skip_block()
        elif head == "variable":
            name = parser.take_name("a variable's name")
            if name in states:
                raise NetworkError(f"{name}: each variable is declared once, got it twice")
            states[name] = parser.take_states(name)
        elif head == "probability":
            child, parents, table = parser.take_probability(states)
            if child in tables:
                raise NetworkError(f"{child}: each variable has one table, got two")
            tables[child] = (parents, table)
        else:
            raise parser.error("'network', 'variable' or 'probability' is expected", head)
    missing = [name for name in states if name not in tables]
    if missing:
        raise NetworkError(f"{missing[0]}: each variable has a table, got none")
    own = {name: parser.own_names.get(name, (name, *states[name])) for name in states}
    renamed = {name: tuple(own[parent][0] for parent in parents) for name, (parents, _) in tables.items()}
    return Network(tuple(Variable(own[name][0], own[name][1:], renamed[name], tables[name][1]) for name in states))


class _Parser:
    """Reads tokens one by one; errors name the line."""

    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[str, bool, int]] = []  # text, whether it is a punctuation mark, line
        line, end = 1, 0
        for match in _TOKEN.finditer(text):
            line += text.count("\n", end, match.start())
            end = match.start()
            if match["mark"] == "," or match["comment"] is not None:
                continue
            value = match["quoted"] if match["quoted"] is not None else match[0]
            self._tokens.append((value, match["mark"] is not None, line))
            if match["bad"]:
                raise NetworkError(f"line {line}: a word is expected, got {match['bad']!r}")
        self._next = 0
        self.own_names: dict[str, tuple[str, ...]] = {}  # of a variable that was written with other names: its name, its states

    def error(self, rule: str, value: object) -> NetworkError:
        line = self._tokens[min(self._next, len(self._tokens)) - 1][2] if self._tokens else 1
        return NetworkError(f"line {line}: {rule}, got {value!r}")

    def take_any(self) -> str | None:
        if self._next == len(self._tokens):
            return None
        self._next += 1
        return self._tokens[self._next - 1][0]

    def take(self, what: str) -> str:
        token = self.take_any()
        if token is None:
            raise self.error(f"{what} is expected", "the end of the file")
        return token

    def take_name(self, what: str) -> str:
        token = self.take(what)
        if self._tokens[self._next - 1][1]:
            raise self.error(f"{what} is expected", token)
        return token

    def expect(self, *marks: str) -> None:
        for mark in marks:
            token = self.take(f"'{mark}'")
            if token != mark:
                raise self.error(f"'{mark}' is expected", token)

    def peek(self) -> str | None:
        return self._tokens[self._next][0] if self._next < len(self._tokens) else None

    def names_until(self, *marks: str) -> tuple[list[str], str]:
        """The names up to one of the marks, and that mark."""
        names: list[str] = []
        while True:
            token = self.take(" or ".join(f"'{mark}'" for mark in marks))
            if self._tokens[self._next - 1][1]:
                if token in marks:
                    return names, token
                raise self.error(" or ".join(f"'{mark}'" for mark in marks) + " is expected", token)
            names.append(token)

    def skip_block(self) -> None:
        self.expect("{")
        depth = 1
        while depth:
            token = self.take("'}'")
            depth += {"{": 1, "}": -1}.get(token, 0) if self._tokens[self._next - 1][1] else 0

    def skip_properties(self, variable: str = "") -> None:
        """Read over properties, but for the own names of a variable."""
        while self.peek() == "property":
            content = []
            while (token := self.take("';'")) != ";":  # the content of a property is free
                content.append(token)
            if variable and content[1:4] == [_NAMES, "=", "["]:
                self.own_names[variable] = tuple(map(self._unescaped, content[4:-1]))

    def _unescaped(self, written: str) -> str:
        try:
            return str(json.loads(f'"{written}"'))
        except json.JSONDecodeError:
            raise self.error(f"{_NAMES} are texts as in JSON", written) from None

    def take_states(self, name: str) -> tuple[str, ...]:
        self.expect("{")
        self.skip_properties(name)
        self.expect("type", "discrete", "[")
        count = self.take_name("the number of states")
        self.expect("]", "{")
        found, _ = self.names_until("}")
        self.expect(";")
        self.skip_properties(name)
        self.expect("}")
        own = self.own_names.get(name)
        if own is not None and len(own) != len(found) + 1:
            raise NetworkError(f"{name}: {_NAMES} are its name and its {len(found)} states, got {len(own)} texts")
        if not count.isdecimal() or int(count) != len(found):
            raise NetworkError(f"{name}: the number of states is that of its list, {len(found)}, got {count!r}")
        return tuple(found)

    def take_probability(self, states: dict[str, tuple[str, ...]]) -> tuple[str, tuple[str, ...], Table]:
        self.expect("(")
        head, mark = self.names_until("|", ")")
        if len(head) != 1:
            raise self.error("a table is of one variable", head)
        parents = self.names_until(")")[0] if mark == "|" else []
        for name in (*head, *parents):
            if name not in states:
                hint = nearest(name, states)
                raise self.error("unknown variable" + (f" ({hint})" if hint else ""), name)
        self.expect("{")
        try:
            array = self._rows(states[head[0]], [states[parent] for parent in parents])
            return head[0], tuple(parents), Table.precise(array)
        except NetworkError as error:
            raise NetworkError(f"{head[0]}: {error}") from error

    def _rows(self, states: Sequence[str], parents: Sequence[Sequence[str]]) -> Array:
        shape = [len(parent) for parent in parents]
        check_table_size([*shape, len(states)])
        array = np.full([*shape, len(states)], np.nan)
        default: Array | None = None
        while True:
            self.skip_properties()
            token = self.take("'table', 'default', '(' or '}'")
            if token == "}":
                break
            if token == "table":
                full = self._numbers(array.size).reshape(len(states), *shape)
                array = np.moveaxis(full, 0, -1).copy()
            elif token == "default":
                default = self._numbers(len(states))
            elif token == "(":
                key, _ = self.names_until(")")
                if len(key) != len(parents) or any(name not in known for name, known in zip(key, parents, strict=True)):
                    raise self.error("a row is named by a state of each parent", key)
                row = tuple(known.index(name) for name, known in zip(key, parents, strict=True))
                if not np.isnan(array[row]).any():
                    raise self.error("each row is there once", f"({', '.join(key)}) twice")
                array[row] = self._numbers(len(states))
            else:
                raise self.error("'table', 'default' or a row is expected", token)
        empty = np.isnan(array).any(axis=-1)
        if empty.any() and default is None:
            first = next(key for position, key in enumerate(product(*parents)) if empty.reshape(-1)[position])
            raise self.error("each combination of the parents' states has a row", f"none for ({', '.join(first)})")
        if default is not None:
            array[empty] = default
        return array

    def _numbers(self, count: int) -> Array:
        words, _ = self.names_until(";")
        try:
            numbers = np.array([float(word) for word in words])
        except ValueError:
            raise self.error("numbers are expected", " ".join(words)) from None
        if len(numbers) != count or not np.isfinite(numbers).all():
            raise self.error(f"{count} finite numbers are expected", " ".join(words))
        return numbers


def write(network: Network) -> str:
    """A precise network as BIF; a credal one is refused."""
    if not network.is_precise:
        raise NetworkError("BIF holds exact numbers only, got a credal network (write .uai, or its centre)")
    names = _plain_words(network.names)
    states = [_plain_words(variable.states, numbers=True) for variable in network.variables]
    parts = ["network quaestor {\n}\n"]
    for variable, name, plain in zip(network.variables, names, states, strict=True):
        lines = [f"  type discrete [ {len(plain)} ] {{ {', '.join(plain)} }};\n"]
        if (name, *plain) != (variable.name, *variable.states):
            lines.append(f"  property {_NAMES} = [ {', '.join(map(_escaped, (variable.name, *variable.states)))} ];\n")
        parts.append(f"variable {name} {{\n{''.join(lines)}}}\n")
    for variable, name, parents in zip(network.variables, names, network.parents, strict=True):
        head = " | ".join([name, *([", ".join(names[parent] for parent in parents)] if parents else [])])
        rows = []
        combinations = product(*(states[parent] for parent in parents))
        for combination, row in zip(combinations, variable.table.lower.reshape(-1, len(variable.states)), strict=True):
            key = f"({', '.join(combination)})" if parents else "table"
            rows.append(f"  {key} {', '.join(repr(number) for number in row.tolist())};\n")
        parts.append(f"probability ( {head} ) {{\n{''.join(rows)}}}\n")
    return "".join(parts)


def _plain_words(names: Sequence[str], numbers: bool = False) -> list[str]:
    """A plain word for each of these names, itself where it is one; `numbers`: whole numbers are plain too."""
    taken = {name for name in names if _is_plain(name, numbers)}
    words = []
    for position, name in enumerate(names):
        word = name
        if not _is_plain(name, numbers):
            word = re.sub(r"[^A-Za-z0-9_]+", "_", name)
            word = word if _is_plain(word, numbers=False) else f"_{word}"
            word = f"{word}_{position}" if word in taken else word
            while word in taken:
                word += "_"
        taken.add(word)
        words.append(word)
    return words


def _is_plain(name: str, numbers: bool) -> bool:
    return (_PLAIN.fullmatch(name) is not None and name not in _KEYWORDS) or (numbers and _WHOLE.fullmatch(name) is not None)


def _escaped(name: str) -> str:
    """The name as a text in JSON without characters that BIF has a use for."""
    inside = json.dumps(name)[1:-1].replace('\\"', "\\u0022").replace(";", "\\u003b")
    return f'"{inside}"'
