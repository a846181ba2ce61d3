"""HTML: what a browser would show, as paragraphs under headings; malformed HTML is read too."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from smartrag.perception.readers.parts import Outline, Part, join_parts, one_line, title_from
from smartrag.types import Document

_HIDDEN = frozenset({"script", "style", "template", "noscript"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_CELLS = frozenset({"td", "th"})
_LINES = frozenset({"br", "dd", "dt", "li", "tr"})
"""They begin a line of their own; the list or table around them is the paragraph."""
# fmt: off
_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "center", "details", "dialog",
    "div", "dl", "fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "html",
    "legend", "main", "nav", "ol", "p", "pre", "section", "summary", "table", "tbody", "tfoot",
    "thead", "ul",
})
# fmt: on
_DECLARATION = re.compile(r"<!\[(?!CDATA\[)[^>]*>?", re.IGNORECASE)
"""Word's `<![if …]>`: html.parser fails on those that it does not know."""
_PAIRS = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<", ">"))


def read_html(text: str, name: str) -> Document:
    """The document of an HTML or XHTML text: visible text only, entities decoded.

    Blocks are parted by a blank line, list items and table rows stand on lines of their own, and
    cells are joined by " | ". The title is <title>, else the first <h1>, else the file's name.
    """
    page = _Page()
    page.feed(_without_unclosed(_DECLARATION.sub(" ", text)))
    page.close()
    page.close_section()
    joined, sections = join_parts(page.parts)
    return Document(
        name=name,
        text=joined,
        title=one_line(page.title) or page.first_heading or title_from(name),
        sections=sections,
        media_type="text/html",
    )


def _without_unclosed(source: str) -> str:
    """`source` with marks that nothing closes as text, which is what they are shown as.

    html.parser looks for the missing end of each of them anew: a file of them takes hours.
    """
    for opening, closing in _PAIRS:
        closed = source.rfind(closing) + 1
        source = source[:closed] + source[closed:].replace(opening, "&lt;" + opening[1:])
    return source


class _Page(HTMLParser):
    """Collects pieces into a line, lines into a block, and blocks into a part under a heading."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[Part] = []
        self.title = ""
        self.first_heading = ""
        self._outline = Outline()
        self._pieces: list[str] = []
        self._lines: list[str] = []
        self._blocks: list[str] = []
        self._hidden = 0  # depth of elements that a browser does not show
        self._in_head = self._in_title = self._titled = False
        self._level = 0  # of the heading that is being read
        self._cells: int | None = None  # begun in this row; None outside a row
        self._preformatted = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _HIDDEN:
            self._hidden += 1
        elif self._hidden:
            return
        elif tag == "head":
            self._in_head = True
        elif tag == "title":
            self._in_title = True
        elif tag in _HEADINGS:
            self._leave_head()
            self.close_section()
            self._cells = None
            self._level = int(tag[1])
        elif tag in _CELLS:
            self._begin_cell()
        elif tag in _LINES or tag in _BLOCKS:
            self._leave_head()
            self._break(tag)
            self._cells = 0 if tag == "tr" else self._cells
            self._preformatted += tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        elif self._hidden:
            return
        elif tag == "head":
            self._in_head = False
        elif tag == "title":
            self._titled = self._titled or self._in_title
            self._in_title = False
        elif tag in _HEADINGS:
            self._end_heading()
        elif tag in _LINES or tag in _BLOCKS:
            if tag in ("tr", "table"):
                self._end_line()
                self._cells = None
            self._break(tag)
            if tag == "pre":
                self._preformatted = max(0, self._preformatted - 1)

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        if self._in_title:
            # Only the first: the titles of drawings (SVG) come later.
            self.title += "" if self._titled else data
        elif self._preformatted and self._cells is None:
            first, *others = data.split("\n")
            self._pieces.append(first)
            for other in others:
                self._end_line()
                self._pieces.append(other)
        elif not self._in_head:
            self._pieces.append(data)

    def close_section(self) -> None:
        """End the part under the present heading."""
        self._end_heading()
        self._end_block()
        self.parts.append(Part("\n\n".join(self._blocks), self._outline.path))
        self._blocks.clear()

    def _break(self, tag: str) -> None:
        """End what `tag` begins or ends: a line or a block, but only a word inside a cell."""
        if self._level:
            # Without its end tag a heading would swallow the text below it.
            if tag not in _LINES and "".join(self._pieces).strip():
                self._end_heading()
            else:
                self._pieces.append(" ")
        elif self._cells and tag != "tr":
            self._pieces.append(" ")
        elif tag in _LINES:
            self._end_line()
        else:
            self._end_block()

    def _begin_cell(self) -> None:
        if self._cells:
            self._pieces.append(" | ")
        self._cells = (self._cells or 0) + 1

    def _end_line(self) -> None:
        if not self._pieces:
            return
        text = "".join(self._pieces)
        text = text.rstrip() if self._preformatted and self._cells is None else one_line(text)
        self._pieces.clear()
        # A row of empty cells holds nothing but the marks between them.
        if text.strip(" |" if self._cells else None):
            self._lines.append(text)

    def _end_block(self) -> None:
        self._end_line()
        if self._lines:
            self._blocks.append("\n".join(self._lines))
        self._lines.clear()

    def _end_heading(self) -> None:
        if not self._level:
            return
        heading = one_line("".join(self._pieces))
        self._pieces.clear()
        self._outline.enter(self._level, heading)
        if self._level == 1 and not self.first_heading:
            self.first_heading = heading
        self._level = 0

    def _leave_head(self) -> None:
        """A block ends <head> and <title> where their end tags are missing."""
        if self._in_head or self._in_title:
            self.handle_endtag("title")
            self._in_head = False
