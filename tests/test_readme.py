"""README promises commands; these tests hold it to them."""

from __future__ import annotations

import re
from pathlib import Path

import typer.main

from smartrag.cli.app import app

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = "\n".join(re.findall(r"```console\n(.*?)```", README, re.DOTALL))


def test_every_command_in_readme_is_a_verb_with_those_options() -> None:
    lines = re.findall(r"^\$ smartrag (.*)$", BLOCKS, re.MULTILINE)
    assert len(lines) > 5
    verbs = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    for line in lines:
        verb, *rest = line.partition("#")[0].split()
        options = {name for parameter in verbs[verb].params for name in parameter.opts}
        assert {word for word in rest if word.startswith("--")} <= options, line


def test_every_make_target_in_readme_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:`|^\$ )make ([a-z]+)", README, re.MULTILINE))
    assert named == {"quickstart", "test"}
    assert named <= targets


def test_the_python_example_in_readme_runs(tmp_path: Path) -> None:
    [example] = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    compile(example, "README.md", "exec")


def test_every_file_that_readme_links_to_exists() -> None:
    linked = re.findall(r"\]\((?!https?:|#)([^)#]+)", README)
    assert linked
    assert [path for path in linked if not (ROOT / path).exists()] == []
