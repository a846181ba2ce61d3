from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartrag.perception.readers import decode

NAIVE = "naïve 東京\n"


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (NAIVE.encode(), "utf-8"),
        (codecs.BOM_UTF8 + NAIVE.encode(), "utf-8-sig"),
        (codecs.BOM_UTF16_LE + NAIVE.encode("utf-16-le"), "utf-16"),
        (codecs.BOM_UTF16_BE + NAIVE.encode("utf-16-be"), "utf-16"),
        (codecs.BOM_UTF32_LE + NAIVE.encode("utf-32-le"), "utf-32"),
        (codecs.BOM_UTF32_BE + NAIVE.encode("utf-32-be"), "utf-32"),
    ],
)
def test_each_unicode_encoding_gives_the_same_text(data: bytes, encoding: str) -> None:
    assert decode(data) == (NAIVE, encoding)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_seen_by_its_nuls(encoding: str) -> None:
    assert decode("Hello, Zürich".encode(encoding)) == ("Hello, Zürich", encoding)


def test_what_is_not_utf_8_is_latin_1() -> None:
    assert decode(b"caf\xe9") == ("café", "latin-1")
    assert decode(b"") == ("", "utf-8")


def test_line_ends_become_one_and_controls_become_spaces() -> None:
    assert decode(b"a\r\nb\rc\n\td\x00e\x07\x7f") == ("a\nb\nc\n\td e  ", "utf-8")
    assert decode(b"a\x92b\xe9") == ("a bé", "latin-1")


def test_broken_text_behind_a_mark_stays_readable() -> None:
    assert decode(codecs.BOM_UTF8 + b"a\xffb") == ("a\ufffdb", "utf-8-sig")
    assert decode(codecs.BOM_UTF16_LE + b"a\x00\x00\xd8b\x00")[0] == "a\ufffdb"
    assert decode(codecs.BOM_UTF8 * 2 + b"a") == ("a", "utf-8-sig")


MARKS = st.sampled_from([b"", codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF32_BE])


@given(MARKS, st.binary(max_size=60))
def test_any_bytes_give_clean_text_that_decodes_to_itself(mark: bytes, rest: bytes) -> None:
    text, encoding = decode(mark + rest)
    codecs.lookup(encoding)
    assert not any(ord(c) < 32 and c not in "\n\t" for c in text)
    assert not any(0x7F <= ord(c) <= 0x9F or 0xD800 <= ord(c) <= 0xDFFF for c in text)
    assert decode(text.encode())[0] == text
