"""Grades for other systems, from the page of grades."""

import csv
import io
import json
import zipfile

from helpers.teacher_pages import put_test, take


def test_files_for_other_systems(kept, ada):
    where = put_test(ada, mode="practice").headers["location"]
    take(kept, "Zoe", ("50", "182"))
    take(kept, "Ben", ())
    page = ada.get(f"{where}/grades").text
    for system in ("moodle", "canvas", "oneroster", "xapi"):
        assert f'{where}/grades/{system}"' in page
        found = ada.get(f"{where}/grades/{system}")
        assert found.status_code == 200
        assert "attachment" in found.headers["content-disposition"]
    rows = list(csv.reader(io.StringIO(ada.get(f"{where}/grades/moodle").content.decode("utf-8-sig"))))
    scores = {row[1]: row[2] for row in rows[1:]}
    assert scores["Ben"] == "", "who has no answer has no score, not a zero"
    assert 0 < float(scores["Zoe"]) < 100
    with zipfile.ZipFile(io.BytesIO(ada.get(f"{where}/grades/oneroster").content)) as made:
        assert made.read("results.csv").decode().count("\n") == 1, "nobody has an id in the school's system"
    [told] = json.loads(ada.get(f"{where}/grades/xapi").content)
    assert told["result"]["score"]["raw"] == float(scores["Zoe"])
    assert "Zoe" not in json.dumps(told)
    assert ada.get(f"{where}/grades/excel").status_code == 404
