from __future__ import annotations

import io
import logging
import sys
import warnings

import pypdf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smartrag.errors import MissingExtra, ReadError
from smartrag.perception.readers.pdf import read_pdf
from smartrag.types import Section


def text_pdf(*pages: tuple[str, ...], title: str = "") -> bytes:
    """A PDF by hand: each page a tuple of lines in Helvetica."""
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(len(pages)))
    bodies = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for i, lines in enumerate(pages):
        shown = " ".join(f"({line}) Tj 0 -14 Td" for line in lines)
        stream = f"BT /F1 12 Tf 72 700 Td {shown} ET"
        bodies.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * i} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>"
        )
        bodies.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    bodies.append(f"<< /Title ({title}) >>")
    data, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(bodies, start=1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode()
    entries = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size, start = len(bodies) + 1, len(data)
    return (
        data
        + (
            f"xref\n0 {size}\n0000000000 65535 f \n{entries}trailer\n"
            f"<< /Size {size} /Root 1 0 R /Info {len(bodies)} 0 R >>\nstartxref\n{start}\n%%EOF\n"
        ).encode()
    )


def encrypted(data: bytes, password: str) -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(data))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # RC4 is weak, and the one method that needs no library
        writer.encrypt(user_password=password, owner_password="owner", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_pages_are_sections_and_hyphens_at_line_ends_go() -> None:
    data = text_pdf(
        ("An inter-", "national treaty"),
        (),
        (
            "The Anglo-",
            "Saxon king",
        ),
        title="Acts",
    )
    document = read_pdf(data, "a.pdf")
    assert document.text == "An international treaty\n\nThe Anglo-\nSaxon king"
    assert document.sections == (Section(0, 23, (), 1), Section(25, 46, (), 3))
    assert (document.title, document.media_type) == ("Acts", "application/pdf")
    assert document.encoding == ""


def test_without_a_title_the_stem_serves() -> None:
    assert read_pdf(text_pdf(("x",)), "my_paper.pdf").title == "my paper"


def test_an_empty_password_opens_and_another_is_refused() -> None:
    data = text_pdf(("secret text",))
    assert read_pdf(encrypted(data, ""), "a.pdf").text == "secret text"
    with pytest.raises(ReadError, match="encrypted with a password"):
        read_pdf(encrypted(data, "user"), "a.pdf")


def test_pages_without_text_are_scans() -> None:
    writer = pypdf.PdfWriter()
    writer.add_blank_page(width=100, height=100)
    out = io.BytesIO()
    writer.write(out)
    with pytest.raises(ReadError, match="no text layer"):
        read_pdf(out.getvalue(), "a.pdf")


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"hello", "does not begin as a PDF"),
        (text_pdf(("x",))[:300], "its end is missing"),
        (b"%PDF-1.4\n%%EOF", "damaged"),
        (text_pdf(("x",)).replace(b"/Kids", b"/Kidz"), "damaged"),
        (text_pdf(), "it has no pages"),
    ],
)
def test_damage_is_said(data: bytes, problem: str) -> None:
    with pytest.raises(ReadError, match=problem) as caught:
        read_pdf(data, "a.pdf")
    assert caught.value.subject == "a.pdf"


def test_no_message_of_the_library_gets_out(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    level = logging.getLogger("pypdf").level
    data = text_pdf(("x",)).replace(b"startxref\n", b"startxref\n9")  # pypdf warns, and repairs
    assert read_pdf(data, "a.pdf").text == "x"
    assert not caplog.records
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("pypdf").level == level


def test_every_truncation_is_an_error() -> None:
    data = text_pdf(("some text",), ("more text",))
    for length in range(0, data.rindex(b"%%EOF") + 5, 7):
        with pytest.raises(ReadError):
            read_pdf(data[:length], "a.pdf")


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_damage_gives_a_document_or_a_read_error(data: st.DataObject) -> None:
    whole = text_pdf(("some text",), ("more text",))
    start = data.draw(st.integers(0, len(whole)))
    length = data.draw(st.integers(0, 40))
    damaged = whole[:start] + data.draw(st.binary(max_size=12)) + whole[start + length :]
    try:
        document = read_pdf(damaged, "a.pdf")
    except ReadError:
        return
    assert document.text.strip()
    document.text.encode()


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdf", None)
    with pytest.raises(MissingExtra, match="pypdf") as caught:
        read_pdf(text_pdf(("x",)), "a.pdf")
    assert "smartrag[pdf]" in caught.value.remedy
