"""Names that mean the same thing, by rules alone: what a mention is stored under, and its aliases.

`key` is the identity of a mention before any context. `aliases` reads one text and says which of
its keys name the same thing. Such a claim holds in that text and goes with it, since "Lovelace" is
somebody else elsewhere.

Two things of one name are told apart by `family`: a person is no place, a year is no novel. All
else is one family, because a recogniser wavers between organisation, place and building for one
and the same thing, and two halves of an entity do more harm than two namesakes in one. A name
without a type, such as a title, belongs to that family too, so whoever links by name alone looks a
name up in every family.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Literal, get_args

from smartrag.text import STOP_WORDS, normal_name
from smartrag.types import Mention

Family = Literal["person", "value", ""]
Rule = Literal[
    "brackets",  # World Health Organization (WHO)
    "known as",  # Samuel Clemens, known as Mark Twain
    "acronym",  # United States … U.S.
    "plural",  # Nobel Prize … Nobel Prizes
    "article",  # The Killers … Killers
    "initials",  # John D. Doe … John Doe, J. D. Doe
    "middle name",  # John David Doe … John Doe
    "surname",  # Ada Lovelace … Lovelace, Prof. Lovelace
    "first name",  # Ada Lovelace … Ada
    "title",  # President Obama … Obama
    "organization",  # Acme Inc. … Acme
    "last word",  # Chicago Bulls … Bulls
]
"""Why two names are the same, the surest first."""

# --- types ----------------------------------------------------------------------------------------
UNTYPED = frozenset({"", "name"})
"""How a mention is typed of which nothing is known but that it is a name."""
_ANYTHING = UNTYPED | {"other"}
_FAMILIES: dict[str, Family] = {"person": "person", "time": "value", "number": "value"}
_WAVERING = (
    frozenset({"location", "building"}),
    frozenset({"organization", "building"}),
    frozenset({"organization", "location"}),
    frozenset({"art", "product"}),
)


def family(type_: str) -> Family:
    """Which things of one name are told apart: persons, dates with numbers, and all others."""
    return _FAMILIES.get(type_, "")


def compatible(a: str, b: str) -> bool:
    """Whether one thing can be of both types; of no type, or *other*, it can be anything named."""
    if "value" in (family(a), family(b)):
        return a == b
    return a == b or bool({a, b} & _ANYTHING) or {a, b} in _WAVERING


# --- keys -----------------------------------------------------------------------------------------
_POSSESSIVE = re.compile(r"\s?['’]s?$")
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]\.?")
_SPACED = re.compile(r"\b([^\W\d_]\.)\s+(?=[^\W\d_]\.)")
_JOINED_INITIALS = re.compile(r"[BCDFGHJKLMNPQRSTVWXZ]{2,3}")
_ARTICLE_MAY_BELONG = UNTYPED | {"art", "person"}
_TITLES = frozenset(
    """
    admiral ambassador captain chancellor colonel commander congressman congresswoman corporal dr
    doctor general governor judge justice lieutenant major mayor minister mr president prof
    professor rev reverend secretary senator sergeant sir
    """.split()
)
"""*Mrs* is none, or "Mrs. Henry Wood" would be a man, and neither are those without which the name
is another one, such as *King*, *Saint*, *Lord* and *Father*."""


def key(surface: str, type_: str) -> str:
    """What a mention is stored under: its canonical name and the family of its type.

    "washington" is a place or a team, "washington (person)" a person; a canonical name has no
    brackets of its own. The key is empty when `surface` holds no word.
    """
    name, kin = canonical(surface, type_), family(type_)
    return f"{name} ({kin})" if name and kin else name


def canonical(surface: str, type_: str) -> str:
    """The normalised name of a mention, without what comes and goes from sentence to sentence.

    Dropped are a possessive ending; "the", unless it may belong to the name (of a work of art, a
    person, a thing of unknown type, or where only stop words would stay: "The Who"); and a person's
    titles while two more words stay, so "Dr. Seuss" keeps his. Initials stand apart in persons
    ("JRR Tolkien" → "j r r tolkien") and together elsewhere ("U.S. Army" → "us army"). Accents,
    scripts and "Jr." stay.
    """
    bare = _POSSESSIVE.sub("", unicodedata.normalize("NFKC", surface).strip())
    if type_ == "person":
        parts = bare.split()
        while len(parts) > 2 and normal_name(parts[0]) in _TITLES:
            del parts[0]
        if len(parts) > 1 and _JOINED_INITIALS.fullmatch(parts[0]) and not parts[1].isupper():
            parts[0] = " ".join(parts[0])
    else:
        words = _SPACED.sub(r"\1", bare).split()
        parts = [w.replace(".", "") if _DOTTED.fullmatch(w) else w for w in words]
    if parts and parts[0].lower() == "the" and type_ not in _ARTICLE_MAY_BELONG:
        rest = normal_name(" ".join(parts[1:]))
        if set(rest.split()) - STOP_WORDS:
            return rest
    return normal_name(" ".join(parts)) or normal_name(surface)


# --- aliases --------------------------------------------------------------------------------------
_COURTESIES = frozenset({"miss", "mrs", "ms"})
_LONGEST_PERSON = 6
"""Words of a name of which all ways to write initials are tried: 2 to the power of one less."""
_SMALL = frozenset("a and at de del der des di du et for für in la of on the to und y".split())
_LEGAL = frozenset(
    """
    ab ag bv co company corp corporation gmbh group holdings inc incorporated limited llc llp ltd nv
    plc sa se spa
    """.split()
)
_KINDS = _LEGAL | frozenset(
    """
    airlines associates bank college electronics entertainment games industries institute
    interactive international laboratories motors press publishing records software studios systems
    technologies university
    """.split()
)
_GENERATION = frozenset("jr sr junior senior ii iii iv v vi vii viii ix x xi xii xiii xiv".split())
_ACRONYM = re.compile(r"(?:the\s+)?((?:[^\W\d_]\.?){2,8})(?:['’]s)?", re.IGNORECASE)
_OPENING = re.compile(r"""\s*["”]?\s*\(\s*["“]?""")
_CLOSING = re.compile(r"""\s*["”]?\s*[),;/]""")
_KNOWN_AS = re.compile(
    r"""\s?["”]?\s?(?:[,(]\s?|(?=also|better|formerly))(?:who\s(?:is|was)\s)?
    (?:(?:also|better|formerly|commonly|professionally)\s)?
    (?:known|called|nicknamed)(?:\sprofessionally)?(?:\s(?:as|simply))?\s(?:the\s)?["“]?""",
    re.VERBOSE,
)
_INTRODUCTION = re.compile(r"\b(?:named|called|nicknamed|known as)\s+[\"“'‘]?$")
"""In "a son, also named Alan", the name is a new one."""
_LONGEST_INTRODUCTION = 20
_PERSONAL: frozenset[Rule] = frozenset(
    {"initials", "middle name", "surname", "first name", "title"}
)
_SAME_TYPE: frozenset[Rule] = frozenset({"plural", "article", "organization", "last word"})
_FULL_NAME_FIRST: frozenset[Rule] = frozenset(
    {"middle name", "surname", "first name", "organization", "last word"}
)
"""Before the full name, such a short form is mostly a namesake or a relative."""


