"""What the relation classifier learns from: Re-DocRED and KnowledgeNet in Wikidata's words.

A relation that nobody has judged for a pair takes no part in training: one that Re-DocRED states of
two entities but proves in another sentence, and in KnowledgeNet every property that was not asked
for the passage.
"""

from __future__ import annotations

import gzip
import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from smartrag.errors import ReadError
from smartrag.perception.coreference import antecedents
from smartrag.perception.labelled import Entity, Sentence
from smartrag.text import sentence_spans
from smartrag.types import Mention

_QUOTES = {"``": '"', "''": '"'}

Fact = tuple[int, int, str]
"""Entity `head` stands in a relation to entity `tail`: (head, tail, relation)."""

INVERSE: Mapping[str, str] = {
    "located in the administrative territorial entity": (
        "contains administrative territorial entity"
    ),
    "part of": "has part",
    "parent organization": "subsidiary",
    "participant of": "participant",
}
"""Relations whose inverse Wikidata names too: it is not learned, it follows."""

SYMMETRIC = frozenset({"spouse", "sibling"})

RELATIONS = (
    *("located in the administrative territorial entity", "country", "part of", "owned by"),
    *("country of citizenship", "residence", "place of birth", "place of death"),
    *("date of birth", "date of death", "spouse", "sibling", "child"),
    *("educated at", "employer", "member of", "member of political party"),
    *("participant of", "notable work", "author", "director", "performer", "cast member"),
    *("publication date", "country of origin"),
    *("inception", "founded by", "headquarters location", "parent organization"),
    "chief executive officer",
)
"""The 24 that are most frequent over both sets, and six that questions often ask for: author,
director, cast member, owned by, country of origin and place of death."""

RE_DOCRED_ASKS = frozenset(RELATIONS) - {"chief executive officer"}
"""Those among the 96 relations of Re-DocRED, which marks each wherever it holds."""

KNOWLEDGENET: Mapping[str, str] = {
    "CEO": "chief executive officer",
    "CHILD_OF": "child",
    "DATE_FOUNDED": "inception",
    "DATE_OF_BIRTH": "date of birth",
    "DATE_OF_DEATH": "date of death",
    "EDUCATED_AT": "educated at",
    "EMPLOYEE_OR_MEMBER_OF": "employer",
    "FOUNDED_BY": "founded by",
    "HEADQUARTERS": "headquarters location",
    "NATIONALITY": "country of citizenship",
    "PLACE_OF_BIRTH": "place of birth",
    "PLACE_OF_RESIDENCE": "residence",
    "POLITICAL_AFFILIATION": "member of political party",
    "SPOUSE": "spouse",
    "SUBSIDIARY_OF": "parent organization",
}
"""KnowledgeNet's properties in Wikidata's words."""

_KINDS = {
    "PER": "person",
    "ORG": "organization",
    "LOC": "location",
    "MISC": "other",
    "TIME": "time",
    "NUM": "number",
}
"""What Re-DocRED's types are for the rules of reference."""

TURNED = frozenset({"CHILD_OF"})
"""Wikidata's *child* points from the parent to the child, KnowledgeNet's property back."""

WIDER: Mapping[str, tuple[str, ...]] = {
    "EMPLOYEE_OR_MEMBER_OF": ("employer", "member of"),
}
"""All that a property may mean; where it holds, nothing is known of the others."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A text with the relations of its entities.

    `sentences` are the first tokens of its sentences. `holds` are facts that the text states,
    `unsure` facts that nobody has judged. `asked` are the relations that were looked for (None for
    all): a fact of these that is in neither list does not hold. Where `sparse`, only arguments of
    what was asked for are marked, but all of them. `mentions` are the numbers of the entities among
    all of the document.
    """

    id: str
    document: str
    tokens: tuple[str, ...]
    sentences: tuple[int, ...]
    entities: tuple[Entity, ...]
    holds: tuple[Fact, ...]
    unsure: tuple[Fact, ...] = ()
    asked: frozenset[str] | None = None
    sparse: bool = False
    mentions: tuple[int, ...] = ()

    def sentence(self) -> Sentence:
        """The tokens as a text, with its entities."""
        tokens = tuple(_QUOTES.get(token, token) for token in self.tokens)
        return Sentence(self.id, tokens, self.entities)

    def sentence_spans(self) -> list[tuple[int, int]]:
        """The characters of each sentence."""
        spans = self.sentence().spans()
        ends = [*self.sentences[1:], len(spans)]
        return [(spans[a][0], spans[b - 1][1]) for a, b in zip(self.sentences, ends, strict=True)]


