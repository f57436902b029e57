"""QTI in small files of our own: forms that the real ones do not have, and what is hostile or broken."""

import io
import random
import zipfile

import pytest

from quaestor.errors import BankError
from quaestor.formats.exchange.qti import old_items
from quaestor.formats.exchange.registry import read_questions_bytes

NAMESPACE = {"2": "http://www.imsglobal.org/xsd/imsqti_v2p1", "3": "http://www.imsglobal.org/xsd/imsqtiasi_v3p0"}
CHOICE = """
<responseDeclaration identifier="RESPONSE" cardinality="single" baseType="identifier"><correctResponse><value>b</value></correctResponse>
</responseDeclaration><itemBody><choiceInteraction responseIdentifier="RESPONSE" maxChoices="1"><prompt>What?</prompt>
<simpleChoice identifier="a">A</simpleChoice><simpleChoice identifier="b">B</simpleChoice></choiceInteraction></itemBody>
<responseProcessing template="http://www.imsglobal.org/question/qti_v2p1/rptemplates/match_correct"/>"""


def item(inside, identifier="i1"):
    return f'<assessmentItem xmlns="{NAMESPACE["2"]}" identifier="{identifier}" title="T">{inside}</assessmentItem>'


def read(text, name="quiz.xml"):
    return read_questions_bytes(text.encode() if isinstance(text, str) else text, name)


def package(files, manifest=None):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        if manifest is None:
            resources = "".join(f'<resource type="imsqti_item_xmlv2p1" href="{name}"><file href="{name}"/></resource>' for name in files)
            manifest = f"<manifest><resources>{resources}</resources></manifest>"
        archive.writestr("imsmanifest.xml", manifest)
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def only(found):
    assert not found.refused, found.refused
    return next(iter(found.questions.values()))


def refusal(found):
    assert not found.questions
    return found.refused[0].words


# Numbers


def entry(kind, declared, processing, extra=""):
    return item(f"""<responseDeclaration identifier="R" cardinality="single" baseType="{kind}">{declared}</responseDeclaration>
    <itemBody><p>How much is <textEntryInteraction responseIdentifier="R"/> kg?</p>{extra}</itemBody>{processing}""")


def equal(attributes, other='<correct identifier="R"/>'):
    return f"""<responseProcessing><responseCondition><responseIf><equal {attributes}><variable identifier="R"/>{other}</equal>
    <setOutcomeValue identifier="SCORE"><baseValue baseType="float">1</baseValue></setOutcomeValue></responseIf></responseCondition>
    </responseProcessing>"""


KEY = "<correctResponse><value> 50 </value></correctResponse>"


@pytest.mark.parametrize(
    ("attributes", "correct", "tolerance"),
    [
        ('toleranceMode="exact"', "50", None),
        ('toleranceMode="absolute" tolerance="0.5"', "50", "0.5"),
        ('toleranceMode="absolute" tolerance="1 3"', "51", "2"),
        ('toleranceMode="relative" tolerance="10 10"', "50", "5"),
        ("", "50", None),
    ],
)
def test_the_tolerance_of_a_number_is_in_the_comparison(attributes, correct, tolerance):
    fields = only(read(entry("float", KEY, equal(attributes))))
    assert (fields["kind"], fields["correct"], fields.get("tolerance")) == ("number", correct, tolerance)
    assert fields["text"] == "How much is \\_\\_\\_\\_ kg?"


def test_a_number_in_qti_3():
    text = f"""<qti-assessment-item xmlns="{NAMESPACE["3"]}" identifier="i1" title="T" time-dependent="false">
    <qti-response-declaration identifier="R" cardinality="single" base-type="float">
    <qti-correct-response><qti-value>2.5</qti-value></qti-correct-response></qti-response-declaration>
    <qti-item-body><p>Half of 5?</p><qti-text-entry-interaction response-identifier="R"/></qti-item-body>
    <qti-response-processing><qti-response-condition><qti-response-if>
    <qti-equal tolerance-mode="absolute" tolerance="0.1 0.1" include-lower-bound="false"><qti-variable identifier="R"/>
    <qti-correct identifier="R"/></qti-equal><qti-set-outcome-value identifier="SCORE"><qti-base-value base-type="float">1</qti-base-value>
    </qti-set-outcome-value></qti-response-if></qti-response-condition></qti-response-processing></qti-assessment-item>"""
    found = read(text)
    assert only(found) == {"text": "Half of 5?", "kind": "number", "correct": "2.5", "tolerance": "0.1"}
    assert [note.words for note in found.notes] == ["an end of a range that does not count itself, 2.4, counts here"]


