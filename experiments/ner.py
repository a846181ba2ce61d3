"""How well the shipped EvoNER finds entities, on clean text and on misspelt copies.

Few-NERD's own test part of the base recipe, WikiGold as an outside test, Re-DocRED's test file.
In a misspelt copy, 10 % of the words of four letters or more have one slip: a letter left out, one
doubled, two neighbours swapped, or one replaced by another of the alphabet.

    python -m experiments.ner --data ../shared/data/ner
"""

from __future__ import annotations

import argparse
import random
import shlex
import string
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from smartrag import models
from smartrag.evaluation import ner
from smartrag.evaluation.datasets import DataFile
from smartrag.evaluation.results import ModelFile, Result, Row, write
from smartrag.perception import Encoder, EvoNER, evoner
from smartrag.perception.labelled import Sentence, read_sentences
from smartrag.perception.training import base
from smartrag.settings import PerceptionSettings

FILES = ("few-nerd.dev", "wikigold.all", "re-docred.test")
SHARE = 0.1
SHORTEST = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the NER files")
    parser.add_argument("--model", type=Path, default=evoner.SHIPPED)
    parser.add_argument("--seed", type=int, default=0, help="of the misspellings")
    parser.add_argument("--results", type=Path, default=Path("experiments/results"))
    arguments = parser.parse_args()
    model = evoner.load(arguments.model)
    path = models.locate(PerceptionSettings().encoder)
    encoder = Encoder(path, PerceptionSettings(), shared=model.shared)
    recognise = ner.recogniser(encoder, EvoNER(model, workers=2))
    rows: list[Row] = []
    files: list[DataFile] = []
    for name in FILES:
        source = arguments.data / f"{name}.jsonl.gz"
        every = list(read_sentences(source, nested=True))
        files.append(DataFile.of(source, len(every)))
        tested = [s for s in every if base.part_of(s) == "test"] if name == FILES[0] else every
        for misspelt in (False, True):
            texts = [with_slips(s, arguments.seed) for s in tested] if misspelt else tested
            for row in ner.evaluate(texts, recognise, model.inventory)[
                : None if not misspelt else 1
            ]:
                rows.append({"data": name, "sentences": len(tested), "misspelt": misspelt, **row})
                print(rows[-1], flush=True)
    command = shlex.join(["python", "-m", "experiments.ner", *sys.argv[1:]])
    used = [
        ModelFile.of(path.name, path),
        ModelFile.of(evoner.GRAPH, arguments.model / evoner.GRAPH),
    ]
    result = Result.of_this_run("ner", command, arguments.seed, rows, files, used)
    print(write(result, arguments.results))


def with_slips(sentence: Sentence, seed: int) -> Sentence:
    """The sentence with slips in its words; which ones, its id and the seed decide."""
    chance = random.Random(f"{seed} {sentence.id}")
    return replace(sentence, tokens=tuple(slipped(t, chance) for t in sentence.tokens))


def slipped(word: str, chance: random.Random) -> str:
    """The word, one time in ten with a slip."""
    if len(word) < SHORTEST or not word.isalpha() or chance.random() >= SHARE:
        return word
    at = chance.randrange(1, len(word) - 1)
    before, letter, following, after = word[:at], word[at], word[at + 1], word[at + 2 :]
    forms: Sequence[str] = (
        before + following + after,
        before + letter * 2 + following + after,
        before + following + letter + after,
        before + chance.choice(string.ascii_lowercase) + following + after,
    )
    return chance.choice(forms)


if __name__ == "__main__":
    main()
