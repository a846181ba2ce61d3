"""A text as EvoNER sees it: words, where each begins among the tokens, and its characters.

Words are those of the encoder's own splitting: runs between white space, cut at punctuation. The
encoder lowers all letters, so the characters are the only place where capitals and the shape of
numbers enter (paper §3.2, the character channel).
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from smartrag.perception.encoder import Tokens
from smartrag.types import FloatArray

CHARACTERS = 16
"""Characters of a word that are looked at: the first 12, where beginnings and capitals stand, and
of longer words the last 4 for their endings."""
_HEAD = 12

N_CODES = 102
"""0 is padding, 1 to 95 printable ASCII, and then one code a class of other characters."""
_UPPER, _LOWER, _LETTER, _DIGIT, _MARK, _OTHER = range(96, 102)


@dataclass(frozen=True, slots=True)
class Words:
    """The n words of a text, ready for EvoNER.

    `first[w]` is the token at which word w begins, `spans` are its character offsets.
    """

    states: FloatArray  # (t, d), shared token states
    first: NDArray[np.int64]  # (n,)
    codes: NDArray[np.int64]  # (n, CHARACTERS)
    spans: NDArray[np.int64]  # (n, 2)

    def __len__(self) -> int:
        return len(self.first)

    def characters(self, first: int, last: int) -> tuple[int, int]:
        """The characters from, to, of words `first` to `last` (inclusive)."""
        return int(self.spans[first, 0]), int(self.spans[last, 1])


def words_of(text: str, tokens: Tokens) -> Words:
    """The words of `text`, as far as the encoder read it."""
    inside = np.flatnonzero(tokens.words >= 0)
    first = inside[np.unique(tokens.words[inside], return_index=True)[1]]
    last = np.append(first[1:] - 1, inside[-1:]) if len(first) else first
    spans = np.stack([tokens.spans[first, 0], tokens.spans[last, 1]], axis=1)
    codes = np.zeros((len(first), CHARACTERS), dtype=np.int64)
    for row, (start, end) in enumerate(spans.tolist()):
        found = character_codes(text[start:end])
        codes[row, : len(found)] = found
    return Words(tokens.states, first, codes, spans)


@lru_cache(maxsize=65_536)
def character_codes(word: str) -> tuple[int, ...]:
    """The codes of at most CHARACTERS characters of a word."""
    seen = word if len(word) <= CHARACTERS else word[:_HEAD] + word[_HEAD - CHARACTERS :]
    return tuple(_code(c) for c in seen)


def _code(character: str) -> int:
    """Accents are put aside, case is kept: "É" is "E"."""
    base = unicodedata.normalize("NFKD", character)[0]
    if " " <= base <= "~":
        return ord(base) - 31
    kind = unicodedata.category(base)
    classes = {"Lu": _UPPER, "Lt": _UPPER, "Ll": _LOWER, "Lo": _LETTER, "Nd": _DIGIT, "Mn": _MARK}
    return classes.get(kind, _OTHER)
