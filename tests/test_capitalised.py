"""Runs of capitalised words as names."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.capitalised import CapitalisedSpans
from smartrag.types import Mention, Seen


def names(text: str) -> list[str]:
    [seen] = CapitalisedSpans().seen([text], [None])
    return [m.surface for m in seen.mentions]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("she met Ada Lovelace there", ["Ada Lovelace"]),
        ("in the Battle of the Bulge, which", ["Battle of the Bulge"]),
        ("the University of the South and he", ["University of the South"]),
        ("the firm Marks & Spencer grew", ["Marks & Spencer"]),
        ("painted by Vincent van Gogh in Arles", ["Vincent van Gogh in Arles"]),
        ("Winter and spring", ["Winter"]),
        ("Lord of the only Ring", ["Lord", "Ring"]),
        ("Bank of the of the River", ["Bank", "River"]),
        ("J. R. R. Tolkien wrote", ["J. R. R. Tolkien"]),
        ("Spider-Man and O'Neil’s", ["Spider-Man and O'Neil"]),
        ("an iPhone for sale", []),
        ("from l'Amérique", ["Amérique"]),
        ("a _Glass Orchard_ of his", ["Glass Orchard"]),
        ("nothing here", []),
        ("", []),
    ],
)
def test_a_name_is_a_run_of_capitalised_words_with_small_joints(
    text: str, found: list[str]
) -> None:
    assert names(text) == found


def test_stop_words_at_the_start_are_dropped() -> None:
    assert names("The Glass Orchard was seen.") == ["Glass Orchard"]
    assert names("When Her Majesty came.") == ["Majesty"]
    assert names("The") == []
    assert names("In The Of") == []


def test_one_word_of_fewer_than_three_letters_names_nothing() -> None:
    assert names("the Xu and Bo and") == ["Xu and Bo"]
    assert names("then Bo came") == []
    assert names("then Bob came") == ["Bob"]


def test_punctuation_around_a_name_is_no_part_of_it() -> None:
    assert names("at Paris's, Rome-, ‘Oslo’.") == ["Paris", "Rome", "Oslo"]


def test_accented_greek_and_cyrillic_capitals_begin_names() -> None:
    assert names("by Édith Piaf and Øystein") == ["Édith Piaf and Øystein"]
    assert names("во Москва стала столицей России") == ["Москва", "России"]
    assert names("η Αθήνα είναι") == ["Αθήνα"]


def test_small_letters_of_any_script_and_scripts_without_capitals_begin_none() -> None:
    assert names("różnica, łódka, świat") == []
    assert names("東京は日本の首都です") == []


def test_a_name_ends_with_its_sentence_and_its_line() -> None:
    text = "For a long time she lived in Paris. Then Bob Miller came back to the town."
    assert names(text) == ["Paris", "Bob Miller"]
    assert names("all in Paris\n\nThe Seine flows") == ["Paris", "Seine"]


def test_a_mention_carries_its_place_type_and_score() -> None:
    assert CapitalisedSpans().seen(["see Oslo", "no"], [None] * 2) == [
        Seen((Mention(4, 8, "Oslo", "name", 0.5),)),
        Seen(()),
    ]


ALPHABET = st.sampled_from("Aa bÉÜé.,'’-_&0ŁłЖ東\n") | st.characters()


@given(st.text(ALPHABET, max_size=150))
def test_mentions_are_exact_and_never_overlap_in_any_text(text: str) -> None:
    [seen] = CapitalisedSpans().seen([text], [None])
    found = seen.mentions
    assert all(text[m.start : m.end] == m.surface != "" for m in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert all(m.surface[0].isupper() for m in found)


@pytest.mark.parametrize(
    "piece",
    [
        "A ",
        "of the ",
        "A.",
        "A of ",
        "A of the ",
        "The ",
        "A\n",
        "A  ",
        "Battle of the ",
        "A' ",
        " ",
    ],
)
def test_long_monotonous_texts_take_linear_time(piece: str) -> None:
    begun = time.process_time()
    names(piece * 20000)
    names("A" + piece * 20000 + "b")
    assert time.process_time() - begun < 5
