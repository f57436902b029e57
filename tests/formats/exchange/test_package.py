"""Zip packages of strangers: each hostile shape is refused in words."""

import io
import stat
import struct
import zipfile

import pytest

from quaestor.errors import BankError
from quaestor.formats.exchange import package
from quaestor.formats.exchange.package import Package


def packed(**files):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in files.items():
            target.writestr(name, content)
    return made.getvalue()


def refused(data):
    with pytest.raises(BankError) as caught:
        Package(data)
    return str(caught.value)


def test_files_are_found_by_the_addresses_that_others_name_them_by():
    found = Package(packed(**{"items/a.xml": "A", "img/my sign.png": "S", "b.xml": "B"}))
    assert found.names == ("items/a.xml", "img/my sign.png", "b.xml")
    assert found.read(found.find("../img/my%20sign.png", beside="items/a.xml")) == b"S"
    assert found.find("a.xml#part", beside="items/x.xml") == "items/a.xml"
    assert found.find("b.xml", beside="items/a.xml") == "b.xml"  # as seen from the package's own folder
    assert found.find("../../b.xml", beside="items/a.xml") == found.find("https://x.org/b.xml") == found.find("no.xml") == ""
    with pytest.raises(BankError, match=r"the package has the file that it names, got 'no\.xml'"):
        found.read("no.xml")


@pytest.mark.parametrize("name", ["../evil.xml", "/etc/passwd", "a/../../b", "C:\\evil", "..\\evil", "\\\\host\\x", "a\nb", "x" * 1000])
def test_names_that_lead_out_of_the_package_are_refused(name):
    assert "a file of a package has a name below its folder" in refused(packed(**{name: "x"}))


def test_a_zip_bomb_is_refused_before_it_is_unpacked(monkeypatch):
    bomb = packed(a=b"0" * 5_000_000)
    assert len(bomb) < 10_000
    assert "a file of a package becomes at most 200 times as large when unpacked, got 5,000,000 bytes from" in refused(bomb)
    monkeypatch.setattr(package, "LARGEST_UNPACKED", 1000)
    assert "a package has at most 1,000 bytes when unpacked, got 1,200 bytes" in refused(packed(a=b"x" * 600, b=b"x" * 600))


def test_too_many_files_are_refused(monkeypatch):
    monkeypatch.setattr(package, "MOST_FILES", 3)
    assert "a package has at most 3 files, got 4" in refused(packed(a="", b="", c="", d=""))


def test_a_link_is_refused():
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as target:
        entry = zipfile.ZipInfo("link")
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        target.writestr(entry, "/etc/passwd")
    assert "a package has no links, got 'link'" in refused(made.getvalue())


def test_an_encrypted_file_is_refused():
    data = bytearray(packed(a="x"))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        begin = data.index(mark) + place
        data[begin : begin + 2] = struct.pack("<H", 1)
    assert "a package is not encrypted, got 'a'" in refused(bytes(data))


def test_two_files_of_one_name_are_refused():
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as target:
        target.writestr("a", "1")
        with pytest.warns(UserWarning, match="Duplicate name"):
            target.writestr("a", "2")
    assert "each file of a package has a name of its own, got 'a'" in refused(made.getvalue())


def test_another_way_of_packing_is_refused():
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_LZMA) as target:
        target.writestr("a", "x")
    assert "a package is packed in the usual way" in refused(made.getvalue())


def test_what_is_damaged_is_told():
    data = packed(a="some text that is packed")
    assert "the file is a zip package" in refused(data[:-30])
    broken = bytearray(data)
    broken[40] ^= 0xFF
    with pytest.raises(BankError, match="a file of the package can be unpacked, got 'a: "):
        Package(bytes(broken)).read("a")
    assert package.is_package(data)
    assert not package.is_package(b"<quiz/>")
