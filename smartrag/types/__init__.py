"""What crosses a border between two rooms: small frozen records, never a dict with string keys.

Offsets are half-open character positions. Those of a document count from the start of its text,
those of a paragraph from the start of the paragraph. Vectors are float32, of unit length, and have
the encoder's dimension `d` (384 for MiniLM).
"""

from __future__ import annotations

from smartrag.types.answers import (
    Answer,
    AnswerSentence,
    AnswerStatus,
    ChannelScores,
    Citation,
    Evidence,
    Hop,
    ModelCall,
    Passage,
    Plan,
    Question,
    Role,
    Signals,
    Stage,
)
from smartrag.types.documents import (
    About,
    Claim,
    Document,
    DocumentOutcome,
    FloatArray,
    IngestReport,
    Mention,
    Observation,
    Outcome,
    Paragraph,
    PendingMention,
    Section,
    Seen,
    Triplet,
)
from smartrag.types.inside import (
    DocumentInfo,
    Fact,
    Statement,
    StoredParagraph,
    StoreStats,
)

__all__ = [
    "About",
    "Answer",
    "AnswerSentence",
    "AnswerStatus",
    "ChannelScores",
    "Citation",
    "Claim",
    "Document",
    "DocumentInfo",
    "DocumentOutcome",
    "Evidence",
    "Fact",
    "FloatArray",
    "Hop",
    "IngestReport",
    "Mention",
    "ModelCall",
    "Observation",
    "Outcome",
    "Paragraph",
    "Passage",
    "PendingMention",
    "Plan",
    "Question",
    "Role",
    "Section",
    "Seen",
    "Signals",
    "Stage",
    "Statement",
    "StoreStats",
    "StoredParagraph",
    "Triplet",
]
