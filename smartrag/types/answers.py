"""A question, its plan, the evidence that is found for it, and the answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from smartrag.types.documents import FloatArray, Mention


@dataclass(frozen=True, slots=True)
class Question:
    """A question as perception read it; `mentions` are spans of `text`."""

    text: str
    vector: FloatArray
    mentions: tuple[Mention, ...] = ()


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of a plan (paper §3.4): a relation phrase `r_h` and the wanted type `t_h`.

    The type is shown in the trace and not used yet.
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