# --- files ----------------------------------------------------------------------------------------
def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a JSON Lines file, plain or gzip; raises ReadError."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as lines:
            yield from map(json.loads, lines)
    except (OSError, EOFError, ValueError) as error:
        raise ReadError(
            f"the file cannot be read ({error})", subject=str(path), remedy="Check the path"
        ) from error


def knowledgenet(path: Path, folds: Iterable[int]) -> list[Passage]:
    """KnowledgeNet's passages of these folds, in Wikidata's words."""
    wanted = set(folds)
    return [_of_knowledgenet(row) for row in rows_of(path) if row["fold"] in wanted]


def _of_knowledgenet(row: Mapping[str, Any]) -> Passage:
    holds, unsure = [], []
    for head, tail, name in row["relations"]:
        ends = (tail, head) if name in TURNED else (head, tail)
        holds.append((*ends, KNOWLEDGENET[name]))
        unsure += [(*ends, other) for other in WIDER.get(name, ()) if other != KNOWLEDGENET[name]]
    asked = {r for p in row["annotated_properties"] for r in (KNOWLEDGENET[p], *WIDER.get(p, ()))}
    return Passage(
        id=row["id"],
        document=row["id"].rpartition(".")[0],
        tokens=tuple(row["tokens"]),
        sentences=_sentence_starts(row["tokens"]),
        entities=tuple(Entity(*e) for e in row["entities"]),
        holds=tuple(holds),
        unsure=tuple(unsure),
        asked=frozenset(asked),
        sparse=True,
    )


def re_docred_documents(path: Path, longest: int, *, references: bool = False) -> list[Passage]:
    """Re-DocRED's documents, cut at sentences into passages of at most `longest` tokens.

    With `references`, pronouns that surely stand for the main entity are mentions of it, as they
    are at work; none are marked by hand. Where no evidence was marked, their facts are unsure.

    A relation of two entities is a fact of their nearest mentions in each sentence that names both
    and is evidence, or for which no evidence was marked; and of their nearest mentions in two
    neighbouring sentences which together are all the evidence, if neither names both. Of all other
    mentions of the two it is unsure.
    """
    rows = rows_of(path)
    return [
        _stretch(row, begin, end)
        for row in (map(_with_references, rows) if references else rows)
        for begin, end in _stretches([*row["sentence_starts"], len(row["tokens"])], longest)
    ]


