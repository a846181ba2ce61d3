"""The base model: trained once, on sets whose licence allows it, and shipped.

Few-NERD's development file with its 8 coarse types and Re-DocRED's with its dates and numbers are
complete for what they mark. A teacher learns from these two. It then labels what they leave without
a label, and what the partly marked training file of Few-NERD does (36 of 66 fine types), and the
model that ships goes on from the teacher with all three.

A second head tells Few-NERD's 66 fine types apart and is thrown away afterwards: what it leaves in
the span vectors is what new types are learned from.
"""

from __future__ import annotations

import copy
import hashlib
import random
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from smartrag.perception.encoder import Encoder, SharedStates
from smartrag.perception.labelled import Sentence, read_sentences
from smartrag.perception.labels import BASE_TYPES, Inventory, TypeRow
from smartrag.perception.lessons import Lesson
from smartrag.perception.spans import decode, label_probabilities
from smartrag.perception.training.data import Example, Gold, Guideline, collate, examples, packed
from smartrag.perception.training.loop import (
    Group,
    Report,
    Schedule,
    best_caution,
    f1,
    fit,
    predict,
)
from smartrag.perception.training.losses import task_loss
from smartrag.perception.training.span_model import EvoNER, Shape, reserve, with_encoder_blocks
from smartrag.types import FloatArray

ROW = {name: row for row, name in enumerate(BASE_TYPES, 1)}
ROWS = 1 + len(BASE_TYPES)
NAMES = frozenset(range(1, ROW["time"]))
"""The rows of what has a name: all but dates and numbers, which Few-NERD does not mark."""
SILENT = frozenset({ROW["time"], ROW["number"]})

ENCODER_WEIGHTS = "minilm-l6"
"""The model, by its name in the registry, whose upper blocks EvoNER's own start from."""

SHARED_BLOCKS = 3
"""The lower blocks of the encoder that EvoNER shares with the embedder. With them frozen the second
epoch is as good as with all six trained (dev F1 71.8; 72.1 in a first trial of the latter)."""
_SHARED_TENSOR = "layer_norm_6"
"""Where the states after these blocks lie in the ONNX file of the default encoder."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the base model is trained."""

    seed: int = 0
    teacher_epochs: int = 4
    epochs: int = 2
    """Of the second phase; with 0 the teacher is the model (for ablations)."""
    tokens: int = 1200
    """Tokens of a batch."""
    paragraph: int = 90
    """Half of the sentences are joined to texts of up to so many tokens."""
    block_rate: float = 1.5e-4
    head_rate: float = 1e-3
    second: float = 0.5
    """The rates of the second phase, as a share of those of the first."""
    fine_weight: float = 0.1
    """Of the loss of the fine types, beside that of the base types."""
    lower: float = 0.1
    """Share of the texts that are read without capitals."""
    sure: float = 0.8
    """What the teacher says at least this surely becomes a label; what it doubts stays open."""
    partly: int = 40_000
    """Sentences taken of the partly marked file."""
    reserved: int = 128
    replay: int = 4800
    check: int = 500
    """Sentences of Few-NERD that come with the model, for later rounds."""
    characters: int = 48


@dataclass(frozen=True, slots=True)
class Corpus:
    """The sentences of the base: complete ones, partly marked ones, and those for choosing and
    for testing."""

    few_nerd: tuple[Sentence, ...]
    re_docred: tuple[Sentence, ...]
    partly: tuple[Sentence, ...]
    dev: tuple[Sentence, ...]
    test: tuple[Sentence, ...]


def corpus(folder: Path, recipe: Recipe) -> Corpus:
    """The files of the base in a folder; raises ReadError."""
    own: dict[str, list[Sentence]] = {"train": [], "dev": [], "test": []}
    for sentence in read_sentences(folder / "few-nerd.dev.jsonl.gz"):
        own[part_of(sentence)].append(sentence)
    partly = list(read_sentences(folder / "few-nerd-train36.train.jsonl.gz"))
    chosen = random.Random(recipe.seed).sample(partly, min(recipe.partly, len(partly)))
    return Corpus(
        few_nerd=tuple(own["train"]),
        re_docred=tuple(read_sentences(folder / "re-docred.dev.jsonl.gz", nested=True)),
        partly=tuple(chosen),
        dev=tuple(own["dev"]),
        test=tuple(own["test"]),
    )


