"""XML of strangers: what is read, and what is refused with its line."""

import pytest

from quaestor.errors import BankError
from quaestor.formats.exchange import xml

BOMB = b"""<?xml version="1.0"?>
<!DOCTYPE quiz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<quiz>&b;</quiz>"""


def refused(data):
    with pytest.raises(BankError) as caught:
        xml.parse(data)
    return str(caught.value)


def test_texts_and_elements_stay_in_their_order_with_their_lines():
    root = xml.parse(b'<quiz>\n <p class="x">one <b>two</b> three<!-- said --></p>\n</quiz>')
    paragraph = root.first("p")
    assert (root.tag, paragraph.attributes, paragraph.line, paragraph.text) == ("quiz", {"class": "x"}, 2, "one  three")
    assert [part if isinstance(part, str) else part.tag for part in paragraph.content] == ["one ", "b", " three"]
    assert (paragraph.whole_text(), paragraph.comments, str(paragraph.place)) == ("one two three", (" said ",), "line 2")
    assert [element.tag for element in root.walk()] == ["quiz", "p", "b"]


def test_a_name_is_told_apart_from_its_namespace():
    root = xml.parse(b'<a xmlns="http://one" xmlns:x="http://two"><x:b x:c="1"/></a>')
    inner = root.first("b")
    assert (root.tag, root.namespace, inner.namespace, inner.attributes) == ("a", "http://one", "http://two", {"c": "1"})


def test_an_entity_bomb_is_refused_before_it_grows():
    assert refused(BOMB) == ("file: an XML file declares nothing of its own (no entities), got a document type with declarations [line 2]")


@pytest.mark.parametrize("declared", [b'<!ENTITY x SYSTEM "file:///etc/passwd">', b'<!ENTITY % x SYSTEM "http://x.org/x.dtd"> %x;'])
def test_other_files_are_never_opened(declared, tmp_path):
    assert "declares nothing of its own" in refused(b"<!DOCTYPE quiz [" + declared + b"]><quiz>&x;</quiz>")


def test_a_document_type_that_only_names_a_file_is_passed_over():
    root = xml.parse(b'<!DOCTYPE quiz SYSTEM "file:///etc/passwd"><quiz>a&nbsp;&eacute;</quiz>')
    assert root.text == "a\xa0é"
    assert "an entity is one of XML or HTML" in refused(b'<!DOCTYPE quiz SYSTEM "x.dtd"><quiz>&secret;</quiz>')


def test_elements_nested_ten_thousand_deep_are_refused():
    assert refused(b"<quiz>\n" + b"<a>" * 10_000 + b"</a>" * 10_000 + b"</quiz>") == (
        "file: elements are nested at most 200 deep, got more [line 2]"
    )


@pytest.mark.parametrize(
    ("limit", "value", "data", "words"),
    [
        ("MOST_ELEMENTS", 10, b"<quiz>" + b"<a/>" * 10 + b"</quiz>", "a file has at most 10 elements"),
        ("LONGEST_TEXT", 10, b"<quiz>12345<a/>678901</quiz>", "a text in an element has at most 10 characters"),
        ("LONGEST_ATTRIBUTE", 10, b'<quiz a="12345678901"/>', "an attribute has at most 10 characters"),
        ("MOST_ATTRIBUTES", 1, b'<quiz a="1" b="2"/>', "an element has at most 1 attributes"),
        ("LARGEST_FILE", 10, b"<quiz></quiz>", "a file has at most 10 bytes"),
    ],
)
def test_what_is_more_than_a_limit_is_refused(limit, value, data, words, monkeypatch):
    monkeypatch.setattr(xml, limit, value)
    assert words in refused(data)


def test_names_of_thousands_of_letters_are_refused():
    assert "a name has at most 1,000 letters" in refused(b"<quiz><" + b"x" * 5000 + b"/></quiz>")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"<quiz>\n<a></quiz>", "the file is well-formed XML, got mismatched tag [line 2]"),
        (b"", "the file is well-formed XML, got no element found [line 1]"),
        (b"<quiz>\xe4</quiz>", "not well-formed (invalid token) [line 1]"),
        (b'<?xml version="1.0" encoding="klingon"?><quiz/>', "the file names an encoding that can be read"),
        (b'<?xml version="1.0" encoding="shift_jis"?><quiz/>', "the file names an encoding that can be read"),
    ],
)
def test_what_is_no_xml_is_refused_with_its_line(data, words):
    assert words in refused(data)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "windows-1252", "iso-8859-1"])
def test_encodings_that_a_file_names_are_read(encoding):
    written = f'<?xml version="1.0" encoding="{encoding.removesuffix("-sig")}"?><quiz>größer</quiz>'.encode(encoding)
    assert xml.parse(written).text == "größer"
    assert xml.outermost(written).tag == "quiz"


def test_the_outermost_element_is_known_without_reading_on():
    assert xml.outermost(b"<a:quiz xmlns:a='x' b='1'><broken").attributes == {"b": "1"}
