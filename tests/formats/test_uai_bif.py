"""Network files: UAI (BAYES and V-CREDAL) and BIF, read as their descriptions say and written so that they read back."""

import re

import numpy as np
import pytest
from hypothesis import given

from helpers.paths import SHARED
from helpers.strategies import networks, tables
from quaestor import Network, NetworkError, Table, Variable, bundled_banks, load, posterior, read_network, write_network
from quaestor.formats import bif, uai

CREPO = SHARED / "crepo"


def message(reader, text):
    """What a reader says against a text; the test fails when it reads it."""
    with pytest.raises(NetworkError) as caught:
        reader(text)
    return str(caught.value)


# UAI

BAYES = """\
BAYES
3
2 3 2
3
1 0
1 1
3 1 0 2

2
 0.25 0.75
3
 0.2 0.3 0.5
12
 0.1 0.9
 0.2 0.8
 0.3 0.7
 0.4 0.6
 0.5 0.5
 0.6 0.4
"""


def test_bayes_is_read_with_the_last_variable_fastest():
    network = uai.read(BAYES)
    assert [(variable.name, variable.states, variable.parents) for variable in network.variables] == [
        ("0", ("0", "1"), ()),
        ("1", ("0", "1", "2"), ()),
        ("2", ("0", "1"), ("1", "0")),
    ]
    assert network.variables[0].table == Table.precise([0.25, 0.75])
    assert network.variables[2].table == Table.precise([[[0.1, 0.9], [0.2, 0.8]], [[0.3, 0.7], [0.4, 0.6]], [[0.5, 0.5], [0.6, 0.4]]])


V_CREDAL = """\
V-CREDAL 3
2 2 3
3
1 0
1 1
3 0 1 2
4
0.3 0.7
0.2 0.8
2
0.5 0.5
3
1 0 0
6
0.1 0.2 0.7
0.2 0.3 0.5
9
0.1 0.1 0.8
0.1 0.3 0.6
0.3 0.1 0.6
3
0 0 1
"""


def test_v_credal_is_read_row_by_row_with_the_last_parent_fastest():
    first, second, child = uai.read(V_CREDAL).variables
    assert first.table == Table(np.array([0.2, 0.7]), np.array([0.3, 0.8]))
    assert second.table == Table.precise([0.5, 0.5])
    assert child.table.vertices.keys() == {1}, "two points are no interval row; three that fill their box are one"
    assert child.table.vertices[1].tolist() == [[0.1, 0.2, 0.7], [0.2, 0.3, 0.5]]
    assert child.table.lower.tolist() == [[[1, 0, 0], [0.1, 0.2, 0.5]], [[0.1, 0.1, 0.6], [0, 0, 1]]]
    assert child.table.upper.tolist() == [[[1, 0, 0], [0.2, 0.3, 0.7]], [[0.3, 0.3, 0.8], [0, 0, 1]]]


