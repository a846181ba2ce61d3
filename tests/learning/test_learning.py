"""A round on a real store with the shipped model: whole, interrupted at every stage, or refused.

The stages are one epoch long and learn from a dozen sentences, so what is shown is that nothing is
half-done; how well types are learned is measured in `experiments/crossner.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from smartrag import Document, Settings, SmartRAG, models
from smartrag.errors import LearningRefused, ModelError
from smartrag.perception import evoner
from smartrag.perception.encoder import open_session
from smartrag.perception.labelled import Entity, Sentence
from smartrag.perception.lessons import Lesson
from smartrag.perception.training import checkpoint, incremental
from smartrag.perception.training.loop import fit
from smartrag.perception.words import CHARACTERS
from smartrag.settings import DiscoverySettings, LearningSettings
from smartrag.thinking.scripted import ScriptedModel

BANDS = "Abba Genesis Blur Oasis Queen Muse Yes Kraftwerk Can Nirvana Bush Garbage".split()
LESSON = Lesson(
    {"band": "organization"},
    tuple(
        Sentence(str(n), ("The", "band", name, "played", "in", "Oslo"), (Entity(2, 2, "band"),))
        for n, name in enumerate(BANDS)
    ),
)
OTHER = replace(LESSON, new={"group": ""}, sentences=LESSON.sentences[:11])
FIT = "smartrag.perception.training.incremental.fit"
SHORT = tuple(replace(stage, epochs=1) for stage in incremental.STAGES)


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.set_num_threads(1)
    whole, replay, check = incremental.Round, checkpoint.replay, checkpoint.check

    def few(lesson: Lesson) -> Lesson:
        return replace(lesson, sentences=lesson.sentences[:12])

    monkeypatch.setattr(incremental, "Round", lambda **more: whole(stages=SHORT, **more))
    monkeypatch.setattr(checkpoint, "replay", lambda folder: few(replay(folder)))
    monkeypatch.setattr(checkpoint, "check", lambda folder: few(check(folder)))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[SmartRAG]:
    models.pull("minilm-l6-int8")
    settings = Settings(learning=LearningSettings(bound=100.0))
    with SmartRAG(tmp_path / "memory.db", settings) as opened:
        opened.add(Document("a", "The band Queen played in London."))
        yield opened


def types_of(memory: SmartRAG) -> list[str]:
    return [t.name for t in memory.types().types]


def test_a_round_deploys_a_version_and_the_store_is_read_again(memory: SmartRAG) -> None:
    before = memory.store.dump()
    outcome = memory.learn(LESSON)
    assert (outcome.outcome, outcome.stages, outcome.types) == ("learned", 3, ("band",))
    assert [held.name for held in outcome.held] == ["the base types"]
    band = memory.types().named("band")
    assert band is not None
    assert (band.status, band.parent, band.row) == ("trial", "organization", 11)
    assert memory.store.dump() == before  # the graph waits for its turn
    assert list(memory.retype()) == [(1, 0)]
    assert memory.store.versions.n_queued() == 0
    memory.promote("band")
    promoted = memory.types().named("band")
    assert promoted is not None
    assert promoted.status == "active"
    assert memory.search("Where did Queen play?").passages


def test_the_deployed_graph_is_the_parent_and_the_kept_update(memory: SmartRAG) -> None:
    """What later rounds go on from is what runs now, to the bit."""
    from smartrag.perception.training.export import to_int8, to_onnx
    from smartrag.perception.training.update import apply, from_bytes

    memory.learn(LESSON)
    version = memory.store.versions.deployed()
    assert version is not None
    [graph] = memory.store.versions.graphs(version)
    built = checkpoint.trainable(evoner.SHIPPED)
    apply(built, from_bytes(graph.update))
    chance = np.random.default_rng(0)
    text = {
        "states": chance.standard_normal((6, built.shape.hidden)).astype(np.float32),
        "first": np.arange(1, 5),
        "codes": chance.integers(0, 102, (4, CHARACTERS)),
    }
    [ours] = open_session(to_int8(to_onnx(built))).run(["labels"], text)
    [theirs] = open_session(graph.graph).run(["labels"], text)
    assert np.array_equal(ours, theirs)
    assert len(graph.update) < 4_000_000


def test_a_second_round_goes_on_from_the_first(memory: SmartRAG) -> None:
    memory.learn(LESSON)
    outcome = memory.learn(OTHER)
    assert [held.name for held in outcome.held] == ["the base types", "the types of round 1"]
    assert types_of(memory)[-2:] == ["band", "group"]
    memory.roll_back(None)
    assert "band" not in types_of(memory)
    memory.roll_back(outcome.version)
    assert types_of(memory)[-2:] == ["band", "group"]


@pytest.mark.parametrize("stage", [0, 1, 2])
def test_a_round_killed_in_a_stage_goes_on_there(
    memory: SmartRAG, stage: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def counted(*arguments: Any, killed: bool = False) -> None:
        calls.append(1)
        if killed and len(calls) == stage + 1:
            raise KeyboardInterrupt
        fit(*arguments)

    with monkeypatch.context() as once, pytest.raises(KeyboardInterrupt):
        once.setattr(FIT, partial(counted, killed=True))
        memory.learn(LESSON)
    assert memory.store.versions.deployed() is None
    unfinished = memory.store.versions.unfinished()
    assert (unfinished.stages if unfinished else 0) == stage
    calls.clear()
    monkeypatch.setattr(FIT, counted)
    assert memory.learn(LESSON).outcome == "learned"
    assert len(calls) == 3 - stage
    assert memory.store.versions.unfinished() is None


def test_a_paused_round_goes_on_with_the_same_lesson_only(memory: SmartRAG) -> None:
    paused = memory.learn(LESSON, may_go_on=lambda stage: stage == "heads")
    assert (paused.outcome, paused.stages) == ("paused", 1)
    assert memory.store.versions.deployed() is None
    with pytest.raises(LearningRefused, match="another round is under way") as caught:
        memory.learn(OTHER)
    assert "--abandon" in caught.value.remedy
    memory.store.versions.abandon()
    assert memory.learn(OTHER).types == ("group",)


def test_a_round_that_costs_too_much_is_refused_and_can_be_accepted(memory: SmartRAG) -> None:
    strict = replace(memory.settings, learning=LearningSettings(bound=-200.0))
    generous, memory.settings = memory.settings, strict
    before = memory.store.dump()
    with pytest.raises(LearningRefused, match="would lose"):
        memory.learn(LESSON)
    assert memory.store.versions.deployed() is None
    assert memory.store.dump() == before
    with pytest.raises(LearningRefused, match="would lose"):
        memory.learn(OTHER)  # a refused round is in nobody's way
    memory.settings = generous
    stages: list[str] = []
    assert memory.learn(OTHER, report=stages.append).outcome == "learned"
    assert not any("stage" in line for line in stages)  # nothing was trained again


def test_merging_and_retiring_rename_what_is_stored(memory: SmartRAG) -> None:
    memory.learn(LESSON)
    memory.merge("building", "location")
    memory.retire("location")
    memory.add(Document("b", "The Eiffel Tower stands in Paris."))
    counts = memory.store.versions.mention_counts()
    assert not {"building", "location"} & set(counts)
    with pytest.raises(ModelError, match="no type named 'nothing'"):
        memory.retire("nothing")


def test_types_learned_with_another_release_are_not_built_upon(
    memory: SmartRAG, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.learn(LESSON)
    monkeypatch.setattr(checkpoint, "weights_sha256", lambda folder: "another")
    with pytest.raises(LearningRefused, match="another release"):
        memory.learn(OTHER)
    assert memory.search("Queen").passages  # they are still found


def test_types_learned_on_another_encoder_are_refused(
    memory: SmartRAG, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.learn(LESSON)
    other = replace(evoner.shipped(), shared=replace(evoner.shipped().shared, tensor="other"))
    monkeypatch.setattr(evoner, "shipped", lambda: other)
    with pytest.raises(ModelError, match="another encoder") as caught:
        memory.types()
    assert "rollback" in caught.value.remedy
    memory.roll_back(None)
    assert "band" not in types_of(memory)


# --- from what has no type yet --------------------------------------------------------------------
LANGUAGES = (
    "Esperanto Volapük Ido Interlingua Novial Occidental Latino Klingon Quenya Sindarin Lojban "
    "Dothraki Solresol Basque Finnish Georgian Quechua Yoruba"
)
WIDE = Settings(
    learning=LearningSettings(bound=100.0),
    discovery=DiscoverySettings(epsilon=9.0, smallest=3, floor=0.1, merge=0.5),
)


@pytest.fixture
def polyglot(tmp_path: Path) -> Iterator[SmartRAG]:
    models.pull("minilm-l6-int8")
    asked = ScriptedModel(['{"type": "Language"}'])
    with SmartRAG(tmp_path / "memory.db", WIDE, model=asked) as opened:
        for n, name in enumerate(LANGUAGES.split()):
            opened.add(Document(str(n), f"She speaks the {name} language well. It rains."))
        yield opened


def test_what_mentions_without_a_type_share_is_proposed(polyglot: SmartRAG) -> None:
    found = polyglot.discover()
    [(proposal, examples)] = found.proposals
    assert proposal.name == "language"
    assert len(proposal.members) >= 10
    assert set(examples) <= {f"{n} language" for n in LANGUAGES.split()} | set(LANGUAGES.split())
    assert dict(found.lesson.new) == {"language": ""}
    assert all("language well ." in s.text for s in found.lesson.sentences)
    assert len(found.paragraphs) == len(found.lesson.sentences)
    named = polyglot.discover(ask_model=False)
    assert named.proposals[0][0].members == proposal.members


def test_a_discovered_type_is_learned_and_forgotten_sentences_go(polyglot: SmartRAG) -> None:
    found = polyglot.discover()
    assert polyglot.learn(found.lesson, paragraphs=found.paragraphs).outcome == "learned"
    version = polyglot.store.versions.deployed()
    assert version is not None
    [lesson] = polyglot.store.versions.lessons(version)
    assert "Esperanto" in "".join(lesson.sentences)
    polyglot.forget("0")
    [lesson] = polyglot.store.versions.lessons(version)
    assert "Esperanto" not in "".join(lesson.sentences)
    assert polyglot.discover().proposals == ()  # the name is known by now


def test_an_empty_store_speaks_for_no_type(tmp_path: Path) -> None:
    with SmartRAG(tmp_path / "memory.db") as memory:
        found = memory.discover(ask_model=False)
    assert (found.proposals, found.lesson.sentences, found.paragraphs) == ((), (), ())
