"""Sheets: CSV and XLSX files as teachers and spreadsheet programs write them."""

import datetime
import io
import re
import zipfile

import openpyxl
import pytest

from helpers.bank_files import loaded, problems, repacked, workbook
from quaestor import Bank, BankError
from quaestor.cli import main
from quaestor.formats import sheets
from quaestor.formats.files import dump_bytes, load
from quaestor.formats.limits import LARGEST_SHEET

HEADER, ROW = ["id", "skill", "right"], ["Q1", "m", "0.3 | 0.9"]
SHEET = "xl/worksheets/sheet1.xml"


def the_same_bank(**fields):
    return Bank({"skills": {"m": {}}, "questions": {"Q1": {"skill": "m", "right": [0.3, 0.9], **fields}}})


# CSV


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_commas_semicolons_and_tabs_separate(separator):
    text = "id,skill,right,text\nQ1,m,0.3 | 0.9,Why?\n".replace(",", separator)
    assert loaded(text, ".csv") == the_same_bank(text="Why?")


@pytest.mark.parametrize(
    "content", ["\ufeffid,skill,right\r\nQ1,m,0.3 | 0.9\r\n", "id,skill,right\rQ1,m,0.3 | 0.9", "ID, Skill ,RIGHT\nQ1, m ,0.3|0.9"]
)
def test_byte_order_marks_line_ends_case_and_spaces_do_not_matter(content):
    assert loaded(content, ".csv") == the_same_bank()


def test_decimal_commas_are_read():
    assert loaded("id;skill;right;minutes\nQ1;m;0,3 | 0,9;1,5\n", ".csv").questions["Q1"].table == the_same_bank().questions["Q1"].table
    assert loaded("id;skill;right;minutes\nQ1;m;0,3 | 0,9;1,5\n", ".csv").questions["Q1"].minutes == 1.5


def test_a_file_of_the_wrong_encoding_says_how_to_save_it():
    assert problems("id,skill,right,text\nQ1,m,0.3 | 0.9,Größe\n".encode("cp1252"), ".csv") == [
        "file: text is encoded as UTF-8, got byte 0xf6 at position 37 (save the file as UTF-8; in a spreadsheet program: CSV UTF-8)"
    ]


def test_questions_alone_make_a_bank():
    bank = loaded("id,skill,skills,right,needs,slip,guess\nQ1,a,,0.3 | 0.9,,,\nQ2,,a | b,,all,0.1,0.2\n", ".csv")
    assert {skill.id: skill.levels for skill in bank.skills.values()} == {"a": ("no", "yes"), "b": ("no", "yes")}


def test_where_skills_are_described_a_stranger_is_an_error():
    text = "sheet,id,skill,right\nskills,addition,,\nquestions,Q1,additon,0.3 | 0.9\n"
    assert problems(text, ".csv") == ["questions.Q1.skill: unknown skill, got 'additon' (did you mean 'addition'?) [row 3, column C]"]


def test_the_sheet_column_stacks_the_sheets():
    text = """\
sheet,field,value,id,levels,template,skill,right,text
bank,title,Sums,,,,,,
Bank,imprecision,"0,05",,,,,,
Skills,,,m,no | yes,,,,
templates,,,easy,,,m,0.3 | 0.9,
,,,Q1,,easy,,,Why?
Questions,,,Q2,,easy,,0.1 | 0.8,
"""
    bank = loaded(text, ".csv")
    assert (bank.title, bank.document["imprecision"]) == ("Sums", 0.05)
    assert bank.questions["Q1"].text == "Why?"
    assert list(bank.questions) == ["Q1", "Q2"]


def test_an_unknown_sheet_is_named_with_its_row():
    assert problems("sheet,id,skill,right\nquestion,Q1,m,0.3 | 0.9\nquestions,Q2,m,0.3 | 0.9\n", ".csv") == [
        "sheet: one of bank, skills, templates, questions is expected, got 'question' [row 2, column A]"
    ]


def test_an_unknown_column_has_a_proposal():
    unknown, twice = problems("id,skil,right,right\nQ1,m,0.3 | 0.9,1\n", ".csv")
    assert unknown.startswith("file: unknown column, got 'skil' (did you mean 'skill'? known columns: id, template, text, kind, ")
    assert unknown.endswith(") [row 1, column B]")
    assert twice == "file: each column is there once, got 'right' [row 1, column D]"