def test_factors_may_come_in_any_order():
    network = uai.read("BAYES 2  2 2  2  2 0 1  1 0  4 .1 .9 .2 .8  2 .5 .5")
    assert network.variables[0].table == Table.precise([0.5, 0.5])
    assert network.variables[1].table == Table.precise([[0.1, 0.9], [0.2, 0.8]])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "word 1: the format's name is expected, got the end of the file"),
        ("MARKOV 1", "word 1: the file starts with BAYES or V-CREDAL, got 'MARKOV'"),
        ("BAYES", "word 2: the number of variables is expected, got the end of the file"),
        ("BAYES 0", "word 2: the number of variables is a whole number from 1, got '0'"),
        ("BAYES 1.5", "word 2: the number of variables is a whole number from 1, got '1.5'"),
        ("BAYES ٣", "word 2: the number of variables is a whole number from 1, got '٣'"),
        ("BAYES 9999999999", "word 2: the number of variables is a whole number from 1, got '9999999999'"),
        ("BAYES 999999999 2", "word 4: a variable's size is expected, got the end of the file"),
        ("BAYES 1 -2", "word 3: a variable's size is a whole number from 1, got '-2'"),
        ("BAYES 2 2 2 1", "word 5: one factor a variable, 2, got 1"),
        ("BAYES 1 2 1 0", "word 5: the number of a factor's variables is a whole number from 1, got '0'"),
        ("BAYES 1 2 1 1 1", "word 6: a factor has different variables from 0 to 0, got [1]"),
        ("BAYES 2 2 2 2 2 0 0", "word 8: a factor has different variables from 0 to 1, got [0, 0]"),
        ("BAYES 2 2 2 2 1 0 1 0", "each variable is the last of one factor's variables, got [0, 0]"),
        ("BAYES 1 2 1 1 0 3 .1 .2 .7", "variable 0: word 7: 2 numbers are expected, got 3"),
        ("BAYES 1 2 1 1 0 2 .1", "variable 0: word 9: a number is expected, got the end of the file"),
        ("BAYES 1 2 1 1 0 2 .1 half", "variable 0: word 9: a number is expected, got 'half'"),
        ("BAYES 1 2 1 1 0 2 .1 .8", "variable 0: row 0: a row sums to 1 within 1e-06, got 0.9 = 0.1 + 0.8"),
        ("BAYES 1 2 1 1 0 2 -.5 1.5", "variable 0: row 0: a probability lies between 0 and 1, got -0.5"),
        ("BAYES 1 2 1 1 0 2 inf 1", "variable 0: row 0: a probability lies between 0 and 1, got inf"),
        ("BAYES 1 2 1 1 0 2 .5 .5 .5", "word 10: the end of the file is expected, got '.5'"),
        ("BAYES 2 2 2 2 2 1 0 2 0 1 4 .5 .5 .5 .5 4 .5 .5 .5 .5", "0: the graph has no cycle, got 0 -> 1 -> 0"),
        ("BAYES 1 999999999 1 1 0", "variable 0: a table has at most 10,000,000 numbers, got 999999999"),
        ("V-CREDAL 1 3 1 1 0 4 .1 .2 .7 1", "variable 0: word 7: a multiple of 3 numbers are expected, got 4"),
        ("V-CREDAL 1 3 1 1 0 0", "variable 0: word 7: the count of numbers is a whole number from 1, got '0'"),
        ("V-CREDAL 1 2 1 1 0 4 .1 .9 .3 .6", "variable 0: row 0: a vertex sums to 1 within 1e-06, got 0.9 = 0.3 + 0.6"),
        ("V-CREDAL 1 2 1 1 0 2 nan 1", "variable 0: row 0: a probability lies between 0 and 1, got [nan, 1.0]"),
    ],
)
def test_a_broken_uai_file_says_what_and_where(text, said):
    assert message(uai.read, text) == said


def test_more_parents_than_an_array_has_axes_are_refused():
    text = f"BAYES 70 {'1 ' * 70} 70 70 {' '.join(map(str, range(70)))} {' '.join(f'1 {child}' for child in range(69))} {'1 1 ' * 70}"
    assert message(uai.read, text) == "variable 69: a variable has at most 60 parents, got 69"


def numbered(network):
    """The network with the names that UAI gives."""
    return Network(
        tuple(
            Variable(str(position), tuple(map(str, range(len(variable.states)))), tuple(map(str, parents)), variable.table)
            for position, (variable, parents) in enumerate(zip(network.variables, network.parents, strict=True))
        )
    )


def assert_close(read, written):
    """Equal, but that the bounds of interval rows, written as vertices, may be off by rounding."""
    assert read.is_precise == written.is_precise
    for one, other in zip(read.variables, written.variables, strict=True):
        assert (one.name, one.states, one.parents) == (other.name, other.states, other.parents)
        assert one.table.vertices.keys() == other.table.vertices.keys()
        for row, points in one.table.vertices.items():
            assert np.array_equal(points, other.table.vertices[row])
        np.testing.assert_allclose(one.table.lower, other.table.lower, rtol=0, atol=1e-12)
        np.testing.assert_allclose(one.table.upper, other.table.upper, rtol=0, atol=1e-12)


@given(networks(kind="precise"))
def test_precise_networks_pass_through_uai(network):
    assert uai.write(network).startswith("BAYES\n")
    assert uai.read(uai.write(network)) == numbered(network)


@given(networks())
def test_credal_networks_pass_through_uai(network):
    assert_close(uai.read(uai.write(network)), numbered(network))


