"""How text is cut into words and sentences, and when two names are the same name."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_MARKS = "".join(c for c in map(chr, range(0x10000)) if unicodedata.category(c)[0] == "M")
WORD = re.compile(rf"\w[\w{re.escape(_MARKS)}]*")
"""A word of any script: letters and digits with the accents and vowel signs that follow them."""

STOP_WORDS = frozenset(
    """
    a about after all also an and any are as at be been before between both but by can did do does
    during each film first for from had has have he her him his how i in into is it its just last
    many me more most my new no nor not of on one only or other our over same she so some song such
    than that the their them then there these they this those to two under up very was we were what
    when where which while who whom whose why will with would you your
    """.split()
)
"""Words that name nothing and match everything. *Film*, *song*, *new* … are among them because in
encyclopaedic questions they occur in every second passage and carry no name of their own."""


_SURROGATE = re.compile("[\ud800-\udfff]")


def well_formed(text: str) -> str:
    """`text` with lone surrogates, which no encoding can write, as U+FFFD; offsets stay."""
    return _SURROGATE.sub("\ufffd", text)


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a text: `text[start:end]`, its folded form, and whether it may begin a name."""

    folded: str
    start: int
    end: int
    capital: bool


def fold(word: str) -> str:
    """Accents and case removed, nothing else: "Müller" → "muller", "東京" → "東京"."""
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFKD", word)
    return "".join(c for c in decomposed if not unicodedata.combining(c)).casefold()


def words(text: str) -> list[Word]:
    """The words of `text` in order; a digit counts as a capital, since names may begin with one."""
    return [
        Word(fold(m[0]), m.start(), m.end(), m[0][0].isupper() or m[0][0].isdigit())
        for m in WORD.finditer(text)
    ]


def folded_words(text: str) -> tuple[str, ...]:
    """The folded words of `text`: how names are compared when a question is linked."""
    return tuple(fold(word) for word in WORD.findall(text))


def content_words(text: str) -> list[str]:
    """The folded words of `text` that carry meaning: two letters or more and no stop word."""
    return [w for w in map(fold, WORD.findall(text)) if len(w) > 1 and w not in STOP_WORDS]


def normal_name(name: str) -> str:
    """The name under which an entity is stored: NFKC, case folded, one space between words.

    Accents and every script stay, so "Orléans" and "東京" keep an identity of their own; an empty
    string means that `name` holds no word at all.
    """
    folded = unicodedata.normalize("NFKC", name).casefold()
    return " ".join(WORD.findall(folded))


_SENTENCE_END = re.compile(r"""(?<=[.!?])(?=\s+["“'‘(\[]?[^\W_a-z])|(?<=[。！？])""")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Jr|Sr|vs|No|Lt|Col|Gen|Capt|Prof|Rev|Inc|Ltd|Co|Corp|Mt|ca?)"
    r"|\b[^\W\d_])\.$"
)
_LONGEST_ABBREVIATION = len("Capt.")
_SHORTEST_SENTENCE = 25


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Half-open `(start, end)` of each sentence, without outer white space, in order.

    A line break always ends a sentence. Abbreviations and initials do not, and a piece of fewer
    than 25 characters joins the sentence before it on its line. Text that is only white space has
    no sentence.
    """
    spans: list[tuple[int, int]] = []
    line_start = 0
    for line in text.splitlines(keepends=True):
        spans += _sentences_of_line(text, line_start, line_start + len(line))
        line_start += len(line)
    return spans


def _sentences_of_line(text: str, start: int, end: int) -> list[tuple[int, int]]:
    cuts = [m.start() for m in _SENTENCE_END.finditer(text, start, end)] + [end]
    spans: list[tuple[int, int]] = []
    begin = start
    for cut in cuts:
        if cut != end and _ABBREVIATION.search(text, max(begin, cut - _LONGEST_ABBREVIATION), cut):
            continue
        stripped = text[begin:cut].strip()
        if stripped:
            first = begin + text[begin:cut].index(stripped[0])
            span = (first, first + len(stripped))
            if spans and len(stripped) < _SHORTEST_SENTENCE:
                spans[-1] = (spans[-1][0], span[1])
            else:
                spans.append(span)
        begin = cut
    return spans
