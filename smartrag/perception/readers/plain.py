"""Plain text: one section, and the time where the first line is nothing but a time."""

from __future__ import annotations

import re
from datetime import date, datetime

from smartrag.perception.readers.parts import title_from
from smartrag.types import Document, Section

_TIME_LINE = re.compile(r"((?:time|date)\s*:)?\s*([0-9][0-9:T_+.\- ]*Z?)", re.IGNORECASE)
_LONGEST_TIME_LINE = 80


def read_plain(text: str, name: str) -> Document:
    """The document of a plain text; its text is unchanged."""
    return Document(
        name=name,
        text=text,
        title=title_from(name),
        sections=(Section(0, len(text)),),
        media_type="text/plain",
        time=_time(text),
    )


def _time(text: str) -> str:
    """The time in the first line, in ISO form to the minute or finer; "" where there is none."""
    first_line = text[:_LONGEST_TIME_LINE].strip().partition("\n")[0].strip()
    match = _TIME_LINE.fullmatch(first_line)
    # Eight digits alone may be any number; with "Time:" before them they are a day.
    if match is None or not (match[1] or "-" in match[2]):
        return ""
    stamp = match[2].replace("_", "T")
    try:
        return date.fromisoformat(stamp).isoformat()
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return ""
    whole_minute = moment.second == moment.microsecond == 0
    return moment.isoformat(timespec="minutes" if whole_minute else "auto")
