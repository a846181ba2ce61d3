"""`smartrag eval ner` with the real encoder and the shipped recogniser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from smartrag import models
from tests.cli.conftest import Run


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    file = tmp_path / "mine.jsonl"
    rows = [
        {
            "tokens": ["Ada", "Lovelace", "lived", "in", "London", "."],
            "entities": [[0, 1, "PER"], [4, 4, "LOC"]],
        },
        {"tokens": ["It", "rained", "."], "entities": []},
    ]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return file


def test_marked_entities_are_found_and_scored(
    run: Run, labelled: Path, minilm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smartrag.cli.evaluate.locate", lambda name: minilm)
    result = run("eval", "ner", "--data", str(labelled), "--json")
    assert result.exit_code == 0, result.output
    rows = {row["type"]: row for row in json.loads(result.stdout)["rows"]}
    assert (rows["all"]["f1"], rows["all"]["span_f1"], rows["all"]["n"]) == (1.0, 1.0, 2)
    assert set(rows) == {"all", "person", "location"}


def test_a_file_that_is_not_labelled_is_a_clear_error(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text('{"text": "Ada"}\n', encoding="utf-8")
    result = run("eval", "ner", "--data", str(file))
    assert result.exit_code == 1
    assert "line 1: has the unknown key 'text'" in " ".join(result.output.split())


@pytest.fixture
def minilm(monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.undo()  # the model cache of whoever runs the tests
    return models.pull("minilm-l6-int8")
