"""HTML of other systems as our prose."""

import pytest

from quaestor.formats.exchange.html import from_element, from_html
from quaestor.formats.exchange.xml import parse


def keep(address):
    return address.rpartition("/")[2] if address.startswith("@@PLUGINFILE@@/") else ""


def prose(html, is_line=False):
    return str(from_html(html, keep, is_line))


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>Hello <b> world</b>!</p>\n<p>Two</p>", "Hello **world**!\n\nTwo"),
        ("a<br>b<br/>c", "a  \nb  \nc"),
        ("H<sub>2</sub>O, x<sup>10</sup>5, v<sub>max</sub>", r"H$_{2}$O, x$^{10}$&#53;, v$_{\text{max}}$"),
        ("<ul><li>a</li><li><p>b</p><ol><li>c<li>d</ol></li></ul>after", "- a\n- b\n   1. c\n   2. d\n\nafter"),
        ("<table><tr><th>a|b</th><td>2</td></tr><tr><td>x</td></tr></table>", "| a\\|b | 2 |\n| --- | --- |\n| x |  |"),
        ("<pre>a\n  b</pre><code>x*y</code>", "```\na\n  b\n```\n\n`x*y`"),
        ("<blockquote>one<br>two</blockquote><h2>Head</h2>", "> one  \n> two\n\n### Head"),
        ("1. first<p># hash</p><p>- dash</p>", "1\\. first\n\n\\# hash\n\n\\- dash"),
        ("*a* snake_case &lt;b&gt; &amp;lt; $5 or $6", "\\*a\\* snake_case <b> &amp;lt; \\$5 or \\$6"),
        ("<b>open <i>and</b> stray</p>", "**open *and*** stray"),
        ("a&nbsp;&nbsp;b", "a b"),
    ],
)
def test_marks_stay_and_texts_are_no_marks(html, text):
    assert prose(html) == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (r"\( a < b \) and \[x^2\] or $$y$$", "$a < b$ and $$x^2$$ or $$y$$"),
        (r'<img class="equation_image" data-equation-content="\frac{1}{2}" alt="LaTeX: x">', r"$\frac{1}{2}$"),
        ('<img src="x.png" alt="LaTeX: \\sqrt 2">', "$\\sqrt 2$"),
        ('<math alttext="x^2"><mi>x</mi></math>!', "$x^2$!"),
        ('<math><mi>E</mi><annotation encoding="application/x-tex">E=mc^2</annotation></math>', "$E=mc^2$"),
    ],
)
def test_formulas_of_every_form_stand_between_dollar_signs(html, text):
    assert prose(html) == text


def test_an_option_is_one_line():
    assert prose("<p>one</p><ul><li>two<br>three</li></ul>- 4", is_line=True) == "one two three - 4"


def test_pictures_in_the_file_are_kept_and_others_are_told():
    made = from_html(
        '<img src="@@PLUGINFILE@@/flag.png" alt="A [flag]"> <img src="https://x.org/y.png" alt="A yak"><img src="z.png">', keep
    )
    assert str(made) == "![A (flag)](flag.png) (A yak)"
    assert [str(note).partition(",")[0] for note in made.notes] == [
        "the picture 'https://x.org/y.png' is not in the file",
        "the picture 'z.png' is not in the file",
    ]


def test_sounds_are_named():
    made = from_html('<a href="@@PLUGINFILE@@/hello.mp3">Listen</a><audio><source src="http://x.org/b.mp3"></audio>', keep)
    assert (str(made), made.sounds) == ("Listen", ["hello.mp3"])
    assert "'http://x.org/b.mp3' is not in the file" in made.notes[0]


@pytest.mark.parametrize(
    "html",
    [
        '<p onclick="steal()">a<script>steal()</script></p>',
        "<style>p{}</style><svg onload='steal()'><script>steal()</script><text>steal()</text></svg>a",
        '<a href="javascript:steal()">a</a>',
        "<p>a<!-- steal() --></p>",
        '<iframe srcdoc="steal()"></iframe>a',
    ],
)
def test_nothing_that_runs_gets_into_a_text(html):
    assert "steal" not in prose(html)
    assert "a" in prose(html)


def test_what_looks_like_a_tag_and_does_not_end_is_text():
    assert prose("1 < 2 and <b>so</b> on <a href='x") == "1 < 2 and **so** on <a href='x"
    assert prose('<img src="data:image/png;base64,' + "A" * 9000 + '" alt="dot">.') == "(dot)."
    assert prose("<!DOCTYPE html><p>a</p><?xml version='1.0'?><![CDATA[b]]>") == "a\n\n<\\![CDATA[b]]>"


def test_a_text_without_end_is_cut_and_told():
    made = from_html("<b>x</i> " * 100_000, keep)
    assert str(made).startswith("x x")
    assert len(str(made)) < 100_000
    assert "was cut at 100,000" in made.notes[0]


def test_elements_of_xhtml_are_read_alike_and_some_are_put_instead():
    body = parse(b"<body><p>The <b>cat</b> <gap id='1'/> on the mat.</p><p>&lt;</p></body>")
    made = from_element(body, keep, instead=lambda element: "[[1]]" if element.tag == "gap" else None)
    assert str(made) == "The **cat** [[1]] on the mat.\n\n<"


def in_language(language, text):
    return f'<span lang="{language}" class="multilang">{text}</span>'


def test_of_a_text_in_several_languages_the_first_is_kept_and_that_is_told():
    made = from_html(
        f"<p>{in_language('en', 'A <b>cat</b>')} {in_language('de', 'Eine <span>Katze</span>')}{in_language('fr', 'Un chat')} 1</p>", keep
    )
    assert str(made) == "A **cat** 1"
    assert made.notes == ["a text stands there in several languages: only that in 'en' was kept"]


def test_a_text_in_one_language_or_others_further_on_stay():
    apart = f"<p>{in_language('en', 'cat')} means {in_language('de', 'Katze')}</p><p>{in_language('fr', 'chat')}</p>"
    made = from_html(apart, keep)
    assert (str(made), made.notes) == ("cat means Katze\n\nchat", [])
    twice = from_html(in_language("en", "a") + in_language("en", "b") + "<i>c</i>" + in_language("de", "d"), keep)
    assert (str(twice), twice.notes) == ("ab*c*d", [])
