"""Every choice that can be made, with its default and the reason for it.

Settings are frozen dataclasses. `Settings.from_mapping` builds them from nested mappings (a TOML
or YAML file, a Hydra configuration) and refuses unknown keys and wrong types with the place.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from smartrag.errors import SettingsError


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """Reading files."""

    largest_file_mb: float = 64.0
    """A larger file is refused: it would not fit a phone's memory while it is read."""


@dataclass(frozen=True, slots=True)
class PerceptionSettings:
    """Chunks, encoder and entities."""

    encoder: str = "minilm-l6-int8"
    """A name of `smartrag models`, or the path of an ONNX file."""
    chunk_tokens: int = 220
    """Upper bound of a chunk in encoder tokens (Android RAG: 180–220)."""
    overlap_tokens: int = 30
    """Repeated from the end of one chunk at the start of the next when a paragraph is split."""
    encoder_tokens: int = 256
    """Longer inputs are cut: MiniLM was trained on at most 256."""
    workers: int = 2
    """Threads that encode side by side. Each text is encoded alone, never in a padded batch: on two
    cores that was the fastest order too, and a vector cannot depend on its neighbours."""
    relations: bool = True
    """Whether a text is read for how its entities are related, a tenth of the time of reading."""


@dataclass(frozen=True, slots=True)
class DiscoverySettings:
    """When mentions become a proposal; chosen on two domains (`experiments/discovery.py`)."""

    epsilon: float = 0.5
    """Clusters are merged while that adds less than so much to the sum of squares."""
    smallest: int = 6
    floor: float = 0.5
    """Mean cosine to the centroid below which a cluster does not hold together."""
    merge: float = 0.95
    """Cosine of two centroids from which on their clusters are one."""


