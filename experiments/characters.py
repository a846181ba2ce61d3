"""What the character channel is worth: two base models that differ in nothing else.

Both are trained by the first phase of the base recipe alone, for `--epochs` epochs; the model that
is shipped has twice as many and a second phase. They are measured on clean text and on the
misspelt copies of `experiments.ner`, each with the caution that is best on clean development
sentences. `gain` is typed F1 with the channel less that without it.

    python -m experiments.characters --data ../shared/data/ner
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from experiments.ner import with_slips
from smartrag import models
from smartrag.evaluation.datasets import DataFile
from smartrag.evaluation.results import ModelFile, Result, Row, write
from smartrag.perception import Encoder
from smartrag.perception.labelled import Sentence, read_sentences
from smartrag.perception.training import base, checkpoint
from smartrag.perception.training.data import Example, Guideline, examples
from smartrag.perception.training.loop import f1, predict
from smartrag.perception.training.span_model import EvoNER
from smartrag.settings import PerceptionSettings

CHANNEL = base.Recipe().characters


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the NER files")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0, help="of training and of misspellings")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--results", type=Path, default=Path("experiments/results"))
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    encoder_path = models.locate(PerceptionSettings().encoder)
    weights_path = models.locate(base.ENCODER_WEIGHTS)
    shared = base.shared_states(encoder_path)
    encoder = Encoder(encoder_path, PerceptionSettings(), shared=shared)
    recipe = base.Recipe(seed=arguments.seed, teacher_epochs=arguments.epochs, epochs=0, partly=0)
    found = base.corpus(arguments.data, recipe)
    files: list[DataFile] = []
    tests = [
        (name, misspelt, read_tests(sentences, misspelt, told, encoder, arguments.seed))
        for name, sentences, told in test_sets(arguments.data, found, files)
        for misspelt in (False, True)
    ]
    weights = checkpoint.encoder_weights(weights_path)
    with_channel, without = (
        scores(found, encoder, weights, replace(recipe, characters=size), tests)
        for size in (CHANNEL, 0)
    )
    rows: list[Row] = [
        {
            "data": name,
            "misspelt": misspelt,
            "sentences": len(test),
            "f1_with": with_,
            "f1_without": without_,
            "f1_gain": with_ - without_,
        }
        for (name, misspelt, test), with_, without_ in zip(
            tests, with_channel, without, strict=True
        )
    ]
    command = shlex.join(["python", "-m", "experiments.characters", *sys.argv[1:]])
    used = [ModelFile.of(path.name, path) for path in (encoder_path, weights_path)]
    result = Result.of_this_run("characters", command, arguments.seed, rows, files, used)
    print(write(result, arguments.results))


def test_sets(
    folder: Path, found: base.Corpus, files: list[DataFile]
) -> list[tuple[str, Sequence[Sentence], Guideline]]:
    """The name, the sentences and the types of each; the files are added to `files`."""

    def of(name: str) -> list[Sentence]:
        path = folder / f"{name}.jsonl.gz"
        sentences = list(read_sentences(path, nested=True))
        files.append(DataFile.of(path, len(sentences)))
        return sentences

    of("few-nerd.dev")
    coarse = base.RE_DOCRED  # WikiGold has the same four types of names
    return [
        ("few-nerd.dev", found.test, base.few_nerd(found.test)),
        ("wikigold.all", of("wikigold.all"), coarse),
        ("re-docred.test", of("re-docred.test"), coarse),
    ]


def read_tests(
    sentences: Sequence[Sentence], misspelt: bool, told: Guideline, encoder: Encoder, seed: int
) -> list[Example]:
    """The sentences, or their misspelt copies, as the encoder reads them."""
    shown = [with_slips(s, seed) for s in sentences] if misspelt else sentences
    return examples(shown, told, encoder, base.ROWS)


def scores(
    found: base.Corpus,
    encoder: Encoder,
    weights: dict[str, torch.Tensor],
    recipe: base.Recipe,
    tests: Sequence[tuple[str, bool, list[Example]]],
) -> list[float]:
    """Train one model; its typed F1 on each test, over the types that have names."""

    def report(line: str) -> None:
        print(f"{recipe.characters} channels: {line}", flush=True)

    model, caution = base.train_base(found, encoder, weights, recipe, report)
    measured = [score(model, caution, test) for _, _, test in tests]
    report(" ".join(f"{100 * value:.1f}" for value in measured))
    return measured


def score(model: EvoNER, caution: float, test: Sequence[Example]) -> float:
    """Typed F1 over the types that have names."""
    return f1(test, predict(model, test, base.ROWS), caution, base.NAMES).typed


if __name__ == "__main__":
    main()
