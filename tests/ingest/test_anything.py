"""Any bytes are a legal file, and any string is a legal document and a legal question."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smartrag import Document, SmartRAG
from smartrag.perception.readers import SUFFIXES

SHARED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=80)
ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=2000)  # lone surrogates too


@SHARED
@given(content=st.binary(max_size=3000), suffix=st.sampled_from([*sorted(SUFFIXES), ".dat"]))
def test_any_bytes_end_as_one_outcome(
    memory: SmartRAG, tmp_path: Path, content: bytes, suffix: str
) -> None:
    path = tmp_path / f"file{suffix}"
    path.write_bytes(content)
    [outcome] = memory.ingest([path])
    assert outcome.outcome in ("added", "replaced", "unchanged", "duplicate", "failed")
    assert (outcome.reason != "") == (outcome.outcome in ("duplicate", "failed"))
    there = {d.name: d for d in memory.documents()}
    if outcome.outcome in ("added", "replaced"):
        assert there[outcome.name].status == "indexed"
    assert sum(d.paragraphs for d in there.values()) == memory.stats().paragraphs


@SHARED
@given(text=ANY_TEXT, title=st.text(st.characters(exclude_categories=[]), max_size=60))
def test_any_text_is_a_document_and_a_question(memory: SmartRAG, text: str, title: str) -> None:
    [outcome] = memory.add(Document("any", text, title=title))
    assert outcome.outcome in ("added", "replaced", "unchanged")
    evidence = memory.search(text)
    for passage in evidence.passages:
        assert passage.document == "any"
        assert len(passage.text) == passage.end - passage.start
