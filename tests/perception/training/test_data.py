from __future__ import annotations

import random

import numpy as np

from smartrag.perception.encoder import Encoder
from smartrag.perception.labelled import Entity, Sentence
from smartrag.perception.training.data import (
    Batch,
    Example,
    Gold,
    Guideline,
    batches,
    collate,
    examples,
    labelled,
    packed,
)
from tests.perception.training.conftest import MakeExample


def allowed(batch: Batch, text: int, word: int, width: int) -> list[int]:
    row = int(batch.allowed[text, word, width])
    return np.flatnonzero(batch.sets[row].numpy()).tolist()


def test_every_span_knows_the_labels_that_it_may_have(text: MakeExample) -> None:
    batch = collate([text(5, [Gold(1, 2, (1, 2))], unmarked=(3,))], 4, 3)
    assert allowed(batch, 0, 1, 1) == [1, 2]  # the entity: one of two types
    assert allowed(batch, 0, 1, 0) == [0]  # crosses it, so it is none
    assert allowed(batch, 0, 0, 2) == [0]
    assert allowed(batch, 0, 3, 0) == [0, 3]  # elsewhere the unmarked type is possible
    assert batch.valid[0].tolist() == [
        *[[True] * 3] * 3,
        [True, True, False],
        [True, False, False],
    ]
    assert batch.starts[0].tolist() == [0, 1, 0, 0, 0]
    assert batch.ends[0].tolist() == [0, 0, 1, 0, 0]


def test_where_only_some_spans_are_open_the_others_are_none(text: MakeExample) -> None:
    open_ = np.zeros((4, 3), bool)
    open_[2, 1] = True
    batch = collate([text(4, unmarked=(3,), open=open_)], 4, 3)
    assert allowed(batch, 0, 2, 1) == [0, 3]
    assert allowed(batch, 0, 2, 0) == [0]
    assert batch.starts[0].tolist() == [0, 0, -1, 0]
    assert batch.ends[0].tolist() == [0, 0, 0, -1]


def test_borders_of_silent_types_and_of_padding_say_nothing(text: MakeExample) -> None:
    batch = collate([text(4, [Gold(0, 1, (3,))]), text(2)], 4, 3, frozenset({3}))
    assert batch.starts.tolist() == [[-1, 0, 0, 0], [0, 0, -1, -1]]
    assert batch.ends.tolist() == [[0, -1, 0, 0], [0, 0, -1, -1]]
    assert batch.mask.sum(1).tolist() == [6, 4]


def test_a_text_can_be_read_without_capitals(text: MakeExample) -> None:
    example = text(2)
    example.words.codes[:] = 34 + 25  # "Z"
    upper, lower = collate([example] * 2, 4, 3, lower=[False, True]).codes
    assert (upper == 34 + 25).all()
    assert (lower == 66 + 25).all()  # "z"


def test_an_entity_wider_than_a_span_is_none_inside(text: MakeExample) -> None:
    batch = collate([text(6, [Gold(0, 4, (1,))])], 4, 3)
    assert {tuple(allowed(batch, 0, w, x)) for w in range(5) for x in range(3)} == {(0,)}
    assert batch.starts[0].tolist() == [1, 0, 0, 0, 0, 0]


def test_sentences_become_examples_of_whole_words(minilm_shared: Encoder) -> None:
    sentence = Sentence(
        "s", ("Ada", "Lovelace-King", "sang"), (Entity(0, 1, "PER"), Entity(2, 2, "verb"))
    )
    guideline = Guideline({"PER": (1,)}, (2,))
    [example] = examples([sentence], guideline, minilm_shared, 3)
    assert len(example.words) == 5  # Ada, Lovelace, -, King, sang
    assert example.gold == (Gold(0, 3, (1,), "PER"), Gold(4, 4, (0, 2), "verb"))
    assert example.words.states.dtype == np.float16


def test_half_of_the_sentences_are_joined_and_none_is_lost() -> None:
    sentences = [Sentence(str(i), (f"word{i}", "."), (Entity(0, 0, "x"),)) for i in range(200)]
    texts = packed(sentences, 10, seed=0)
    assert packed(sentences, 10, seed=0) == texts
    assert sorted(t for s in texts for t in s.tokens) == sorted(
        t for s in sentences for t in s.tokens
    )
    assert all(len(s.tokens) <= 10 for s in texts)
    assert 70 < sum(len(s.tokens) == 2 for s in texts) < 130
    for joined in texts:
        assert all(joined.tokens[e.first].startswith("word") for e in joined.entities)


def test_batches_hold_every_example_once_and_few_tokens(text: MakeExample) -> None:
    found: list[Example] = [text(1 + i % 9, seed=i) for i in range(40)]
    groups = list(batches(found, 30, random.Random(0)))
    assert sorted(id(e) for g in groups for e in g) == sorted(map(id, found))
    assert all(len(g) * max(len(e.words.states) for e in g) <= 30 for g in groups)


def test_a_thing_of_an_unknown_type_is_of_none_that_is_known(text: MakeExample) -> None:
    example = text(4, [Gold(0, 0, (), "band"), Gold(2, 2, (), "misc")])
    [told] = labelled([example], Guideline({"band": (2,), "song": (3, 4)}), 6)
    assert [gold.rows for gold in told.gold] == [(2,), (0, 1, 5)]
