"""Answers and passages as lines, each with the place in the document where it stands."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from smartrag.cli.streaming import StreamedAnswer
from smartrag.cli.text import document_name, one_line, shown
from smartrag.types import Answer, AnswerSentence, Citation, Evidence, Passage

_UNSUPPORTED = "warning: nothing in the documents bears this answer out"
_LONGEST_TEXT = 400


class LiveAnswer:
    """Shows the answer while the model writes it; a callback for `SmartRAG.ask`."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._decoded = StreamedAnswer()
        self.started = False

    def __call__(self, piece: str) -> None:
        """Show what `piece` of the model's reply adds to the answer."""
        # The answer is a phrase; a line end in it would only tear it apart.
        text = shown(self._decoded.feed(piece)).replace("\n", " ").replace("\t", " ")
        if not self.started:
            text = text.lstrip()
        if text:
            self.started = True
            self._console.print(Text(text, "bold"), end="", soft_wrap=True)
            self._console.file.flush()

    def end_line(self) -> None:
        """Finish the line of an answer that will not be continued."""
        if self.started:
            self._console.print()


def show_answer(console: Console, answer: Answer, threshold: float, *, streamed: bool) -> None:
    """The checked answer with its citations; `streamed` when the model's own is on the screen."""
    if answer.status == "not_found":
        if streamed:
            console.print()
            console.print(
                Text("The model judged the passages insufficient, so that does not count.", "dim")
            )
        console.print(Text(answer.text))
        _show_nearest(console, answer.evidence, threshold)
        return
    numbers = {citation: n for n, citation in enumerate(answer.citations, start=1)}
    if not streamed:
        console.print(Text(one_line(answer.text), "bold"), end="")
    rest = list(answer.sentences)
    if rest and rest[0].text == answer.text:  # a short answer that is its own sentence
        console.print(Text(_marks(rest.pop(0), numbers)), end="")
    console.print()
    if answer.status == "unsupported":
        console.print(Text(f"{_UNSUPPORTED}.", "yellow"))
        if rest:
            console.print("What does stand in them:")
    if rest:
        console.print()
        for sentence in rest:
            console.print(Text(one_line(sentence.text) + _marks(sentence, numbers)))
    if numbers:
        console.print()
        for citation, number in numbers.items():
            _show_citation(console, number, citation)


def show_passages(console: Console, evidence: Evidence, threshold: float) -> None:
    """The ranked passages, and whether they would be enough for an answer."""
    for rank, passage in enumerate(evidence.passages, start=1):
        console.print(passage_title(rank, passage))
        console.print(Text(f"    {place(passage)}", "dim"))
        console.print(Padding(Text(excerpt(passage)), (0, 0, 0, 4), expand=False))
    if not evidence.passages:
        console.print("no passages: this lens holds no documents")
    console.print(Text(confidence_line(evidence, threshold), "dim"))


def passage_title(rank: int, passage: Passage) -> Text:
    """Rank, stage, score and label of a passage."""
    return Text.assemble(
        (f"{rank}. ", "bold"),
        (f"[{passage.stage}] ", "cyan"),
        f"{passage.score:.3f}  ",
        (one_line(passage.label, 120) or document_name(passage.document), "bold"),
    )


def place(where: Passage | Citation) -> str:
    """Document, offsets and page: "notes/trip.md:120–245, page 3"."""
    page = f", page {where.page}" if where.page is not None else ""
    return f"{document_name(where.document)}:{where.start}–{where.end}{page}"


def excerpt(passage: Passage) -> str:
    """The kept sentences of a passage, or its beginning where none were kept."""
    return one_line(passage.excerpt or passage.text, _LONGEST_TEXT)


def confidence_line(evidence: Evidence, threshold: float) -> str:
    """How sure the gate is, and what it wants."""
    verdict = "enough for an answer" if evidence.sufficient else "too weak for an answer"
    return f"confidence {evidence.confidence:.2f}, threshold {threshold:.2f}: {verdict}"


def _show_nearest(console: Console, evidence: Evidence, threshold: float) -> None:
    nearest = "nothing: this lens holds no documents"
    for best in evidence.passages[:1]:
        nearest = f"{one_line(best.label, 120) or document_name(best.document)} ({place(best)})"
    console.print(Text(f"nearest: {nearest}", "dim"))
    console.print(Text(confidence_line(evidence, threshold), "dim"))


def _show_citation(console: Console, number: int, citation: Citation) -> None:
    heading = " › ".join(one_line(part) for part in citation.heading)
    under = f"  {heading}" if heading else ""
    console.print(Text.assemble((f"[{number}] ", "cyan"), place(citation), (under, "dim")))
    console.print(Padding(Text(f"“{one_line(citation.quote)}”"), (0, 0, 0, 4), expand=False))


def _marks(sentence: AnswerSentence, numbers: dict[Citation, int]) -> str:
    marks = "".join(f"[{numbers[citation]}]" for citation in sentence.citations)
    return f" {marks}" if marks else ""
