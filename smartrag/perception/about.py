"""Which entity a paragraph is *about*: the names under which other texts would mention it.

The strongest edges of the graph run from a mention to the paragraph about the mentioned thing.
What a paragraph is about is read from its title and headings, from the subject of its first
sentence, from the entity with which that sentence begins, from phrases such as "also known as" and
from who speaks in it; and where none of these says anything, from what it names most often.
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
_SPEAKER = re.compile(
    r"""^[ \t>*-]*(?:[\[(][^\])\n]{1,30}[\])][ \t]*)?   # a time in brackets
    ([^\W\d_a-z][\w.'’-]*(?:[ ][^\W\d_a-z][\w.'’-]*){0,3}):[ \t]+\S""",
    re.MULTILINE | re.VERBOSE,
)
_SENDER = re.compile(r"""^From:[ \t]*"?([^<"\n]*[^<"\s])""", re.MULTILINE)
_FIELDS = frozenset("bcc cc date from note re sent subject time to".split())
"""What stands before a colon in messages and says nothing."""
_JOINED = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z][^\W\d_A-Z])")
"""Where "AdaLovelace" is two words."""
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
    for speaker in _speakers(paragraph.text):
        add(speaker, 0.6)
    if not found and (salient := _most_named(mentions)):
        add(salient, 0.5)
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


def _speakers(text: str) -> list[str]:
    """Who says something in a chat or a protocol, in two lines or more, or sends a message."""
    senders = [match[1] for match in _SENDER.finditer(text)]
    lines = [match[1] for match in _SPEAKER.finditer(text) if match[1].lower() not in _FIELDS]
    speakers = lines if len(lines) > 1 else []
    return [_JOINED.sub(" ", name) for name in dict.fromkeys((*senders, *speakers))]


def _most_named(mentions: Sequence[Mention]) -> str:
    """What is named three times or more, and more often than anything else."""
    named = [m for m in mentions if m.kind not in _VALUES]
    counts = Counter(canonical(m.surface, m.kind) for m in named).most_common(2)
    (best, times), (_, others) = (*counts, ("", 0), ("", 0))[:2]
    if times < 3 or times == others:
        return ""
    return next(m.surface for m in named if canonical(m.surface, m.kind) == best)


def _names_the_same(subject: str, headings: list[str]) -> bool:
    """Whether subject and heading share a word; without any heading the subject stands alone."""
    if not headings:
        return True
    shared = set(folded_words(subject)) - STOP_WORDS
    return any(shared & set(folded_words(heading)) for heading in headings)


def _is_a_name(key: tuple[str, ...]) -> bool:
    """One short word or a stop word alone would link half of all questions."""
    return bool(key) and (len(key) > 1 or (len(key[0]) > 2 and key[0] not in STOP_WORDS))