def _with_references(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with a mention more for each reference, in the cluster of what it stands for."""
    sentence = Sentence("", tuple(_QUOTES.get(t, t) for t in row["tokens"]), ())
    text, spans = sentence.text, sentence.spans()
    mentions = [
        Mention(spans[a][0], spans[b][1], text[spans[a][0] : spans[b][1]], _KINDS[type_], 1.0)
        for a, b, type_ in row["entities"]
    ]
    at = {mention.surface: number for number, mention in enumerate(mentions)}
    starts, ends = ({span[side]: token for token, span in enumerate(spans)} for side in (0, 1))
    entities, clusters = list(row["entities"]), [list(cluster) for cluster in row["clusters"]]
    for link in antecedents(text, mentions):
        if link.start in starts and link.end in ends:
            [cluster] = [c for c in clusters if at[link.name] in c]
            cluster.append(len(entities))
            type_ = entities[at[link.name]][2]
            entities.append([starts[link.start], ends[link.end], type_])
    return {**row, "entities": entities, "clusters": clusters, "marked": len(mentions)}


def _stretches(starts: Sequence[int], longest: int) -> Iterator[tuple[int, int]]:
    """Runs of sentences of at most `longest` tokens, or of one sentence; the last start ends."""
    begin = 0
    for end in range(1, len(starts)):
        if end == len(starts) - 1 or starts[end + 1] - starts[begin] > longest:
            yield begin, end
            begin = end


def _stretch(row: Mapping[str, Any], begin: int, end: int) -> Passage:
    """Sentences `begin` to `end` (exclusive) of a document."""
    starts = [*row["sentence_starts"], len(row["tokens"])]
    offset = starts[begin]
    inside = [i for i, e in enumerate(row["entities"]) if offset <= e[0] and e[1] < starts[end]]
    entities = [
        Entity(e[0] - offset, e[1] - offset, e[2]) for e in map(row["entities"].__getitem__, inside)
    ]
    sentence = [bisect_right(starts, row["entities"][i][0]) - 1 for i in inside]
    number = {old: new for new, old in enumerate(inside)}
    clusters = [[number[m] for m in cluster if m in number] for cluster in row["clusters"]]
    marked = row.get("marked", len(row["entities"]))
    holds: list[Fact] = []
    unsure: list[Fact] = []
    for (head, tail, name), evidence in zip(row["cluster_relations"], row["evidence"], strict=True):
        for window, pairs in _windows(clusters[head], clusters[tail], sentence).items():
            nearest = min(pairs, key=lambda pair: _gap(entities[pair[0]], entities[pair[1]]))
            together = {sentence[m] for m in clusters[head]} & {sentence[m] for m in clusters[tail]}
            stated = _stated(window, set(evidence), together)
            stated = stated and (bool(evidence) or all(inside[m] < marked for m in nearest))
            for pair in pairs:
                (holds if stated and pair == nearest else unsure).append((*pair, name))
    return Passage(
        id=f"{row['id']}.{begin}-{end}",
        document=row["id"],
        tokens=tuple(row["tokens"][offset : starts[end]]),
        sentences=tuple(start - offset for start in starts[begin:end]),
        entities=tuple(entities),
        holds=tuple(holds),
        unsure=tuple(unsure),
        asked=RE_DOCRED_ASKS,
        mentions=tuple(inside),
    )


def _windows(
    heads: Sequence[int], tails: Sequence[int], sentence: Sequence[int]
) -> dict[tuple[int, ...], list[tuple[int, int]]]:
    """The pairs of mentions of two entities, by the one sentence or the two that they stand in."""
    found: dict[tuple[int, ...], list[tuple[int, int]]] = defaultdict(list)
    for head in heads:
        for tail in tails:
            first, last = sorted((sentence[head], sentence[tail]))
            if last - first <= 1:
                found[(first, last) if first < last else (first,)].append((head, tail))
    return found


def _stated(window: tuple[int, ...], evidence: set[int], together: set[int]) -> bool:
    """Whether the sentences of a window say what the evidence is for; `together` are the sentences
    that name both entities."""
    if len(window) == 1:
        return not evidence or window[0] in evidence
    return bool(evidence) and evidence <= set(window) and not evidence & together


def _gap(one: Entity, other: Entity) -> int:
    return max(one.first, other.first) - min(one.last, other.last)


def _sentence_starts(tokens: Sequence[str]) -> tuple[int, ...]:
    """The first tokens of the sentences, as the runtime cuts them."""
    sentence = Sentence("", tuple(tokens), ())
    token_at = {start: row for row, (start, _) in enumerate(sentence.spans())}
    return tuple(token_at[start] for start, _ in sentence_spans(sentence.text))
