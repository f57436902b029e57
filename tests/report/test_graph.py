"""The picture of the skills."""

import re

from quaestor.report.graph import Box, draw


def texts(*boxes):
    picture = draw(boxes, "", styled=False)
    return re.findall(r'<text class="name"[^>]*>([^<]*)', picture), re.findall(r"<g><title>([^<]*)", picture)


def test_a_skill_has_its_title_and_the_id_is_the_tip():
    skills = Box("equal", "Equal fractions: simplifying & comparing", ("no", "yes"), (), 3), Box("b", "b", ("no", "yes"), ("equal",), 1)
    names, tips = texts(*skills)
    assert names == ["Equal fractions:", "simplifying &amp; comparing", "b"]
    assert tips == ["Equal fractions: simplifying &amp; comparing (equal)", "b"]


def test_a_long_title_is_cut_after_two_lines():
    names, _ = texts(Box("a", "word " * 40, ("no", "yes"), (), 0), Box("b", "x" * 90, ("no", "yes"), (), 0))
    assert [len(name) <= 25 for name in names] == [True] * 4
    assert names[1].endswith("…")


def test_all_lines_lie_in_their_box():
    picture = draw([Box("a", "one two three four five six seven", ("no", "yes"), (), 0)], "", styled=False)
    top, height = (float(number) for number in re.search(r'<rect x="[^"]*" y="([^"]*)" width="240" height="([^"]*)"', picture).groups())
    lines = [float(number) for number in re.findall(r'<text [^>]*y="([^"]*)"', picture)]
    assert len(lines) == 4
    assert top + 12 < lines[0] < lines[-1] < top + height - 5
