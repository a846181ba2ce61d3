from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartrag.perception.encoder import Tokens
from smartrag.perception.words import CHARACTERS, N_CODES, character_codes, words_of


def tokens(words: list[int], spans: list[tuple[int, int]]) -> Tokens:
    states = np.zeros((len(words), 4), np.float32)
    return Tokens(states, np.array(words), np.array(spans).reshape(-1, 2))


def test_a_word_begins_at_its_first_token_and_spans_all_of_them() -> None:
    # "[CLS] Tor ##vik ' s [SEP]": word 0 has two tokens
    read = tokens([-1, 0, 0, 1, 2, -1], [(0, 0), (0, 3), (3, 6), (6, 7), (7, 8), (0, 0)])
    words = words_of("Torvik's", read)
    assert words.first.tolist() == [1, 3, 4]
    assert words.spans.tolist() == [[0, 6], [6, 7], [7, 8]]
    assert words.codes[0, :7].tolist() == [*character_codes("Torvik"), 0]


def test_a_text_without_words_has_none() -> None:
    assert len(words_of("", tokens([-1, -1], [(0, 0), (0, 0)]))) == 0


@pytest.mark.parametrize(
    ("word", "codes"),
    [
        ("A", (34,)),  # printable ASCII counts from the space, which is 1
        ("a~", (66, 95)),
        ("É", (38,)),  # the accent is put aside, the capital stays: "E"
        ("Ж", (96,)),
        ("ж", (97,)),
        ("東", (98,)),
        ("٣", (99,)),
        ("€", (101,)),
    ],
)
def test_characters_have_codes_by_what_they_are(word: str, codes: tuple[int, ...]) -> None:
    assert character_codes(word) == codes


def test_a_long_word_keeps_its_beginning_and_its_ending() -> None:
    word = "abcdefghijklmnopqrstuvwxyz"
    assert character_codes(word) == character_codes("abcdefghijkl") + character_codes("wxyz")


@given(st.text(min_size=1))
def test_any_word_fits_the_table(word: str) -> None:
    codes = character_codes(word)
    assert 1 <= len(codes) <= CHARACTERS
    assert all(0 < code < N_CODES for code in codes)
