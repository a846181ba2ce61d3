"""JSON Lines and JSON: corpora, question sets with their passages, and rows of any other kind."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from smartrag.errors import ReadError
from smartrag.perception.readers.parts import Part, join_parts, title_from
from smartrag.types import Document

_NAMING_FIELDS = ("title", "name", "id")


def read_jsonl(text: str, name: str) -> Document:
    """The document of JSON Lines, one object a line; raises ReadError with the line's number.

    What a row becomes is told by its fields:

    - "paragraphs" `[{"title", "text"}, …]` or "context" `[[title, [sentence, …]], …]` (HotpotQA,
      2WikiMultiHopQA, MuSiQue): each distinct passage of the file once; never the question;
    - "title" and "text", both strings (a corpus): one passage;
    - anything else: its strings and numbers as lines "key: value", nested keys joined by dots.

    Files with rows of the first two kinds have no title: a name for thousands of passages would
    only blur them.
    """
    return _document(_lines(text, name), name, "application/jsonl")


def read_json(text: str, name: str) -> Document:
    """As `read_jsonl` for one JSON text that is an array of objects, or one object."""
    value = _parse(text, name, first_line=1)
    rows = value if isinstance(value, list) else [value]
    numbered = ((f"row {number}", row) for number, row in enumerate(rows, start=1))
    return _document(numbered, name, "application/json")


def _lines(text: str, name: str) -> Iterator[tuple[str, object]]:
    # Not splitlines: a JSON string may hold U+2028.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield f"line {number}", _parse(line, name, first_line=number)


def _parse(text: str, name: str, first_line: int) -> object:
    try:
        # Not strict: tabs inside strings are common and harmless.
        return json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        line, problem = first_line + error.lineno - 1, error.msg
    except RecursionError:
        line, problem = first_line, "nested too deeply"
    except ValueError:
        line, problem = first_line, "a number with too many digits"
    raise ReadError(
        f"the JSON is malformed at line {line} ({problem})",
        subject=name,
        remedy="Correct that line, or give the file the suffix .txt to read it as plain text",
    )


def _document(rows: Iterable[tuple[str, object]], name: str, media_type: str) -> Document:
    parts: list[Part] = []
    passages: dict[Part, None] = {}
    titled = True
    for place, row in rows:
        if not isinstance(row, dict):
            raise ReadError(
                f"{place} is not a JSON object",
                subject=name,
                remedy='Write each row as an object, for example {"title": "…", "text": "…"}',
            )
        found = _passages(row)
        if found is not None:
            titled = False
            new = [part for part in dict.fromkeys(found) if part not in passages]
            passages.update(dict.fromkeys(new))
            parts += new
        elif isinstance(row.get("title"), str) and isinstance(row.get("text"), str):
            titled = False
            parts.append(_passage(row["title"], row["text"]))
        else:
            parts.append(_fields(row))
    joined, sections = join_parts(parts)
    return Document(name, joined, title_from(name) if titled else "", sections, media_type)


def _passages(row: dict[str, Any]) -> list[Part] | None:
    """The passages of a question's row; None for a row of another kind."""
    pairs: list[tuple[Any, Any]]
    match row:
        case {"paragraphs": [*paragraphs]} if all(isinstance(p, dict) for p in paragraphs):
            # MuSiQue's own files say "paragraph_text".
            pairs = [(p.get("title"), p.get("text", p.get("paragraph_text"))) for p in paragraphs]
        case {"context": {"title": [*titles], "sentences": [*texts]}}:
            # So the library "datasets" exports HotpotQA.
            pairs = list(zip(titles, map(_joined, texts), strict=False))
        case {"context": [*context]} if all(isinstance(c, list) and len(c) == 2 for c in context):
            pairs = [(title, _joined(sentences)) for title, sentences in context]
        case _:
            return None
    passages = [_passage(title, text) for title, text in pairs if isinstance(text, str)]
    # A list of another make is an ordinary field, and so is an empty one without a question.
    known = len(passages) == len(pairs) and (pairs or "question" in row)
    return passages if known else None


def _passage(title: object, text: str) -> Part:
    return Part(text.strip(), (title.strip(),) if isinstance(title, str) else ())


def _joined(sentences: object) -> str | None:
    """One text; HotpotQA's sentences bring their leading space, 2WikiMultiHopQA's do not."""
    if not isinstance(sentences, list):
        return None
    text = ""
    for sentence in sentences:
        if isinstance(sentence, str) and sentence:
            gap = "" if not text or text[-1].isspace() or sentence[0].isspace() else " "
            text += gap + sentence
    return text


def _fields(row: dict[str, object]) -> Part:
    """The lines of a row of any other kind; its heading is the first field that names it."""
    lines: list[str] = []
    # A stack, not recursion: nesting that json accepts may be deeper than Python's own limit.
    stack: list[tuple[str, object]] = [("", row)]
    while stack:
        key, value = stack.pop()
        if isinstance(value, dict):
            nested = [(f"{key}.{inner}" if key else inner, v) for inner, v in value.items()]
            stack.extend(reversed(nested))
        elif isinstance(value, list):
            stack.extend((key, v) for v in reversed(value))
        elif isinstance(value, str) and value.strip():
            lines.append(f"{key}: {value.strip()}")
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            lines.append(f"{key}: {value}")
    names = [row.get(field) for field in _NAMING_FIELDS]
    heading = next((n for n in names if isinstance(n, str) and n.strip()), None)
    return Part("\n".join(lines), (heading,) if heading else ())
