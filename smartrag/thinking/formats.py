"""The JSON that a model may write, and how it is read back.

The decoder is held to the schema, so a malformed reply can only be one that ran out of tokens.
Reading is tolerant all the same: a model behind HTTP may know no grammar.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from smartrag.types import Hop, Plan


@dataclass(frozen=True, slots=True)
class DraftSentence:
    """A sentence as the model wrote it, with the passage numbers (from 1) that it named."""

    text: str
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer as the model wrote it, not yet checked."""

    answer: str
    sentences: tuple[DraftSentence, ...]
    sufficient: bool


ANSWER_SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "answer": {"type": "string", "maxLength": 120},
        "sentences": {
            "type": "array",
            "maxItems": 1,
            "items": {
                "type": "object",
                "properties": {
                    "text": {"type": "string", "maxLength": 200},
                    "evidence": {"type": "array", "items": {"type": "integer"}, "maxItems": 4},
                },
                "required": ["text", "evidence"],
            },
        },
        "sufficient": {"type": "boolean"},
    },
    "required": ["answer", "sentences", "sufficient"],
}

PLAN_SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "seeds": {"type": "array", "maxItems": 3, "items": {"type": "string", "maxLength": 60}},
        "hops": {
            "type": "array",
            "maxItems": 4,
            "items": {
                "type": "object",
                "properties": {
                    "relation": {"type": "string", "maxLength": 80},
                    "target": {"type": "string", "maxLength": 30},
                },
                "required": ["relation", "target"],
            },
        },
    },
    "required": ["seeds", "hops"],
}

LABEL_SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {"type": {"type": "string", "maxLength": 40}},
    "required": ["type"],
}

_ANSWER_VALUE = re.compile(r'"answer"\s*:\s*"((?:[^"\\]|\\.)*)')


def parse_answer(reply: str) -> Draft | None:
    """The draft in a model's reply; None when there is none.

    A reply that was cut off keeps its answer and loses its sentences.
    """
    value = _object(reply, "answer")
    if value is None:
        cut = _ANSWER_VALUE.search(reply)
        value = {"answer": _unescaped(cut[1])} if cut else None
    if value is None or not isinstance(value.get("answer"), str | int | float):
        return None
    sentences = value.get("sentences", [])
    return Draft(
        answer=_one_line(str(value["answer"])),
        sentences=tuple(_sentences(sentences if isinstance(sentences, list) else [])),
        sufficient=value.get("sufficient") is not False,
    )


def parse_plan(reply: str) -> Plan | None:
    """The plan in a model's reply; None when there is none or it says nothing."""
    value = _object(reply, "seeds") or {}
    seeds, hops = value.get("seeds"), value.get("hops")
    if not isinstance(seeds, list) or not isinstance(hops, list):
        return None
    named = tuple(_one_line(s) for s in seeds if isinstance(s, str) and s.strip())
    steps = tuple(_hops(hops))
    return Plan("model", named, steps) if named or steps else None


def parse_label(reply: str) -> str | None:
    """The name of a type in a model's reply; None when there is none, or it says so."""
    label = (_object(reply, "type") or {}).get("type")
    name = _one_line(label) if isinstance(label, str) else ""
    return None if name.casefold() in ("", "none", "null", "unknown", "mixed") else name


def _hops(values: list[object]) -> Iterator[Hop]:
    for value in values:
        if isinstance(value, dict) and isinstance(value.get("relation"), str):
            target = value.get("target")
            hop = Hop(
                _one_line(value["relation"]), _one_line(target) if isinstance(target, str) else ""
            )
            if hop.relation:
                yield hop


def _sentences(values: list[object]) -> Iterator[DraftSentence]:
    for value in values:
        if isinstance(value, dict) and isinstance(value.get("text"), str) and value["text"].strip():
            numbers = value.get("evidence", [])
            evidence = (
                tuple(n for n in numbers if type(n) is int) if isinstance(numbers, list) else ()
            )
            yield DraftSentence(_one_line(value["text"]), evidence)


def _object(reply: str, key: str) -> dict[str, object] | None:
    """The first JSON object with `key` in `reply`, be it fenced, after thinking aloud, or alone."""
    for brace in re.finditer(r"\{", reply):
        try:
            value, _ = json.JSONDecoder().raw_decode(reply, brace.start())
        except (ValueError, RecursionError):
            continue
        if key in value:
            return dict(value)
    return None


def _one_line(text: str) -> str:
    """One space between words; half a character, as a cut-off "\\ud83d" leaves it, becomes "?"."""
    return " ".join(text.encode("utf-8", "replace").decode().split())


def _unescaped(inner: str) -> str:
    try:
        return str(json.loads(f'"{inner}"', strict=False))
    except ValueError:
        return inner
