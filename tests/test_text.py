"""Words, names and sentences."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartrag.text import (
    STOP_WORDS,
    Word,
    content_words,
    fold,
    folded_words,
    normal_name,
    sentence_spans,
    words,
)

TEXTS = st.text(st.sampled_from("aB.!? \n\r\t。！(\"'“é東0") | st.characters(), max_size=200)


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


# --- words ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("word", "folded"),
    [
        ("Paris", "paris"),
        ("Müller", "muller"),
        ("Orléans", "orleans"),
        ("Straße", "strasse"),
        ("東京", "東京"),
        ("ΣΊΣΥΦΟΣ", "σισυφοσ"),
        ("1987", "1987"),
        ("", ""),
    ],
)
def test_folding_removes_accents_and_case_and_nothing_else(word: str, folded: str) -> None:
    assert fold(word) == folded


@given(st.text(max_size=50))
def test_folding_twice_is_folding_once(word: str) -> None:
    assert fold(fold(word)) == fold(word)


def test_words_know_their_place_and_whether_they_may_begin_a_name() -> None:
    assert words("The 2 Émile's") == [
        Word("the", 0, 3, True),
        Word("2", 4, 5, True),
        Word("emile", 6, 11, True),
        Word("s", 12, 13, False),
    ]


@given(TEXTS)
def test_words_are_ordered_slices_of_the_text(text: str) -> None:
    found = words(text)
    assert all(fold(text[w.start : w.end]) == w.folded for w in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert tuple(w.folded for w in found) == folded_words(text)


def test_content_words_leave_out_stop_words_and_single_letters() -> None:
    assert content_words("Who directed the Film Ünder a 1987 X?") == ["directed", "1987"]
    assert "under" in STOP_WORDS


# --- names ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "normal"),
    [
        ("The  Glass\nOrchard", "the glass orchard"),
        ("O'Neil-Smith", "o neil smith"),
        ("\uff21\uff22\uff23", "abc"),  # full-width letters
        ("東京", "東京"),
        ("...", ""),
        ("", ""),
    ],
)
def test_a_normal_name_has_no_case_and_one_space_between_words(name: str, normal: str) -> None:
    assert normal_name(name) == normal


def test_accents_keep_two_names_apart_but_not_two_spellings_of_one_accent() -> None:
    assert normal_name("Orléans") != normal_name("Orleans")
    assert normal_name("Orle\u0301ans") == normal_name("Orl\u00e9ans")


@given(st.text(max_size=50))
def test_a_normal_name_has_folded_words_unless_it_is_empty(name: str) -> None:
    normal = normal_name(name)
    assert bool(folded_words(normal)) == bool(normal)


# --- sentences ------------------------------------------------------------------------------------
LONG = "This is a sentence that is long enough."


def test_a_sentence_ends_before_white_space_and_a_capital() -> None:
    assert sentences(f"{LONG} {LONG}  {LONG}") == [LONG] * 3


def test_a_sentence_may_begin_with_a_quotation_mark_or_a_bracket_or_a_digit() -> None:
    second = "“Another one, which begins with a mark."
    third = "(And one in brackets, as sometimes.)"
    fourth = "1987 is where this one begins, a year."
    assert sentences(f"{LONG} {second} {fourth} {third}") == [LONG, second, fourth, third]


def test_a_small_letter_after_a_full_stop_does_not_begin_a_sentence() -> None:
    text = "This is approx. the length of it, which is long."
    assert sentences(text) == [text]


@pytest.mark.parametrize("short", ["Mr", "Dr", "St", "Jr", "Capt", "Prof", "Corp", "Mt", "No"])
def test_abbreviations_do_not_end_a_sentence(short: str) -> None:
    text = f"Nobody in the whole town knew that {short}. Ashby had been there before the war."
    assert sentences(text) == [text]


def test_a_word_that_only_ends_like_an_abbreviation_ends_its_sentence() -> None:
    first = "He sold everything that he had to the Marco."
    assert sentences(f"{first} {LONG}") == [first, LONG]


def test_initials_do_not_end_a_sentence() -> None:
    text = "The book was written by J. R. R. Tolkien while he lived in Oxford."
    assert sentences(text) == [text]


def test_accented_and_foreign_initials_do_not_end_a_sentence_either() -> None:
    text = "The letter was written by É. Zola or perhaps by Ж. Bertin in Paris."
    assert sentences(text) == [text]


def test_a_short_piece_joins_the_sentence_before_it_on_its_line() -> None:
    assert sentences(f"{LONG} He left.") == [f"{LONG} He left."]
    # 24 characters join, 25 do not.
    assert len(sentences(f"{LONG} {'A' * 23}.")) == 1
    assert len(sentences(f"{LONG} {'A' * 24}.")) == 2


def test_a_short_piece_never_joins_across_a_line_break() -> None:
    assert sentences(f"{LONG}\nHe left.") == [LONG, "He left."]


def test_a_short_first_piece_stands_alone() -> None:
    assert sentences(f"He left. {LONG}") == ["He left.", LONG]


def test_cjk_full_stops_end_a_sentence_without_any_space() -> None:
    one = "東京は日本の首都であり、世界でもっとも人口の多い都市圏である。"
    two = "富士山は日本で一番高い山であり、その高さは三千七百七十六メートル！"
    assert sentences(one + two) == [one, two]


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\u3000\t\r\n"])
def test_white_space_has_no_sentence(text: str) -> None:
    assert sentence_spans(text) == []


@given(TEXTS)
def test_sentences_cover_all_but_white_space_once_and_in_order(text: str) -> None:
    spans = sentence_spans(text)
    covered = set()
    end_before = 0
    for start, end in spans:
        assert end_before <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        covered |= set(range(start, end))
        end_before = end
    assert all(i in covered for i, c in enumerate(text) if not c.isspace())


@pytest.mark.parametrize("piece", ["A. B. ", "A.", "x\n", "! ", ". ", "。", "Mr. A "])
def test_long_monotonous_texts_take_linear_time(piece: str) -> None:
    begun = time.process_time()
    sentence_spans(piece * 20000)
    assert time.process_time() - begun < 3
