"""How an answer came about, as a tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from smartrag.cli.render_answers import confidence_line, passage_title, place
from smartrag.cli.text import one_line
from smartrag.types import Evidence, ModelCall, Passage, Plan


def show_trace(
    console: Console,
    evidence: Evidence,
    threshold: float,
    seconds: Mapping[str, float],
    calls: Sequence[ModelCall],
) -> None:
    """Plan, linked names, confidence, passages, seconds of each step and calls of the model."""
    tree = Tree("trace")
    _add_plan(tree, evidence.plan)
    tree.add(Text(f"linked names: {_listed(evidence.linked)}"))
    tree.add(Text(confidence_line(evidence, threshold)))
    passages = tree.add(Text(f"passages: {len(evidence.passages)}"))
    for rank, passage in enumerate(evidence.passages, start=1):
        _add_passage(passages, rank, passage)
    _add_seconds(tree, seconds, evidence.seconds)
    called = tree.add(Text(f"model calls: {len(calls)}"))
    for call in calls:
        called.add(
            Text(
                f"{call.role}: {call.tokens_in:,} tokens in, {call.tokens_out:,} out, "
                f"first token after {call.first_token_s:.3f} s, {call.seconds:.3f} s in all"
            )
        )
    console.print(tree)


def _add_plan(tree: Tree, plan: Plan) -> None:
    branch = tree.add(Text(f"plan by {plan.source}"))
    branch.add(Text(f"seeds: {_listed(plan.seeds)}"))
    for number, hop in enumerate(plan.hops, start=1):
        target = f" → {one_line(hop.target)}" if hop.target else ""
        branch.add(Text(f"hop {number}: {one_line(hop.relation)}{target}"))
    if not plan.hops:
        branch.add(Text("hops: none, the question itself says what is wanted"))


def _add_passage(tree: Tree, rank: int, passage: Passage) -> None:
    branch = tree.add(passage_title(rank, passage))
    branch.add(Text(place(passage), "dim"))
    scores = ", ".join(f"{name} {score:.2f}" for name, score in asdict(passage.channels).items())
    branch.add(Text(scores))
    if passage.via:
        branch.add(Text(f"via {one_line(passage.via)}"))
    for start, end in (passage.sentences[i] for i in passage.kept):
        branch.add(Text(f"“{one_line(passage.text[start:end])}”", "italic"))


def _add_seconds(tree: Tree, seconds: Mapping[str, float], inside: Mapping[str, float]) -> None:
    total = sum(seconds.values()) or sum(inside.values())
    branch = tree.add(Text(f"seconds: {total:.3f}"))
    for step, taken in (seconds or {"focus": sum(inside.values())}).items():
        below = branch.add(Text(f"{step} {taken:.3f}"))
        if step == "focus":
            for part, of_part in inside.items():
                below.add(Text(f"{part} {of_part:.3f}"))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(one_line(name) for name in names) or "none"
