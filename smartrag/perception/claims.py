"""Which names of a document mean the same thing: claims that hold in it, and go with it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from smartrag.perception.names import aliases, family, key
from smartrag.text import normal_name
from smartrag.types import About, Claim, Mention

SPELLING = "spelling"
"""The rule by which "Lovelace's" is "Lovelace" and "the Beatles" are "Beatles"."""

_JOINT = ".\n\n"


def claims(
    abouts: Iterable[About], paragraphs: Iterable[tuple[str, Sequence[Mention]]]
) -> tuple[Claim, ...]:
    """What a document says of its names.

    `abouts` are what it is about, by its title and headings. They are read before its `paragraphs`,
    each given with its mentions. All names of one thing mean one of those that are written in full:
    the title if it is one of them, else the most frequent. A claim is about mentions of one family
    and by one normalised name.
    """
    titles = [about for about in abouts if "(" not in about.name]
    text, mentions = _joined(titles, paragraphs)
    fuller = {alias.other: alias for alias in aliases(text, mentions)}
    surfaces: dict[str, Counter[str]] = defaultdict(Counter)
    for mention in mentions:
        surfaces[key(mention.surface, mention.kind)][normal_name(mention.surface)] += 1
    said_above = {normal_name(about.name) for about in titles}

    def in_full(names: Counter[str]) -> str:
        return max(names, key=lambda name: (name in said_above, names[name]))

    found: dict[tuple[str, str], Claim] = {}
    for mention in mentions:
        other, kin = normal_name(mention.surface), family(mention.kind)
        own = root = key(mention.surface, mention.kind)
        if not own or kin == "value":
            continue
        rule = fuller[own].rule if own in fuller else SPELLING
        while root in fuller:
            root = fuller[root].name
        name = in_full(surfaces[root])
        if name != other:
            found.setdefault((other, kin), Claim(name, other, kin, rule))
    return tuple(found.values())


def _joined(
    titles: Iterable[About], paragraphs: Iterable[tuple[str, Sequence[Mention]]]
) -> tuple[str, list[Mention]]:
    """One text with all mentions at their places in it; a title is a mention of its own."""
    named = (
        (t.name, [Mention(0, len(t.name), t.name, t.kind, 1.0)]) for t in dict.fromkeys(titles)
    )
    pieces: list[str] = []
    mentions: list[Mention] = []
    length = 0
    for text, inside in (*named, *paragraphs):
        mentions += [replace(m, start=length + m.start, end=length + m.end) for m in inside]
        pieces.append(text)
        length += len(text) + len(_JOINT)
    return _JOINT.join(pieces), mentions