@given(tables((3,), 4, kind="vertices"))
def test_vertex_rows_pass_through_uai_exactly(table):
    root = Variable("0", ("0", "1", "2"), (), Table.precise([0.5, 0.25, 0.25]))
    network = Network((root, Variable("1", ("0", "1", "2", "3"), ("0",), table)))
    written = uai.read(uai.write(network)).variables[1].table
    for row in table.vertices:
        assert np.array_equal(written.vertices[row], table.vertices[row])


# BIF

BIF = """\
network "weather" { property "author = me"; property version 1.0 ; }
// the sky
variable Sky { type discrete [ 2 ] { clear, "partly cloudy" }; property position = (10, 20) ; }
variable "Wet grass" {
  type discrete[3] {no, "a bit", yes};
}
variable Sprinkler { type discrete [2] { on, off }; }
/* roots,
   then the child */
probability ( Sky ) { table 0.75, 0.25; }
probability ( Sprinkler | Sky ) { default 0.5, 0.5; ("partly cloudy") 0.1, 0.9; }
probability ( "Wet grass" | Sky, Sprinkler ) {
  (clear, on) 0.1, 0.2, 0.7;
  (clear, off) 1 0 0;
  ("partly cloudy", on) 0.0, 1.0e0, 0;
  ("partly cloudy", off) 0.3, 0.3, 0.4; // last
}
"""


def test_bif_is_read():
    network = bif.read(BIF)
    assert {variable.name: (variable.states, variable.parents) for variable in network.variables} == {
        "Sky": (("clear", "partly cloudy"), ()),
        "Wet grass": (("no", "a bit", "yes"), ("Sky", "Sprinkler")),
        "Sprinkler": (("on", "off"), ("Sky",)),
    }
    sky, grass, sprinkler = (variable.table for variable in network.variables)
    assert sky == Table.precise([0.75, 0.25])
    assert sprinkler == Table.precise([[0.5, 0.5], [0.1, 0.9]])
    assert grass == Table.precise([[[0.1, 0.2, 0.7], [1, 0, 0]], [[0, 1, 0], [0.3, 0.3, 0.4]]])


def two(rows):
    """Three variables, A with two states, B with three, C below both with this content."""
    parts = ["variable A { type discrete [2] { a, b }; }", "variable B { type discrete [3] { x, y, z }; }"]
    parts += ["variable C { type discrete [2] { u, v }; }", "probability (A) { table .5 .5; }", "probability (B) { table .2 .3 .5; }"]
    return "\n".join([*parts, f"probability (C | A, B) {{ {rows} }}"])


def test_one_table_for_all_rows_has_the_child_slowest_and_the_last_parent_fastest():
    table = bif.read(two("table .1 .2 .3 .4 .5 .6  .9 .8 .7 .6 .5 .4;")).variables[2].table
    assert table == Table.precise([[[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]], [[0.4, 0.6], [0.5, 0.5], [0.6, 0.4]]])