def test_the_columns_of_the_other_sheets_are_offered_where_they_can_stand():
    (unknown,) = problems("sheet,id,skil,right\nquestions,a,x,0.3 | 0.9\n", ".csv")
    assert {"levels", "prior", "field"} <= set(re.findall(r"\w+", unknown.partition("known columns: ")[2]))


def test_an_unknown_field_of_the_bank_has_a_proposal():
    assert problems("sheet,field,value,id,skill,right\nbank,titel,T,,,\n,,,Q1,m,0.3 | 0.9\n", ".csv") == [
        "bank: unknown field, got 'titel' (did you mean 'title'?) [row 2, column B]"
    ]


def test_a_header_full_of_nonsense_is_refused_quickly():
    assert problems(",".join(f"c{number}" for number in range(100_000)), ".csv") == ["file: a sheet has at most 200 columns, got 100,000"]


def test_repeated_and_missing_ids_have_their_rows():
    text = "id,skill,right\nQ1,m,0.3 | 0.9\n,m,0.3 | 0.9\nQ1,m,0.3 | 0.9\n"
    assert problems(text, ".csv") == [
        "questions: each row has an id, got none [row 3, column A]",
        "questions.Q1: each id is used once, got 'Q1' [row 4, column A]",
    ]


def test_a_problem_of_a_cell_has_its_row():
    text = "id,skill,right,options\nQ1,m,0.3 | 1.9,\n\nQ2,m,0.3 | 0.9,[a\n"
    first, second = problems(text, ".csv")
    assert first.startswith("questions.Q2.options: a cell that starts with [ or { is JSON, got ")
    assert first.endswith("[row 4, column D]")
    assert second == "questions.Q1.right[1]: a probability lies between 0 and 1, got 1.9 [row 2, column C]"


def test_text_with_a_separator_outside_quotes_is_not_lost():
    text = "id,skill,right,text\nQ1,m,0.3 | 0.9,Yes, or no?\n"
    assert problems(text, ".csv") == [
        "questions: each cell has a column's name above it, got 'or no?' (text with a separator in it is put between quotes) [row 2]"
    ]
    assert loaded(text.replace("Yes, or no?", '"Yes, or no?"'), ".csv").questions["Q1"].text == "Yes, or no?"


def test_blank_rows_and_columns_do_not_matter():
    assert loaded("\r\n\r\nid,skill,,right,,\n,,,,,\nQ1,m,,0.3 | 0.9,,\n,,,,,\n", ".csv") == the_same_bank()


@pytest.mark.parametrize("text", ["", "\n\n", ",,,\n,,\n"])
def test_an_empty_file_is_refused(text):
    assert problems(text, ".csv") == ["file: a file has content, got an empty file"]


@pytest.mark.parametrize("rest", ['"open', '"a"b', '"' + "x" * 200_000 + '"'])
def test_broken_csv_is_refused(rest):
    (problem,) = problems(f"id,skill,right,text\nQ1,m,0.3 | 0.9,{rest}\n", ".csv")
    assert problem.startswith("file: the file is valid CSV, got ")


def test_a_written_file_tells_spreadsheet_programs_that_it_is_utf8():
    assert dump_bytes(the_same_bank(text="Größe"), ".csv").startswith("\ufeffsheet,".encode())


# XLSX


def test_a_workbook_of_questions_makes_a_bank():
    assert loaded(workbook(Questions=[HEADER, ROW]), ".xlsx") == the_same_bank()


def test_numbers_and_truth_values_in_cells_are_read():
    data = workbook(
        questions=[["id", "skill", "kind", "correct", "tolerance", "difficulty", "pilot"], [7, 1, "number", 12, 0.5, 0.4, True]]
    )
    question = loaded(data, ".xlsx").questions["7"]
    assert (question.skills, question.correct, question.pilot) == (("1",), ("12",), True)
    assert float(question.tolerance) == 0.5


@pytest.mark.parametrize(
    "cell", [datetime.date(2024, 2, 1), datetime.datetime(2024, 2, 1, 10), datetime.time(1, 30), datetime.timedelta(hours=30)]
)
def test_a_cell_that_became_a_date_says_how_to_prevent_it(cell):
    (problem,) = problems(workbook(questions=[[*HEADER, "correct"], [*ROW, cell]]), ".xlsx")
    assert problem.startswith("questions.Q1.correct: a cell holds text or a number, got a date, ")
    assert problem.endswith("(format the column as text) [sheet questions, row 2, column D]")


