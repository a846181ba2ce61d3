"""`smartrag learn` and `smartrag types`, on a real store and without training anything."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from smartrag.cli import battery
from smartrag.errors import LearningRefused
from smartrag.learning import RoundOutcome
from smartrag.memory.versions import LearnedGraph, LessonLines
from smartrag.perception import evoner
from smartrag.perception.lessons import Lesson
from smartrag.perception.training.loop import F1
from smartrag.perception.training.rounds import Held
from smartrag.system import SmartRAG
from tests.cli.conftest import Run

BAND = {"tokens": ["Abba", "sang"], "entities": [[0, 0, "band"]]}


@pytest.fixture
def lesson(tmp_path: Path) -> Path:
    file = tmp_path / "bands.jsonl"
    lines = [{"type": "band", "parent": "organization"}, *[BAND] * 12]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return file


@pytest.fixture
def learns(monkeypatch: pytest.MonkeyPatch) -> None:
    """`SmartRAG.learn` as it would be with all the time in the world."""

    def learn(
        memory: SmartRAG,
        lesson: Lesson,
        may_go_on: Callable[[str], bool],
        report: Callable[[str], None],
    ) -> RoundOutcome:
        if not may_go_on("heads"):
            return RoundOutcome("paused", 0, tuple(lesson.new))
        known = evoner.shipped()
        described = {"shared": asdict(known.shared), "caution": known.caution}
        version = memory.store.versions.deploy(
            None,
            LearnedGraph("base", known.graph, b"", json.dumps(described)),
            known.inventory.with_types(lesson.new).to_json(),
            f"learned {', '.join(lesson.new)}",
            LessonLines(lesson.new, [], []),
        )
        held = (Held("the base types", F1(0.731, 0.82), F1(0.727, 0.82)),)
        return RoundOutcome("learned", 3, tuple(lesson.new), version, held)

    monkeypatch.setattr(SmartRAG, "learn", learn)


def test_a_lesson_is_learned_and_the_documents_are_read_again(
    run: Run, filled: Path, lesson: Path, learns: None
) -> None:
    learned = run("learn", "--types", str(lesson))
    assert learned.exit_code == 0, learned.output
    assert "learned as version 1, on trial: band" in learned.output
    assert "the base types: F1 73.1 before, 72.7 after" in learned.output
    assert "3 paragraphs were read again" in learned.output
    listed = run("types").output
    assert "band" in listed
    assert "trial" in listed
    assert "organization" in listed


def test_types_are_promoted_merged_retired_and_rolled_back(
    run: Run, filled: Path, lesson: Path, learns: None
) -> None:
    run("learn", "--types", str(lesson), "--no-retype")
    assert "3 paragraphs wait" in run("types").output
    assert run("types", "retype").exit_code == 0
    assert "wait" not in run("types").output
    assert run("types", "promote", "band").exit_code == 0
    assert run("types", "merge", "building", "location").exit_code == 0
    assert "merged into location" in run("types", "list").output
    assert run("types", "retire", "event").exit_code == 0
    assert "retired" in run("types").output
    versions = run("types", "versions").output
    assert "as it was shipped" in versions
    assert "merged building into location" in versions
    assert run("types", "rollback").exit_code == 0
    assert "retired" not in run("types").output
    assert run("types", "rollback", "--to", "0").exit_code == 0
    assert "band" not in run("types").output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("types", "promote", "band"), "there is no type named 'band'"),
        (("types", "merge", "person", "person"), "are one type already"),
        (("types", "retire", "nothing"), "there is no type named 'nothing'"),
        (("types", "rollback", "--to", "7"), "there is no version 7"),
        (("learn", "--types", "none.jsonl"), "none.jsonl: the file cannot be read"),
    ],
)
def test_what_is_wrong_is_one_sentence(
    run: Run, filled: Path, arguments: tuple[str, ...], said: str
) -> None:
    result = run(*arguments)
    assert result.exit_code == 1
    assert said in " ".join(result.output.split())


def test_learning_needs_a_lesson_and_a_store(run: Run, filled: Path, lesson: Path) -> None:
    assert run("learn").exit_code == 2
    assert run("learn", "--abandon", "--types", str(lesson)).exit_code == 2
    elsewhere = run("learn", "--types", str(lesson), store=filled / "none.db")
    assert elsewhere.exit_code == 1
    assert "there is no store here" in elsewhere.output
    assert not (filled / "none.db").exists()


def test_a_round_without_time_or_charge_is_paused(
    run: Run, filled: Path, lesson: Path, learns: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = run("learn", "--types", str(lesson), "--minutes", "0")
    assert "the time is used up: stopped before 'heads'" in late.output
    assert "the same command goes on" in late.output
    monkeypatch.setattr("smartrag.cli.learning.charge", lambda: 40)
    assert (
        "the battery is at 40 %"
        in run("learn", "--types", str(lesson), "--min-charge", "50").output
    )
    monkeypatch.setattr("smartrag.cli.learning.charge", lambda: None)
    unknown = run("learn", "--types", str(lesson), "--min-charge", "50")
    assert unknown.exit_code == 1
    assert "does not say how full its battery is" in unknown.output
    assert run("learn", "--abandon").exit_code == 0


def test_a_refused_round_is_one_sentence(
    run: Run, filled: Path, lesson: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: object) -> RoundOutcome:
        raise LearningRefused("the base types would lose 3.0 points", remedy="Give more sentences")

    monkeypatch.setattr(SmartRAG, "learn", refuses)
    result = run("learn", "--types", str(lesson))
    assert result.exit_code == 1
    assert "learn: the base types would lose 3.0 points. Give more sentences" in result.output


def test_the_charge_is_read_where_linux_or_termux_tell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert battery.charge(tmp_path) is None
    status = tmp_path / "termux-battery-status"
    status.write_text('#!/bin/sh\necho \'{"percentage": 77, "status": "DISCHARGING"}\'\n')
    status.chmod(0o755)
    assert battery.charge(tmp_path) == 77
    status.write_text("#!/bin/sh\necho nothing\n")
    assert battery.charge(tmp_path) is None
    (tmp_path / "BAT0").mkdir()
    (tmp_path / "BAT0" / "capacity").write_text("0\n")
    assert battery.charge(tmp_path) == 0
