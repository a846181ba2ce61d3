"""The relation classifier learns a rule by heart, and runs without torch as it was trained."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from smartrag.perception import evoner, relations
from smartrag.perception.encoder import Encoder
from smartrag.perception.labelled import Entity
from smartrag.perception.labels import BASE_TYPES
from smartrag.perception.relations import Place, RelationClassifier, candidates
from smartrag.perception.training.relation_data import (
    RELATIONS,
    Passage,
    re_docred_documents,
)
from smartrag.perception.training.relation_examples import (
    RelationExample,
    SpanReader,
    relation_examples,
)
from smartrag.perception.training.relation_model import adaptive_threshold_loss
from smartrag.perception.training.relations import (
    RelationRecipe,
    best_threshold,
    fit_relations,
    predicted,
    relation_types,
    save_relations,
)

NAMES = ("before", "below")
Z = 256


def example(seed: int) -> RelationExample:
    """Three mentions; each stands *before* those behind it, and is *below* those whose first
    number is large."""
    chance = np.random.default_rng(seed)
    mentions = chance.standard_normal((3, Z)).astype(np.float16)
    mentions[:, 0] = np.sign(mentions[:, 0]) * 3
    words = chance.standard_normal((7, Z)).astype(np.float16)
    pairs = candidates([(0, 0), (2, 3), (6, 6)], np.zeros(7, np.int64))
    gold = np.zeros((len(pairs), 2), np.int8)
    for row, (head, tail) in enumerate(zip(pairs.heads, pairs.tails, strict=True)):
        gold[row] = (head < tail, mentions[tail, 0] > 0)
    passage = Passage(str(seed), str(seed), (), (), (), ())
    types = np.array([0, 1, 2])
    return RelationExample(passage, (0, 1, 2), words, mentions, types, pairs, gold)


@pytest.fixture(scope="module")
def found() -> list[RelationExample]:
    return [example(seed) for seed in range(60)]


def test_a_rule_is_learned_and_a_threshold_chosen(found: list[RelationExample]) -> None:
    recipe = RelationRecipe(epochs=25, pairs=60)
    model = fit_relations(found[:50], NAMES, recipe)
    said = predicted(model, found[50:])
    threshold = best_threshold(found[50:], said)
    gold = np.concatenate([e.gold for e in found[50:]])
    right = (np.concatenate(said) >= threshold) == (gold == 1)
    assert right.mean() > 0.9


def test_what_nobody_judged_takes_no_part_in_the_loss() -> None:
    logits = torch.tensor([[0.0, 2.0, -1.0]], requires_grad=True)
    loss = adaptive_threshold_loss(logits, torch.tensor([[-1, 0]], dtype=torch.int8))
    torch.autograd.backward(loss)
    assert logits.grad is not None
    assert logits.grad[0, 1] == 0 != logits.grad[0, 2]


def test_a_saved_classifier_runs_as_it_was_trained(
    found: list[RelationExample], tmp_path: Path
) -> None:
    wide = [replace(e, gold=np.tile(e.gold, (1, 15))) for e in found[:8]]  # 30 relations
    model = fit_relations(wide[:4], RELATIONS, RelationRecipe(epochs=1))
    types = relation_types(model, wide[:4], wide[4:], RelationRecipe())
    known = evoner.shipped()
    save_relations(tmp_path, model, types, known)
    loaded = relations.load(tmp_path)
    assert loaded.relations == types
    # The first stands before those behind it, whatever it is of.
    assert types[0].types == {(BASE_TYPES[a], BASE_TYPES[b]) for a, b in ((0, 1), (0, 2), (1, 2))}
    one = found[0]
    mentions = [
        Place(f, last, BASE_TYPES[t])
        for (f, last), t in zip([(0, 0), (2, 3), (6, 6)], one.types, strict=True)
    ]
    spans = np.zeros((7, 10, Z), np.float32)
    spans[:, 0] = one.words
    for place, vector in zip(mentions, one.mentions, strict=True):
        spans[place.first, place.last - place.first] = vector
    scores = RelationClassifier(loaded, known.graph).scores(mentions, spans, one.pairs)
    # A mention of one word is one vector at runtime, and two made-up ones here.
    words = spans[:, 0].astype(np.float16)
    [expected] = predicted(model, [replace(one, words=words)])
    np.testing.assert_allclose(scores, expected, atol=1e-4)


def test_pronouns_are_mentions_where_they_surely_stand_for_the_main_entity(tmp_path: Path) -> None:
    row = {
        "id": "d",
        "tokens": "Ada Berg sang . She was born in Oslo . It is large .".split(),
        "sentence_starts": [0, 4, 10],
        "entities": [[0, 1, "PER"], [8, 8, "LOC"]],
        "clusters": [[0], [1]],
        "cluster_relations": [[0, 1, "place of birth"], [0, 1, "residence"]],
        "evidence": [[0, 1], []],
    }
    path = tmp_path / "re-docred-doc.dev.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    [plain] = re_docred_documents(path, 100)
    assert len(plain.entities) == 2
    [passage] = re_docred_documents(path, 100, references=True)
    assert [passage.tokens[e.first] for e in passage.entities] == ["Ada", "Oslo", "She"]
    assert (2, 1, "place of birth") in passage.holds
    # Nobody marked where the residence is said.
    assert (2, 1, "residence") in passage.unsure


def test_documents_are_cut_and_read_with_facts_of_the_nearest_mentions(
    tmp_path: Path, minilm_shared: Encoder
) -> None:
    row = {
        "id": "d",
        "tokens": "Ada lives . Ada was born in Oslo . Ben is here .".split(),
        "sentence_starts": [0, 3, 9],
        "entities": [[0, 0, "PER"], [3, 3, "PER"], [7, 7, "LOC"], [9, 9, "PER"]],
        "clusters": [[0, 1], [2], [3]],
        "cluster_relations": [[0, 1, "place of birth"]],
        "evidence": [[1]],
    }
    path = tmp_path / "re-docred-doc.dev.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    [whole] = re_docred_documents(path, 100)
    assert whole.holds == ((1, 2, "place of birth"),)
    assert whole.unsure == ((0, 2, "place of birth"),)
    [_, second, _] = re_docred_documents(path, 1)
    assert second.holds == ((0, 1, "place of birth"),)
    assert second.mentions == (1, 2)
    [seen] = relation_examples([whole], SpanReader(minilm_shared, evoner.shipped()))
    [(pair, column)] = np.argwhere(seen.gold == 1).tolist()
    assert (seen.pairs.heads[pair], seen.pairs.tails[pair]) == (1, 2)
    assert RELATIONS[column] == "place of birth"
    assert [BASE_TYPES[t] for t in seen.types[:3]] == ["person", "person", "location"]


def test_what_a_sparse_set_does_not_mark_is_no_argument_of_what_it_asks(
    minilm_shared: Encoder,
) -> None:
    passage = Passage(
        id="p",
        document="p",
        tokens=tuple("Ada Berg was born in Oslo , and Ben Dahl in Bergen .".split()),
        sentences=(0,),
        entities=(Entity(0, 1, "entity"), Entity(5, 5, "entity")),
        holds=((0, 1, "place of birth"),),
        asked=frozenset({"place of birth"}),
        sparse=True,
    )
    [seen] = relation_examples([passage], SpanReader(minilm_shared, evoner.shipped()))
    assert seen.places == (0, 1)
    assert len(seen.mentions) == 4  # EvoNER finds Ben Dahl and Bergen
    column = RELATIONS.index("place of birth")
    assert seen.gold[:, column].tolist().count(1) == 1
    assert seen.gold[:, column].tolist().count(0) == len(seen.pairs) - 1
    assert (np.delete(seen.gold, column, axis=1) == -1).all()