def test_a_sheet_of_notes_is_ignored():
    notes = [["id", "anything"], ["Q1", datetime.date(2024, 2, 1)], ["Q1", "=1/0"]]
    assert loaded(workbook(questions=[HEADER, ROW], notes=notes, Sheet2=[]), ".xlsx") == the_same_bank()


def test_blank_rows_and_trailing_spaces_do_not_matter_in_workbooks():
    rows = [[], [None, " "], [*HEADER, None, " "], [], [None, " ", ""], [*ROW, None, "  "]]
    assert loaded(workbook(questions=rows), ".xlsx") == the_same_bank()


def test_a_problem_in_a_workbook_has_its_sheet_and_row():
    data = workbook(skills=[["id", "levels"], ["m", "no | yes"]], questions=[HEADER, [], ["Q1", "n", "0.3 | 0.9"]])
    assert problems(data, ".xlsx") == ["questions.Q1.skill: unknown skill, got 'n' [sheet questions, row 3, column B]"]


def test_a_cell_beside_the_columns_is_not_lost():
    assert problems(workbook(questions=[HEADER, [*ROW, "a remark"]]), ".xlsx") == [
        "questions: each cell has a column's name above it, got 'a remark' [sheet questions, row 2]"
    ]


def test_a_formula_gives_the_value_that_the_program_saw():
    data = repacked(
        workbook(questions=[[*HEADER, "minutes"], [*ROW, 0]]), SHEET, b'<c r="D2" t="n"><v>0</v>', b'<c r="D2"><f>1+1.5</f><v>2.5</v>'
    )
    assert loaded(data, ".xlsx") == the_same_bank(minutes=2.5)


@pytest.mark.parametrize(
    "text", ["=1+1", "=cmd()", "+1", "-1", "@x", "#N/A", "#REF!", "1/2", "012", "1e3", "_x0041_", "TRUE", "2024-02-01"]
)
def test_what_looks_like_a_formula_or_date_is_written_as_text(text):
    bank = the_same_bank(text=text, explanation=text, options=[text, "other"], correct=text, group=text)
    page = openpyxl.load_workbook(io.BytesIO(dump_bytes(bank, ".xlsx")))["questions"]
    for row in page.iter_rows(min_row=2):
        assert {cell.data_type for cell in row if cell.value is not None} <= {"s"}
        assert {cell.number_format for cell in row} == {"@"}
    assert loaded(dump_bytes(bank, ".xlsx"), ".xlsx") == bank


def test_every_digit_of_a_number_survives():
    bank = the_same_bank(minutes=0.1 + 0.2, confidence=1 / 7)
    assert loaded(dump_bytes(bank, ".xlsx"), ".xlsx") == bank


def test_wrong_dimensions_do_not_hide_rows():
    data = workbook(questions=[HEADER, ROW])
    assert loaded(repacked(data, SHEET, b'<dimension ref="A1:C2" />', b'<dimension ref="A1" />'), ".xlsx") == the_same_bank()


def test_an_extension_that_the_library_warns_of_is_no_concern_of_ours():
    extension = b'<extLst><ext uri="{78C0D931-6437-407d-A8EE-F0AAD7539E65}"></ext></extLst></worksheet>'
    assert loaded(repacked(workbook(questions=[HEADER, ROW]), SHEET, b"</worksheet>", extension), ".xlsx") == the_same_bank()


def with_empty_cell_in_row(row):
    far = f'<row r="{row}"><c r="XFD{row}" t="n"></c></row></sheetData>'.encode()
    return repacked(workbook(questions=[HEADER, ROW]), SHEET, b"</sheetData>", far)


def test_a_stray_cell_far_below_is_read_over():
    assert loaded(with_empty_cell_in_row(1_048_576), ".xlsx") == the_same_bank()


def test_a_row_that_no_spreadsheet_has_is_refused():
    assert problems(with_empty_cell_in_row(20_000_000_000), ".xlsx") == ["file: a sheet has at most 1,048,576 rows, got more"]


@pytest.mark.parametrize(
    ("size", "problem"),
    [
        (LARGEST_SHEET, "file: a workbook has at most 200,000,000 bytes when unpacked, got 200,0"),
        (10, "file: the file is a valid XLSX workbook, got a file that is broken or is no workbook"),
    ],
)
def test_a_size_declared_wrongly_is_refused(size, problem):
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook(questions=[HEADER, ROW]))) as source, zipfile.ZipFile(buffer, "w") as target:
        for name in source.namelist():
            target.writestr(name, source.read(name))
        target.getinfo(SHEET).file_size = size
    assert problems(buffer.getvalue(), ".xlsx")[0].startswith(problem)


