"""Too much of everything: huge bodies, many parts, bombs, deep nesting, odd files and odd requests. Each is refused early and in words."""

import asyncio
import io
import time
import tracemalloc
import zipfile

import pytest

import quaestor as qs
from helpers.bank_files import repacked
from helpers.school import opened, steady
from quaestor.formats.files import dump_bytes
from quaestor.store.secrets import hashed

MEGABYTE = 1_000_000
BOUNDARY = b"--x\r\n"
GOOD = dump_bytes(qs.load("multiplication"), ".yaml")


@pytest.fixture(scope="module")
def school(tmp_path_factory, migrated_file):
    with opened(tmp_path_factory.mktemp("floods"), migrated_file) as made:
        made.get("teacher", "/nowhere")  # what a server loads for its first page is not what a flood takes
        yield made


def flood(school, path, start, chunk, count, headers=(), kind="multipart/form-data; boundary=x"):
    """Send a body in chunks, as long as the server takes them: the status, how much it took, and the most memory that took."""
    cookie = school.headers("teacher")["cookie"].encode()
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http", "path": path,
        "raw_path": path.encode(), "query_string": b"", "root_path": "", "client": ("198.51.100.7", 1), "server": ("testserver", 80),
        "headers": [(b"host", b"testserver"), (b"content-type", kind.encode()), (b"cookie", cookie), *headers],
    }  # fmt: skip
    took, sent = [], []

    async def receive():
        number = len(took)
        body = start if number == 0 else chunk
        took.append(len(body))
        return {"type": "http.request", "body": body, "more_body": number < count}

    async def send(message):
        sent.append(message)

    tracemalloc.start()
    try:
        asyncio.run(school.app(scope, receive, send))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    names = {name for name, _ in sent[0]["headers"]}
    assert b"content-security-policy" in names
    return sent[0]["status"], sum(took), peak


def file_part(name=b"bank.yaml", field=b"file"):
    token = hashed("form teacher").encode()
    first = BOUNDARY + b'Content-Disposition: form-data; name="form_token"\r\n\r\n' + token + b"\r\n"
    return first + BOUNDARY + b'Content-Disposition: form-data; name="' + field + b'"; filename="' + name + b'"\r\n\r\n'


def test_a_hundred_megabytes_that_are_announced_are_not_read(school):
    status, took, peak = flood(school, "/teacher/banks", file_part(), b"a" * 65536, 1600, [(b"content-length", b"100000000")])
    assert (status, took) == (413, 0)
    assert peak < 2 * MEGABYTE


@pytest.mark.parametrize("length", [[], [(b"content-length", b"1000")]])
def test_a_hundred_megabytes_in_chunks_are_cut_off(school, length):
    status, took, peak = flood(school, "/teacher/banks", file_part(), b"a" * 65536, 1600, length)
    assert status == 413
    assert took < 10.2 * MEGABYTE
    assert peak < 20 * MEGABYTE


@pytest.mark.parametrize("path", ["/api/v1/banks", "/enter", "/teacher/account/name"])
def test_large_bodies_of_any_kind_are_cut_off(school, path):
    """A text field of a form has at most one megabyte; what is no form is not read at all."""
    token = school.tokens["banks"].encode()
    keys = [(b"authorization", b"Bearer " + token), (b"idempotency-key", b"flood")]
    for kind, statuses in (("application/json", (403, 413)), ("application/x-www-form-urlencoded", (400, 415)), ("text/plain", (403, 415))):
        status, took, peak = flood(school, path, b'{"a": "', b"a" * 65536, 1600, keys, kind)
        assert status in statuses
        assert took < 10.2 * MEGABYTE
        assert peak < 35 * MEGABYTE


@pytest.mark.parametrize(
    ("path", "field", "words"),
    [("/teacher/import/keep", "packed", "lease choose the file again"), ("/teacher/classes/roster", "roster", "did not arrive whole")],
)
def test_a_field_that_holds_a_file_may_be_as_large_as_an_upload(school, path, field, words):
    """Two megabytes are read and looked at, in both kinds of forms; a hundred are cut off as everywhere."""
    for files in (None, {"none": ("", b"")}):
        assert words in school.post("teacher", path, {field: "a" * 2 * MEGABYTE}, files).text
    status, took, peak = flood(school, path, field.encode() + b"=", b"a" * 65536, 1600, kind="application/x-www-form-urlencoded")
    assert (status, took < 10.2 * MEGABYTE, peak < 35 * MEGABYTE) == (413, True, True)


