"""`smartrag eval ner`: are entities found where people marked them, and are they of the same type?

An entity counts when both borders are exact. Data sets name and cut their types differently, so a
type of the data set stands for one or more of ours: "PER" for person, "MISC" for any work, product,
event or other thing, "person-actor" for person unless the model knows that very type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from smartrag.evaluation.results import Row
from smartrag.perception.encoder import Encoder
from smartrag.perception.labelled import Sentence
from smartrag.perception.labels import Inventory
from smartrag.perception.perceive import Perceiver

_MEANS: Mapping[str, tuple[str, ...]] = {
    "per": ("person",),
    "org": ("organization",),
    "organisation": ("organization",),
    "loc": ("location",),
    "gpe": ("location",),
    "place": ("location",),
    "country": ("location",),
    "misc": ("art", "product", "event", "other"),
    "num": ("number",),
    "date": ("time",),
}
"""Other names for base types."""

Span = tuple[int, int, str]
"""First and last token (inclusive) and the type."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What was marked, found, and both, from which precision, recall and F1 follow."""

    marked: int
    found: int
    both: int

    @property
    def precision(self) -> float:
        """The share of what was found that was marked; 0 when nothing was found."""
        return self.both / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """The share of what was marked that was found; 0 when nothing was marked."""
        return self.both / self.marked if self.marked else 0.0

    @property
    def f1(self) -> float:
        """Their harmonic mean."""
        return 2 * self.both / (self.marked + self.found) if self.both else 0.0


def meanings(type_: str, inventory: Inventory) -> tuple[str, ...]:
    """The types of the model that a type of a data set stands for; none when it knows no such."""
    known = {t.name.casefold(): t.name for t in inventory.types if t.status != "retired"}
    name = type_.casefold()
    for candidate in (name, name.partition("-")[0]):
        if candidate in known:
            return (known[candidate],)
        if candidate in _MEANS:
            return tuple(t for t in _MEANS[candidate] if t in known)
    return ()


def score(
    gold: Sequence[Sequence[Span]], found: Sequence[Sequence[Span]], inventory: Inventory
) -> list[Row]:
    """One row over all types (micro-averaged) and one for each type of the data set; its types that
    stand for the same one of ours, such as "person-actor" and "person-athlete", share a row.

    A found type that the data set does not mark at all is left out, since it says nothing about
    it; a marked type that the model does not know counts as missed. `span_f1` asks for the borders
    only. A finer type of the model counts as the broader one above it, never the other way.
    """
    row_of = {t: _row_name(t, inventory) for spans in gold for _, _, t in spans}
    accepts = {row_of[t]: frozenset(meanings(t, inventory)) for t in row_of}
    names = sorted(accepts)
    marked_types = frozenset().union(*accepts.values())

    def marks(type_: str) -> bool:
        return bool(marked_types.intersection(inventory.lineage(type_)))

    marked: Counter[str] = Counter()
    right: Counter[str] = Counter()
    claimed: Counter[str] = Counter()
    n_found = n_spans = 0
    for of_gold, of_found in zip(gold, found, strict=True):
        kept = {(first, last): type_ for first, last, type_ in of_found if marks(type_)}
        borders = {(first, last): row_of[type_] for first, last, type_ in of_gold}
        n_found += len(kept)
        n_spans += len(kept.keys() & borders.keys())
        marked.update(borders.values())
        for place, type_ in kept.items():
            line = inventory.lineage(type_)
            truth = borders.get(place)
            if truth is not None and accepts[truth].intersection(line):
                right[truth] += 1
                claimed[truth] += 1
            else:
                claimed.update(n for n in names if accepts[n].intersection(line))
    total = Counts(sum(marked.values()), n_found, sum(right.values()))
    spans = Counts(total.marked, n_found, n_spans)
    rows: list[Row] = [{"type": "all", **_values(total), "span_f1": spans.f1}]
    for name in names:
        rows.append({"type": name, **_values(Counts(marked[name], claimed[name], right[name]))})
    return rows


def _row_name(type_: str, inventory: Inventory) -> str:
    found = meanings(type_, inventory)
    return found[0] if len(found) == 1 else type_


def _values(counts: Counts) -> dict[str, str | int | float | bool | None]:
    return {
        "f1": counts.f1,
        "precision": counts.precision,
        "recall": counts.recall,
        "n": counts.marked,
        "found": counts.found,
    }


def gold_spans(sentence: Sentence) -> list[Span]:
    """The marked entities of a sentence."""
    return [(e.first, e.last, e.type) for e in sentence.entities]


def token_spans(sentence: Sentence, mentions: Iterable[tuple[int, int, str]]) -> list[Span]:
    """Mentions, given by characters of `sentence.text`, in tokens.

    A mention that begins or ends inside a token lies on other borders than any marked entity: it
    is kept, as one of the tokens that it touches, so that it counts as found.
    """
    starts = [start for start, _ in sentence.spans()]

    def token_at(character: int) -> int:
        return sum(start <= character for start in starts) - 1

    spans = sentence.spans()
    found = []
    for start, end, type_ in mentions:
        first, last = token_at(start), token_at(end - 1)
        exact = spans[first][0] == start and spans[last][1] == end
        found.append((first, last, type_) if exact else (first - len(starts), last, type_))
    return found


Recogniser = Callable[[Sequence[str]], Sequence[Sequence[tuple[int, int, str]]]]
"""Texts to mentions, each as (start, end, type) in characters."""


def recogniser(encoder: Encoder, perceiver: Perceiver) -> Recogniser:
    """What finds entities in texts without labels or headings."""

    def recognise(texts: Sequence[str]) -> list[list[tuple[int, int, str]]]:
        readings = encoder.read(texts, [()] * len(texts))
        found = perceiver.seen(texts, [reading.tokens for reading in readings])
        return [[(m.start, m.end, m.type) for m in seen.mentions] for seen in found]

    return recognise


def evaluate(
    sentences: Sequence[Sentence], recognise: Recogniser, inventory: Inventory, batch: int = 256
) -> list[Row]:
    """The rows of `score` for what `recognise` finds in labelled sentences."""
    found: list[list[Span]] = []
    for begin in range(0, len(sentences), batch):
        some = sentences[begin : begin + batch]
        for sentence, mentions in zip(some, recognise([s.text for s in some]), strict=True):
            found.append(token_spans(sentence, mentions))
    return score([gold_spans(s) for s in sentences], found, inventory)
