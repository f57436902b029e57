"""Networks in the UAI family of formats: BAYES (exact numbers) and V-CREDAL (rows given by their vertices).

Both list the number of variables, their sizes, the number of factors, each factor's variables with the child last, then the tables.
BAYES: a count and the numbers, the last variable varying fastest. V-CREDAL: for each configuration of the parents a count and the
vertices one after another. Neither has names: variables and states are called "0", "1", ...
"""

from collections.abc import Iterator

import numpy as np

from quaestor.errors import NetworkError
from quaestor.formats.limits import MOST_NUMBERS, check_table_size
from quaestor.model.network import Network, Variable
from quaestor.model.table import Array, Table


def read(text: str) -> Network:
    """The network in a BAYES or V-CREDAL text."""
    tokens = _Tokens(text)
    kind = tokens.next("the format's name")
    if kind not in ("BAYES", "V-CREDAL"):
        raise NetworkError(f"word 1: the file starts with BAYES or V-CREDAL, got {kind!r}")
    sizes = [tokens.integer("a variable's size", least=1) for _ in range(tokens.integer("the number of variables", least=1))]
    factors = tokens.integer("the number of factors")
    if factors != len(sizes):
        raise NetworkError(f"word {tokens.position}: one factor a variable, {len(sizes)}, got {factors}")
    scopes = [_scope(tokens, len(sizes)) for _ in range(factors)]
    children = [scope[-1] for scope in scopes]
    if len(set(children)) < len(children):
        raise NetworkError(f"each variable is the last of one factor's variables, got {children}")
    variables: dict[int, Variable] = {}
    for scope in scopes:
        shape = [sizes[variable] for variable in scope]
        try:
            check_table_size(shape)
            table = _precise_table(tokens, shape) if kind == "BAYES" else _vertex_table(tokens, shape)
        except NetworkError as error:
            raise NetworkError(f"variable {scope[-1]}: {error}") from error
        names = tuple(str(parent) for parent in scope[:-1])
        variables[scope[-1]] = Variable(str(scope[-1]), tuple(str(state) for state in range(shape[-1])), names, table)
    tokens.finish()
    return Network(tuple(variables[number] for number in range(len(sizes))))


def _scope(tokens: "_Tokens", variables: int) -> list[int]:
    scope = [tokens.integer("a variable's number") for _ in range(tokens.integer("the number of a factor's variables", least=1))]
    if any(variable >= variables for variable in scope) or len(set(scope)) < len(scope):
        raise NetworkError(f"word {tokens.position}: a factor has different variables from 0 to {variables - 1}, got {scope}")
    return scope


def _precise_table(tokens: "_Tokens", shape: list[int]) -> Table:
    return Table.precise(np.array(tokens.numbers(int(np.prod(shape)))).reshape(shape))


def _vertex_table(tokens: "_Tokens", shape: list[int]) -> Table:
    rows, states = int(np.prod(shape[:-1])), shape[-1]
    vertices: dict[int, Array] = {row: np.array(tokens.numbers(None, states)).reshape(-1, states) for row in range(rows)}
    everything = np.zeros(shape), np.ones(shape)
    return Table(*everything, vertices)


class _Tokens:
    """The words of a file in order; errors name the word's position."""

    def __init__(self, text: str) -> None:
        self._words: Iterator[str] = iter(text.split())
        self.position = 0

    def next(self, what: str) -> str:
        self.position += 1
        word = next(self._words, None)
        if word is None:
            raise NetworkError(f"word {self.position}: {what} is expected, got the end of the file")
        return word

    def integer(self, what: str, least: int = 0) -> int:
        word = self.next(what)
        if not (word.isascii() and word.isdigit()) or len(word) > 9 or int(word) < least:
            raise NetworkError(f"word {self.position}: {what} is a whole number from {least}, got {word!r}")
        return int(word)

    def numbers(self, count: int | None, multiple: int = 1) -> list[float]:
        """A count and so many numbers; the count is `count`, or a multiple of `multiple`."""
        given = self.integer("the count of numbers", least=1)
        if (count is not None and given != count) or given % multiple or given > MOST_NUMBERS:
            wanted = str(count) if count is not None else f"a multiple of {multiple}"
            raise NetworkError(f"word {self.position}: {wanted} numbers are expected, got {given}")
        return [self._number() for _ in range(given)]

    def _number(self) -> float:
        word = self.next("a number")
        try:
            return float(word)
        except ValueError:
            raise NetworkError(f"word {self.position}: a number is expected, got {word!r}") from None

    def finish(self) -> None:
        rest = next(self._words, None)
        if rest is not None:
            raise NetworkError(f"word {self.position + 1}: the end of the file is expected, got {rest!r}")


def write(network: Network) -> str:
    """A network as BAYES when it is precise, else as V-CREDAL; interval rows are written as their vertices."""
    precise = network.is_precise
    sizes = [len(variable.states) for variable in network.variables]
    lines = ["BAYES" if precise else "V-CREDAL", str(len(sizes)), " ".join(map(str, sizes)), str(len(sizes))]
    for child, parents in enumerate(network.parents):
        lines.append(" ".join(map(str, [len(parents) + 1, *parents, child])))
    for variable in network.variables:
        table, states = variable.table, len(variable.states)
        lines.append("")
        if precise:
            lines += [str(table.lower.size), *(_join(row) for row in table.lower.reshape(-1, states))]
            continue
        for row in range(table.rows):
            points = table.row_vertices(row)
            lines += [str(points.size), *(_join(point) for point in points)]
    return "\n".join(lines) + "\n"


def _join(numbers: Array) -> str:
    return " ".join(repr(number) for number in numbers.tolist())
