"""Entities as runs of capitalised words: what EvoNER has to beat.

It knows no types and sees no name in a text without capitals.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from smartrag.perception.encoder import Tokens
from smartrag.text import STOP_WORDS, sentence_spans, words
from smartrag.types import Mention, Seen

_CAPITAL = "".join(c for c in map(chr, range(0x3000)) if c.isupper())
"""Latin, Greek, Cyrillic, Armenian …: the `re` module has no name for them."""
_WORD = rf"[{_CAPITAL}][\w'’.-]*"
_JOINT = r"(?:\s+(?:of|the|de|la|du|del|von|van|der|and|in|on|for|to|a|&)){1,2}"
_RUN = re.compile(rf"(?<![^\W_]){_WORD}(?:(?:{_JOINT})?\s+{_WORD})*")
_TRIM = " .,'’-_"
_POSSESSIVE = re.compile(r"['’]s$")
_LEADING = STOP_WORDS - frozenset("all first last my new no one our two your".split())
"""Words that are capital only because they begin a sentence. *New*, *First*, *My* … begin names."""


class CapitalisedSpans:
    """Finds runs of capitalised words, joined by up to two small words such as *of the*.

    A run ends with its sentence.
    """

    def seen(self, texts: Sequence[str], tokens: Sequence[Tokens | None]) -> list[Seen]:
        """The mentions of each text, in text order, never overlapping."""
        return [Seen(tuple(_mentions(text))) for text in texts]


def _mentions(text: str) -> list[Mention]:
    found = []
    for sentence_start, sentence_end in sentence_spans(text):
        for run in _RUN.finditer(text, sentence_start, sentence_end):
            start, end = _trimmed(text, run.start(), run.end())
            inside = words(text[start:end])
            last = len(inside) - 1
            first = next((i for i, w in enumerate(inside) if w.folded not in _LEADING), last)
            if not inside or (first == last and _says_nothing(inside[first].folded)):
                continue
            start += inside[first].start
            # A run cannot tell how sure it is: every mention gets the same score.
            found.append(Mention(start, end, text[start:end], type="name", score=0.5))
    return found


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    surface = text[start:end]
    trimmed = _POSSESSIVE.sub("", surface.rstrip(_TRIM))
    return start + len(surface) - len(surface.lstrip(_TRIM)), start + len(trimmed)


def _says_nothing(word: str) -> bool:
    return word in STOP_WORDS or len(word) < 3
