"""Formulas of MathML as LaTeX, as far as school mathematics goes; of what is not known the text stays."""

from quaestor.formats.exchange.xml import Element

_SIGNS = {
    **{
        "×": r"\times ",
        "⋅": r"\cdot ",
        "·": r"\cdot ",
        "÷": r"\div ",
        "±": r"\pm ",
        "≤": r"\le ",
        "≥": r"\ge ",
        "≠": r"\ne ",
        "≈": r"\approx ",
    },
    **{
        "∞": r"\infty ",
        "→": r"\to ",
        "∫": r"\int ",
        "∑": r"\sum ",
        "∏": r"\prod ",
        "√": r"\surd ",
        "∈": r"\in ",
        "∪": r"\cup ",
        "∩": r"\cap ",
    },
    **{
        "α": r"\alpha ",
        "β": r"\beta ",
        "γ": r"\gamma ",
        "δ": r"\delta ",
        "ε": r"\varepsilon ",
        "θ": r"\theta ",
        "λ": r"\lambda ",
        "μ": r"\mu ",
    },
    **{
        "π": r"\pi ",
        "σ": r"\sigma ",
        "φ": r"\varphi ",
        "ω": r"\omega ",
        "Δ": r"\Delta ",
        "Σ": r"\Sigma ",
        "Ω": r"\Omega ",
        "°": r"^{\circ}",
    },
    **{
        "−": "-",
        "\u2062": "",
        "\u2061": "",
        "\u2063": "",
        "%": r"\%",
        "#": r"\#",
        "&": r"\&",
        "_": r"\_",
        "$": r"\$",
        "{": r"\{",
        "}": r"\}",
    },
}
_FUNCTIONS = {"sin", "cos", "tan", "log", "ln", "exp", "lim", "max", "min", "det", "gcd"}
_SCRIPTS = {"msup": "^", "msub": "_", "mover": "^", "munder": "_"}
_PAIRS = {"msubsup", "munderover"}
_DROPPED = {"annotation-xml", "maction", "mphantom"}


def latex(element: Element) -> str:
    r"""An element of MathML as LaTeX.

    A fraction's bar, roots, powers and indices, fenced lists and tables are kept; a formula that comes with LaTeX of its own is that.
    """
    given = next((one for one in element.walk() if one.tag == "annotation" and "tex" in one.attributes.get("encoding", "").lower()), None)
    return " ".join((given.text if given is not None else _written(element)).split())


def _written(element: Element) -> str:
    parts = [_written(child) for child in element.children if child.tag not in _DROPPED and child.tag != "annotation"]
    one, two, three = (*parts, "", "", "")[:3]
    match element.tag:
        case "mi" | "mn" | "mo" | "mtext" | "ms":
            return _word(element.tag, element.whole_text().strip())
        case "mfrac":
            return rf"\frac{{{one}}}{{{two}}}"
        case "msqrt":
            return rf"\sqrt{{{''.join(parts)}}}"
        case "mroot":
            return rf"\sqrt[{two}]{{{one}}}"
        case "mfenced":
            signs = element.attributes.get("separators", ",")[:1]
            return _mark(element.attributes.get("open", "(")) + signs.join(parts) + _mark(element.attributes.get("close", ")"))
        case "mtr":
            return " & ".join(parts)
        case "mtable":
            return r"\begin{matrix}" + r" \\ ".join(parts) + r"\end{matrix}"
    if element.tag in _SCRIPTS:
        return f"{_whole(one)}{_SCRIPTS[element.tag]}{{{two}}}"
    if element.tag in _PAIRS:
        return f"{_whole(one)}_{{{two}}}^{{{three}}}"
    return "".join(parts)


def _word(tag: str, text: str) -> str:
    if tag in ("mtext", "ms") and text:
        return rf"\text{{{''.join(_SIGNS[sign] if sign in '%#&_${}' else sign for sign in text)}}}"
    if tag == "mi" and text in _FUNCTIONS:
        return rf"\{text} "
    signs = "".join(_mark(sign) for sign in text)
    return rf"\mathrm{{{signs}}}" if tag == "mi" and len(text) > 1 and text.isalpha() else signs


def _mark(sign: str) -> str:
    return "".join(_SIGNS.get(letter, r"\backslash " if letter == "\\" else letter) for letter in sign)


def _whole(base: str) -> str:
    """What an index or a power belongs to."""
    return base if len(base) <= 1 or (base.startswith("\\") and " " not in base.rstrip()) else f"{{{base}}}"
