from __future__ import annotations

from smartrag.perception.readers.markdown import read_markdown


def sections(text: str) -> list[tuple[tuple[str, ...], str]]:
    document = read_markdown(text, "a.md")
    assert document.text == text
    return [(s.heading, text[s.start : s.end]) for s in document.sections]


def test_atx_headings_make_paths_and_belong_to_no_section() -> None:
    text = "before\n\n# A\none\n## B ##\ntwo\n\n# C#\nthree\n"
    assert sections(text) == [
        ((), "before"),
        (("A",), "one"),
        (("A", "B"), "two"),
        (("C#",), "three"),
    ]


def test_setext_headings_are_one_line_under_a_blank() -> None:
    assert sections("Top\n===\none\n\nSub\n---\ntwo\n") == [
        (("Top",), "one"),
        (("Top", "Sub"), "two"),
    ]
    assert sections("a\nb\n---\nc") == [((), "a\nb\n---\nc")]
    assert sections("- item\n---\nc") == [((), "- item\n---\nc")]


def test_a_skipped_level_and_an_empty_heading() -> None:
    assert sections("### deep\nx\n# A\n### B\ny\n##\nz") == [
        (("deep",), "x"),
        (("A", "B"), "y"),
        (("A",), "z"),
    ]


def test_fenced_code_is_text() -> None:
    code = "```sh\n# no heading\n~~~\n```` not closed by this\n````"
    assert sections(f"# A\n{code}\n# B\nx") == [(("A",), code), (("B",), "x")]
    assert sections("~~~\n# still code") == [((), "~~~\n# still code")]
    assert sections("#hashtag\n    # indented") == [((), "#hashtag\n    # indented")]


def test_front_matter_is_in_no_section_and_may_name_the_title() -> None:
    text = '---\ntitle: "The plan"\ntags: x\n---\n# A\none\n'
    assert sections(text) == [(("A",), "one")]
    assert read_markdown(text, "a.md").title == "The plan"
    assert sections("---\n\ntext\n\n---\nmore") == [((), "---\n\ntext\n\n---\nmore")]


def test_the_title_is_the_first_top_heading_else_the_stem() -> None:
    assert read_markdown("## S\nx\n# A\ny\n# B\nz", "a_b.md").title == "A"
    assert read_markdown("## S\nx", "a_b.md").title == "a b"
