from __future__ import annotations

import pytest

from smartrag.perception.readers.plain import read_plain
from smartrag.types import Document, Section


def test_plain_text_is_one_section_titled_by_the_file() -> None:
    assert read_plain("one\n\ntwo", "notes/road-map_v2.txt") == Document(
        name="notes/road-map_v2.txt",
        text="one\n\ntwo",
        title="road map v2",
        sections=(Section(0, 8),),
        media_type="text/plain",
    )


@pytest.mark.parametrize(
    ("first_line", "time"),
    [
        ("Time: 20260105_11:00", "2026-01-05T11:00"),
        ("Date: 2026-01-05", "2026-01-05"),
        ("date: 20260105", "2026-01-05"),
        ("2026-01-05", "2026-01-05"),
        ("2026-01-05 11:00:30", "2026-01-05T11:00:30"),
        ("2026-01-05T11:00Z", "2026-01-05T11:00+00:00"),
        ("2026-13-05", ""),
        ("20260105", ""),
        ("Date: soon", ""),
        ("2026-01-05 was a Monday", ""),
    ],
)
def test_a_first_line_that_is_a_time_dates_the_document(first_line: str, time: str) -> None:
    assert read_plain(f"{first_line}\nLiHua: Hey!", "a.txt").time == time


def test_a_time_further_down_is_text() -> None:
    assert read_plain("Minutes\n2026-01-05\n", "a.txt").time == ""
