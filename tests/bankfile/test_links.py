"""Where to practise a skill: an address of the web, and nothing else that a page would make a link of."""

import pytest

import quaestor as qs


def bank(link):
    return qs.Bank({"skills": {"s": {"link": link}}, "questions": {"Q": {"skill": "s", "right": [0.2, 0.8]}}})


@pytest.mark.parametrize("link", ["https://practise.example/sums?a=1&b=2#c", "http://localhost:8000/x", "https://ü.example/ä"])
def test_an_address_is_kept(link, tmp_path):
    made = bank(link)
    assert made.skills["s"].link == link
    qs.dump(made, tmp_path / "bank.yaml")
    assert qs.load(tmp_path / "bank.yaml").skills["s"].link == link
    assert made.model_version == bank("https://another.example").model_version


STRANGE = ["javascript:alert(1)", "data:text/html,x", "practise.example", "https://", "https:///x", "https://a b", 'https://a"b']
STRANGE += ["https://[::1", "https://a\u202eb.example", "https://x.example/" + "a" * 1000]


@pytest.mark.parametrize("link", STRANGE)
def test_anything_else_is_refused(link):
    with pytest.raises(qs.BankError, match=r"skills\.s\.link: an address that begins with https:// or http:// is expected, got"):
        bank(link)
