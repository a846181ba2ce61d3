"""Text to vectors: MiniLM through ONNX Runtime. The one door to onnxruntime and tokenizers."""

from __future__ import annotations

import ctypes
import hashlib
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartrag.errors import MissingExtra, ModelError
from smartrag.perception.onnx_graph import with_output, with_small_tables
from smartrag.settings import PerceptionSettings
from smartrag.types import FloatArray

VOCABULARY = Path(__file__).with_name("vocab.txt")
"""BERT uncased, 30,522 word pieces: the vocabulary of MiniLM and of bge-small."""


@dataclass(frozen=True, slots=True)
class EncoderIdentity:
    """What a store remembers of the encoder that wrote its vectors."""

    name: str
    dimension: int
    sha256: str


@dataclass(frozen=True, slots=True)
class SharedStates:
    """A tensor (1, t, d) inside the encoder file of this sum: the states of the tokens after its
    lower blocks, on which another model builds."""

    encoder: str  # SHA-256
    tensor: str


@dataclass(frozen=True, slots=True)
class Tokens:
    """The t tokens of a text with their states after the blocks that other models share.

    `words[k]` numbers the word that token k belongs to, -1 for the two special tokens; `spans` are
    half-open character offsets, (0, 0) for the special tokens.
    """

    states: FloatArray  # (t, d)
    words: NDArray[np.int64]  # (t,)
    spans: NDArray[np.int64]  # (t, 2)


@dataclass(frozen=True, slots=True)
class Reading:
    """One text as the encoder read it: its vector and those of the m parts that were asked for.

    `tokens` is None where the encoder was not asked to share its states.
    """

    vector: FloatArray  # (d,), unit length
    parts: FloatArray  # (m, d), unit length
    tokens: Tokens | None = None


class Encoder:
    """Mean-pooled sentence embeddings of unit length.

    Each text is encoded alone, on one thread; `workers` texts are encoded side by side. A vector
    therefore depends on its text only, never on what else was in the batch.

    With `shared`, and if this is the encoder that it speaks of, a reading also holds those states:
    one pass then serves both models. `shares` says whether it does.
    """

    def __init__(
        self, model: Path, settings: PerceptionSettings, *, shared: SharedStates | None = None
    ) -> None:
        content = _content(model)
        sha256 = hashlib.sha256(content).hexdigest()
        self.shares = shared is not None and shared.encoder == sha256
        content = with_small_tables(content)
        if shared is not None and self.shares:
            content = with_output(content, shared.tensor)
        self._session = _open_session(content, model)
        self._tokenizer = _open_tokenizer(settings.encoder_tokens)
        self._counter = _open_tokenizer(None)
        self._inputs = {i.name for i in self._session.get_inputs()}
        self._workers = max(1, settings.workers)
        self.identity = EncoderIdentity(
            name=settings.encoder,
            dimension=int(self._session.get_outputs()[0].shape[-1]),
            sha256=sha256,
        )

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Vectors of shape (len(texts), d), float32, unit length.

        Texts longer than `encoder_tokens` are cut. A text without any word still gets a vector,
        that of the two special tokens.
        """
        vectors = np.empty((len(texts), self.identity.dimension), dtype=np.float32)
        for row, reading in enumerate(self.read(texts, [()] * len(texts))):
            vectors[row] = reading.vector
        return vectors

    def read(
        self, texts: Sequence[str], parts: Sequence[Sequence[tuple[int, int]]]
    ) -> list[Reading]:
        """Each text read once: its own vector and those of spans in it.

        A span's vector is the mean of its tokens' states, which have seen the whole text: for
        retrieval as good as encoding each sentence by itself behind its title (recall@5 on
        HotpotQA, 2Wiki and MuSiQue train 95.9, 99.5 and 84.1 against 96.3, 99.5 and 84.1), for half
        of the encoder's work. A span beyond the cut has the vector of the whole text.
        """
        with ThreadPoolExecutor(min(self._workers, len(texts)) or 1) as pool:
            return list(pool.map(self._read_one, texts, parts))

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Half-open character offsets of each token of `text`, without special tokens, uncut."""
        offsets: list[tuple[int, int]] = self._counter.encode(
            text, add_special_tokens=False
        ).offsets
        return offsets

    def _read_one(self, text: str, parts: Sequence[tuple[int, int]]) -> Reading:
        encoding = self._tokenizer.encode(text)
        ids = np.array([encoding.ids], dtype=np.int64)  # (1, t)
        feed = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        outputs = self._session.run(None, {k: v for k, v in feed.items() if k in self._inputs})
        states = outputs[0][0]  # (t, d)
        spans = np.array(encoding.offsets, dtype=np.int64)  # (t, 2)
        whole = _unit(states.mean(axis=0))  # (t, d) -> (d,)
        inside = np.empty((len(parts), len(whole)), dtype=np.float32)
        for row, (start, end) in enumerate(parts):
            within = (spans[:, 0] >= start) & (spans[:, 1] <= end) & (spans[:, 1] > 0)
            inside[row] = _unit(states[within].mean(axis=0)) if within.any() else whole
        if not self.shares:
            return Reading(whole, inside)
        words = np.array([-1 if w is None else w for w in encoding.word_ids], dtype=np.int64)
        return Reading(whole, inside, Tokens(outputs[1][0], words, spans))


TokenSpans = Callable[[str], list[tuple[int, int]]]
"""Splits a text in encoder tokens, as `Encoder.token_spans` does."""


def _unit(vector: FloatArray) -> FloatArray:
    return vector / np.float32(np.linalg.norm(vector))


def _content(model: Path) -> bytes:
    try:
        return model.read_bytes()
    except OSError as error:
        raise _unreadable(model) from error


def _open_session(content: bytes, model: Path) -> Any:
    try:
        return open_session(content)
    except MissingExtra:
        raise
    except Exception as error:  # onnxruntime's exceptions share no base of their own
        raise _unreadable(model) from error


def _unreadable(model: Path) -> ModelError:
    return ModelError(
        "the encoder is not a readable ONNX model",
        subject=str(model),
        remedy="Fetch it again with: smartrag models pull minilm-l6-int8",
    )


def open_session(content: bytes) -> Any:
    """An ONNX Runtime session on one thread; raises MissingExtra, or what onnxruntime raises."""
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtra("onnxruntime", extra="encoder", stage="perception") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.enable_mem_pattern = False  # one is kept for every length of text, 25 MB in all
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    _give_back_memory()
    return session


def _give_back_memory() -> None:
    """Return what was freed to the system, where the C library is glibc, which would keep it.

    A session is built through several copies of its weights: of the encoder's, 70 MB stay behind.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)


def _open_tokenizer(longest: int | None) -> Any:
    try:
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    except ImportError as error:
        raise MissingExtra("tokenizers", extra="encoder", stage="perception") from error
    vocabulary = VOCABULARY.read_text(encoding="utf-8").split("\n")
    index = {piece: row for row, piece in enumerate(vocabulary) if piece}
    tokenizer = Tokenizer(models.WordPiece(index, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(
        ("[SEP]", index["[SEP]"]), ("[CLS]", index["[CLS]"])
    )
    if longest is not None:
        tokenizer.enable_truncation(longest)
    return tokenizer