@pytest.mark.parametrize(("token", "expected"), [(None, 401), ("forged", 401), ("not banks", 403)])
def test_nothing_of_a_body_is_read_before_the_token_is_known(school, token, expected):
    keys = [(b"authorization", f"Bearer {school.tokens.get(token, token)}".encode())] if token else []
    status, took, _ = flood(school, "/api/v1/banks", b'{"a": "', b"a" * 65536, 100, [*keys, (b"idempotency-key", b"x")], "application/json")
    assert (status, took) == (expected, 0)


@pytest.mark.parametrize("length", [b"9" * 5000, b"-1", b"1e9", b"", b"0x10"])
def test_odd_lengths_are_no_server_error(school, length):
    status, _, _ = flood(school, "/teacher/banks", b"", b"", 0, [(b"content-length", length)])
    assert status in (400, 403, 413)


def test_many_small_parts_are_refused(school):
    before = steady(school.dump())
    part = BOUNDARY + b'Content-Disposition: form-data; name="a"\r\n\r\n1\r\n'
    assert flood(school, "/teacher/banks", b"", part * 1000, 100)[0] == 400
    files = BOUNDARY + b'Content-Disposition: form-data; name="images"; filename="a.png"\r\n\r\n1\r\n'
    assert flood(school, "/teacher/banks", b"", files, 100)[0] == 400
    status, took, peak = flood(school, "/teacher/banks", b"a&", b"a&" * 30_000, 100, kind="application/x-www-form-urlencoded")
    assert (status, took < MEGABYTE, peak < 5 * MEGABYTE) == (400, True, True)
    headers = BOUNDARY + b"".join(b"X-%d: a\r\n" % number for number in range(20_000)) + b"\r\n1\r\n"
    assert flood(school, "/teacher/banks", headers, b"", 0)[0] in (400, 403)
    assert steady(school.dump()) == before


@pytest.mark.parametrize(
    "kind",
    ["multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=x; charset=utf-16", "text/html", "",
     "multipart/form-data; boundary=x; charset=nope", "application/json", "application/xml", "multipart/mixed; boundary=x"],
)  # fmt: skip
def test_forms_of_another_kind_are_refused(school, kind):
    before = steady(school.dump())
    field = BOUNDARY + b'Content-Disposition: form-data; name="title"\r\n\r\n\xff\xfe\r\n--x--\r\n'
    for body in (b"\xff\xfe", b'{"form_token": "x"}', field):
        assert flood(school, "/teacher/banks/new", body, b"", 0, kind=kind)[0] in (400, 403)
    assert steady(school.dump()) == before


def test_a_form_sent_to_the_api_is_refused(school):
    for kind in ("application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", "application/json-patch"):
        headers = {"authorization": f"Bearer {school.tokens['sessions']}", "content-type": kind, "idempotency-key": "x"}
        reply = school.client.post("/api/v1/sessions", content=b"test=1&name=Eve", headers=headers)
        assert reply.status_code == 415
        assert reply.headers["content-type"] == "application/problem+json"


# Files


def upload(school, name, content, field="file", path="/teacher/banks"):
    return school.post("teacher", path, {}, {field: (name, content)})