def test_a_comparison_with_a_number_of_its_own_counts():
    other = '<baseValue baseType="float">7</baseValue>'
    assert only(read(entry("float", KEY, equal('toleranceMode="absolute" tolerance="1"', other))))["correct"] == "7"


def test_scoring_that_is_not_understood_is_named():
    rounded = equal("").replace("<equal", '<equalRounded figures="3"').replace("</equal>", "</equalRounded>")
    found = read(entry("float", KEY, rounded))
    assert only(found)["correct"] == "50"
    assert "its scoring is not understood: equalRounded; the declared right answer counts" in [note.words for note in found.notes]
    point = '<responseProcessing template="http://www.imsglobal.org/question/qti_v2p1/rptemplates/map_response_point"/>'
    assert refusal(read(entry("float", KEY, point))) == "map_response_point cannot be marked here"


@pytest.mark.parametrize("value", ["fifty", "", "nan", "1e999", "9" * 100])
def test_a_number_that_is_none_is_refused(value):
    assert "a number is expected" in refusal(read(entry("float", f"<correctResponse><value>{value}</value></correctResponse>", equal(""))))


# Choices


def test_names_of_both_ages_are_read_alike():
    old = read(item(CHOICE))
    assert only(old) == {"text": "What?", "options": ["A", "B"], "correct": "B"}
    new = item(CHOICE).replace(NAMESPACE["2"], NAMESPACE["3"])
    for name in ("choiceInteraction", "simpleChoice", "prompt", "itemBody", "responseDeclaration", "correctResponse", "value"):
        kebab = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name)
        new = new.replace(f"<{name}", f"<qti-{kebab}").replace(f"</{name}", f"</qti-{kebab}")
    assert only(read(new.replace("responseIdentifier", "response-identifier").replace("baseType", "base-type"))) == only(old)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("<value>b</value>", "<value>z</value>", "the right answer 'z' is none of the options"),
        ("<value>b</value>", "", "no option is right"),
        ('identifier="b">B<', 'identifier="a">B<', "two options have the name 'a'"),
        (">B<", ">A<", "the option 'A' is right and wrong"),
        (">B<", "><", "a right option is empty"),
        ('responseIdentifier="RESPONSE"', 'responseIdentifier="OTHER"', "nothing is declared of the response 'OTHER'"),
        ("choiceInteraction", "uploadInteraction", "a file to hand in (uploadInteraction) cannot be marked here"),
        ("<itemBody>", '<templateDeclaration identifier="x"/><itemBody>', "an item with values drawn at random (templateDeclaration)"),
    ],
)
def test_an_item_that_cannot_be_a_question_says_why(old, new, said):
    assert said in refusal(read(item(CHOICE.replace(old, new))))


def test_several_interactions_that_are_no_gaps_are_refused_by_name():
    body = CHOICE.replace("</itemBody>", '<textEntryInteraction responseIdentifier="RESPONSE"/></itemBody>')
    assert refusal(read(item(body))) == ("2 interactions in one item cannot be one question: choiceInteraction, textEntryInteraction")


def test_ten_thousand_responses_are_refused_and_not_worked_on():
    many = "".join(f'<simpleChoice identifier="c{number}">{number}</simpleChoice>' for number in range(10_000))
    assert "at most 300 options" in refusal(
        read(item(CHOICE.replace('<simpleChoice identifier="a">', f'{many}<simpleChoice identifier="a">')))
    )
    gaps = '<textEntryInteraction responseIdentifier="RESPONSE"/>' * 10_000
    assert "interactions in one item" in refusal(read(item(f"<itemBody>{gaps}</itemBody>")))


def test_a_matching_question_is_turned_round_where_only_the_other_side_has_one_partner_each():
    sets = "".join(
        "<simpleMatchSet>"
        + "".join(f'<simpleAssociableChoice identifier="{name}" matchMax="3">{name.upper()}</simpleAssociableChoice>' for name in names)
        + "</simpleMatchSet>"
        for names in ("xy", "abc")
    )
    values = "".join(f"<value>{pair}</value>" for pair in ("x a", "x b", "y c"))
    fields = only(
        read(
            item(f"""<responseDeclaration identifier="R" cardinality="multiple" baseType="directedPair"><correctResponse>{values}
            </correctResponse></responseDeclaration><itemBody><matchInteraction responseIdentifier="R"><prompt>?</prompt>{sets}
            </matchInteraction></itemBody>""")
        )
    )
    assert fields["pairs"] == {"A": "X", "B": "X", "C": "Y"}


