"""Result files: the round trip, the Markdown twin, and which commit is named."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from smartrag.errors import DataError
from smartrag.evaluation.datasets import DataFile
from smartrag.evaluation.results import (
    Machine,
    ModelFile,
    Result,
    Row,
    commit,
    machine,
    read,
    to_json,
    to_markdown,
    write,
)

RESULT = Result(
    name="retrieval.small",
    command="smartrag eval retrieval --data small.jsonl --json",
    commit="abc123",
    date="2026-01-31",
    seed=0,
    machine=Machine("A processor", 2, 4 * 2**30, "Linux 6", "CPython 3.11.7", {"numpy": "2.0.0"}),
    data=(DataFile("small.jsonl", "d1", 3),),
    models=(ModelFile("minilm.onnx", "e2"),),
    rows=(
        {
            "method": "dense",
            "recall@5": 0.781,
            "recall@5_low": 0.7,
            "recall@5_high": 0.85,
            "n": 231,
        },
        {"method": "a|b", "recall@5": 1.0, "p95_ms": 12.3456, "ratio_to_peer": 0.5, "ok": True},
    ),
)


def test_a_result_survives_writing_and_reading(tmp_path: Path) -> None:
    path = write(RESULT, tmp_path / "results")
    assert path == tmp_path / "results" / "retrieval.small.json"
    assert read(path) == RESULT
    # Both files, and nothing left of the writing itself.
    assert sorted(p.name for p in path.parent.iterdir()) == [
        "retrieval.small.json",
        "retrieval.small.md",
    ]


def test_json_has_exactly_the_promised_fields() -> None:
    values = json.loads(to_json(RESULT))
    assert list(values) == [
        *("name", "command", "commit", "date", "seed", "machine", "data", "models", "rows"),
    ]
    assert values["data"] == [{"name": "small.jsonl", "sha256": "d1", "rows": 3}]
    assert values["rows"][0]["recall@5"] == 0.781


def test_markdown_shows_fractions_times_a_hundred_with_their_interval() -> None:
    assert (
        to_markdown(RESULT)
        == """\
# retrieval.small

```sh
smartrag eval retrieval --data small.jsonl --json
```

- commit `abc123`, 2026-01-31, seed 0
- A processor, 2 cores, 4.0 GiB; Linux 6; CPython 3.11.7, numpy 2.0.0
- data `small.jsonl`: 3 rows, SHA-256 `d1`
- model `minilm.onnx`: SHA-256 `e2`
- timings belong to this one machine

| method | recall@5 % | n | p95_ms | ratio_to_peer | ok |
| --- | --- | --- | --- | --- | --- |
| dense | 78.1 [70.0, 85.0] | 231 |  |  |  |
| a\\|b | 100.0 |  | 12.35 | 0.5 | True |
"""
    )


def test_a_failed_write_leaves_the_old_files(tmp_path: Path) -> None:
    path = write(RESULT, tmp_path)
    before = path.read_bytes()
    rows: list[Row] = [{"method": "dense", "mrr": float("nan")}]
    with pytest.raises(ValueError, match="JSON compliant"):
        write(Result.of_this_run("retrieval.small", "x", 0, rows), tmp_path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["", "..", "a/b", "C:\\data\\b", "/data/b"])
def test_names_with_a_folder_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="not a bare file name"):
        Result.of_this_run(name, "x", 0, ())
    with pytest.raises(ValueError, match="not a bare file name"):
        Result.of_this_run("a", "x", 0, (), data=[DataFile(name, "", 0)])


@pytest.mark.parametrize("text", ["", "[]", '{"name": "a"}', "{"])
def test_what_is_not_a_result_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"^evaluation: a\.json: this is not a result file"):
        read(path)
    with pytest.raises(DataError, match=r"b\.json"):
        read(tmp_path / "b.json")


def test_the_machine_is_described() -> None:
    here = machine()
    assert here.processor
    assert here.cores >= 1
    assert here.memory_bytes >= 0
    assert "numpy" in here.libraries


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_the_commit_is_named_and_changes_are_confessed(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        command = ["git", *who, *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
        return done.stdout.decode().strip()

    source = tmp_path / "code" / "a.py"
    figures = tmp_path / "experiments" / "results" / "a.json"
    for path in (source, figures):
        path.parent.mkdir(parents=True)
        path.write_text("1")
    git("init", "-q")
    assert commit(source) == "unknown"
    git("add", ".")
    git("commit", "-q", "-m", "first")
    head = git("rev-parse", "HEAD")
    assert commit(source) == head
    figures.write_text("2")
    (tmp_path / "new.txt").write_text("not tracked")
    assert commit(source) == head
    source.write_text("2")
    assert commit(source) == f"{head}-dirty"
    # A file of an installed package inside the same folder belongs to no commit of it.
    installed = source.with_name("installed.py")
    installed.write_text("3")
    assert commit(installed) == "unknown"
