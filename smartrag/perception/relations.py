"""Relations between the entities of a text, from what EvoNER has already computed.

Candidates are ordered pairs (head, tail) of mentions in one sentence or in two neighbouring ones.
The classifier sees the span vectors of both, their types, how far apart they stand and in which
order, and the words of their sentences (paper §3.1, "a lightweight relation classifier"). It was
trained on the span vectors of one EvoNER graph; the sum of that graph stands in its description,
and another one is refused. Types that are learned later move the span vectors only a little.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartrag.errors import MissingExtra, ModelError
from smartrag.perception.encoder import open_session
from smartrag.perception.words import Words
from smartrag.types import FloatArray

SHIPPED = Path(__file__).with_name("relations")
"""The folder of the model that comes with the package."""

GRAPH = "relations.onnx"
DESCRIPTION = "relations.json"

HIDDEN, LEFT, HEAD, TAIL, BETWEEN, RIGHT = range(6)
"""Where a word stands, seen from a pair: in another sentence, before both mentions, in the head, in
the tail, between the two, or behind both."""
REGIONS = 6

_PAIRS_AT_ONCE = 1024
"""A table of names has tens of thousands of pairs, and a pair takes some kilobytes."""

_BUCKETS = np.array([1, 2, 3, 5, 9, 17, 33])
"""Lower bounds of the distance buckets, in words between the two mentions."""
_PLACES = len(_BUCKETS) + 1
DISTANCES = 4 * _PLACES
"""Distance buckets, each for head first and tail first, in one sentence and in two."""


@dataclass(frozen=True, slots=True)
class Place:
    """A mention: words `first` to `last` (inclusive) of a text, and the name of its base type."""

    first: int
    last: int
    type: str


@dataclass(frozen=True, slots=True)
class Pairs:
    """The p candidates among the m mentions of a text of n words.

    `regions[k, w]` says where word w stands as seen from pair k.
    """

    heads: NDArray[np.int64]  # (p,)
    tails: NDArray[np.int64]  # (p,)
    distances: NDArray[np.int64]  # (p,), below DISTANCES
    regions: NDArray[np.uint8]  # (p, n), below REGIONS

    def __len__(self) -> int:
        return len(self.heads)


@dataclass(frozen=True, slots=True)
class RelationType:
    """A relation that the classifier can say, by its Wikidata name.

    It is said when its score reaches `threshold`, of a head and a tail whose types are among
    `types`. A symmetric relation holds in both directions and is said once; `inverse` names the
    relation that holds from tail to head ("" for none).
    """

    name: str
    threshold: float
    types: frozenset[tuple[str, str]]
    symmetric: bool = False
    inverse: str = ""


@dataclass(frozen=True, slots=True)
class RelationModel:
    """One version of the classifier: its ONNX graph, what it can say, and what it stands on.

    `types` are the base types in the order of their numbers in the graph, and `evoner` is the
    SHA-256 of the graph whose span vectors it reads.
    """

    graph: bytes
    relations: tuple[RelationType, ...]
    types: tuple[str, ...]
    evoner: str


@dataclass(frozen=True, slots=True)
class Relation:
    """Mention `head` stands in relation `name` to mention `tail`; `score` is 0 to 1.

    The sentences that say so are `text[start:end]`.
    """

    head: int
    tail: int
    name: str
    score: float
    start: int
    end: int


def shipped() -> RelationModel:
    """The model that comes with the package."""
    return load(SHIPPED)


def load(folder: Path) -> RelationModel:
    """The model in a folder; raises ModelError when a part is missing or damaged."""
    try:
        described = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        graph = (folder / GRAPH).read_bytes()
        model = RelationModel(
            graph=graph,
            relations=tuple(_relation_type(r) for r in described["relations"]),
            types=tuple(map(str, described["types"])),
            evoner=str(described["evoner_sha256"]),
        )
        if hashlib.sha256(graph).hexdigest() != described["sha256"]:
            raise ValueError("the graph does not have the sum in the description")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"the relation model cannot be read ({error})",
            subject=str(folder),
            remedy="Install SmartRAG again",
        ) from error
    return model


def _relation_type(read: dict[str, Any]) -> RelationType:
    return RelationType(
        name=str(read["name"]),
        threshold=float(read["threshold"]),
        types=frozenset((str(head), str(tail)) for head, tail in read["types"]),
        symmetric=bool(read["symmetric"]),
        inverse=str(read["inverse"]),
    )


class RelationClassifier:
    """Says which relations hold between the mentions of a text, one session run a text."""

    def __init__(self, model: RelationModel, evoner: bytes) -> None:
        """`evoner` is the ONNX graph of the EvoNER whose span vectors will be read, or from which
        that EvoNER was learned; raises ModelError when the model was trained on another one."""
        if hashlib.sha256(evoner).hexdigest() != model.evoner:
            raise ModelError(
                "the relation model stands on another version of the entity model",
                remedy="Train it again with: smartrag train relations",
            )
        try:
            self._session = open_session(model.graph)
        except MissingExtra:
            raise
        except Exception as error:  # onnxruntime's exceptions share no base of their own
            raise ModelError(
                "the relation model is not a readable ONNX graph", remedy="Install SmartRAG again"
            ) from error
        self.model = model
        self._number = {name: row for row, name in enumerate(model.types)}
        self._related = np.zeros((len(model.types), len(model.types)), dtype=bool)
        for head, tail in {pair for relation in model.relations for pair in relation.types}:
            ends = [self._number[head], self._number[tail]]
            self._related[ends, ends[::-1]] = True

    def relations(
        self,
        words: Words,
        mentions: Sequence[Place],
        spans: FloatArray,
        sentences: Sequence[tuple[int, int]],
    ) -> tuple[Relation, ...]:
        """The relations of a text, by head, tail and then name.

        `spans` are EvoNER's span vectors (n, W, z) and `sentences` the half-open character offsets
        of the sentences, in order. Of an asymmetric relation at most one direction is said of two
        mentions, the one with the higher score.
        """
        owners = sentence_of_words(words.spans, sentences)
        types = self._numbers(mentions)
        related = self._related[types[:, None], types[None, :]]
        pairs = candidates([(m.first, m.last) for m in mentions], owners, related)
        if not len(pairs):
            return ()
        scores = self.scores(mentions, spans, pairs)
        return tuple(
            Relation(
                *(head, tail, name, score),
                start=sentences[min(owners[mentions[head].first], owners[mentions[tail].first])][0],
                end=sentences[max(owners[mentions[head].last], owners[mentions[tail].last])][1],
            )
            for head, tail, name, score in decode(scores, mentions, pairs, self.model.relations)
        )

    def scores(self, mentions: Sequence[Place], spans: FloatArray, pairs: Pairs) -> FloatArray:
        """The score of each relation for each pair, (p, relations), 0 to 1."""
        first = np.array([m.first for m in mentions])
        width = np.array([m.last - m.first for m in mentions])
        text = {
            "words": spans[:, 0],
            "mentions": spans[first, width],
            "types": self._numbers(mentions),
        }
        scores = []
        for begin in range(0, len(pairs), _PAIRS_AT_ONCE):
            some = slice(begin, begin + _PAIRS_AT_ONCE)
            feed = {
                "heads": pairs.heads[some],
                "tails": pairs.tails[some],
                "distances": pairs.distances[some],
                "regions": pairs.regions[some].astype(np.int64),
            }
            scores.append(self._session.run(["scores"], text | feed)[0])
        return np.concatenate(scores)

    def _numbers(self, mentions: Sequence[Place]) -> NDArray[np.int64]:
        return np.array([self._number[m.type] for m in mentions], dtype=np.int64)


def sentence_of_words(
    spans: NDArray[np.int64], sentences: Sequence[tuple[int, int]]
) -> NDArray[np.int64]:
    """The number of the sentence in which each word begins, (n,); `spans` (n, 2) are characters.

    A word before the first sentence counts to the first.
    """
    starts = np.array([start for start, _ in sentences], dtype=np.int64)
    return np.maximum(np.searchsorted(starts, spans[:, 0], side="right") - 1, 0)


def candidates(
    bounds: Sequence[tuple[int, int]],
    owners: NDArray[np.int64],
    related: NDArray[np.bool_] | None = None,
) -> Pairs:
    """The ordered pairs of mentions in one sentence or in two neighbouring ones.

    `bounds` are the first and last word of each mention, `owners` (n,) the sentence of each word.
    Mentions of the same words, and of more than one sentence, are no candidates; nor are those that
    `related`, symmetric (m, m), leaves out.
    """
    first, last = np.array(bounds, dtype=np.int64).reshape(-1, 2).T  # (m,)
    sentence = owners[first]
    near = np.abs(sentence[:, None] - sentence[None, :]) <= 1
    near &= ~((first[:, None] == first[None, :]) & (last[:, None] == last[None, :]))
    if related is not None:
        near &= related
    within = sentence == owners[last]
    heads, tails = np.nonzero(near & within[:, None] & within[None, :])
    head_first = first[heads] <= first[tails]
    left = np.where(head_first, heads, tails)
    right = np.where(head_first, tails, heads)
    gap = np.maximum(first[right] - last[left] - 1, 0)
    apart = sentence[heads] != sentence[tails]
    distances = np.searchsorted(_BUCKETS, gap, side="right")
    distances += _PLACES * head_first + 2 * _PLACES * apart

    word = np.arange(len(owners))[None, :]  # (1, n)
    regions = np.full((len(heads), len(owners)), BETWEEN, dtype=np.uint8)  # (p, n)
    regions[word < first[left][:, None]] = LEFT
    regions[word > np.maximum(last[heads], last[tails])[:, None]] = RIGHT
    for mention, region in ((tails, TAIL), (heads, HEAD)):
        inside = (word >= first[mention][:, None]) & (word <= last[mention][:, None])
        regions[inside] = region
    seen = (owners == sentence[heads][:, None]) | (owners == sentence[tails][:, None])
    regions[~seen] = HIDDEN
    return Pairs(heads, tails, distances, regions)


def decode(
    scores: FloatArray,
    mentions: Sequence[Place],
    pairs: Pairs,
    relations: Sequence[RelationType],
) -> list[tuple[int, int, str, float]]:
    """(head, tail, relation, score) of all that is said, in order; `scores` is (p, relations).

    Both directions of a symmetric relation count as one: it is said from the earlier mention with
    the mean of both scores. Ties between directions go to the earlier head.
    """
    # The pairs hold each other turned around, so sorted by tail they line up with themselves.
    back = np.lexsort((pairs.heads, pairs.tails))
    symmetric = np.array([relation.symmetric for relation in relations], dtype=bool)
    scores = np.where(symmetric, (scores + scores[back]) / 2, scores)
    high = scores >= np.array([relation.threshold for relation in relations])
    said = []
    for row, column in np.argwhere(high).tolist():
        head, tail, relation = int(pairs.heads[row]), int(pairs.tails[row]), relations[column]
        score, other = float(scores[row, column]), float(scores[back[row], column])
        types = (mentions[head].type, mentions[tail].type)
        turned = types[::-1] in relation.types
        if types in relation.types and (
            not turned or score > other or (score == other and head < tail)
        ):
            said.append((head, tail, relation.name, score))
    return sorted(said)
