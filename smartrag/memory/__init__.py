"""MRGraph: documents, paragraphs, entities and vectors in one SQLite file. The only SQL."""

from smartrag.memory.store import Store
from smartrag.memory.view import StoreView

__all__ = ["Store", "StoreView"]