@dataclass(frozen=True, slots=True)
class LearningSettings:
    """Learning new types of entities."""

    bound: float = 1.0
    """Points of F1 that the types known before may lose in a round; a costlier one is refused."""
    adapter_rank: int = 16
    """Of the adapters through which the encoder blocks learn, two megabytes a round; with 0 their
    own weights do, ten megabytes."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """The store."""

    busy_timeout_s: float = 5.0
    """How long a writer waits for another one."""


@dataclass(frozen=True, slots=True)
class FocusSettings:
    """Retrieval. The weights were chosen on train questions only; the optimum is flat."""

    top_k: int = 8
    """Passages that a search returns."""
    seeds: int = 5
    """Passages from which hops start; more seeds only re-order themselves."""
    seed_decay: float = 0.5
    """Seed of rank r has weight r ** -seed_decay."""
    dense_weight: float = 0.5
    sentence_weight: float = 0.5
    sentence_candidates: int = 200
    """Paragraphs, best by lexical and dense relevance, whose sentences are scored."""
    sketch_rows: int = 200_000
    """From so many paragraphs on, 1-bit sketches choose which are compared exactly. Measured at
    100,000: 2.4 ms instead of 4.4 a query, for 13 ms once; it pays after some ten questions, and
    sooner in a larger store (experiments/results/kernels.md)."""
    sketch_candidates: int = 1024
    """How many are compared exactly; `smartrag stats --recall` says what that finds."""
    link_weight: float = 1.0
    """Beside lexical relevance, which has weight 1."""
    nested_link: float = 0.35
    """Strength of a linked name inside a longer linked name."""
    forward_weight: float = 3.0
    """Mention → the passage about it."""
    backward_weight: float = 0.5
    """Passage → the passages that mention what it is about."""
    shared_weight: float = 1.0
    """Two passages that mention the same rare entity."""
    residual_weight: float = 3.0
    """The same, scored by how well the neighbour answers the rest of the question."""
    off_topic: float = 0.4
    """Weight of a mention in the sentence least like the question (1 in the most like)."""
    shared_most: int = 50
    residual_most: int = 400
    """An entity in more passages than that connects nothing."""
    residual_lexical: float = 0.4
    residual_dense: float = 0.6
    slot_strength: float = 0.4
    """A name linked at least this strongly gets a slot and is cut out of the residual question."""
    linked_slots: int = 2
    """Places kept for passages that the question names, filled up from the fused order."""
    dense_slots: int = 1
    """Places kept for the best dense passages: what protects look-ups."""
    sentences_per_passage: tuple[int, ...] = (3, 3, 2, 1, 1)
    """Sentences kept of passage 1, 2, …; later passages stay out of the prompt."""
    confidence_threshold: float = 0.33
    """Below it the answer is "not found" and the model is not called. Fitted so that 95 % of the
    questions that can be answered pass (experiments/results/confidence.md)."""

    def __post_init__(self) -> None:
        if not 16 <= self.sketch_candidates <= 65_536:
            raise SettingsError(
                f"focus.sketch_candidates is {self.sketch_candidates}",
                remedy="Choose a number from 16 to 65536",
            )


@dataclass(frozen=True, slots=True)
class ThinkingSettings:
    """The language model."""

    model: str = "qwen2.5-coder-1.5b"
    """A name of `smartrag models`, or the path of a GGUF file."""
    planner: Literal["rules", "model"] = "rules"
    """Who plans. Rules cost nothing; on HotpotQA and 2Wiki a plan has almost nothing to add."""
    context_tokens: int = 2048
    threads: int = 0
    """Threads of the model; 0 means all cores that this process may use."""
    evidence_tokens: int = 450
    answer_tokens: int = 160
    """Budgets of Android RAG for a small window; the rest is for instructions and the question."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, one group a room."""

    read: ReadSettings = field(default_factory=ReadSettings)
    perception: PerceptionSettings = field(default_factory=PerceptionSettings)
    discovery: DiscoverySettings = field(default_factory=DiscoverySettings)
    learning: LearningSettings = field(default_factory=LearningSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    focus: FocusSettings = field(default_factory=FocusSettings)
    thinking: ThinkingSettings = field(default_factory=ThinkingSettings)

    @classmethod
    def from_mapping(cls, values: Mapping[str, object]) -> Settings:
        """Settings with the defaults replaced by `values`; raises SettingsError."""
        built = _build(cls, values, place="")
        assert isinstance(built, Settings)
        return built

    @classmethod
    def from_toml(cls, path: Path) -> Settings:
        """Settings from a TOML file; raises SettingsError."""
        try:
            values = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise SettingsError(
                f"the settings file cannot be read ({error})",
                subject=str(path),
                remedy="Check the path and that the file is TOML in UTF-8",
            ) from error
        return cls.from_mapping(values)


def _build(cls: type[Any], values: object, place: str) -> object:
    if not isinstance(values, Mapping):
        raise _wrong(place, "a group of settings", values)
    hints = get_type_hints(cls)
    known = {f.name: hints[f.name] for f in dataclasses.fields(cls)}
    for key in values:
        if key not in known:
            raise SettingsError(
                f"there is no setting '{place}{key}'",
                remedy=f"Known here are: {', '.join(sorted(known))}",
            )
    return cls(**{k: _convert(known[k], v, f"{place}{k}") for k, v in values.items()})


def _convert(kind: Any, value: object, place: str) -> object:
    if dataclasses.is_dataclass(kind):
        assert isinstance(kind, type)
        return _build(kind, value, f"{place}.")
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise _wrong(place, "one of " + ", ".join(map(repr, get_args(kind))), value)
        return value
    if get_origin(kind) is tuple:
        if isinstance(value, str) or not isinstance(value, (list, tuple)):
            raise _wrong(place, "a list", value)
        return tuple(_convert(get_args(kind)[0], v, place) for v in value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise _wrong(place, kind.__name__, value)
    if isinstance(value, (int, float)) and not value >= 0:  # which NaN is not either
        raise _wrong(place, "zero or more", value)
    return value


def _wrong(place: str, wanted: str, value: object) -> SettingsError:
    return SettingsError(
        f"the setting '{place.rstrip('.')}' must be {wanted}, not {value!r}",
        remedy="Correct it in the settings file or the call",
    )