def test_a_real_zip_bomb_is_refused():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as bomb, bomb.open("xl/worksheets/sheet1.xml", "w") as part:
        for _ in range(201):
            part.write(bytes(1_000_000))
    assert len(buffer.getvalue()) < 1_000_000
    assert problems(buffer.getvalue(), ".xlsx") == ["file: a workbook has at most 200,000,000 bytes when unpacked, got 201,000,000 bytes"]


BROKEN = (
    "file: the file is a valid XLSX workbook, got a file that is broken or is no workbook "
    "(open it in a spreadsheet program and save it again as XLSX)"
)


def test_an_entity_bomb_is_refused():
    entities = "".join(f'<!ENTITY e{number} "{f"&e{number - 1};" * 10}">' for number in range(1, 10))
    bomb = f'<!DOCTYPE x [<!ENTITY e0 "lollollollol">{entities}]>'.encode()
    data = repacked(workbook(questions=[HEADER, ROW]), SHEET, b"<t>Q1</t>", b"<t>&e9;</t>")
    (problem,) = problems(repacked(data, SHEET, b"<worksheet ", bomb + b"<worksheet "), ".xlsx")
    assert problem == BROKEN


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-100], lambda data: data[100:300], lambda data: b"", lambda data: b"id,skill,right\n"]
)
def test_a_damaged_workbook_is_refused(damage):
    assert problems(damage(workbook(questions=[HEADER, ROW])), ".xlsx") == [BROKEN]


def test_a_workbook_whose_list_of_sheets_is_broken_is_refused():
    data = repacked(workbook(questions=[HEADER, ROW]), "xl/workbook.xml", b"<sheets>", b"<sheets")
    assert problems(data, ".xlsx") == [BROKEN]


def test_a_cell_longer_than_a_spreadsheet_takes_is_refused_not_cut():
    answers = [f"{'x' * 190}{number}" for number in range(200)]
    bank = the_same_bank(kind="text", accept=answers)
    assert problems_of_writing(bank, ".xlsx") == "questions.Q1.accept: a cell of .xlsx has at most 32,767 characters, got 39,087"
    assert loaded(dump_bytes(bank, ".csv"), ".csv") == bank
    longer = the_same_bank(kind="text", accept=[f"{answer}{copy}" for answer in answers for copy in "abcd"])
    assert problems_of_writing(longer, ".csv") == "questions.Q1.accept: a cell of .csv has at most 131,072 characters, got 157,157"


def problems_of_writing(bank, ending):
    with pytest.raises(BankError) as caught:
        dump_bytes(bank, ending)
    return str(caught.value)


# Sheets by their columns


@pytest.mark.parametrize("title", ["Fragen", "Tabelle1", "Sheet1"])
def test_a_sheet_is_found_by_its_columns(title):
    assert loaded(workbook(**{title: [HEADER, ROW]}), ".xlsx") == the_same_bank()
    assert loaded(workbook(**{title: [[], ["", None], HEADER, ROW], "Other": [["a", "b"]]}), ".xlsx") == the_same_bank()


def test_skills_are_found_by_their_columns_too():
    data = workbook(Können=[["id", "levels", "title"], ["m", "no | partly | yes", "M"]], Fragen=[HEADER, ["Q1", "m", "0.1 | 0.5 | 0.9"]])
    assert loaded(data, ".xlsx").skills["m"].levels == ("no", "partly", "yes")


def test_several_sheets_of_questions_are_read_one_after_another():
    data = workbook(Addition=[HEADER, ROW], Division=[HEADER, ["Q2", "m", "0.2 | 0.8"]])
    assert list(loaded(data, ".xlsx").questions) == ["Q1", "Q2"]


def test_where_a_sheet_has_the_name_no_other_is_taken_for_it():
    assert loaded(workbook(questions=[HEADER, ROW], old=[HEADER, ["Q2", "m", "0.2 | 0.8"]]), ".xlsx") == the_same_bank()


def test_a_workbook_without_questions_says_which_sheets_it_has():
    assert problems(workbook(Notes=[["a", "b"]], skills=[["id"], ["m"]]), ".xlsx") == [
        "file: a workbook has a sheet of questions: one with the columns id, skill, text and others, got the sheets 'Notes', 'skills'"
    ]