def test_scripts_in_texts_do_nothing():
    evil = CHOICE.replace("What?", '<script>alert(1)</script><img src="javascript:x" onerror="y" alt="a"/>What?')
    fields = only(read(item(evil)))
    assert fields["text"] == "(a)What?"


# QTI 1.2


def old_item(responses, conditions, metadata=""):
    return f"""<questestinterop><assessment ident="a" title="Quiz"><section ident="s"><item ident="i1" title="One">{metadata}
    <presentation><material><mattext texttype="text/html">&lt;p&gt;What?&lt;/p&gt;</mattext></material>{responses}</presentation>
    <resprocessing><outcomes><decvar varname="SCORE"/></outcomes>{conditions}</resprocessing></item></section></assessment>
    </questestinterop>"""


def labels(*names, cardinality="Single"):
    shown = "".join(
        f'<response_label ident="{name}"><material><mattext>{name.upper()}</mattext></material></response_label>' for name in names
    )
    return f'<response_lid ident="r" rcardinality="{cardinality}"><render_choice>{shown}</render_choice></response_lid>'


def condition(inside, points, action="Set"):
    return f'<respcondition><conditionvar>{inside}</conditionvar><setvar action="{action}">{points}</setvar></respcondition>'


def is_(name):
    return f'<varequal respident="r">{name}</varequal>'


def test_what_is_right_follows_from_the_conditions():
    found = read(old_item(labels("a", "b", "c"), condition(is_("a"), 50) + condition(is_("b"), 100) + condition(is_("c"), -10)))
    assert only(found)["options"] == {"A": "half", "B": "right", "C": "wrong"}
    assert [note.words for note in found.notes] == ["negative marks were left out"]
    two = only(read(old_item(labels("a", "b", "c"), condition(f"<or>{is_('a')}{is_('b')}</or>", 1))))
    assert two["options"] == {"A": "right", "B": "right", "C": "wrong"}
    several = labels("a", "b", "c", cardinality="Multiple")
    exact = condition(f"<and>{is_('a')}<not>{is_('b')}</not>{is_('c')}</and>", 100)
    assert only(read(old_item(several, exact)))["correct"] == ["A", "C"]
    added = condition(is_("a"), 50, "Add") + condition(is_("c"), 50, "Add") + condition(is_("b"), -50, "Add")
    assert only(read(old_item(several, added)))["correct"] == ["A", "C"]
    assert "classes" not in only(read(old_item(several, exact)))
    assert only(read(old_item(several, added)))["classes"] == ["wrong", "half", "right"]


@pytest.mark.parametrize(
    ("responses", "conditions", "said"),
    [
        (labels("a", "b"), "", "nothing tells which answer is right"),
        (labels("a", "b"), condition(is_("z"), 1), "no option is right"),
        (labels("a", "b"), condition("<varsubset>a</varsubset>", 1), "its scoring is not understood: varsubset"),
        (labels("a", "b"), condition(is_("a"), "much"), "a number is expected, got 'much'"),
        (labels("a", "b", cardinality="Multiple"), condition(f"<or>{is_('a')}{is_('b')}</or>", 1), "its scoring is not understood"),
        (labels("a"), condition(is_("a"), 1), "a question has at least two options, got 1"),
        (labels("a", "a"), condition(is_("a"), 1), "two options have the name 'a'"),
        ('<response_xy ident="r"/>', condition(is_("a"), 1), "<response_xy> cannot be marked here"),
        ("", condition(is_("a"), 1), "a text without a question cannot be marked here"),
        (labels(*(f"n{number}" for number in range(301))), condition(is_("n1"), 1), "at most 300 options"),
    ],
)
def test_an_old_item_that_cannot_be_a_question_says_why(responses, conditions, said):
    assert said in refusal(read(old_item(responses, conditions)))


def test_a_scoring_of_very_many_steps_is_refused(monkeypatch):
    monkeypatch.setattr(old_items, "MOST_STEPS", 1000)
    conditions = condition(f"<or>{is_('a') * 10}</or>", 1) * 50
    assert refusal(read(old_item(labels("a", "b"), conditions))) == "its scoring has more than 1,000 steps"


