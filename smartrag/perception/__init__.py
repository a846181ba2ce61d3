"""Perception: files and questions become chunks, vectors and mentions. No storage."""

from smartrag.perception.capitalised import CapitalisedSpans
from smartrag.perception.encoder import Encoder
from smartrag.perception.perceive import Perceiver, Perception

__all__ = ["CapitalisedSpans", "Encoder", "Perceiver", "Perception"]