def part_of(sentence: Sentence) -> str:
    """Our own split of Few-NERD's development file: 10 % test, 5 % dev, 85 % train, by CRC-32."""
    bucket = zlib.crc32(sentence.id.encode()) % 20
    return "test" if bucket < 2 else "dev" if bucket == 2 else "train"


RE_DOCRED = Guideline(
    {
        "PER": (ROW["person"],),
        "ORG": (ROW["organization"], ROW["building"]),
        "LOC": (ROW["location"], ROW["building"]),
        "MISC": (ROW["art"], ROW["product"], ROW["event"], ROW["other"]),
        "TIME": (ROW["time"],),
        "NUM": (ROW["number"],),
    }
)
"""Re-DocRED's types in terms of ours."""


def few_nerd(sentences: Iterable[Sentence], unmarked: Iterable[int] = SILENT) -> Guideline:
    """Few-NERD's fine types ("person-actor") as coarse ones."""
    names = {e.type for s in sentences for e in s.entities}
    rows_of = {name: (ROW[name.partition("-")[0]],) for name in names}
    return Guideline(rows_of, tuple(sorted(unmarked)))


def inventory(recipe: Recipe) -> Inventory:
    """The types of the base model and the free rows after them."""
    return Inventory(ROWS + recipe.reserved, tuple(TypeRow(row, name) for name, row in ROW.items()))


def train_base(
    found: Corpus,
    encoder: Encoder,
    encoder_weights: Mapping[str, Tensor],
    recipe: Recipe,
    report: Report,
    keep: Callable[[str, EvoNER], None] = lambda phase, model: None,
) -> tuple[EvoNER, float]:
    """The base model and its caution. `keep` gets the model after each phase: "teacher", "base"."""
    own = few_nerd(found.few_nerd)
    complete = examples(
        packed(found.few_nerd, recipe.paragraph, recipe.seed), own, encoder, ROWS
    ) + examples(packed(found.re_docred, recipe.paragraph, recipe.seed), RE_DOCRED, encoder, ROWS)
    dev = examples(found.dev, few_nerd(found.dev), encoder, ROWS)
    report(f"{len(complete)} texts are read")
    model = new_model(recipe, encoder_weights)
    fine = FineTypes(model.shape.span, fine_names(found.few_nerd))

    def judged(_: int) -> None:
        scored = predict(model, dev, ROWS)
        best = best_caution(dev, scored, NAMES)
        report(f"dev F1 {100 * f1(dev, scored, best, NAMES).typed:.1f} at caution {best}")

    _phase(model, fine, complete, recipe, recipe.teacher_epochs, 1.0, report, judged)
    keep("teacher", model)
    if not recipe.epochs:
        return model, best_caution(dev, predict(model, dev, ROWS), NAMES)
    partly = examples(
        packed(found.partly, recipe.paragraph, recipe.seed),
        few_nerd(found.partly, range(1, ROWS)),
        encoder,
        ROWS,
    )
    report(f"{len(partly)} partly marked texts are read")
    teacher = copy.deepcopy(model)
    everything = [
        *relabelled(teacher, complete, recipe.sure),
        *relabelled(teacher, partly, recipe.sure),
    ]
    _phase(model, fine, everything, recipe, recipe.epochs, recipe.second, report, judged)
    keep("base", model)
    return model, best_caution(dev, predict(model, dev, ROWS), NAMES)


def kept(found: Corpus, recipe: Recipe) -> tuple[Lesson, Lesson]:
    """What later rounds are shown again, and on what the base types are checked."""
    chance = random.Random(recipe.seed)
    replay = chance.sample(found.few_nerd, min(recipe.replay, len(found.few_nerd)))
    check = chance.sample(found.dev, min(recipe.check, len(found.dev)))
    return _coarse(replay), _coarse(check)


def _coarse(sentences: Iterable[Sentence]) -> Lesson:
    return Lesson(
        {},
        tuple(
            replace(
                s, entities=tuple(replace(e, type=e.type.partition("-")[0]) for e in s.entities)
            )
            for s in sentences
        ),
    )