def bomb(megabytes):
    """A workbook whose sheet is small until it is unpacked."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        with archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as sheet:
            for _ in range(megabytes):
                sheet.write(b" " * MEGABYTE)
    return made.getvalue()


def entities():
    made = io.BytesIO()
    lines = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "x" * 100}">' for n in range(9))
    with zipfile.ZipFile(made, "w") as archive:
        for name in ("[Content_Types].xml", "_rels/.rels", "xl/workbook.xml", "xl/sharedStrings.xml", "xl/worksheets/sheet1.xml"):
            archive.writestr(name, f"<?xml version='1.0'?><!DOCTYPE x [{lines}]><x>&e8;</x>")
    return made.getvalue()


def far_to_the_right():
    sheet, cells = "xl/worksheets/sheet1.xml", (b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (n, n) for n in range(500, 3500))
    return repacked(dump_bytes(qs.load("multiplication"), ".xlsx"), sheet, b"</sheetData>", b"".join(cells) + b"</sheetData>")


def aliases():
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 9)}]" for n in range(20)]
    return "\n".join(lines).encode()


FILES = {
    "zip bomb": ("b.xlsx", lambda: bomb(300)),
    "entities": ("b.xlsx", entities),
    "the last column": ("b.xlsx", far_to_the_right),
    "no zip": ("b.xlsx", lambda: b"PK\x03\x04 no workbook"),
    "a zip cut off": ("b.xlsx", lambda: dump_bytes(qs.load("multiplication"), ".xlsx")[:-200]),
    "deep yaml": ("b.yaml", lambda: b"[" * 200_000),
    "deep maps": ("b.yaml", lambda: b"{a: " * 100_000),
    "aliases": ("b.yaml", aliases),
    "an object": ("b.yaml", lambda: b"!!python/object/apply:os.system ['true']"),
    "deep json": ("b.json", lambda: b'{"a":' * 200_000),
    "deep lists": ("b.json", lambda: b"[" * 200_000),
    "a long number": ("b.json", lambda: b'{"quaestor": ' + b"9" * 100_000 + b"}"),
    "wide csv": ("b.csv", lambda: b"id,text" + b",x" * 500_000),
    "an open quote": ("b.csv", lambda: b'id,text\n"' + b"a" * MEGABYTE),
    "nul": ("b.csv", lambda: b"id,text\n\x00,\x00"),
    "utf-16": ("b.yaml", lambda: GOOD.decode().encode("utf-16")),
    "latin-1": ("b.yaml", lambda: "title: Übung".encode("latin-1")),
    "binary": ("b.csv", lambda: bytes(range(256)) * 100),
    "html": ("b.yaml", lambda: b"<html><script>alert(7)</script></html>"),
    "an executable": ("b.exe", lambda: b"MZ"),
    "nothing": ("b.yaml", lambda: b""),
}


@pytest.mark.parametrize("kind", FILES)
def test_files_that_are_no_banks_are_refused_quickly(school, kind):
    name, make = FILES[kind]
    content, before = make(), steady(school.dump())
    began = time.process_time()
    page = upload(school, name, content)
    assert page.status_code in (400, 413), page.text[:500]
    assert "Traceback" not in page.text
    assert time.process_time() - began < 5
    assert steady(school.dump()) == before


def test_thousands_of_faults_make_no_huge_page(school):
    page = upload(school, "b.csv", b"id,text,skill\n" + b"a,b,c\n" * 5000)
    assert page.status_code == 400
    assert "4950 more" in page.text
    assert len(page.content) < 200_000


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd.yaml", "/etc/passwd.yaml", "..\\..\\boot.yaml", "C:\\windows\\x.yaml", "a%00.yaml", "x" * 5000 + ".yaml", ".yaml",
     "con.yaml", "a\u202elmay.yaml", "bank.yaml/", "~/.ssh/id.yaml", "${HOME}.yaml", "a;b.yaml", "%2e%2e%2fx.yaml"],
)  # fmt: skip
def test_names_of_files_never_become_paths(school, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = upload(school, name, GOOD)
    assert page.status_code in (303, 400)
    images = upload(school, name, b"\x89PNG\r\n\x1a\n0", "images", f"/teacher/drafts/{school.places['draft']}/images")
    assert images.status_code in (303, 400)
    pupils = upload(school, name, b"Ada\nBen", "file", f"/teacher/tests/{school.places['test']}/pupils")
    assert pupils.status_code in (303, 400)  # a name of 5000 letters fits into no part of a form
    assert list(tmp_path.iterdir()) == []
    school.restore()


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\x00A", b"\x00" * 1000, b"name\n" + b"A" * 100_000, b'name\n"' + b"a" * 200_000, b"A\n" * 50_000]
)
@pytest.mark.parametrize("name", ["class.csv", "class.txt"])
def test_odd_class_lists_are_taken_or_refused(school, name, content):
    page = upload(school, name, content, "file", f"/teacher/tests/{school.places['test']}/pupils")
    assert page.status_code in (303, 400)
    assert school.get("teacher", f"/teacher/tests/{school.places['test']}").status_code == 200
    school.restore()


@pytest.mark.parametrize("path", ["/teacher/banks/pasted", "/teacher/tests/{test}/pupils", "/teacher/drafts/{draft}/questions/~preview"])
def test_nothing_of_a_strangers_form_is_read(school, path):
    """Without a sign-in the refusal comes before any work: as quick for a large form as for a small one."""
    target = path.format(**school.places)
    heavy = {"rows": "id,text\n" + "a,b\n" * 100_000, "names": "A\n" * 100_000, "statement": "[" + "1," * 200_000 + "1]", "way": "written"}
    began = time.process_time()
    assert school.post("anonymous", target, heavy).status_code == 403
    assert time.process_time() - began < 2
