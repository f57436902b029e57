"""Rules of single fields, each broken once: types, lengths, probabilities."""

from helpers.broken_banks import CHANCES, cases, check, problems, with_changes

KINDS = "choice, choices, number, text, truefalse, matching, ordering, gaps"

# Types of fields


@cases(
    ({"questions.Q.text": ["x"]}, "questions.Q.text: text is expected, got ['x']"),
    ({"questions.Q.text": float("nan")}, "questions.Q.text: text is expected, got nan"),
    ({"questions.Q.text": 10**5000}, "questions.Q.text: text is expected, got a value too long to show"),
    ({"questions.Q.text": "a\0b"}, "questions.Q.text: text has no control characters, got 'a\\x00b'"),
    ({"questions.Q.text": "\ud800"}, "questions.Q.text: text has no control characters, got '\\ud800'"),
    ({"questions.Q.text": "a\ufeff"}, "questions.Q.text: text has no control characters, got 'a\\ufeff'"),
    ({"questions.Q.text": "x" * 20_001}, "questions.Q.text: a text has at most 20000 characters, got 20001 characters"),
    ({"title": "a\nb"}, "title: one line of 1 to 200 characters is expected, got 'a\\nb'"),
    ({"title": "a\u2028b"}, "title: one line of 1 to 200 characters is expected, got 'a\\nb'"),
    ({"title": "a\tb"}, "title: one line of 1 to 200 characters is expected, got 'a\\tb'"),
    ({"title": " "}, "title: one line of 1 to 200 characters is expected, got ''"),
    ({"title": "x" * 201}, f"title: one line of 1 to 200 characters is expected, got '{'x' * 76}..."),
    ({"questions.O.options": ["x", ""]}, "questions.O.options[1]: one line of 1 to 200 characters is expected, got ''"),
    ({"skills.d": {"levels": ["lo,w", "high"]}}, "skills.d.levels[0]: names have no comma and no equals sign, got 'lo,w'"),
    ({"questions.T.classes": ["x=1", "y"]}, "questions.T.classes[0]: names have no comma and no equals sign, got 'x=1'"),
    ({"questions.Q.skill": "a, b"}, "questions.Q.skill: names have no comma and no equals sign, got 'a, b'"),
    ({"questions.Q.media": "/a.png"}, "questions.Q.media: a media file is named by a path below the bank's folder, got '/a.png'"),
    ({"questions.Q.media": "a/../../b"}, "questions.Q.media: a media file is named by a path below the bank's folder, got 'a/../../b'"),
    ({"questions.Q.media": "..\\b"}, "questions.Q.media: a media file is named by a path below the bank's folder, got '..\\b'"),
    ({"questions.Q.media": "C:\\b"}, "questions.Q.media: a media file is named by a path below the bank's folder, got 'C:\\b'"),
    ({"questions.Q.media": "http://b"}, "questions.Q.media: a media file is named by a path below the bank's folder, got 'http://b'"),
    ({"questions.Q.pilot": "yes"}, "questions.Q.pilot: true or false is expected, got 'yes'"),
    ({"questions.Q.pilot": []}, "questions.Q.pilot: true or false is expected, got []"),
    ({"skills.c": {"parents": ["a"], "strength": "strong"}}, "skills.c.strength: a number is expected, got 'strong'"),
    ({"imprecision": True}, "imprecision: a number is expected, got True"),
    ({"imprecision": float("nan")}, "imprecision: a number is expected, got nan"),
    ({"imprecision": float("inf")}, "imprecision: a number is expected, got inf"),
    ({"imprecision": "1e999"}, "imprecision: a number is expected, got inf"),
    ({"imprecision": 10**400}, f"imprecision: a number is expected, got 1{'0' * 76}..."),
    ({"imprecision": 10**5000}, "imprecision: a number is expected, got a value too long to show"),
    ({"imprecision": [0.1]}, "imprecision: a number is expected, got [0.1]"),
    ({"questions.Q.minutes": 0}, "questions.Q.minutes: a number above 0 is expected, got 0"),
    ({"questions.Q.minutes": "-1/2"}, "questions.Q.minutes: a number above 0 is expected, got -0.5"),
    ({"questions.Q.minutes": "soon"}, "questions.Q.minutes: a number is expected, got 'soon'"),
    ({"questions.Q.right": 0.5}, "questions.Q.right: a list is expected, got 0.5"),
    ({"questions.Q.tags": "x"}, "questions.Q.tags: a list is expected, got 'x'"),
    ({"questions.Q.right": []}, "questions.Q.right: the list is not empty, got []"),
    ({"skills.d": {"levels": []}}, "skills.d.levels: the list is not empty, got []"),
    ({"questions.Q.tags": ["x", "y", "x "]}, "questions.Q.tags: each is listed once, got 'x'"),
    ({"skills.d": {"levels": ["y", "x", "x"]}}, "skills.d.levels: each is listed once, got 'x'"),
    ({"skills.c.parents": ["a", "a"]}, "skills.c.parents: each is listed once, got 'a'"),
    ({"questions.S.skills": ["a", "a"]}, "questions.S.skills: each is listed once, got 'a'"),
    ({"questions.T.classes": ["x", "x"]}, "questions.T.classes: each is listed once, got 'x'"),
    ({"questions.O.options": ["x", "x"]}, "questions.O.options: each is listed once, got 'x'"),
    ({"questions.M.correct": ["x", "x"]}, "questions.M.correct: each is listed once, got 'x'"),
    ({"questions.T.table": [0.5, 0.5]}, "questions.T.table: a map is expected, got [0.5, 0.5]"),
    ({"questions.T.table": {}}, "questions.T.table: the map is not empty, got {}"),
    ({"questions.T.table": {"no": [0.5, 0.5], " no": [0.5, 0.5]}}, "questions.T.table: each is listed once, got 'no'"),
    ({"questions.T.table": {None: [0.5, 0.5]}}, "questions.T.table: text is expected, got None"),
    ({"questions.T.table.no": 0.5}, "questions.T.table.no: a list is expected, got 0.5"),
    ({"questions.O.options": {}}, "questions.O.options: the map is not empty, got {}"),
    ({"questions.S.at_least": ["a"]}, "questions.S.at_least: a map is expected, got ['a']"),
    (
        {"questions.Q.kind": "chioce"},
        f"questions.Q.kind: one of {KINDS} is expected, got 'chioce' (did you mean 'choice'?)",
    ),
    ({"questions.Q.kind": 10**5000}, f"questions.Q.kind: one of {KINDS} is expected, got a value too long to show"),
    ({"questions.S.needs": "both"}, "questions.S.needs: one of all, any is expected, got 'both'"),
    ({"questions.Q.kind": ["text"]}, f"questions.Q.kind: one of {KINDS} is expected, got ['text']"),
    ({"questions.I.irt": 0.5}, "questions.I.irt: a map of fields is expected, got 0.5"),
    ({"questions.I.irt": {"b": 0, "d": 1}}, "questions.I.irt.d: unknown field, got 'd' (known fields: model, a, b, c)"),
    ({"questions.I.irt": {"b": []}}, "questions.I.irt.b: the list is not empty, got []"),
    ({"questions.I.irt": {"b": "hard"}}, "questions.I.irt.b: a number is expected, got 'hard'"),
)
def test_a_field_has_its_type(changes, problem):
    check(changes, problem)