@dataclass(frozen=True, slots=True)
class Alias:
    """In one text the keys `name`, as a rule the fuller one, and `other` mean the same thing."""

    name: str
    other: str
    rule: Rule


@dataclass(slots=True)
class _Name:
    """A key of the text: its words, how and where it is first written, what it was taken for."""

    key: str
    words: tuple[str, ...]
    surface: str
    start: int
    introduced: bool
    types: set[str]

    @property
    def is_acronym(self) -> bool:
        letters = _ACRONYM.fullmatch(self.surface)
        return letters is not None and letters[1].isupper()

    def fits(self, other: _Name, rule: Rule) -> bool:
        if rule in _SAME_TYPE:
            return bool(self.types & other.types)
        if rule in _PERSONAL:
            return "person" in other.types or other.types <= UNTYPED
        return any(compatible(a, b) for a in self.types for b in other.types)


def aliases(text: str, mentions: Sequence[Mention]) -> tuple[Alias, ...]:
    """What the mentions of one text, a paragraph or a document, say about each other.

    Every key is `other` at most once and no chain of aliases is a circle, so following them ends
    at one key a thing. What may be short for two different things is nobody's alias, and neither
    dates nor numbers have any.
    """
    names = _names(text, mentions)
    found: dict[str, Alias] = {}

    def root(name: str) -> str:
        while name in found:
            name = found[name].name
        return name

    def link(candidates: Sequence[_Name], other: _Name, rule: Rule) -> None:
        """Two spellings of one thing are one candidate."""
        fitting = [c for c in candidates if c is not other and c.fits(other, rule)]
        roots = {root(c.key) for c in fitting}
        if other.key in found or len(roots) != 1 or other.key in roots:
            return
        earlier = any(c.start < other.start for c in fitting) and not other.introduced
        if earlier or rule not in _FULL_NAME_FIRST:
            found[other.key] = Alias(fitting[0].key, other.key, rule)

    for name, other, rule in _stated(text, mentions, names):
        link([name], other, rule)
    shortened: dict[tuple[Rule, str], list[_Name]] = {}
    for name in names.values():
        for rule, form in dict.fromkeys(_short_forms(name)):
            shortened.setdefault((rule, form), []).append(name)
    for rule in get_args(Rule):
        for other in names.values():
            link(shortened.get((rule, _as_short_form(other, rule)), ()), other, rule)
    return tuple(sorted(found.values(), key=lambda a: a.other))


