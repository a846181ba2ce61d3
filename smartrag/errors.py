"""Everything that can go wrong, as one tree.

    SmartRAGError
    ├── SettingsError        a setting is unknown, of the wrong type or out of range
    ├── MissingExtra         an optional library is needed and not installed
    ├── ReadError            a file cannot be turned into a document
    ├── ModelError           a model file is missing, damaged or cannot be fetched
    ├── LearningRefused      a round of learning cannot begin or would cost older types too much
    ├── KernelError          the compiled kernels cannot be built on this device
    ├── GenerationError      the language model failed while it was writing
    ├── DataError            a data set of the evaluation cannot be read
    └── StoreError           the store cannot be used as asked
        ├── StoreMissing     there is no store at that path
        ├── StoreUnwritable  the path cannot be written
        ├── StoreBusy        another process is writing
        ├── StoreFull        the disk is full
        ├── StoreDamaged     the file is not a SmartRAG store
        ├── StoreTooNew      written by a newer release
        ├── EncoderMismatch  its vectors come from another encoder
        └── UnknownDocument  no document has that name

Every error says where it happened (`stage`), to what (`subject`), what is wrong (`problem`) and
what to do about it (`remedy`); `str(error)` is that in one line.
"""

from __future__ import annotations


class SmartRAGError(Exception):
    """Base of all errors that SmartRAG raises on purpose."""

    stage = "smartrag"

    def __init__(
        self, problem: str, *, remedy: str, subject: str = "", stage: str | None = None
    ) -> None:
        self.problem = problem
        self.remedy = remedy
        self.subject = subject
        if stage is not None:
            self.stage = stage
        super().__init__(problem)

    def __str__(self) -> str:
        where = f"{self.stage}: {self.subject}: " if self.subject else f"{self.stage}: "
        return f"{where}{self.problem}. {self.remedy}"


class SettingsError(SmartRAGError):
    """A setting is unknown, of the wrong type or out of range."""

    stage = "settings"


class MissingExtra(SmartRAGError):
    """An optional library is needed and not installed."""

    def __init__(self, library: str, *, extra: str, stage: str) -> None:
        super().__init__(
            f"the library '{library}' is not installed",
            remedy=f"Install it with: pip install 'smartrag[{extra}]'",
            stage=stage,
        )


class ReadError(SmartRAGError):
    """A file cannot be turned into a document."""

    stage = "read"


class ModelError(SmartRAGError):
    """A model file is missing, damaged or cannot be fetched."""

    stage = "models"


class LearningRefused(SmartRAGError):
    """A round of learning cannot begin, or would cost the older types too much; nothing changed."""

    stage = "learn"


class KernelError(SmartRAGError):
    """The compiled kernels cannot be built on this device; numpy goes on doing their work."""

    stage = "kernels"


class GenerationError(SmartRAGError):
    """The language model failed while it was writing."""

    stage = "thinking"


class DataError(SmartRAGError):
    """A data set of the evaluation cannot be read."""

    stage = "evaluation"


class StoreError(SmartRAGError):
    """The store cannot be used as asked; it is as it was before the call."""

    stage = "store"


class StoreMissing(StoreError):
    """There is no store at that path."""


class StoreUnwritable(StoreError):
    """The path cannot be written."""


class StoreBusy(StoreError):
    """Another process is writing."""


class StoreFull(StoreError):
    """The disk is full."""


class StoreDamaged(StoreError):
    """The file is not a SmartRAG store, or is damaged."""


class StoreTooNew(StoreError):
    """The store was written by a newer release."""


class EncoderMismatch(StoreError):
    """The vectors of the store come from another encoder."""


class UnknownDocument(StoreError):
    """No document of that name is in the store."""
