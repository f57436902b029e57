"""The words of a bank file in other languages: whoever writes a bank may use their own, in sheets, text files and forms alike.

A document keeps the file's own words, so that a bank is the same in whichever language it was written.
"""

from collections.abc import Collection

ELSEWHERE: dict[str, dict[str, str]] = {
    "de": {
        "very easy": "sehr leicht",
        "easy": "leicht",
        "medium": "mittel",
        "hard": "schwer",
        "very hard": "sehr schwer",
        "weak": "schwach",
        "fair": "mittel",
        "strong": "stark",
        "certain": "ganz sicher",
        "sure": "sicher",
        "fairly sure": "ziemlich sicher",
        "unsure": "unsicher",
        "very unsure": "sehr unsicher",
        "even": "ausgeglichen",
        "mostly low": "meist unten",
        "mostly middle": "meist in der Mitte",
        "mostly high": "meist oben",
        "impossible": "unmöglich",
        "almost impossible": "fast unmöglich",
        "very unlikely": "sehr unwahrscheinlich",
        "unlikely": "unwahrscheinlich",
        "likely": "wahrscheinlich",
        "very likely": "sehr wahrscheinlich",
        "almost certain": "fast sicher",
        "all": "alle",
        "any": "eine davon",
        "choice": "Auswahl",
        "choices": "Mehrfachauswahl",
        "number": "Zahl",
        "text": "Text",
        "truefalse": "richtig oder falsch",
        "matching": "Zuordnung",
        "ordering": "Reihenfolge",
        "gaps": "Lückentext",
    },
    "fr": {
        "very easy": "très facile",
        "easy": "facile",
        "medium": "moyen",
        "hard": "difficile",
        "very hard": "très difficile",
        "weak": "faible",
        "fair": "moyen",
        "strong": "fort",
        "certain": "tout à fait sûr",
        "sure": "sûr",
        "fairly sure": "assez sûr",
        "unsure": "peu sûr",
        "very unsure": "très peu sûr",
        "even": "équilibré",
        "mostly low": "plutôt bas",
        "mostly middle": "plutôt moyen",
        "mostly high": "plutôt haut",
        "impossible": "impossible",
        "almost impossible": "presque impossible",
        "very unlikely": "très peu probable",
        "unlikely": "peu probable",
        "likely": "probable",
        "very likely": "très probable",
        "almost certain": "presque certain",
        "all": "toutes",
        "any": "au moins une",
        "choice": "choix",
        "choices": "choix multiple",
        "number": "nombre",
        "text": "texte",
        "truefalse": "vrai ou faux",
        "matching": "association",
        "ordering": "classement",
        "gaps": "texte à trous",
    },
}


def in_file(value: str, words: Collection[str]) -> str:
    """The word of the file that a word of another language means; anything else as it is.

    >>> in_file(" Sehr  leicht", ["easy", "very easy"]), in_file("Easy", ["easy"]), in_file("0.3", ["easy"])
    ('very easy', 'Easy', '0.3')
    """
    plain = " ".join(value.casefold().split())
    if plain in words:
        return value
    meant = {known[word].casefold(): word for known in ELSEWHERE.values() for word in words if word in known}
    return meant.get(plain, value)
