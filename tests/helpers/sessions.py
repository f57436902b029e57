"""Small banks, random rules and ways through a test: what the tests of rules, choices and sessions share."""

import numpy as np

import quaestor as qs
from helpers import random_models

LEVELS = {"a": {}, "b": {"parents": ["a"], "table": {"no": [0.7, 0.3], "yes": [0.3, 0.7]}}}
RIGHT = {"a1": [0.1, 0.9], "a2": [0.2, 0.8], "a3": [0.3, 0.9], "b1": [0.25, 0.8], "b2": [0.3, 0.7], "b3": [0.4, 0.75]}


def bank(changes=None, pilots=0, skills=None, **fields):
    """Three questions on each of two skills, `a1` to `b3`, and pilots `p1`, `p2`, ...; `changes`: more fields by question."""
    questions = {name: {"skill": name[0], "right": right, **(changes or {}).get(name, {})} for name, right in RIGHT.items()}
    questions |= {f"p{number + 1}": {"skill": "a", "right": [0.05, 0.95], "pilot": True} for number in range(pilots)}
    return qs.Bank({"title": "Six questions", "skills": skills or LEVELS, "questions": questions, **fields})


def long_bank(skills="ab", each=10, pilots=0, **fields):
    """So many questions on each of some skills, alternately: no two gains the same."""
    rng = np.random.default_rng(5)
    questions = {}
    for number in range(each):
        for skill in skills:
            low = round(float(rng.uniform(0.1, 0.4)), 4)
            questions[f"{skill}{number + 1}"] = {"skill": skill, "right": [low, round(low + 0.4, 4)], **fields.get(skill, {})}
    questions |= {f"p{number + 1}": {"skill": skills[0], "right": [0.05, 0.95], "pilot": True} for number in range(pilots)}
    return qs.Bank({"skills": {skill: {} for skill in skills}, "questions": questions})


def notes(session):
    """What the rules noted of the choice of the next question."""
    return [(note.rule, note.text, note.left) for note in session.choice.narrowed]


def asked(session, steps=1000, answer="right"):
    """The ids that the rules ask for, one after another, when every answer has this class."""
    found = []
    while session.next is not None and len(found) < steps:
        found.append(session.next.id)
        session = session.answer(session.next.id, answer)
    return found


def played(session, answer="right", steps=1000):
    """The session after the rules' own questions were answered so."""
    for _ in range(steps):
        if session.next is None:
            break
        session = session.answer(session.next.id, answer)
    return session


def lower(session):
    """The lower ends of the beliefs, all in one array."""
    return np.concatenate([bounds.lower for bounds in session.beliefs.values()])


def upper(session):
    return np.concatenate([bounds.upper for bounds in session.beliefs.values()])


def same(one, other):
    """Whether two sessions stand at the same place."""
    return (
        one == other
        and one.next == other.next
        and one.stopped == other.stopped
        and np.array_equal(lower(one), lower(other))
        and np.array_equal(upper(one), upper(other))
    )


def random_bank(rng, kind="precise", skills=3, questions=6, zeros=0.0):
    """A random small bank; credal ones are trees of two-level skills, which are fast; with groups, templates, minutes and a pilot."""
    count = int(rng.integers(1, skills + 1))
    parents = random_models.tree(rng, count)
    number = int(rng.integers(2, questions + 1))
    most, levels = (2, (2, 3)) if kind == "precise" else (1, (2,))
    scopes = random_models.scopes_of(rng, count, number, most)
    kinds = ("precise",) if kind == "precise" else ("precise", "interval")
    document = random_models.bank(rng, parents, scopes, levels=levels, kinds=kinds, zeros=zeros).document
    for place, fields in enumerate(document["questions"].values()):
        fields |= {"minutes": int(rng.integers(1, 5)), "group": f"g{int(rng.integers(2))}", "pilot": bool(place > 2 and rng.random() < 0.2)}
    return qs.Bank(document)


