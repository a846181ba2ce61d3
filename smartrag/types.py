"""What crosses a border between two rooms: small frozen records, never a dict with string keys.

Offsets are half-open character positions. Those of a document count from the start of its text,
those of a paragraph from the start of the paragraph. Vectors are float32, of unit length, and have
the encoder's dimension `d` (384 for MiniLM).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]


# --- documents going in ---------------------------------------------------------------------------
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
    """An entity named at `paragraph.text[start:end]`; `score` is the detector's, 0 to 1."""

    start: int
    end: int
    surface: str
    type: str
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class PendingMention:
    """`paragraph.text[start:end]` names something of no known type.

    `vector` (z,) is what the entity model makes of it; discovery looks for others like it.
    """

    start: int
    end: int
    vector: FloatArray


@dataclass(frozen=True, slots=True)
class Seen:
    """What is named in a text: the mentions, in text order, and those of no known type."""

    mentions: tuple[Mention, ...]
    pending: tuple[PendingMention, ...] = ()


@dataclass(frozen=True, slots=True)
class About:
    """The paragraph describes the entity called `name`; `weight` (0 to 1) says how surely."""

    name: str
    weight: float


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


# --- a question and its plan ----------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Question:
    """A question as perception read it; `mentions` are spans of `text`."""

    text: str
    vector: FloatArray
    mentions: tuple[Mention, ...] = ()


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of a plan (paper §3.4): a relation phrase `r_h` and the wanted type `t_h`.

    The type is shown in the trace and not used yet: mentions have no types so far.
    """

    relation: str
    target: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """P = (e0, {(r_h, t_h)}) of paper §3.4, with more than one seed for comparisons.

    A plan without hops leaves the relation to the question itself.
    """

    source: Literal["rules", "model"]
    seeds: tuple[str, ...] = ()
    hops: tuple[Hop, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredParagraph:
    """A paragraph as it lies in the store; `start` and `end` are offsets in its document."""

    id: int
    document: str
    label: str
    heading: tuple[str, ...]
    page: int | None
    start: int
    end: int
    text: str


# --- evidence coming out --------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class ChannelScores:
    """What each channel gave a passage. All are 0 to 1 but the hop scores, which are unbounded."""

    lexical: float = 0.0
    dense: float = 0.0
    sentence: float = 0.0
    link: float = 0.0
    hops: float = 0.0


Stage = Literal["linked", "fused", "dense", "graph"]


@dataclass(frozen=True, slots=True)
class Passage:
    """A retrieved paragraph: where it stands, why it was chosen, which sentences were kept.

    `start` and `end` are offsets of the paragraph in its document; `sentences` are all its
    sentence spans and `kept` the indices of those that go into the prompt, most telling first.
    """

    paragraph_id: int
    document: str
    label: str
    heading: tuple[str, ...]
    page: int | None
    start: int
    end: int
    text: str
    sentences: tuple[tuple[int, int], ...]
    kept: tuple[int, ...]
    stage: Stage
    score: float
    channels: ChannelScores
    via: str = ""

    @property
    def excerpt(self) -> str:
        """The kept sentences, in text order, joined by a space."""
        return " ".join(self.text[a:b] for a, b in (self.sentences[i] for i in sorted(self.kept)))


@dataclass(frozen=True, slots=True)
class Signals:
    """Facts about one retrieval that tell whether it found an answer, each 0 to 1.

    `cosine` and `sentence` are the best raw cosines of a paragraph and of a sentence; `coverage` is
    the share of the question's content words, and `named` the share of the names in the question
    (1 when it names nothing), that occur in the retrieved passages.
    """

    cosine: float
    sentence: float
    coverage: float
    named: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was gathered for one question, best first, and how sure the gate is.

    `confidence` (0 to 1) is fitted to `signals`; the evidence is `sufficient` from the threshold of
    the settings on. `linked` are the stored names that the question contains.
    """

    question: str
    plan: Plan
    passages: tuple[Passage, ...]
    linked: tuple[str, ...]
    signals: Signals
    confidence: float
    sufficient: bool
    seconds: dict[str, float] = field(default_factory=dict)


# --- answers --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Citation:
    """`quote` stands at `[start:end]` of the document's text."""

    paragraph_id: int
    document: str
    heading: tuple[str, ...]
    page: int | None
    start: int
    end: int
    quote: str


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence of the answer with the citations that a mechanical check confirmed."""

    text: str
    citations: tuple[Citation, ...]


Role = Literal["label", "summarise", "plan", "answer"]


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of the language model, accounted."""

    role: Role
    tokens_in: int
    tokens_out: int
    first_token_s: float
    seconds: float


AnswerStatus = Literal["answered", "not_found", "unsupported"]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question.

    `status` is *answered* when at least one citation was confirmed, *unsupported* when the model
    answered but nothing it said could be found in the evidence, and *not_found* when the gate or
    the model judged the evidence too weak; `text` is then a sentence that says so.
    """

    question: str
    status: AnswerStatus
    text: str
    sentences: tuple[AnswerSentence, ...]
    evidence: Evidence
    calls: tuple[ModelCall, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def citations(self) -> tuple[Citation, ...]:
        """All confirmed citations, each once, in the order of the answer."""
        return tuple(dict.fromkeys(c for s in self.sentences for c in s.citations))


# --- looking inside -------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """One row of `smartrag list`; `status` is *indexed*, or *failed* with a `reason`."""

    name: str
    title: str
    lens: str
    status: str
    reason: str
    media_type: str
    encoding: str
    paragraphs: int
    characters: int


@dataclass(frozen=True, slots=True)
class StoreStats:
    """Counts of what a store holds; `file_bytes` includes the write-ahead log.

    `sketch_recall` is None unless it was measured: see `SmartRAG.sketch_recall`.
    """

    documents: int
    failed: int
    paragraphs: int
    sentences: int
    entities: int
    mentions: int
    file_bytes: int
    schema_version: int
    encoder: str
    lexical: str
    sketch_recall: float | None = None
