"""Reports: formulas as a terminal shows them, the skill tree, the skill graph, the tables of a network."""

import io
from xml.etree import ElementTree

import numpy as np
import pytest
from rich.console import Console

from quaestor import Bank, Network, Table, Variable, load
from quaestor.report.graph import skill_graph
from quaestor.report.terminal import plain_maths, show_bank, show_network, skill_tree

SVG = "{http://www.w3.org/2000/svg}"


def bank_of(parents, **fields):
    """A bank with these skills, each with the names of its parents, and one question on each."""
    skills = {name: {"parents": above, "strength": 0.5} if above else {} for name, above in parents.items()}
    questions = {f"Q{number}": {"skill": name, "right": [0.3, 0.9]} for number, name in enumerate(parents)}
    return Bank({"skills": skills, "questions": questions, **fields})


def shown(show, content):
    out = Console(file=io.StringIO(), width=100, color_system=None, markup=False, highlight=False)
    show(content, out)
    return out.file.getvalue()


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (r"What is $10 \times 5$?", "What is 10 × 5?"),
        (r"$\frac{3}{4}$ of $2\frac{1}{2}$", "3/4 of 2 1/2"),
        (r"$\frac{2 \times 2}{3 \times 2} = \frac{4}{6}$", "(2 × 2)/(3 × 2) = 4/6"),
        (r"$\dfrac{\frac{1}{2}}{3}$", "(1/2)/3"),
        (r"$(8 \div 3) \leq 5 \neq \pi$", "(8 ÷ 3) ≤ 5 ≠ π"),
        (r"$\left( x \right) \text{ if } y$", "( x ) if y"),
        (r"$\lesssim$", r"\lesssim"),
        ("costs 5 $, or 6", "costs 5 $, or 6"),
        ("no formula {a}", "no formula {a}"),
    ],
)
def test_formulas_are_shown_in_plain_letters(text, plain):
    assert plain_maths(text) == plain


def test_the_tree_shows_each_skill_once_below_its_first_parent():
    bank = bank_of({"a": [], "b": ["a"], "c": ["b", "e"], "d": ["a"], "e": []})
    assert skill_tree(bank) == [
        "a: 1 question",
        "├─ b: 1 question",
        "│  └─ c: 1 question, also builds on e",
        "└─ d: 1 question",
        "e: 1 question",
    ]


def test_a_long_chain_of_skills_is_shown():
    names = [f"s{number}" for number in range(1500)]
    bank = bank_of({name: names[max(0, number - 1) : number] for number, name in enumerate(names)})
    assert len(skill_tree(bank)) == 1500
    assert len(ElementTree.fromstring(skill_graph(bank)).findall(f"{SVG}g")) == 1500


def test_a_bank_is_shown_with_its_versions_and_in_sentences():
    bank = load("multiplication")
    text = shown(show_bank, bank)
    assert f"precise, version {bank.version}, model {bank.model_version}" in text
    assert "Before any answer: 50 % have the skill." in text
    assert "What is 13 × 14?" in text
    assert "credal, version" in shown(show_bank, bank.widen(0.1))


def test_square_brackets_are_no_markup():
    assert "[bold]a[/bold]" in shown(show_bank, bank_of({"a": []}, title="[bold]a[/bold]"))


def test_the_graph_is_xml_with_every_skill_and_arrow():
    odd = "<b> & \"x\" 'y'"
    bank = bank_of({odd: [], "b": [odd], "c": [odd, "b"], "a very long name of a skill that has two lines": []}, title="Tom & <Jerry>")
    root = ElementTree.fromstring(skill_graph(bank))
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert [name in texts for name in (odd, "b", "c")] == [True, True, True]
    assert {"a very long name of a", "skill that has two lines"} <= set(texts)
    assert [title.text for title in root.iter(f"{SVG}title")] == ["Skills of Tom & <Jerry>", *bank.skills]
    assert len(root.findall(f"{SVG}path")) == 3


def test_boxes_of_the_graph_lie_inside_and_apart():
    bank = bank_of({"a": [], "b": [], "c": ["a"], "d": ["a", "b"], "e": ["b"], "f": ["c", "d", "e"]})
    root = ElementTree.fromstring(skill_graph(bank))
    _, _, width, height = map(float, root.get("viewBox").split())
    boxes = [[float(box.get(side)) for side in ("x", "y", "width", "height")] for box in root.iter(f"{SVG}rect")]
    assert len(boxes) == 6
    for number, (x, y, wide, high) in enumerate(boxes):
        assert x >= 0
        assert y >= 0
        assert x + wide <= width
        assert y + high <= height
        for other_x, other_y, other_wide, other_high in boxes[:number]:
            assert x + wide <= other_x or other_x + other_wide <= x or y + high <= other_y or other_y + other_high <= y


def test_a_network_is_shown_with_the_kind_of_its_rows():
    four = tuple("abcd")
    vertices = {0: np.array([[0.1, 0.2, 0.7], [0.2, 0.3, 0.5]])}
    rows = Table(np.full((4, 3), 0.2), np.full((4, 3), 0.5), vertices)
    parents = Network(
        (
            Variable("A", four, (), Table.precise([0.25] * 4)),
            Variable("B", ("x", "y", "z"), ("A",), rows),
            Variable("C", ("u", "v"), ("A", "B"), Table.precise(np.full((4, 3, 2), [0.125, 0.875]))),
        )
    )
    text = shown(show_network, parents)
    assert "3 variables (credal)" in text
    assert "0.100 0.200 0.500" in text
    for kind in ("precise", "2 vertices", "interval", "4 more rows"):
        assert kind in text
    assert text.count("0.125 0.875") == 2 * 8, "eight rows at most, each with its lower and its upper bounds"
