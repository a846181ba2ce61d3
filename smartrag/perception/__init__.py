"""Perception: files and questions become chunks, vectors and mentions. No storage."""

from smartrag.perception.encoder import Encoder
from smartrag.perception.evoner import EvoNER
from smartrag.perception.perceive import Perceiver, Perception

__all__ = ["Encoder", "EvoNER", "Perceiver", "Perception"]