def test_the_longest_text_and_word_are_allowed():
    assert problems(with_changes({"questions.Q.text": "x" * 20_000, "title": "x" * 200})) == []


@cases(
    ({"questions.Q.right": [0.5, 1.2]}, "questions.Q.right[1]: a probability lies between 0 and 1, got 1.2"),
    ({"questions.Q.right": [-0.5, 1]}, "questions.Q.right[0]: a probability lies between 0 and 1, got -0.5"),
    ({"questions.Q.right": [0.5, "120%"]}, "questions.Q.right[1]: a probability lies between 0 and 1, got '120%'"),
    ({"questions.Q.right": [0.5, [0.5, 1.2]]}, "questions.Q.right[1]: a probability lies between 0 and 1, got 1.2"),
    ({"questions.Q.right": [0.5, float("nan")]}, "questions.Q.right[1]: a number is expected, got nan"),
    ({"questions.Q.right": [0.5, True]}, "questions.Q.right[1]: a number is expected, got True"),
    ({"questions.Q.right": [0.5, {}]}, "questions.Q.right[1]: a number is expected, got {}"),
    ({"questions.Q.right": [0.5, None]}, "questions.Q.right[1]: a number is expected, got None"),
    (
        {"questions.Q.right": [0.5, "likley"]},
        f"questions.Q.right[1]: a probability is a number or one of: {CHANCES}, got 'likley' (did you mean 'likely'?)",
    ),
    ({"questions.Q.right": [0.5, [0.6, 0.5]]}, "questions.Q.right[1]: an interval's lower end is not above its upper end, got [0.6, 0.5]"),
    ({"questions.Q.right": [0.5, [0.6]]}, "questions.Q.right[1]: an interval is a pair of a lower and an upper end, got [0.6]"),
    ({"questions.Q.right": [0.5, []]}, "questions.Q.right[1]: an interval is a pair of a lower and an upper end, got []"),
    ({"questions.Q.right": [0.5, [0.5, [0.6]]]}, "questions.Q.right[1][1]: a number is expected, got [0.6]"),
    ({"questions.S.slip": 2}, "questions.S.slip: a probability lies between 0 and 1, got 2"),
    ({"questions.S.guess": [0.3, 0.2]}, "questions.S.guess: an interval's lower end is not above its upper end, got [0.3, 0.2]"),
    ({"questions.T.table.no": [0.5, 1.5]}, "questions.T.table.no[1]: a probability lies between 0 and 1, got 1.5"),
    ({"skills.b.prior": [0.5, 1.5, 0]}, "skills.b.prior[1]: a probability lies between 0 and 1, got 1.5"),
    (
        {"questions.T.table.no": {"vertices": [[0.5, 0.5], [0.5, 1.5]]}},
        "questions.T.table.no.vertices[1][1]: a probability lies between 0 and 1, got 1.5",
    ),
    ({"questions.T.table.no": {"vertices": [[[0, 1], 0.5]]}}, "questions.T.table.no.vertices[0][0]: a number is expected, got [0, 1]"),
    ({"questions.T.table.no": {"vertices": [0.5]}}, "questions.T.table.no.vertices[0]: a list is expected, got 0.5"),
    ({"questions.T.table.no": {"vertices": []}}, "questions.T.table.no.vertices: the list is not empty, got []"),
    (
        {"questions.T.table.no": {"vertex": [[0.5, 0.5]]}},
        "questions.T.table.no.vertex: unknown field, got 'vertex' (did you mean 'vertices'?)",
    ),
)
def test_a_probability_is_one(changes, problem):
    check(changes, problem)
