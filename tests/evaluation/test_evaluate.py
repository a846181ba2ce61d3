"""Whole evaluations over a pool of a few passages, with the hashing encoder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from experiments.capitalised import CapitalisedSpans
from smartrag.evaluation import answers, retrieval
from smartrag.evaluation.answer_methods import METHODS as ANSWER_METHODS
from smartrag.evaluation.datasets import Pool, load
from smartrag.evaluation.pools import PooledMemory, pooled
from smartrag.settings import Settings
from smartrag.system import SmartRAG
from smartrag.thinking import ScriptedModel
from tests.fakes import HashingEncoder

PARAGRAPHS = [
    {
        "title": "Night Ferry",
        "text": "Night Ferry is a film directed by Ada Berg. It was shot in Oslo.",
        "sentences": ["Night Ferry is a film directed by Ada Berg.", "It was shot in Oslo."],
        "supporting": True,
    },
    {
        "title": "Ada Berg",
        "text": "Ada Berg was born in Turku. She plays the organ.",
        "sentences": ["Ada Berg was born in Turku.", "She plays the organ."],
        "supporting": True,
    },
    *(
        {
            "title": f"Town {n}",
            "text": f"Town {n} lies by lake number {n}.",
            "sentences": [f"Town {n} lies by lake number {n}."],
            "supporting": False,
        }
        for n in range(10)
    ),
]
QUESTION = {
    "id": "1",
    "dataset": "made",
    "split": "dev",
    "question": "Where was the director of Night Ferry born?",
    "answers": ["Turku"],
    "type": "bridge",
    "paragraphs": PARAGRAPHS,
    "supporting_facts": [["Night Ferry", 0], ["Ada Berg", 0]],
}
IMPOSSIBLE = {
    **QUESTION,
    "id": "2",
    "question": "Who mined the moons of Jupiter?",
    "answers": [],
    "unanswerable": True,
    "supporting_facts": [],
    "paragraphs": PARAGRAPHS[2:],
}
REPLY = json.dumps(
    {
        "answer": "Turku",
        "sentences": [{"text": "Ada Berg was born in Turku.", "evidence": [1]}],
        "sufficient": True,
    }
)


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    path = tmp_path / "made.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in (QUESTION, IMPOSSIBLE)), encoding="utf-8")
    return load(path)


@pytest.fixture
def asked(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> Iterator[PooledMemory]:
    monkeypatch.setattr(SmartRAG, "encoder", HashingEncoder())
    monkeypatch.setattr(SmartRAG, "perceiver", CapitalisedSpans())
    sure = Settings.from_mapping({"focus": {"confidence_threshold": 0.0}})
    with pooled(pool, sure, ScriptedModel([REPLY]), None) as memory:
        yield memory


def test_the_graph_finds_both_passages_and_the_row_says_so(pool: Pool, asked: PooledMemory) -> None:
    rows = {
        str(row["method"]): row
        for row in retrieval.evaluate(pool, asked, list(retrieval.METHODS), seed=0)
    }
    assert set(rows) == set(retrieval.METHODS)
    ours = rows["smartrag"]
    assert (ours["recall@2"], ours["all@5"], ours["mrr"], ours["n"]) == (1.0, 1.0, 1.0, 1)
    assert (ours["recall@5_bridge"], ours["llm_calls"]) == (1.0, 0)
    assert isinstance(ours["ingest_paragraphs_per_s"], float)
    assert "recall@5_over_dense" in ours
    assert "recall@5_over_dense" not in rows["dense"]


def test_answers_are_scored_with_their_citations(pool: Pool, asked: PooledMemory) -> None:
    rows = answers.evaluate(
        pool, asked.memory, ["naive_dense", "smartrag"], source="smartrag", seed=0
    )
    ours = rows[1]
    assert (ours["f1"], ours["em"], ours["contains"], ours["abstained"]) == (1.0, 1.0, 1.0, 0.0)
    # The scripted model answers everything, also what cannot be answered.
    assert ours["false_answer"] == 1.0
    # One of the two supporting sentences is cited.
    assert (ours["citation_precision"], ours["citation_recall"]) == (1.0, 0.5)
    assert (ours["model"], ours["n"], ours["llm_calls"]) == ("scripted", 2, 1.0)
    # The naive method gets the same reply: 14 words, one of them right, so F1 = 2 / (14 + 1).
    assert rows[0]["f1"] == pytest.approx(2 / 15)
    assert ours["f1_over_naive_dense"] == pytest.approx(1 - 2 / 15)


@pytest.mark.parametrize("source", ["gold", "dense"])
def test_the_product_can_be_given_other_evidence(
    pool: Pool, asked: PooledMemory, source: str
) -> None:
    assert source in ("gold", "dense")
    reply = ANSWER_METHODS["smartrag"](
        asked.memory, pool, pool.items[0], "gold" if source == "gold" else "dense"
    )
    assert reply.text == "Turku"


def test_a_kept_store_is_not_ingested_again(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SmartRAG, "encoder", HashingEncoder())
    monkeypatch.setattr(SmartRAG, "perceiver", CapitalisedSpans())
    with pooled(pool, Settings(), None, tmp_path / "stores") as first:
        assert first.paragraphs_per_s is not None
    with pooled(pool, Settings(), None, tmp_path / "stores") as second:
        assert second.paragraphs_per_s is None
