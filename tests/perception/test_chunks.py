"""Paragraphs: small enough, nothing lost, nothing across a border."""

from __future__ import annotations

import re
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartrag.perception.chunks import chunk, label_of
from smartrag.settings import PerceptionSettings
from smartrag.types import Document, Paragraph, Section


def word_spans(text: str) -> list[tuple[int, int]]:
    """One token a word or mark, as BERT cuts before it looks for pieces."""
    return [m.span() for m in re.finditer(r"\w+|[^\w\s]", text)]


def chunked(text: str, most: int, overlap: int = 0, **parts: object) -> list[Paragraph]:
    settings = PerceptionSettings(chunk_tokens=most, overlap_tokens=overlap)
    return chunk(Document("d", text, **parts), settings, word_spans)  # type: ignore[arg-type]


def texts(paragraphs: list[Paragraph]) -> list[str]:
    return [p.text for p in paragraphs]


# --- blocks ---------------------------------------------------------------------------------------
def test_blocks_share_a_paragraph_while_they_fit() -> None:
    text = "one two\n\nthree\n\nfour five"
    assert texts(chunked(text, 5)) == [text]
    assert texts(chunked(text, 4)) == ["one two\n\nthree", "four five"]
    assert texts(chunked(text, 2)) == ["one two", "three", "four five"]


@pytest.mark.parametrize("blank", ["\n\n", "\n \n", " \n\n", "  \n\t\n", "\r\n\r\n", "\n\n\n\n"])
def test_a_line_of_white_space_separates_blocks(blank: str) -> None:
    assert texts(chunked(f"one two{blank}three four", 3)) == ["one two", "three four"]


def test_a_single_line_break_separates_no_blocks() -> None:
    assert texts(chunked("one two\nthree four", 4)) == ["one two\nthree four"]


@pytest.mark.parametrize("text", ["", " ", "\n\n \n"])
def test_white_space_has_no_paragraph(text: str) -> None:
    assert chunked(text, 5) == []


# --- long blocks ----------------------------------------------------------------------------------
def test_a_long_block_is_split_between_sentences() -> None:
    first, second = "This sentence has six words here.", "And this one has six words."
    assert texts(chunked(f"{first} {second}", 8)) == [first, second]


def test_a_long_sentence_is_split_between_words_into_pieces_of_like_length() -> None:
    text = "a1 a2 a3 a4 a5 a6 a7 a8 a9"
    assert texts(chunked(text, 4)) == ["a1 a2 a3", "a4 a5 a6", "a7 a8 a9"]


def test_a_piece_repeats_the_end_of_the_one_before_it() -> None:
    text = " ".join(f"a{i}" for i in range(1, 16))
    # Limit 8 and overlap 2: ceil(15 / 6) = 3 pieces of at most ceil(15 / 3) + 2 = 7 tokens. The
    # sentence is cut in units of 7, so only the last piece has room for a repetition.
    assert texts(chunked(text, 8, 2)) == [
        "a1 a2 a3 a4 a5 a6 a7",
        "a8 a9 a10 a11 a12 a13 a14",
        "a13 a14 a15",
    ]


def test_a_sentence_behind_a_full_piece_brings_the_words_before_it_along() -> None:
    one = "This sentence has exactly seven words."
    two = "The second one has seven words too."
    pieces = texts(chunked(f"{one} {two} {two}", 12, 3))
    assert pieces[0] == one
    assert pieces[1] == f"seven words. {two}"
    assert pieces[2] == f"words too. {two}"


def test_a_block_that_is_split_shares_no_words_with_its_neighbours() -> None:
    long = " ".join(f"a{i}" for i in range(10))
    found = texts(chunked(f"before\n\n{long}\n\nafter", 4, 2))
    assert found[0] == "before"
    assert found[-1] == "after"
    assert all("before" not in t and "after" not in t for t in found[1:-1])


# --- sections -------------------------------------------------------------------------------------
def test_nothing_crosses_a_section_and_heading_and_page_are_kept() -> None:
    sections = (Section(0, 4, ("A",), 1), Section(4, 12, ("A", "B"), 2))
    found = chunked("one\ntwo\nfour", 100, title="T", sections=sections)
    assert found == [
        Paragraph(0, 0, 3, "one", "T › A", ("A",), 1),
        Paragraph(1, 4, 12, "two\nfour", "T › A › B", ("A", "B"), 2),
    ]


@pytest.mark.parametrize(
    ("title", "heading", "label"),
    [
        ("Trip", (), "Trip"),
        ("", ("A", "B"), "A › B"),
        ("Trip", ("trip", "Oslo"), "Trip › Oslo"),
        ("Trip", ("Oslo", "Trip"), "Trip › Oslo › Trip"),
        ("  A \n b ", ("", " "), "A b"),
        ("", (), ""),
    ],
)
def test_a_label_names_title_and_headings_in_one_line(
    title: str, heading: tuple[str, ...], label: str
) -> None:
    assert label_of(title, heading) == label


# --- always ---------------------------------------------------------------------------------------
PIECES = st.sampled_from(
    ["word ", "Word. ", "x", "\n", "\n\n", " \r\n\r\n", "。", "東京", "é", "...", "\u200b", "\t"]
)
TEXTS = st.lists(PIECES, max_size=80).map("".join) | st.text(max_size=120)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(TEXTS)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=4)))
    borders = [0, *cuts, len(text)]
    sections = tuple(
        Section(a, b, heading=(f"h{i}",), page=i) for i, (a, b) in enumerate(pairwise(borders))
    )
    return Document("d", text, sections=sections if draw(st.booleans()) else ())


@given(documents(), st.integers(0, 20), st.integers(0, 12))
def test_paragraphs_are_exact_small_complete_and_in_order(
    document: Document, most: int, overlap: int
) -> None:
    settings = PerceptionSettings(chunk_tokens=most, overlap_tokens=overlap)
    found = chunk(document, settings, word_spans)
    assert [p.position for p in found] == list(range(len(found)))
    covered: set[int] = set()
    for p in found:
        assert p.text == document.text[p.start : p.end]
        assert p.text.strip() == p.text != ""
        assert len(word_spans(p.text)) <= max(1, most)
        home = [s for s in document.sections if s.start <= p.start and p.end <= s.end]
        assert not document.sections or (p.heading, p.page) in [(s.heading, s.page) for s in home]
        covered |= set(range(p.start, p.end))
    assert all(i in covered for i, c in enumerate(document.text) if not c.isspace())
    for a, b in pairwise(found):
        assert a.start < b.start
        repeated = document.text[b.start : a.end]
        assert len(word_spans(repeated)) <= overlap
        if repeated:
            assert (a.heading, a.page) == (b.heading, b.page)
            assert not re.search(r"\n\s*\n", repeated)


@pytest.mark.parametrize("piece", ["x\n", "x \n", " ", "x\n\n", "\r\n", "A. B. ", "x     "])
def test_long_monotonous_documents_take_linear_time(piece: str) -> None:
    begun = time.process_time()
    chunked(piece * 20000, 200, 30)
    assert time.process_time() - begun < 5