def _names(text: str, mentions: Sequence[Mention]) -> dict[str, _Name]:
    names: dict[str, _Name] = {}
    for m in sorted(mentions, key=lambda m: m.start):
        if family(m.kind) == "value" or not (found := key(m.surface, m.kind)):
            continue
        if found not in names:
            words = tuple(canonical(m.surface, m.kind).split())
            before = text[max(0, m.start - _LONGEST_INTRODUCTION) : m.start]
            introduced = bool(_INTRODUCTION.search(before))
            names[found] = _Name(found, words, m.surface, m.start, introduced, set())
        names[found].types.add(m.kind)
    return names


def _stated(
    text: str, mentions: Sequence[Mention], names: Mapping[str, _Name]
) -> Iterator[tuple[_Name, _Name, Rule]]:
    """Neighbours of which the text itself says that they are the same."""
    for a, b in pairwise(sorted(mentions, key=lambda m: m.start)):
        one, two = names.get(key(a.surface, a.kind)), names.get(key(b.surface, b.kind))
        if one is None or two is None:
            continue
        between = text[a.end : b.start]
        if _OPENING.fullmatch(between) and _CLOSING.match(text, b.end):
            for name, other in ((one, two), (two, one)):
                if other.is_acronym and _spells("".join(other.words), name.words):
                    yield name, other, "brackets"
        elif _KNOWN_AS.fullmatch(between):
            yield one, two, "known as"


def _spells(letters: str, words: tuple[str, ...]) -> bool:
    """Whether `letters` are the beginnings, of up to 3 letters, of `words`.

    Small words may be passed over, and legal forms at the end.
    """
    if not letters or not words:
        return not letters and not set(words) - _SMALL - _LEGAL
    return (words[0] in _SMALL and _spells(letters, words[1:])) or any(
        words[0].startswith(letters[:n]) and _spells(letters[n:], words[1:])
        for n in range(1, 1 + min(len(letters), 3))
    )


# --- short forms ----------------------------------------------------------------------------------
def _short_forms(name: _Name) -> Iterator[tuple[Rule, str]]:
    """What may stand for `name`, each with the rule that says so."""
    words = name.words
    if "person" in name.types:
        yield from _of_person(words)
    elif len(words) > 1:
        bare = _without(words, _LEGAL)
        if len(bare) > 1:
            yield "acronym", "".join(w[0] for w in bare)
            yield "acronym", "".join(w[0] for w in bare if w not in _SMALL)
        if words[-1].endswith("s"):
            yield "plural", " ".join(words)[:-1]
        if words[0] == "the":
            yield "article", " ".join(words[1:])
        if "organization" in name.types:
            yield "organization", " ".join(bare)
            yield "organization", " ".join(_without(words, _KINDS))
            if words[:2] == ("university", "of"):
                yield "organization", " ".join(words[2:])
            if words[-1].endswith("s"):
                yield "last word", words[-1]


def _without(words: tuple[str, ...], endings: frozenset[str]) -> tuple[str, ...]:
    while len(words) > 1 and words[-1] in endings:
        words = words[:-1]
    return words


def _of_person(words: tuple[str, ...]) -> Iterator[tuple[Rule, str]]:
    if len(words) == 2 and words[0] in _TITLES | _COURTESIES:
        yield "title", words[1]
        return
    if len(words) > 1:
        yield "first name", words[0]
    bare = tuple(w for w in words if w not in _GENERATION)
    for cut in range(1, len(bare)):
        yield "surname", " ".join(bare[cut:])
    if 1 < len(bare) == len(words) <= _LONGEST_PERSON:
        *given, last = words
        for written in product(*((g, g[0]) for g in given)):
            yield "initials", " ".join((*written, last))
        initials_only = all(len(g) == 1 for g in given[1:])
        yield "initials" if initials_only else "middle name", f"{given[0]} {last}"


def _as_short_form(name: _Name, rule: Rule) -> str:
    """How `name` would have to stand among the short forms of another; empty if it cannot."""
    words = name.words
    if rule == "acronym":
        return "".join(words) if name.is_acronym else ""
    if rule == "surname" and "person" in name.types and len(words) == 2 and words[0] in _TITLES:
        return words[1]
    return " ".join(words)