# Everything at once


def test_all_that_is_wrong_is_told_at_once():
    rows = [
        ["id", "text", "skill", "dificulty", "right", "options", "correct", "minutes"],
        ["Q1", "One", "n", "eesy", None, "a | b", "c", "soon"],
        ["Q2", "Two", "m", None, "0.3 | 1.9", "a | b", "b", datetime.date(2024, 2, 1)],
        ["Q3", "Three", "m", None, "0.3 | 0.9", "[a", "b", None],
        [None, "Four", "m", "easy", None, None, None, None],
    ]
    found = problems(workbook(skills=[["id"], ["m"]], Fragen=rows), ".xlsx")
    assert [(problem.split(": ")[0], problem.rsplit("[", 1)[1]) for problem in found] == [
        ("questions", "sheet Fragen, row 1, column D]"),
        ("questions.Q2.minutes", "sheet Fragen, row 3, column H]"),
        ("questions.Q3.options", "sheet Fragen, row 4, column F]"),
        ("questions", "sheet Fragen, row 5, column A]"),
        ("questions.Q1.difficulty", "sheet Fragen, row 2, column D]"),
        ("questions.Q1.minutes", "sheet Fragen, row 2, column H]"),
        ("questions.Q2.right[1]", "sheet Fragen, row 3, column E]"),
        ("questions.Q1.skill", "sheet Fragen, row 2, column C]"),
        ("questions.Q1.correct", "sheet Fragen, row 2, column G]"),
    ]


def test_a_long_list_of_problems_is_cut():
    text = "id,skill,difficulty\n" + "".join(f"Q{number},m,eesy\n" for number in range(130))
    found = problems(text, ".csv")
    assert len(found) == 51
    assert found[-1] == "file: the first 50 problems are listed, got 80 more"


@pytest.mark.parametrize("ending", [".csv", ".yaml"])
def test_words_are_understood_in_german(ending):
    fields = {"difficulty": "Sehr  leicht", "discrimination": "mittel", "confidence": "ziemlich sicher", "kind": "Zahl", "correct": "5"}
    if ending == ".csv":
        text = f"id,skill,{','.join(fields)}\nQ1,m,{','.join(fields.values())}\n"
    else:
        said = ", ".join(f"{name}: {word}" for name, word in fields.items())
        text = f"skills: {{m: {{prior: ausgeglichen}}}}\nquestions: {{Q1: {{skill: m, {said}}}}}"
    english = {"difficulty": "very easy", "discrimination": "fair", "confidence": "fairly sure", "kind": "number"}
    assert {field: loaded(text, ending).document["questions"]["Q1"][field] for field in english} == english


def test_chances_are_understood_in_german():
    text = "id,skill,right\nQ1,m,sehr unwahrscheinlich | wahrscheinlich..ganz sicher\n"
    assert loaded(text, ".csv").document["questions"]["Q1"]["right"] == ["very unlikely", ["likely", "certain"]]


def test_words_are_understood_in_french():
    text = "id,skill,difficulty,discrimination,confidence,kind,correct\nQ1,m,Très  facile,Moyen,assez sûr,nombre,5\n"
    found = loaded(text, ".csv").document["questions"]["Q1"]
    assert [found[name] for name in ("difficulty", "discrimination", "confidence", "kind")] == [
        "very easy",
        "fair",
        "fairly sure",
        "number",
    ]
    text = "id,skill,right\nQ1,m,très peu probable | probable..tout à fait sûr\n"
    assert loaded(text, ".csv").document["questions"]["Q1"]["right"] == ["very unlikely", ["likely", "certain"]]


# The template


def test_the_template_loads_without_problems_and_has_every_column(tmp_path):
    target = tmp_path / "bank.xlsx"
    assert main(["convert", "--template", str(target)]) == 0
    assert load(target).warnings == ()
    book = openpyxl.load_workbook(target)
    columns = {page.title: tuple(cell.value for cell in page[1]) for page in book.worksheets}
    assert columns.pop("columns") == ("sheet", "column", "meaning")
    assert columns == sheets.SHEETS
    explained = {(row[0].value, row[1].value) for row in book["columns"].iter_rows(min_row=2)}
    assert {column for sheet, column in explained if sheet == "questions"} == set(sheets.SHEETS["questions"])
    assert {column for sheet, column in explained if sheet == "skills"} == set(sheets.SHEETS["skills"])
