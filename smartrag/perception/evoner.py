"""EvoNER at work: entities and their types, from states that the encoder has already computed.

The shipped model was trained on the lower blocks of one encoder; the sum of that encoder's file
stands in the model's description, and another encoder is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from smartrag.errors import MissingExtra, ModelError
from smartrag.perception.encoder import SharedStates, Tokens, open_session
from smartrag.perception.labels import BASE_TYPES, Inventory
from smartrag.perception.relations import Place, RelationClassifier
from smartrag.perception.spans import decode, decode_untyped
from smartrag.perception.triplets import triplets
from smartrag.perception.words import Words, words_of
from smartrag.types import FloatArray, Mention, PendingMention, Seen, Triplet

SHIPPED = Path(__file__).with_name("evoner")
"""The folder of the model that comes with the package."""

VAGUE = "other"
"""The type of things that are of no type."""

SURE = 0.6
"""A mention of which no type holds this share of the probability is of no known type."""

GRAPH = "evoner.onnx"
DESCRIPTION = "evoner.json"


@dataclass(frozen=True, slots=True)
class EvoNERModel:
    """One version of EvoNER: its ONNX graph, its types, and what it stands on.

    `shared` are the states that the graph reads; `caution` is added to the logit of "no entity", a
    number chosen on the development split.
    """

    graph: bytes
    inventory: Inventory
    shared: SharedStates
    caution: float


def shipped() -> EvoNERModel:
    """The model that comes with the package."""
    return load(SHIPPED)


def load(folder: Path) -> EvoNERModel:
    """The model in a folder; raises ModelError when a part is missing or damaged."""
    try:
        described = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        graph = (folder / GRAPH).read_bytes()
        model = EvoNERModel(
            graph=graph,
            inventory=Inventory.from_json(json.dumps(described["inventory"])),
            shared=SharedStates(**described["shared"]),
            caution=float(described["caution"]),
        )
        if hashlib.sha256(graph).hexdigest() != described["sha256"]:
            raise ValueError("the graph does not have the sum in the description")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"the entity model cannot be read ({error})",
            subject=str(folder),
            remedy="Install SmartRAG again",
        ) from error
    return model


class EvoNER:
    """Finds, types and relates entities.

    Each text alone, `workers` of them side by side, each on one thread.
    """

    def __init__(
        self,
        model: EvoNERModel,
        *,
        relations: RelationClassifier | None = None,
        workers: int = 1,
    ) -> None:
        """`relations` says how the entities are related; without it nobody does."""
        try:
            self._session = open_session(model.graph)
        except MissingExtra:
            raise
        except Exception as error:  # onnxruntime's exceptions share no base of their own
            raise ModelError(
                "the entity model is not a readable ONNX graph",
                remedy="Roll back with: smartrag types --rollback",
            ) from error
        self.model = model
        self._vague = frozenset(t.row for t in model.inventory.types if t.name == VAGUE)
        self._relations = relations
        self._base = [t for t in model.inventory.types if t.name in BASE_TYPES]
        self._workers = max(1, workers)

    def seen(self, texts: Sequence[str], tokens: Sequence[Tokens | None]) -> list[Seen]:
        """The mentions of each text, in text order and without overlap, what no type fits, and what
        the text says of the mentioned.

        `tokens` are the texts as the encoder that the model stands on read them.
        """
        with ThreadPoolExecutor(min(self._workers, len(texts)) or 1) as pool:
            return list(pool.map(self._in_one, texts, tokens))

    def _in_one(self, text: str, tokens: Tokens | None) -> Seen:
        assert tokens is not None, "the encoder was opened without shared states"
        words = words_of(text, tokens)
        if not len(words):
            return Seen(())
        logits, vectors = self.scores(words)
        mentions, places = [], []
        for span in decode(logits, caution=self.model.caution):
            start, end = words.characters(span.first, span.last)
            name = self.model.inventory.said_by(span.row)
            if name:
                base = self._base_type(logits[span.first, span.last - span.first])
                mentions.append(Mention(start, end, text[start:end], name, span.score, base))
                places.append(Place(span.first, span.last, base))
        untyped = decode_untyped(logits, sure=SURE, vague=self._vague, caution=self.model.caution)
        pending = (
            PendingMention(
                *words.characters(span.first, span.last),
                vectors[span.first, span.last - span.first].copy(),
            )
            for span in untyped
        )
        said: tuple[Triplet, ...] = ()
        if self._relations is not None:
            said = triplets(text, words, vectors, mentions, places, self._relations)
        return Seen(tuple(mentions), tuple(pending), said)

    def _base_type(self, logits: FloatArray) -> str:
        """The base type that a span with these logits (k,) looks most like."""
        return max(self._base, key=lambda t: float(logits[t.row])).name

    def scores(self, words: Words) -> tuple[FloatArray, FloatArray]:
        """Of all spans the logits (n, W, k) for "no entity" and the k − 1 types in use, and the
        vectors (n, W, z)."""
        feed = {"states": words.states, "first": words.first, "codes": words.codes}
        labels, vectors = self._session.run(["labels", "spans"], feed)
        return labels[..., : self.model.inventory.used], vectors