ONE = "variable A { type discrete [2] { a, b }; }\n"
ROWS = "(a, x) .1 .9; (a, y) .1 .9; (a, z) .1 .9; (b, x) .1 .9; (b, y) .1 .9;"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a network has at least one variable, got none"),
        ("\nhello", "line 2: 'network', 'variable' or 'probability' is expected, got 'hello'"),
        ('variable "A', "line 1: a word is expected, got '\"'"),
        ("network {", "line 1: a network's name is expected, got '{'"),
        ("network x {", "line 1: '}' is expected, got 'the end of the file'"),
        ("variable ;", "line 1: a variable's name is expected, got ';'"),
        ("variable A { kind", "line 1: 'type' is expected, got 'kind'"),
        ("variable A { type continuous", "line 1: 'discrete' is expected, got 'continuous'"),
        ("variable A { type discrete [2] { a, b ;", "line 1: '}' is expected, got ';'"),
        ("variable A { type discrete [3] { a, b }; }", "A: the number of states is that of its list, 2, got '3'"),
        (ONE + ONE, "A: each variable is declared once, got it twice"),
        (ONE, "A: each variable has a table, got none"),
        (ONE + "probability (A) { table .5 .5; }" * 2, "A: each variable has one table, got two"),
        (ONE + "probability (A A) {", "line 2: a table is of one variable, got ['A', 'A']"),
        (ONE + "probability (A | Sky) {", "line 2: unknown variable, got 'Sky'"),
        (ONE.replace("A", "Sky") + "probability (Skye) {", "line 2: unknown variable (did you mean 'Sky'?), got 'Skye'"),
        (ONE + "probability (A) {", "A: line 2: 'table', 'default', '(' or '}' is expected, got 'the end of the file'"),
        (ONE + "probability (A) { rows", "A: line 2: 'table', 'default' or a row is expected, got 'rows'"),
        (ONE + "probability (A) { table .5 half; }", "A: line 2: numbers are expected, got '.5 half'"),
        (ONE + "probability (A) { table .5; }", "A: line 2: 2 finite numbers are expected, got '.5'"),
        (ONE + "probability (A) { table nan 1; }", "A: line 2: 2 finite numbers are expected, got 'nan 1'"),
        (ONE + "probability (A) { table .5 .4; }", "A: row 0: a row sums to 1 within 1e-06, got 0.9 = 0.5 + 0.4"),
        (ONE + "probability (A | A) { default .5 .5; }", "A: the graph has no cycle, got A -> A"),
        ("/* two\nlines */" + ONE + "probability (A) { table .5; }", "A: line 3: 2 finite numbers are expected, got '.5'"),
        (
            'variable A { type discrete [2] { a, b }; property quaestor_names = [ "A" ]; }',
            "A: quaestor_names are its name and its 2 states, got 1 texts",
        ),
        ('variable A { property quaestor_names = [ "\\x" ];', "line 1: quaestor_names are texts as in JSON, got '\\\\x'"),
        (two(ROWS), "C: line 6: each combination of the parents' states has a row, got 'none for (b, z)'"),
        (two("(a) .1 .9;"), "C: line 6: a row is named by a state of each parent, got ['a']"),
        (two("(a, w) .1 .9;"), "C: line 6: a row is named by a state of each parent, got ['a', 'w']"),
        (two(ROWS + ROWS), "C: line 6: each row is there once, got '(a, x) twice'"),
    ],
)
def test_a_broken_bif_file_says_what_and_where(text, said):
    assert message(bif.read, text) == said


@pytest.mark.parametrize(("parents", "said"), [(40, "a table has at most 10,000,000 numbers"), (70, "a variable has at most 60 parents")])
def test_a_table_too_large_to_build_is_refused(parents, said):
    names = [f"A{number}" for number in range(parents + 1)]
    text = "".join(ONE.replace("A", name) for name in names) + f"probability ({names[0]} | {', '.join(names[1:])}) {{ table 1; }}"
    assert said in message(bif.read, text)


@given(networks(kind="precise"))
def test_precise_networks_pass_through_bif(network):
    assert bif.read(bif.write(network)) == network


ODD = [
    "a//b",
    "/* c */",
    "a, b",
    "table",
    "default",
    "property",
    "probability",
    "}",
    "(",
    "",
    " ",
    "1",
    "é",
    "a\tb",
    'a"b',
    "a\nb",
    "\\",
    ";",
    "-",
    "2nd",
]


@pytest.mark.parametrize("name", ODD)
def test_odd_names_pass_through_bif(name):
    root = Variable(name, (name, "other"), (), Table.precise([0.25, 0.75]))
    child = Variable("child", ("x", name), (name,), Table.precise([[0.1, 0.9], [0.2, 0.8]]))
    assert bif.read(bif.write(Network((root, child)))) == Network((root, child))


def test_names_that_are_alike_as_plain_words_stay_apart():
    states = ("a b", "a-b c", "a_b", "a/b", "a_b_3", "é", "ü")
    network = Network((Variable("A", states, (), Table.precise([0.4, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1])),))
    assert bif.read(bif.write(network)) == network
    assert "{ a_b_0, a_b_c, a_b, a_b_3_, a_b_3, _, __6 };" in bif.write(network)


def test_files_with_names_in_quotes_are_still_read():
    text = 'variable "A b" { type discrete [2] { "c d", e }; } probability ("A b") { table .25 .75; }'
    assert bif.read(text) == Network((Variable("A b", ("c d", "e"), (), Table.precise([0.25, 0.75])),))


