"""Retrieval as a whole, over a small corpus and the fake encoder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from smartrag import Document, Settings, SmartRAG
from smartrag.focus import gather
from smartrag.perception import Perception
from smartrag.thinking import plan_by_rules
from smartrag.types import Evidence, FloatArray, Hop, Plan
from tests.fakes import open_memory

DIRECTOR = "Where was the director of The Glass Orchard born?"


@pytest.fixture
def filled(memory: SmartRAG, small_corpus: tuple[Document, ...]) -> SmartRAG:
    memory.add(small_corpus)
    return memory


def labels(evidence: Evidence) -> list[str]:
    return [p.label for p in evidence.passages]


def test_both_hops_of_a_question_are_found(filled: SmartRAG) -> None:
    found = filled.search(DIRECTOR)
    assert found.linked == ("The Glass Orchard",)
    assert {"The Glass Orchard", "Mara Lindqvist"} <= set(labels(found)[:3])


def test_a_passage_found_by_a_hop_says_from_where(
    filled: SmartRAG, store_path: Path, settings: Settings
) -> None:
    one_seed = replace(settings, focus=replace(settings.focus, seeds=1))
    with open_memory(store_path, one_seed, write=False) as memory:
        [mara] = [p for p in memory.search(DIRECTOR).passages if p.label == "Mara Lindqvist"]
    assert mara.via == "mara lindqvist ← The Glass Orchard"
    assert mara.channels.hops > 0


def test_a_named_passage_keeps_its_place_and_its_offsets(filled: SmartRAG) -> None:
    found = filled.search("What does Port Savile teach?")
    [first] = [p for p in found.passages if p.label == "Port Savile"]
    assert first.stage == "linked"
    assert first.document == "Port Savile.md"
    assert first.channels.link == pytest.approx(1, abs=0.7)
    assert (first.start, first.end) == (0, len(first.text))


def test_evidence_is_bounded_distinct_and_made_of_whole_sentences(filled: SmartRAG) -> None:
    found = filled.search(DIRECTOR)
    assert len(found.passages) == 8
    assert len({p.paragraph_id for p in found.passages}) == 8
    assert [len(p.kept) for p in found.passages[:2]] == [2, 2]
    assert [p.kept for p in found.passages[5:]] == [()] * 3
    for p in found.passages:
        channels = (p.channels.lexical, p.channels.dense, p.channels.sentence, p.channels.link)
        assert all(0 <= value <= 1 for value in channels)
    assert 0 < found.confidence < 1
    assert found.sufficient == (found.confidence >= 0.5)
    assert set(found.seconds) == {"link", "channels", "sentences", "residual", "hops", "passages"}


def test_the_phrases_of_a_plan_lead_in_place_of_the_rest_of_the_question(
    filled: SmartRAG, perception: Perception, settings: Settings
) -> None:
    asked = perception.ask("Tell me about Otto Brandl please")
    view = filled.store.view("default")
    embedded: list[str] = []

    def embed(text: str) -> FloatArray:
        embedded.append(text)
        return perception.embed(text)

    plan = Plan("model", ("Otto Brandl",), (Hop("silver was found", "date"), Hop("  "), Hop("x y")))
    gather(asked, plan, view, settings.focus, embed)
    assert embedded == ["silver was found", "x y"]
    embedded.clear()
    gather(asked, plan_by_rules(asked), view, settings.focus, embed)
    assert embedded == ["Tell me about please"]


def test_a_question_without_a_linked_name_has_no_rest(
    filled: SmartRAG, perception: Perception, settings: Settings
) -> None:
    asked = perception.ask("who found silver")

    def embed(text: str) -> FloatArray:
        raise AssertionError(text)

    view = filled.store.view("default")
    gather(asked, plan_by_rules(asked), view, settings.focus, embed)


def test_an_empty_store_gives_no_evidence_and_no_confidence(memory: SmartRAG) -> None:
    found = memory.search("Where is Oslo?")
    assert (found.passages, found.confidence, found.sufficient) == ((), 0.0, False)


def test_a_single_paragraph_is_found_without_anything_to_compare_it_with(memory: SmartRAG) -> None:
    memory.add(Document("a", "Oslo is old."))
    [found] = memory.search("How old is Oslo?").passages
    assert found.text == "Oslo is old."


def test_another_lens_sees_nothing_of_it(filled: SmartRAG, store_path: Path) -> None:
    with open_memory(store_path, lens="other", write=False) as other:
        assert other.search(DIRECTOR).passages == ()


def test_the_same_question_has_the_same_evidence_every_time(filled: SmartRAG) -> None:
    found = [replace(filled.search(DIRECTOR), seconds={}) for _ in range(5)]
    assert found.count(found[0]) == 5


ALPHABET = st.sampled_from(
    "The Glass Orchard Ines \"*()-:^{}NEAR AND OR NOT?'\0\n東é½ﷺͺ"
) | st.characters(exclude_categories=["Cs"])


@given(
    st.text(ALPHABET, max_size=300)
    | st.text(ALPHABET, min_size=1, max_size=9).map(lambda s: (s * 2000)[:2000])
)
@hypothesis_settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_any_text_is_a_legal_question(filled: SmartRAG, question: str) -> None:
    found = filled.search(question)
    assert found.question == question
    assert len(found.passages) == 8
    assert 0 <= found.confidence <= 1


def test_a_models_plan_may_name_what_the_question_only_describes(
    filled: SmartRAG, perception: Perception, settings: Settings
) -> None:
    asked = perception.ask("who directed that drama about a gardener?")
    view = filled.store.view("default")
    plain = gather(asked, plan_by_rules(asked), view, settings.focus, perception.embed)
    assert "Mara Lindqvist" not in [p.label for p in plain.passages if p.stage == "linked"]
    plan = Plan("model", ("Mara Lindqvist",))
    named = gather(asked, plan, view, settings.focus, perception.embed)
    assert "Mara Lindqvist" in [p.label for p in named.passages if p.stage == "linked"]


@pytest.mark.parametrize("top_k", [1, 3, 8, 20])
def test_the_gate_judges_alike_however_many_passages_are_asked_for(
    filled: SmartRAG, perception: Perception, settings: Settings, top_k: int
) -> None:
    asked = perception.ask(DIRECTOR)
    view = filled.store.view("default")
    usual = filled.search(DIRECTOR)
    focus = replace(settings.focus, top_k=top_k)
    found = gather(asked, plan_by_rules(asked), view, focus, perception.embed)
    assert (found.signals, found.confidence) == (usual.signals, usual.confidence)
    assert labels(found)[:8] == labels(usual)[:top_k]
    assert len(found.passages) <= top_k