def rich_bank(rng):
    """A random credal bank of the slow kind: loops, three levels, rows of vertices, questions on two skills."""
    count = int(rng.integers(1, 4))
    graph = random_models.loopy if rng.random() < 0.5 else random_models.tree
    scopes = random_models.scopes_of(rng, count, 4, 2 if rng.random() < 0.5 else 1)
    return random_models.bank(rng, graph(rng, count), scopes, kinds=random_models.KINDS)


def random_criterion(rng, made):
    """One criterion, or two together."""
    kinds = [
        lambda: qs.max_questions(int(rng.integers(1, 6))),
        lambda: qs.max_questions(int(rng.integers(1, 3)), skill=str(rng.choice(["each", *made.skills]))),
        lambda: qs.entropy_below(float(rng.uniform(0.1, 0.9)), over=str(rng.choice(["mean", "largest"]))),
        lambda: qs.mode_below(float(rng.uniform(0.1, 0.9))),
        lambda: qs.gini_below(float(rng.uniform(0.1, 0.9)), over="joint" if made.is_precise else "mean"),
        lambda: qs.probability_above(float(rng.uniform(0.5, 0.95))),
        qs.dominant,
        lambda: qs.gain_below(float(rng.uniform(0.0, 0.1))),
        lambda: qs.right_answers(int(rng.integers(1, 4))),
        lambda: qs.minutes(float(rng.uniform(1, 12))),
        lambda: qs.any_of(random_criterion(rng, made), random_criterion(rng, made)),
        lambda: qs.all_of(qs.min_questions(2), random_criterion(rng, made)),
    ]
    return kinds[int(rng.integers(len(kinds)))]()


def random_rules(rng, made, orderly=False):
    """Random rules that fit a bank; `orderly`: nothing drawn, no variety, no testlets."""
    ids, scored = list(made.questions), [name for name, question in made.questions.items() if not question.pilot]
    skills = list(made.skills)

    def maybe(chance=0.25):
        return rng.random() < chance

    def some(names, least=1):
        return tuple(rng.permutation(names)[: int(rng.integers(least, max(least, min(3, len(names))) + 1))].tolist())

    fields = {
        "score": str(rng.choice(["mode", "entropy", "gini", "right", "order"])),
        "bound": str(rng.choice(["upper", "lower"])),
        "then": [None, "auto", "entropy"][int(rng.integers(3))],
        "target": ["scope", "all", tuple(skills[:1]), {skills[-1]: 2.0}][int(rng.integers(4))],
        "per": "minute" if maybe() else None,
        "stop": random_criterion(rng, made) if maybe(0.8) else None,
        "skips": str(rng.choice(["missing", "wrong", "c0"])),
        "only_next": maybe(0.1),
    }
    if maybe():
        fields["first"] = some(ids)
    if maybe():
        fields["mandatory"] = some(scored)
    if maybe():
        shares = {"share": 0.4} if maybe(0.5) else {"least": 1, "most": 2}
        fields["content"] = (qs.Content(str(rng.choice(skills)), **shares),)
    if maybe() and len(ids) > 1:
        fields["exclude"] = (some(ids, 2),)
    if maybe():
        fields["retire"] = qs.probability_above(0.8)
    if maybe() and not made.is_precise:
        fields["robust"] = qs.Robust(networks=4, choose=str(rng.choice(["most", "least exposed"])))
    if maybe():
        fields["exposure"] = qs.Exposure(most=0.5, rates={ids[0]: 0.7, ids[-1]: 0.2})
    if not orderly:
        if maybe():
            fields |= {"among": 2, "first_among": 3}
        if maybe() and len(scored) > 1:
            fields["testlets"] = (some(scored, 2),)
        if maybe():
            fields["variety"] = qs.Variety(after=1, give_up=0.5)
        if maybe(0.5) and len(scored) < len(ids):
            fields["pilots"] = 1
        if maybe():
            fields["exposure"] = qs.Exposure(chances={ids[0]: 0.5})
        if maybe():
            fields["score"] = "random"
    return qs.Rules(**fields)
