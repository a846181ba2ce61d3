from __future__ import annotations

from time import perf_counter

import pytest

from smartrag.perception.readers.html import read_html


def sections(source: str) -> list[tuple[tuple[str, ...], str]]:
    document = read_html(source, "a.html")
    return [(s.heading, document.text[s.start : s.end]) for s in document.sections]


def test_a_page_becomes_paragraphs_under_headings() -> None:
    source = """<html><head><title>Caf&eacute; &amp; bar</title><style>p {}</style></head><body>
    <p>First
    line<br>second</p>
    <h1>Menu</h1><p>Tea</p><p>Cake &#8211; <b>fresh</b></p>
    <h2>Prices</h2><div>Low</div><h1>Address</h1>Main&nbsp;Street
    <script>var x = "<p>no</p>";</script><template><h1>no</h1></template>
    <noscript>no</noscript></body></html>"""
    assert sections(source) == [
        ((), "First line\nsecond"),
        (("Menu",), "Tea\n\nCake – fresh"),
        (("Menu", "Prices"), "Low"),
        (("Address",), "Main Street"),
    ]
    assert read_html(source, "a.html").title == "Café & bar"


def test_tables_are_rows_and_lists_are_lines() -> None:
    table = "<table><tr><th>a</th><th>b</th></tr><tr><td><p>1</p><td>2<tr><td><td></table>"
    assert sections(table) == [((), "a | b\n1 | 2")]
    assert sections("<ul><li>x<li>y</ul>z") == [((), "x\ny\n\nz")]
    assert sections("<p>a</p><pre>if x:\n    y\n</pre>") == [((), "a\n\nif x:\n    y")]


def test_the_title_falls_back_to_the_first_heading_and_the_stem() -> None:
    assert read_html("<h2>S</h2><h1>Top <i>one</i></h1>x", "a.html").title == "Top one"
    assert read_html("<p>x", "my-page.html").title == "my page"
    assert read_html("<title>T</title>x<svg><title>icon</title></svg>", "a.html").title == "T"


def test_missing_end_tags_lose_no_text() -> None:
    assert sections("<head><title>T<p>one<h1>A<p>two") == [((), "one"), (("A",), "two")]
    assert sections("<h1><div>A</div></h1>x") == [(("A",), "x")]
    assert sections("a</b></p></h3></td> b < c <![if !x]>d<![endif]> <") == [((), "a\n\nb < c d <")]


@pytest.mark.parametrize("mark", ["<!--", "<a ", "<![CDATA[", "</", "<a b='", "<", "<div>"])
def test_marks_that_nothing_closes_take_linear_time(mark: str) -> None:
    start = perf_counter()
    read_html(mark * 20_000, "a.html")
    assert perf_counter() - start < 5  # html.parser alone needs up to three minutes