def shared_states(encoder: Path) -> SharedStates:
    """What EvoNER reads of the default encoder, whose file this is."""
    return SharedStates(hashlib.sha256(encoder.read_bytes()).hexdigest(), _SHARED_TENSOR)


def new_model(recipe: Recipe, encoder_weights: Mapping[str, Tensor]) -> EvoNER:
    """A model whose blocks are the upper ones of the encoder and whose reserved rows are free."""
    torch.manual_seed(recipe.seed)
    model = EvoNER(Shape(rows=ROWS + recipe.reserved, characters=recipe.characters))
    with_encoder_blocks(model, encoder_weights, SHARED_BLOCKS)
    reserve(model, ROWS)
    return model


class FineTypes(nn.Module):
    """The second head: which fine type a marked span is of."""

    def __init__(self, span: int, names: Sequence[str]) -> None:
        super().__init__()
        self.number = {name: i for i, name in enumerate(names)}
        self.rows = nn.Linear(span, len(names))

    def loss(self, z: Tensor, chosen: Sequence[Example]) -> Tensor:
        """The mean cross-entropy over the marked spans whose fine type is known; z is
        (B, n, W, z)."""
        places = [
            (b, g.first, g.last - g.first, self.number[g.name])
            for b, example in enumerate(chosen)
            for g in example.gold
            if g.name in self.number and g.last - g.first < z.shape[2]
        ]
        if not places:
            return z.new_zeros(())
        b, first, width, names = torch.tensor(places).T
        return functional.cross_entropy(self.rows(z[b, first, width]), names)


def fine_names(sentences: Iterable[Sentence]) -> list[str]:
    """The fine types of sentences, in the order of the alphabet."""
    return sorted({e.type for s in sentences for e in s.entities})


def _phase(
    model: EvoNER,
    fine: FineTypes,
    found: Sequence[Example],
    recipe: Recipe,
    epochs: int,
    share: float,
    report: Report,
    after_epoch: Callable[[int], None],
) -> None:
    def loss_of(chosen: list[Example], chance: random.Random) -> Tensor:
        model.train()
        lower = [chance.random() < recipe.lower for _ in chosen]
        batch = collate(chosen, ROWS, model.shape.widths, SILENT, lower)
        scores = model(batch.states, batch.mask, batch.first, batch.codes, ROWS)
        return task_loss(scores, batch) + recipe.fine_weight * fine.loss(scores.z, chosen)

    blocks = list(model.blocks.parameters())
    heads = [p for name, p in model.named_parameters() if not name.startswith("blocks.")]
    groups = (
        Group(blocks, share * recipe.block_rate),
        Group([*heads, *fine.parameters()], share * recipe.head_rate),
    )
    schedule = Schedule(recipe.tokens, seed=recipe.seed)
    fit(groups, [found] * epochs, schedule, loss_of, report, after_epoch)
    reserve(model, ROWS)  # weight decay and momentum may not have touched them; this is certain


def relabelled(teacher: EvoNER, found: Sequence[Example], sure: float) -> list[Example]:
    """The examples with what a teacher adds to them.

    An entity that it is sure of and that crosses no marked one becomes gold, if its row is one that
    the data set does not mark. Other spans stay open where the teacher holds such a row possible,
    and are "no entity" where it does not.
    """
    added = []
    for example, logits in zip(found, predict(teacher, found, ROWS), strict=True):
        if not example.unmarked:
            added.append(example)
            continue
        seen = label_probabilities(logits)
        doubtful = seen[..., list(example.unmarked)].sum(axis=-1) > 1 - sure
        gold = [*example.gold, *_additions(example, logits, sure)]
        n, widths = doubtful.shape
        start = np.arange(n)[:, None]
        end = start + np.arange(widths)[None, :]
        for g in gold:
            doubtful &= (end < g.first) | (start > g.last)
        added.append(replace(example, gold=tuple(gold), open=doubtful & (end < n)))
    return added


def _additions(example: Example, logits: FloatArray, sure: float) -> list[Gold]:
    return [
        Gold(span.first, span.last, (span.row,))
        for span in decode(logits)
        if span.score >= sure
        and span.row in example.unmarked
        and all(span.last < g.first or span.first > g.last for g in example.gold)
    ]
