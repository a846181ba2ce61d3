from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from smartrag.cli.text import shown
from smartrag.errors import GenerationError
from smartrag.thinking import Prompt
from smartrag.thinking.scripted import ScriptedModel

from .conftest import ANSWER, Run

Says = Callable[..., ScriptedModel]
BORN = "Where was Ada Lovelace born?"


@pytest.fixture(autouse=True)
def store(filled: Path) -> None:
    """All tests here ask the same small store."""


def test_an_answer_with_its_citations(run: Run, says: Says) -> None:
    says(ANSWER)
    result = run("ask", BORN)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "London",
        "",
        "Ada Lovelace was born in London in 1815. [1]",
        "",
        "[1] notes/ada.md:16–56  Ada Lovelace",
        "    “Ada Lovelace was born in London in 1815.”",
    ]


def test_a_short_answer_that_is_its_own_sentence(run: Run, says: Says) -> None:
    says('{"answer": "London", "sentences": [], "sufficient": true}')
    lines = run("ask", BORN).stdout.splitlines()
    assert lines[:3] == ["London [1]", "", "[1] notes/ada.md:16–56  Ada Lovelace"]


def test_an_answer_that_could_not_be_streamed_is_shown_all_the_same(run: Run, says: Says) -> None:
    says('{"answer": 1815, "sentences": [], "sufficient": true}')
    assert run("ask", BORN).stdout.startswith("1815 [1]\n")


def test_too_weak_evidence_calls_no_model(run: Run, says: Says) -> None:
    model = says(ANSWER)
    result = run("ask", "Which Zyzzyva quarterback qualified?")
    assert result.exit_code == 0
    first, nearest, sure = result.stdout.splitlines()
    assert first == "I could not find that in the documents."
    assert nearest.startswith("nearest: ")
    assert sure.startswith("confidence 0.")
    assert model.prompts == []


def test_a_draft_that_the_model_took_back_is_said_not_to_count(run: Run, says: Says) -> None:
    says('{"answer": "Paris", "sentences": [], "sufficient": false}')
    result = run("ask", BORN)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "Paris"
    assert "does not count" in lines[1]
    assert lines[2] == "I could not find that in the documents."


def test_an_unsupported_answer_carries_a_warning(run: Run, says: Says) -> None:
    says('{"answer": "Atlantis", "sentences": [], "sufficient": true}')
    result = run("ask", BORN)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "Atlantis",
        "warning: nothing in the documents bears this answer out.",
    ]


def test_ask_json(run: Run, says: Says) -> None:
    says(ANSWER)
    record = json.loads(run("ask", BORN, "--json").stdout)
    assert (record["status"], record["text"]) == ("answered", "London")
    assert record["sentences"][0]["citations"][0]["start"] == 16
    assert record["evidence"]["passages"][0]["label"] == "Ada Lovelace"


def test_trace(run: Run, says: Says) -> None:
    says('{"seeds": ["Ada Lovelace"], "hops": [{"relation": "born in", "target": "x"}]}', ANSWER)
    result = run("ask", BORN, "--trace", "--planner", "model")
    tree = result.stdout[result.stdout.index("trace\n") :]
    for part in (
        "plan by model",
        "seeds: Ada Lovelace",
        "hop 1: born in → x",
        "linked names: Ada Lovelace",
        "threshold 0.33: enough for an answer",
        "] ",
        "lexical ",
        "“Ada Lovelace was born in London in 1815.”",
        "seconds: ",
        "model calls: 2",
        "plan: ",
        "answer: ",
    ):
        assert part in tree


def test_evidence_without_a_language_model(run: Run) -> None:
    result = run("ask", BORN, "--no-llm", "--trace")
    assert result.exit_code == 0
    assert "notes/ada.md:16–109" in result.stdout
    assert "model calls: 0" in result.stdout
    assert json.loads(run("ask", BORN, "--no-llm", "--json").stdout)["question"] == BORN


def test_search(run: Run) -> None:
    lines = run("search", BORN, "--top", "1").stdout.splitlines()
    assert lines[0].startswith("1. [")
    assert lines[0].endswith("  Ada Lovelace")
    assert lines[1] == "    notes/ada.md:16–109"
    assert lines[2].startswith("    Ada Lovelace was born")
    assert lines[3].startswith("confidence 0.")
    assert len(lines) == 4
    assert len(json.loads(run("search", BORN, "--json").stdout)["passages"]) == 3


def test_text_of_documents_is_neither_markup_nor_control(run: Run) -> None:
    result = run("search", "Where does the red Wombat live?", "--top", "1")
    assert "Odd [bold]markup[/bold]" in result.stdout
    assert "red[/red] Wombat lives in [i]Perth[/i]." in result.stdout
    assert "\x1b" not in result.stdout
    assert shown("a\x1b[2Jb\x9b\ud800") == "a�[2Jb��"


def test_an_empty_lens_has_nothing_near(run: Run, says: Says) -> None:
    says(ANSWER)
    assert "nearest: nothing" in run("--lens", "other", "ask", BORN).stdout
    assert "no passages" in run("--lens", "other", "search", BORN).stdout


@pytest.mark.parametrize("name", ["qwen2.5-coder-1.5b", "smollm2-135m"])
def test_a_missing_model_is_named_with_the_remedy(run: Run, name: str) -> None:
    result = run("ask", BORN, "--model", name)
    assert result.exit_code == 1
    [line] = result.stderr.splitlines()
    assert line.startswith(f"error: models: {name}: ")
    assert line.endswith(f"smartrag models pull {name}")


def test_a_model_that_stops_leaves_the_error_a_line_of_its_own(run: Run, says: Says) -> None:
    def stop(prompt: Prompt) -> str:
        raise GenerationError("llama.cpp stopped", remedy="Ask again")

    says(stop)
    result = run("ask", BORN)
    assert result.exit_code == 1
    assert result.stderr == "error: thinking: llama.cpp stopped. Ask again\n"


@pytest.mark.parametrize("verb", ["ask", "search"])
@pytest.mark.parametrize("question", ["", "  \n\t"])
def test_an_empty_question_is_refused(run: Run, verb: str, question: str) -> None:
    result = run(verb, question)
    assert result.exit_code == 2
    assert "the question is empty" in result.stderr


@pytest.mark.parametrize(
    "question",
    [
        "\udcff\udcfe who?",
        "\ud800 \ue000",
        "Wo ist 東京?" * 20,
        "\x00\x1b[31m'\"; DROP TABLE paragraphs; --",
        "AND OR NOT NEAR(*)",
        "[/bold][red]",
        "😀",
        "x" * 2000,
    ],
    ids=range(8),
)
def test_any_question_can_be_asked(run: Run, says: Says, question: str) -> None:
    says(ANSWER)
    for verb in ("ask", "search"):
        for json_too in ([], ["--json"]):
            assert run(verb, *json_too, "--", question).exit_code == 0


def test_a_question_beyond_the_limit_is_refused(run: Run) -> None:
    result = run("ask", "x" * 2001)
    assert result.exit_code == 2
    assert "2,001 characters" in result.stderr
