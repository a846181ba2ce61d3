"""Every sentence of an answer must stand on words of the evidence: checked, not believed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from smartrag.text import STOP_WORDS, folded_words
from smartrag.thinking.formats import Draft
from smartrag.types import AnswerSentence, Citation, Passage

_COVERED = 0.6
"""Share of a sentence's content words that its citations must hold."""
_MOST_CITATIONS = 3


@dataclass(frozen=True, slots=True)
class _Source:
    """One kept sentence of a passage: its own words, and those together with the label's."""

    passage: Passage
    start: int
    end: int
    own: frozenset[str]
    words: frozenset[str]
    named: bool


def confirmed(draft: Draft, passages: Sequence[Passage]) -> tuple[AnswerSentence, ...]:
    """The sentences of `draft` that the passages bear out, with the sentences that bear them out.

    A sentence is confirmed when at most three evidence sentences together hold 60 % of its content
    words and every number in it. When the model gave no sentence that stands, a short answer that
    occurs word for word in the evidence is cited from there.
    """
    found = []
    for sentence in draft.sentences:
        sources = list(_sources(passages, set(sentence.evidence)))
        citations = _cover(_telling_words(sentence.text), sources)
        if citations:
            found.append(AnswerSentence(sentence.text, citations))
    if not found:
        found = list(_verbatim(draft.answer, list(_sources(passages, set()))))
    return tuple(found)


def occurs(answer: str, passages: Sequence[Passage]) -> bool:
    """Whether `answer` stands word for word in what the model was shown."""
    return any(True for _ in _verbatim(answer, list(_sources(passages, set()))))


def _sources(passages: Sequence[Passage], named: set[int]) -> Iterator[_Source]:
    for number, passage in enumerate(passages, start=1):
        for i in sorted(passage.kept):
            start, end = passage.sentences[i]
            own = frozenset(_telling_words(passage.text[start:end]))
            label = frozenset(_telling_words(passage.label))
            yield _Source(passage, start, end, own, own | label, number in named)


def _telling_words(text: str) -> list[str]:
    """Content words, and digits also where they stand alone."""
    return [
        word
        for word in folded_words(text)
        if word.isdigit() or (len(word) > 1 and word not in STOP_WORDS)
    ]


def _cover(words: Sequence[str], sources: Sequence[_Source]) -> tuple[Citation, ...]:
    """Greedy set cover of `words`; nothing when too much of them stays uncovered."""
    wanted, missing = set(words), set(words)
    # A quote must hold something of the sentence itself, not only stand under the right title.
    sources = [source for source in sources if source.own & wanted]
    chosen: list[_Source] = []
    while missing and len(chosen) < _MOST_CITATIONS:
        # Among equals, passages that the model named itself go first.
        best = max(sources, key=lambda s: (len(s.words & missing), s.named), default=None)
        gain = best.words & missing if best else set()
        if best is None or not gain or (chosen and len(gain) < 0.15 * len(wanted)):
            break
        chosen.append(best)
        missing -= gain
    numbers_hold = not any(c.isdigit() for word in missing for c in word)
    if not wanted or len(missing) > (1 - _COVERED) * len(wanted) or not numbers_hold:
        return ()
    return tuple(_cite(source) for source in chosen)


def _verbatim(answer: str, sources: Sequence[_Source]) -> Iterator[AnswerSentence]:
    """The answer as a sentence of its own, cited from the first place where it stands.

    A label is looked at only when no text holds the answer: what an article is about is often named
    in its title alone.
    """
    wanted = folded_words(answer)
    texts = [(s, s.passage.text[s.start : s.end]) for s in sources]
    labels = [(s, s.passage.label) for s in sources]
    for source, where in [*texts, *labels] if wanted else ():
        if _contains(folded_words(where), wanted):
            yield AnswerSentence(answer, (_cite(source),))
            return


def _contains(words: tuple[str, ...], part: tuple[str, ...]) -> bool:
    n = len(part)
    return any(words[i : i + n] == part for i in range(len(words) - n + 1))


def _cite(source: _Source) -> Citation:
    passage = source.passage
    return Citation(
        paragraph_id=passage.paragraph_id,
        document=passage.document,
        heading=passage.heading,
        page=passage.page,
        start=passage.start + source.start,
        end=passage.start + source.end,
        quote=passage.text[source.start : source.end],
    )