@pytest.mark.parametrize("name", bundled_banks())
def test_pyagrum_reads_what_is_written_of_every_bundled_bank(name, tmp_path):
    gum = pytest.importorskip("pyagrum", reason="pyAgrum is not installed (extra `dev` or `bench`)")
    bank = load(name).centre()
    write_network(bank.network, tmp_path / "x.bif")
    assert read_network(tmp_path / "x.bif") == bank.network
    random = np.random.default_rng(5)
    answers = {q.id: int(random.integers(len(q.classes))) for q in bank.questions.values() if random.random() < 0.3}
    engine = gum.LazyPropagation(gum.loadBN(str(tmp_path / "x.bif")))
    engine.setEvidence(answers)
    ours = posterior(bank, answers)
    for skill in bank.skills:  # pyAgrum reads the numbers of a BIF file in single precision
        np.testing.assert_allclose(engine.posterior(skill).toarray(), ours[skill].lower, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", ODD)
def test_pyagrum_reads_odd_names(name, tmp_path):
    gum = pytest.importorskip("pyagrum", reason="pyAgrum is not installed (extra `dev` or `bench`)")
    root = Variable(name, (name, "other"), (), Table.precise([0.25, 0.75]))
    write_network(Network((root, Variable("child", ("x", name), (name,), Table.precise([[0.1, 0.9], [0.2, 0.8]])))), tmp_path / "x.bif")
    theirs = gum.loadBN(str(tmp_path / "x.bif"))
    np.testing.assert_allclose(theirs.cpt("child").toarray(), [[0.1, 0.9], [0.2, 0.8]], rtol=0, atol=1e-7)


def test_a_credal_network_is_no_bif():
    network = load("multiplication").widen(0.1).network
    assert message(bif.write, network) == "BIF holds exact numbers only, got a credal network (write .uai, or its centre)"


# Files


@pytest.mark.parametrize("ending", [".uai", ".bif", ".BIF"])
def test_networks_pass_through_files(tmp_path, ending):
    network = load("fractions").network
    write_network(network, tmp_path / f"x{ending}")
    assert read_network(tmp_path / f"x{ending}") == (numbered(network) if ending == ".uai" else network)


def test_errors_name_the_file(tmp_path):
    path = tmp_path / "x.uai"
    assert message(read_network, path) == f"{path}: file: a file that exists is expected, got none"
    path.write_bytes("BAYES ö".encode("latin-1"))
    assert message(read_network, path).startswith(f"{path}: file: text is encoded as UTF-8, got byte 0xf6")
    path.write_text("BAYES")
    assert message(read_network, path).startswith(f"{path}: word 2: ")


def test_another_ending_is_refused(tmp_path):
    network = load("multiplication").network
    assert message(read_network, "x.net") == "x.net: a network file ends in one of .uai, .bif, got '.net'"
    assert message(lambda path: write_network(network, path), "x.net") == "x.net: a network file ends in one of .uai, .bif, got '.net'"


# The CREPO benchmark


def crepo_files():
    files = sorted(CREPO.glob("*.uai"))
    absent = pytest.mark.skip(reason="the CREPO networks are not beside this repository (../shared/crepo)")
    return [pytest.param(path, id=path.stem) for path in files] or [pytest.param(CREPO, marks=absent)]


@pytest.mark.parametrize("path", crepo_files())
def test_crepo_networks_load_as_their_files_say(path):
    network = read_network(path)
    head, *blocks = path.read_text().split("\n\n")
    _, variables, sizes, _, *scopes = head.splitlines()
    assert len(network.variables) == int(variables)
    assert [len(variable.states) for variable in network.variables] == [int(size) for size in sizes.split()]
    for scope, block in zip(scopes, blocks, strict=True):
        _, *parents, child = map(int, scope.split())
        assert network.parents[child] == tuple(parents)
        table = network.variables[child].table
        rows = [
            np.array(row.split(), dtype=float).reshape(-1, table.shape[-1]) for row in re.split(r"^\d+$", block, flags=re.M) if row.strip()
        ]
        assert table.rows == len(rows)
        assert np.array_equal(table.lower.reshape(-1, table.shape[-1]), [row.min(axis=0) for row in rows])
        assert np.array_equal(table.upper.reshape(-1, table.shape[-1]), [row.max(axis=0) for row in rows])


@pytest.mark.parametrize("path", crepo_files())
def test_crepo_networks_pass_through_uai(path):
    network = read_network(path)
    assert not network.is_precise
    assert_close(uai.read(uai.write(network)), network)
