"""Which entity a paragraph is *about*: the names under which other texts would mention it.

The strongest edges of the graph run from a mention to the paragraph about the mentioned thing.
What a paragraph is about is read from its title and headings, from the subject of its first
sentence, from the entity with which that sentence begins and from phrases such as "also known as".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from smartrag.perception.names import canonical
from smartrag.text import STOP_WORDS, folded_words, sentence_spans
from smartrag.types import About, Mention, Paragraph

_ARTICLES = ("the", "a", "an")
_OPENING = re.compile(r"""[\s"“'‘]*(?:(?:the|an?)\s+)?["“'‘]?""", re.IGNORECASE)
_VALUES = ("time", "number")
_BRACKETS = re.compile(r"\s*\([^()]*\)")
_SUBJECT = re.compile(
    r"""[\s"“'‘]*([^\W\d_a-z][^(,;\n]{1,60}?)\s*["”]?\s*(?:\(|,|\s(?:is|was|are|were)\s)"""
)
_KNOWN_AS = re.compile(
    r"(?:known as|also called|known professionally as|stage name|nicknamed|abbreviated as)"
    r"\s+[\"“'‘]?([A-Z][\w.'’-]*(?:\s+(?:[A-Z][\w.'’-]*|of|the|de|and))*)"
)
_KNOWN_AS_REACH = 400
_LONGEST_SUBJECT = 6


def abouts(
    title: str,
    paragraph: Paragraph,
    mentions: Sequence[Mention] = (),
    above: Sequence[Mention] = (),
) -> tuple[About, ...]:
    """The names of what `paragraph` is about, each with its best weight (0 to 1), best first.

    `mentions` are those of the paragraph, in text order, and `above` those of its label. A name has
    the kind of most of both that are written like it.
    """
    found: dict[tuple[str, ...], About] = {}

    def add(name: str, weight: float) -> None:
        key = folded_words(name)
        if _is_a_name(key) and (key not in found or found[key].weight < weight):
            found[key] = About(" ".join(name.split()), weight, _kind(name, (*above, *mentions)))

    subjects = _headings(title, paragraph)
    for heading in subjects:
        for name, weight in _variants(heading):
            add(name, weight)
    subject = _first_subject(paragraph.text)
    if subject and _names_the_same(subject, subjects):
        add(_without_article(subject), 0.8)
    opening = _opening_entity(paragraph.text, mentions)
    if opening and _names_the_same(opening, subjects):
        add(opening, 0.8)
    for match in _KNOWN_AS.finditer(paragraph.text, 0, _KNOWN_AS_REACH):
        if len(folded_words(match[1])) > 1:
            add(match[1], 0.7)
    return tuple(sorted(found.values(), key=lambda a: (-a.weight, a.name)))


def _kind(name: str, mentions: Sequence[Mention]) -> str:
    """What most mentions that are written like a name are; "" where there is none."""
    same = (m.kind for m in mentions if canonical(m.surface, m.kind) == canonical(name, m.kind))
    return next((kind for kind, _ in Counter(same).most_common(1)), "")


def _headings(title: str, paragraph: Paragraph) -> list[str]:
    """The deepest heading first: it says best what the paragraph is about."""
    return [name for name in (*reversed(paragraph.heading[-2:]), title) if name.strip()]


def _variants(title: str) -> list[tuple[str, float]]:
    """Other ways to write a title: "John D. Doe (actor)" → "John D. Doe", "John Doe", …"""
    title = " ".join(title.split())
    bare = _BRACKETS.sub("", title).strip()
    variants = [(bare, 1.0), (title, 1.0), (_without_article(bare), 0.8)]
    parts = bare.split()
    if len(parts) == 3 and len(parts[1].rstrip(".")) == 1:
        variants.append((f"{parts[0]} {parts[2]}", 0.7))
    for mark in (",", ":"):
        head, found, _ = bare.partition(mark)
        key = folded_words(head)
        if found and (len(key) > 1 or (mark == "," and key and len(key[0]) > 3)):
            variants.append((head, 0.6))
    return variants


def _without_article(name: str) -> str:
    parts = name.split()
    return " ".join(parts[1:]) if len(parts) > 2 and parts[0].lower() in _ARTICLES else name


def _first_subject(text: str) -> str:
    for start, end in sentence_spans(text)[:1]:
        # One space between words: runs of them would make the expression slow.
        match = _SUBJECT.match(" ".join(text[start:end].split()) + " ")
        if match and len(folded_words(match[1])) <= _LONGEST_SUBJECT:
            return match[1].strip()
    return ""


def _opening_entity(text: str, mentions: Sequence[Mention]) -> str:
    """The entity with which a text begins, after at most a quotation mark and an article."""
    for mention in mentions[:1]:
        if mention.kind not in _VALUES and _OPENING.fullmatch(text, 0, mention.start):
            return mention.surface
    return ""


def _names_the_same(subject: str, headings: list[str]) -> bool:
    """Whether subject and heading share a word; without any heading the subject stands alone."""
    if not headings:
        return True
    shared = set(folded_words(subject)) - STOP_WORDS
    return any(shared & set(folded_words(heading)) for heading in headings)


def _is_a_name(key: tuple[str, ...]) -> bool:
    """One short word or a stop word alone would link half of all questions."""
    return bool(key) and (len(key) > 1 or (len(key[0]) > 2 and key[0] not in STOP_WORDS))
