"""Focus: from a question to ranked, compressed evidence. No SQL and no language model."""

from smartrag.focus.gather import Embed, gather
from smartrag.focus.pack import pack

__all__ = ["Embed", "gather", "pack"]
