"""Documents going in: what is read, what is seen in it, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch `text[start:end]` of a document under one heading path and on one page."""

    start: int
    end: int
    heading: tuple[str, ...] = ()
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """One source as it was read.

    `name` is what it is forgotten, replaced and cited by (for files their path); `sections` are
    in order and do not overlap, and an empty tuple means one section without heading; `encoding`
    is how the bytes were decoded and `time` an ISO date where the source states one.
    """

    name: str
    text: str
    title: str = ""
    sections: tuple[Section, ...] = ()
    media_type: str = "text/plain"
    encoding: str = ""
    time: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """The unit of writing and of retrieval (paper §3.3): `document.text[start:end]`.

    `label` is what the paragraph stands under (document title and headings), in one line.
    """

    position: int
    start: int
    end: int
    text: str
    label: str = ""
    heading: tuple[str, ...] = ()
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity named at `paragraph.text[start:end]`; `score` is the detector's, 0 to 1.

    `base` is the base type that `type`, where it was learned, is most like; "" means `type` itself.
    """

    start: int
    end: int
    surface: str
    type: str
    score: float
    base: str = ""

    @property
    def kind(self) -> str:
        """The base type."""
        return self.base or self.type


@dataclass(frozen=True, slots=True, eq=False)
class PendingMention:
    """`paragraph.text[start:end]` names something of no known type.

    `vector` (z,) is what the entity model makes of it; discovery looks for others like it.
    """

    start: int
    end: int
    vector: FloatArray


@dataclass(frozen=True, slots=True)
class Triplet:
    """`paragraph.text[start:end]` says that `head` stands in `relation` to `tail`.

    Both are named as the text or its title names them, `relation` as Wikidata names it; `score` is
    the classifier's, 0 to 1. The stretch is one sentence or two.
    """

    head: str
    relation: str
    tail: str
    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True)
class Seen:
    """What a text names and says: the mentions, in text order, those of no known type, and how the
    named things are related."""

    mentions: tuple[Mention, ...]
    pending: tuple[PendingMention, ...] = ()
    triplets: tuple[Triplet, ...] = ()


@dataclass(frozen=True, slots=True)
class About:
    """The paragraph describes the entity called `name`; `weight` (0 to 1) says how surely.

    `kind` is the entity's base type, "" where nothing tells.
    """

    name: str
    weight: float
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """In one document the name `other`, of things of `family`, means the same as `name`.

    Both are normalised. `family` is "person", or "" for all else that has a name; `rule` says why.
    """

    name: str
    other: str
    family: str
    rule: str


@dataclass(frozen=True, slots=True)
class Observation:
    """All that perception saw in one paragraph.

    `vector` has shape (d,); `sentences` are spans of the paragraph and `sentence_vectors`, of
    shape (len(sentences), d), belong to them.
    """

    paragraph: Paragraph
    vector: FloatArray
    sentences: tuple[tuple[int, int], ...]
    sentence_vectors: FloatArray
    mentions: tuple[Mention, ...]
    abouts: tuple[About, ...]
    pending: tuple[PendingMention, ...] = ()
    triplets: tuple[Triplet, ...] = ()


Outcome = Literal["added", "replaced", "unchanged", "duplicate", "renamed", "removed", "failed"]


@dataclass(frozen=True, slots=True)
class DocumentOutcome:
    """What became of one document; `reason` says why where it is not simply added."""

    name: str
    outcome: Outcome
    paragraphs: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """The outcomes of one ingest or sync, in order, and the seconds it took."""

    outcomes: tuple[DocumentOutcome, ...]
    seconds: float

    def count(self, outcome: Outcome) -> int:
        """How many documents ended with `outcome`; over all outcomes the counts add up."""
        return sum(o.outcome == outcome for o in self.outcomes)

    @property
    def paragraphs(self) -> int:
        """Paragraphs written."""
        return sum(o.paragraphs for o in self.outcomes if o.outcome in ("added", "replaced"))
