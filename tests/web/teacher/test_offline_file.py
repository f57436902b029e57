"""A practice test as one file, from its page; exams are not given so."""

from helpers.teacher_pages import put_test


def test_a_practice_test_is_handed_out_as_one_file(ada):
    where = put_test(ada, mode="practice").headers["location"]
    assert f'{where}/offline.html"' in ada.get(where).text
    found = ada.get(f"{where}/offline.html", headers={"accept-language": "de"})
    assert found.status_code == 200
    assert "attachment" in found.headers["content-disposition"]
    assert '<html lang="de">' in found.text


def test_an_exam_is_not(ada):
    where = put_test(ada, mode="exam").headers["location"]
    assert "offline.html" not in ada.get(where).text
    found = ada.get(f"{where}/offline.html")
    assert found.status_code == 404
    assert "the key would be in the file" in found.text
