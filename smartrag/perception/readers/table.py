"""CSV and TSV: a row becomes one section, "column: value; column: value"."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from itertools import islice

from smartrag.errors import ReadError
from smartrag.perception.readers.parts import Part, join_parts, one_line, title_from
from smartrag.types import Document

_DELIMITERS = (",", ";", "\t", "|")
_ROWS_LOOKED_AT = 20
_NUMBER = re.compile(r"[-+]?[\d.,\s]*\d[\d.,\s]*%?")


def read_csv(text: str, name: str) -> Document:
    """The document of a CSV text; the delimiter is found out, and the comma is the default.

    The first row is the header if other rows follow and its cells are distinct and none is a
    number. Columns named title and text (in any case) make each row a titled passage instead.
    Raises ReadError where the csv module does.
    """
    return _document(text, name, _delimiter(text), "text/csv")


def read_tsv(text: str, name: str) -> Document:
    """As `read_csv`, parted by tabs."""
    return _document(text, name, "\t", "text/tab-separated-values")


def _document(text: str, name: str, delimiter: str, media_type: str) -> Document:
    rows = list(_rows(text, name, delimiter))
    header: list[str] = []
    if len(rows) > 1 and _is_header(rows[0]):
        header, *rows = rows
    columns = [column.casefold() for column in header]
    if "title" in columns and "text" in columns:
        title, passage = columns.index("title"), columns.index("text")
        parts = [
            Part(row[passage], (row[title],) if title < len(row) else ())
            for row in rows
            if passage < len(row)
        ]
        joined, sections = join_parts(parts)
    else:
        joined, sections = join_parts((Part(_line(header, row)) for row in rows), separator="\n")
    return Document(name, joined, title_from(name), sections, media_type)


def _rows(text: str, name: str, delimiter: str) -> Iterator[list[str]]:
    """The rows that hold anything, their cells without outer white space."""
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield cells
    except csv.Error as error:
        raise ReadError(
            f"the table is malformed at line {reader.line_num} ({error})",
            subject=name,
            remedy="Check the quotes on and above that line, or split very long cells",
        ) from error


def _delimiter(text: str) -> str:
    """The delimiter that gives the first rows one width, and the widest of those.

    This is not csv.Sniffer: its patterns backtrack, so that a few hundred quotes take minutes.
    """
    best, most_columns = ",", 1
    for delimiter in _DELIMITERS:
        rows = csv.reader(io.StringIO(text), delimiter=delimiter)
        try:
            widths = {len(row) for row in islice(rows, _ROWS_LOOKED_AT) if any(row)}
        except csv.Error:
            continue
        if len(widths) == 1 and (columns := widths.pop()) > most_columns:
            best, most_columns = delimiter, columns
    return best


def _is_header(row: list[str]) -> bool:
    distinct = len({cell.casefold() for cell in row}) == len(row)
    return distinct and not any(_NUMBER.fullmatch(cell) for cell in row)


def _line(header: list[str], row: list[str]) -> str:
    """The cells that hold anything with the names of their columns, where they have one."""
    names = header + [""] * (len(row) - len(header))
    cells = [
        f"{column}: {one_line(cell)}" if column else one_line(cell)
        for column, cell in zip(names, row, strict=False)
        if cell
    ]
    return "; ".join(cells)
