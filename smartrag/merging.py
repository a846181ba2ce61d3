"""One thing under several names: what a document says of that is written beside its mentions."""

from __future__ import annotations

from collections.abc import Iterable

from smartrag.memory import Store
from smartrag.perception.claims import claims


def merge_names(store: Store, documents: Iterable[int]) -> None:
    """Renew the claims of these documents from the mentions that are stored of them."""
    for document in documents:
        store.claim(document, claims(*store.named(document)))
