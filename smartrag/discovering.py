"""New entity types out of the store: what the mentions without a type have in common.

Nothing is learned here: what comes out is a lesson that can be.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from smartrag.memory import Store
from smartrag.memory.versions import PendingPlace
from smartrag.perception.discovery import Proposal, discover
from smartrag.perception.labelled import sentence_of
from smartrag.perception.labels import Inventory
from smartrag.perception.lessons import FEWEST, Lesson
from smartrag.perception.naming import Namer, Pending
from smartrag.settings import DiscoverySettings
from smartrag.text import sentence_spans


@dataclass(frozen=True, slots=True)
class Discovered:
    """Types that the pending mentions speak for, with up to five different examples of each.

    `lesson` holds the sentences of those with mentions enough to be learned, and `paragraphs` the
    stored paragraph of each sentence.
    """

    proposals: tuple[tuple[Proposal, tuple[str, ...]], ...]
    lesson: Lesson
    paragraphs: tuple[int, ...]


def discovered(
    store: Store, known: Inventory, settings: DiscoverySettings, namer: Namer | None = None
) -> Discovered:
    """What the pending mentions of the store have in common.

    `namer` names a cluster; without one its head words do. A name of a `known` type is no new one.
    """
    places = store.versions.pending()
    sentences = [_sentence_around(place) for place in places]
    pending = [
        Pending(place.text[place.first : place.last], text, place.vector.astype(np.float32))
        for place, (_, text) in zip(places, sentences, strict=True)
    ]
    found = [p for p in discover(pending, settings, namer) if known.named(p.name) is None]
    learned = [proposal for proposal in found if len(proposal.members) >= FEWEST]
    labels: dict[tuple[int, int], list[tuple[int, int, str]]] = defaultdict(list)
    for proposal in learned:
        for member in proposal.members:
            place, (start, _) = places[member], sentences[member]
            where = (place.first - start, place.last - start, proposal.name)
            labels[place.paragraph, start].append(where)
    texts = {
        (place.paragraph, start): text
        for place, (start, text) in zip(places, sentences, strict=True)
    }
    return Discovered(
        proposals=tuple((p, _examples(p, pending)) for p in found),
        lesson=Lesson(
            {proposal.name: "" for proposal in learned},
            tuple(
                sentence_of(texts[place], marked, name=f"{place[0]}.{place[1]}")
                for place, marked in sorted(labels.items())
            ),
        ),
        paragraphs=tuple(paragraph for paragraph, _ in sorted(labels)),
    )


def _sentence_around(place: PendingPlace) -> tuple[int, str]:
    """Where the sentence of a mention begins in its paragraph, and the sentence."""
    for start, end in sentence_spans(place.text):
        if start <= place.first and place.last <= end:
            return start, place.text[start:end]
    return 0, place.text


def _examples(proposal: Proposal, pending: Sequence[Pending]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(pending[member].surface for member in proposal.members))[:5]
