from __future__ import annotations

import pytest

from smartrag.errors import ReadError
from smartrag.perception.readers.table import read_csv, read_tsv
from smartrag.types import Section


def test_a_row_is_a_line_and_a_section() -> None:
    document = read_csv(
        'name,born,note\nAda,1815,"first, and\nlast"\n\nAlan,1912,\n', "the-list.csv"
    )
    assert document.text == "name: Ada; born: 1815; note: first, and last\nname: Alan; born: 1912"
    assert document.sections == (Section(0, 44), Section(45, 67))
    assert (document.title, document.media_type) == ("the list", "text/csv")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_out(delimiter: str) -> None:
    text = delimiter.join(["a", "b"]) + "\n" + delimiter.join(["1", '"x,;|y"'])
    assert read_csv(text, "a.csv").text == "a: 1; b: x,;|y"


def test_without_a_header_cells_stand_alone() -> None:
    assert read_csv("1,2\n3,4", "a.csv").text == "1; 2\n3; 4"
    assert read_csv("x,x\n3,4", "a.csv").text == "x; x\n3; 4"
    assert read_csv("one,row", "a.csv").text == "one; row"
    assert read_csv("a,b\n1,2,3", "a.csv").text == "a: 1; b: 2; 3"


def test_columns_title_and_text_make_passages() -> None:
    document = read_csv("id,Title,TEXT\n1,A,one\n2,,two\n3,C\n", "a.csv")
    assert document.text == "one\n\ntwo"
    assert document.sections == (Section(0, 3, ("A",)), Section(5, 8))


def test_tsv_keeps_commas() -> None:
    assert read_tsv("a\tb\n1,5\tx, y", "a.tsv").text == "a: 1,5; b: x, y"


def test_a_cell_over_the_limit_of_the_csv_module_is_refused() -> None:
    with pytest.raises(ReadError, match=r"malformed at line 2 \(field larger") as caught:
        read_csv('a,b\n"' + "x" * 200_000 + '",2', "a.csv")
    assert caught.value.subject == "a.csv"


def test_many_quotes_are_read_at_once() -> None:
    assert read_csv('a,"' + '"' * 3001 + "x", "a.csv").text.startswith("a; ")  # no csv.Sniffer
