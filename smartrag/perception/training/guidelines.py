"""What the labels of a lesson mean once the model knows more types than the lesson did."""

from __future__ import annotations

from collections.abc import Iterable

from smartrag.perception.labels import Inventory, TypeRow
from smartrag.perception.training.data import Guideline


def guideline(inventory: Inventory, marked: Iterable[str], lenient: int = 0) -> Guideline:
    """The guideline of sentences in which every thing of a `marked` type is labelled.

    A thing of a finer type that they do not mark stands there under the nearest broader one that
    they do: a band is an organization to a set that knows no bands. What has no such type may be
    anywhere without a label. Retired types mark nothing.

    Types in the first `lenient` rows may be without a label too, though they are marked: one set
    draws the borders of a product elsewhere than another, and the model shall keep its own.
    """
    speakers = {name: inventory.speaker(name) for name in marked}
    known = {t.name for t in speakers.values() if t is not None and t.status != "retired"}
    nearest = {t.row: _nearest(inventory, t, known) for t in inventory.types}
    return Guideline(
        rows_of={
            name: tuple(row for row, broader in nearest.items() if broader == speaker.name)
            for name, speaker in speakers.items()
            if speaker is not None and speaker.name in known
        },
        unmarked=tuple(row for row, broader in nearest.items() if not broader or row < lenient),
    )


def _nearest(inventory: Inventory, of: TypeRow, known: set[str]) -> str:
    """The narrowest type above `of`, or itself, that is among `known`; empty if none is."""
    speaker = inventory.speaker(of.name)
    line = inventory.lineage(speaker.name) if speaker else ()
    return next((name for name in line if name in known), "")