def test_gaps_that_stand_in_the_text():
    holes = "".join(
        f'<response_str ident="{name}"><render_fib/></response_str><material><mattext>and</mattext></material>' for name in "rq"
    )
    conditions = condition(is_("cat"), 50, "Add") + condition('<varequal respident="q">dog</varequal>', 50, "Add")
    fields = only(read(old_item(f"<flow>{holes}</flow>", conditions)))
    assert fields["text"] == "What?\n\n[[1]]\n\nand\n\n[[2]]\n\nand"
    assert fields["gaps"] == {"1": {"kind": "text", "correct": "cat"}, "2": {"kind": "text", "correct": "dog"}}


# Packages


def test_an_item_that_the_manifest_does_not_name_is_read_too_and_a_missing_one_told():
    manifest = '<manifest><resources><resource href="no.xml"/><resource href="a.xml"/></resources></manifest>'
    found = read(package({"a.xml": item(CHOICE, "one"), "b/c.xml": item(CHOICE, "two")}, manifest), "quiz.zip")
    assert list(found.questions) == ["one", "two"]
    assert [str(note.sentence) for note in found.notes] == [
        "the package does not hold the file 'no.xml' that it names [imsmanifest.xml, line 1]"
    ]


def section(refs):
    inside = f'<testPart><assessmentSection title="S">{refs}</assessmentSection></testPart>'
    return f'<assessmentTest xmlns="{NAMESPACE["2"]}" title="Test">{inside}</assessmentTest>'


def test_tests_whose_references_lead_nowhere_or_round_in_circles():
    named = {
        "gone": "gone.xml",
        "out": "../../../etc/passwd",
        "web": "https://example.org/a.xml",
        "self": "test.xml",
        "a": "a.xml",
        "b": "a.xml",
    }
    refs = "".join(f'<assessmentItemRef identifier="{name}" href="{href}"/>' for name, href in named.items())
    refs += '<assessmentSectionRef href="round.xml"/>'
    round_ = f'<assessmentSection xmlns="{NAMESPACE["2"]}"><assessmentSectionRef href="round.xml"/></assessmentSection>'
    files = {"test.xml": section(refs), "a.xml": item(CHOICE, "one"), "round.xml": round_}
    found = read(package(files), "quiz.zip")
    assert (found.title, list(found.questions), found.categories["one"]) == ("Test", ["one"], ("S",))
    assert [note.question for note in found.refused] == ["gone", "out", "web", "test.xml"]
    assert "a section that holds itself was left out: 'round.xml' [round.xml, line 1]" in [str(note.sentence) for note in found.notes]


def test_a_broken_item_of_a_package_is_refused_and_the_others_stay():
    found = read(package({"a.xml": item(CHOICE, "one"), "b.xml": item(CHOICE, "two")[:-5]}), "quiz.zip")
    assert list(found.questions) == ["one"]
    assert "the file is well-formed XML" in found.refused[0].words


@pytest.mark.parametrize("manifest", ["", "<manifest", "<manifest/>", "<!DOCTYPE x [<!ENTITY a 'b'>]><manifest>&a;</manifest>"])
def test_a_package_with_a_broken_manifest(manifest):
    data = package({"a.xml": item(CHOICE)}, manifest)
    if manifest == "<manifest/>":
        assert only(read(data, "quiz.zip"))["correct"] == "B"
    else:
        with pytest.raises(BankError):
            read(data, "quiz.zip")


def test_a_test_without_its_items_is_refused():
    with pytest.raises(BankError, match="a test of QTI comes in a package with its items"):
        read(section(""))


def test_entities_are_refused():
    with pytest.raises(BankError, match="declares nothing of its own"):
        read('<!DOCTYPE assessmentItem [<!ENTITY a "aaaa">]>' + item(CHOICE))


def test_mutated_files_give_what_is_documented_and_nothing_else():
    rng = random.Random(20)
    exact = condition(f"<and>{is_('a')}<not>{is_('b')}</not>{is_('c')}</and>", 100)
    texts = [item(CHOICE), entry("float", KEY, equal('tolerance="1"')), old_item(labels("a", "b", "c", cardinality="Multiple"), exact)]
    for number in range(300):
        data = bytearray(texts[number % 3].encode())
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(data))
            change = rng.choice(("cut", "turn", "copy"))
            if change == "cut":
                del data[at : at + rng.randint(1, 40)]
            elif change == "turn":
                data[at] = rng.randrange(256)
            else:
                data[at:at] = data[rng.randrange(len(data)) :][: rng.randint(1, 60)]
        try:
            found = read(bytes(data))
        except BankError:
            continue
        assert all(note.words for note in (*found.notes, *found.refused))
