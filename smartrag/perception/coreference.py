"""Pronouns and "the film", "the band" that stand for what a paragraph is about.

Only the main entity of a paragraph is ever an antecedent, and only where nothing else competes. A
paragraph about a person says "he" of that person until another one is named; and a sentence that
begins with "he" speaks of whom the sentence before it began with (the parallel subjects of
centering theory: Grosz, Joshi and Weinstein 1995). *They*, *this* and pronouns with two candidates
are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from smartrag.perception.names import UNTYPED, aliases, canonical, family, key
from smartrag.text import sentence_spans
from smartrag.types import About, Mention

_HE = frozenset("he him his himself".split())
_SHE = frozenset("she her hers herself".split())
_IT = frozenset("it its".split())
_PRONOUN = re.compile(rf"\b(?:{'|'.join(sorted(_HE | _SHE | _IT))})\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"(?:his|its|her(?=\s+\w))\b", re.IGNORECASE)
_RELATIVE = re.compile(
    r"""\b(?:grand|step|half-)?(?:father|mother|brother|sister|son|daughter)\b
    |\b(?:aunt|boy|boyfriend|cousin|emperor|fiancée?|friend|girl|girlfriend|god|goddess|heir|husband
    |king|man|nephew|niece|partner|predecessor|queen|spouse|successor|twin|uncle|widow|widower|wife
    |woman)\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""People without a name: a "he" behind one of them may be that one."""
_PLEONASTIC = re.compile(
    r"""it\s+(?:(?:is|was|has\sbeen|had\sbeen|(?:would|will|may|can|could)\sbe|seems|appears)
    \s+(?:[^\s.,]+\s+){0,4}?(?:that|to|who|whether|how|why|when)\b|rained|snowed|took\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_CLAUSE_START = re.compile(r"(?:.*[,.;:!?]|(?:\S+\s+){0,3})\s*", re.DOTALL)
_BEFORE_CAPITAL = ".!?:;"
_IS_A = re.compile(r"\s(?:is|was|are|were)\s+(?:an?|the)\s+([^.,;:(]*)")
_PHRASE_END = re.compile(r"\s(?:at|by|for|from|in|of|on|that|to|which|who|with)\s.*", re.DOTALL)
_KINDS = frozenset(
    """
    agency airline airport album award band bank bridge building canal castle cathedral church city
    club company county country dam district duo episode festival film franchise game group highway
    hospital hotel institute island journal label lake language league library magazine mountain
    movie municipality museum newspaper novel opera orchestra organisation organization painting
    palace park party play poem province railway region river road school sculpture series ship show
    single software song species stadium station team temple theater theatre tournament tower town
    treaty trio union university village war
    """.split()
)
_THE_KIND = re.compile(
    r"\b[Tt]he\s+([a-z]+)\b(?!\s+(?:of|that|which|who|whose|where)\b|[-\s]*[A-Z0-9])"
)


@dataclass(frozen=True, slots=True)
class Link:
    """`text[start:end]` stands for the thing called `name`, of that type.

    `name` is written as the paragraph or its title writes it; `names.key` makes a key of the two.
    """

    start: int
    end: int
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class _Main:
    """The main entity; `own` are the spans that name it, `titled` says that the title does."""

    name: str
    type: str
    own: frozenset[tuple[int, int]]
    titled: bool


@dataclass(frozen=True, slots=True)
class _Event:
    """Something in the text that is, may be, or cannot be the main entity."""

    start: int
    end: int
    kind: Literal["main", "rival", "pronoun", "noun"]


def antecedents(
    text: str,
    mentions: Sequence[Mention],
    abouts: Sequence[About] = (),
    known: Mapping[str, str] | None = None,
) -> tuple[Link, ...]:
    """The references of one paragraph that stand for its main entity, in text order.

    The main entity is the best of `abouts` that a mention names; where none does, the best of
    which `known`, from the names of the document to their types, has the type; and where there is
    none either, the mention with which the text begins.
    """
    main = _main(text, mentions, abouts, known or {})
    if main is None:
        return ()
    taken = sorted((m.start, m.end) for m in mentions)
    loose = [e for e in _loose(text, main) if not _overlaps(e, taken)]
    events = sorted([*_named(mentions, main), *loose], key=lambda e: (e.start, e.end))
    return tuple(Link(e.start, e.end, main.name, main.type) for e in _resolved(text, events, main))


# --- the main entity ------------------------------------------------------------------------------
def _main(
    text: str, mentions: Sequence[Mention], abouts: Sequence[About], known: Mapping[str, str]
) -> _Main | None:
    typed = (m for m in mentions if m.kind not in UNTYPED and family(m.kind) != "value")
    named = sorted(typed, key=lambda m: m.start)
    for about in abouts:
        for m in named:
            if canonical(m.surface, m.kind) == canonical(about.name, m.kind):
                return _Main(m.surface, m.kind, _own(text, mentions, m), titled=True)
    for about in abouts:
        type_ = known.get(about.name, "")
        if type_ and family(type_) != "value":
            return _Main(about.name, type_, frozenset(), titled=True)
    if named and text[: named[0].start].strip(" \n\"“'‘(").lower() in ("", "the"):
        return _Main(named[0].surface, named[0].kind, _own(text, mentions, named[0]), titled=False)
    return None


def _own(text: str, mentions: Sequence[Mention], main: Mention) -> frozenset[tuple[int, int]]:
    """The spans that name `main`, by its own name or by an alias."""
    fuller = {alias.other: alias.name for alias in aliases(text, mentions)}

    def root(m: Mention) -> str:
        name = key(m.surface, m.kind)
        while name in fuller:
            name = fuller[name]
        return name

    return frozenset((m.start, m.end) for m in mentions if root(m) == root(main))


# --- what the text holds --------------------------------------------------------------------------
def _named(mentions: Sequence[Mention], main: _Main) -> Iterator[_Event]:
    """The main entity by name, and the others that a pronoun could stand for as well."""
    for m in mentions:
        if (m.start, m.end) in main.own:
            yield _Event(m.start, m.end, "main")
        elif family(m.kind) == family(main.type) or m.kind in UNTYPED:
            yield _Event(m.start, m.end, "rival")


def _loose(text: str, main: _Main) -> Iterator[_Event]:
    """Pronouns, people without a name, and "the film" where the main entity is called a film."""
    for found in _PRONOUN.finditer(text):
        if (found[0].lower() in _IT) == (main.type != "person"):
            yield _Event(*found.span(), "pronoun")
    if main.type == "person":
        for found in _RELATIVE.finditer(text):
            yield _Event(*found.span(), "rival")
    elif kind := _kind(text, main):
        for found in _THE_KIND.finditer(text):
            if found[1] == kind:
                yield _Event(*found.span(), "noun")


def _kind(text: str, main: _Main) -> str:
    """What the first sentence says that the main entity is: "… is a 1970 film by …" → "film"."""
    start = min((start for start, _ in main.own), default=len(text))
    for _, end in sentence_spans(text)[:1]:
        said = _IS_A.search(text, start, end)
        phrase = _PHRASE_END.sub("", said[1]) if said else ""
        return next((w for w in reversed(phrase.split()) if w in _KINDS), "")
    return ""


def _overlaps(event: _Event, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start < event.end and event.start < end for start, end in spans)


# --- what stands for what -------------------------------------------------------------------------
def _resolved(text: str, events: Sequence[_Event], main: _Main) -> Iterator[_Event]:
    """The pronouns and nouns among `events` that stand for the main entity.

    `near`: nothing else that fits was named since the main entity was. `led`: the sentence before
    began with it; `leads`: this one does, None while nothing that fits has come.
    """
    gender = _gender(text, events)
    sentences = sentence_spans(text)
    row, near, led, leads = 0, main.titled, main.titled, None
    for event in events:
        while row + 1 < len(sentences) and event.start >= sentences[row + 1][0]:
            row, led, leads = row + 1, bool(leads), None
        is_main = event.kind in ("main", "noun")
        if event.kind == "pronoun":
            said = text[event.start : event.end].lower()
            free = said in gender and not _says_nothing(text, event, sentences[row][0])
            is_main = free and (near or (leads is None and led))
        if is_main and event.kind != "main":
            yield event
        if event.kind != "pronoun" or is_main:
            near = is_main
        if leads is None and not _POSSESSIVE.match(text, event.start):
            leads = is_main


def _gender(text: str, events: Sequence[_Event]) -> frozenset[str]:
    """The pronouns that can stand for the main entity: of *he* and *she* the more frequent."""
    said = [text[e.start : e.end].lower() for e in events if e.kind == "pronoun"]
    he, she = (sum(word in gender for word in said) for gender in (_HE, _SHE))
    if not he and not she:
        return _IT
    if he == she:
        return next(g for word in said for g in (_HE, _SHE) if word in g)
    return _HE if he > she else _SHE


def _says_nothing(text: str, event: _Event, sentence: int) -> bool:
    """Whether a pronoun begins a title or a quotation, or an "it" is no plain subject.

    That is one within a clause ("rather than leave it") and the empty one ("it is known that").
    """
    before = text[sentence : event.start].rstrip()
    if text[event.start].isupper() and before and before[-1] not in _BEFORE_CAPITAL:
        return True
    if text[event.start : event.end].lower() != "it":
        return False
    clause = _CLAUSE_START.fullmatch(text, sentence, event.start)
    return not clause or bool(_PLEONASTIC.match(text, event.start))
