"""Which mentions mean the same thing, by rules alone: how many are linked, and how many rightly.

Names are measured on Re-DocRED, whose clusters are gold coreference of named mentions: pairs of
mentions of a document that are linked, against pairs in one cluster. An alias is *right* when any
two mentions of its keys share a cluster. The clusters leave many short forms alone ("Leary" after
"Denis Leary"), so `precision` is a lower bound; `precision_decided` looks only at the aliases
whose shorter name the annotators have linked to anything else.

The clusters hold no pronouns. A pronoun of a person stands, as a rule, for the head of a relation
whose evidence is a sentence that holds the tail and not the head, which is one measure; it is rough
where the sentence speaks of two people. The other are the passages of KnowledgeNet, in which
pronouns are arguments: their antecedents are the names with the same Wikidata entity, the same
birth, death, foundation or seat. Names that are no arguments are runs of capitalised words there.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import shlex
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from experiments.capitalised import CapitalisedSpans
from smartrag.evaluation.datasets import DataFile
from smartrag.evaluation.results import Result, Row, write
from smartrag.perception.about import abouts
from smartrag.perception.coreference import Link, antecedents
from smartrag.perception.names import Alias, aliases, key
from smartrag.text import folded_words, normal_name
from smartrag.types import Mention, Paragraph

SPLITS = {"dev": 1, "test": 4}
"""A split of Re-DocRED and the fold of KnowledgeNet that goes with it."""
TYPES = {
    "PER": "person",
    "ORG": "organization",
    "LOC": "location",
    "MISC": "other",
    "TIME": "time",
    "NUM": "number",
}
ROLES = {
    "CEO": ("organization", "person"),
    "CHILD_OF": ("person", "person"),
    "DATE_FOUNDED": ("organization", "time"),
    "DATE_OF_BIRTH": ("person", "time"),
    "DATE_OF_DEATH": ("person", "time"),
    "EDUCATED_AT": ("person", "organization"),
    "EMPLOYEE_OR_MEMBER_OF": ("person", "organization"),
    "FOUNDED_BY": ("organization", "person"),
    "HEADQUARTERS": ("organization", "location"),
    "NATIONALITY": ("person", "location"),
    "PLACE_OF_BIRTH": ("person", "location"),
    "PLACE_OF_RESIDENCE": ("person", "location"),
    "POLITICAL_AFFILIATION": ("person", "organization"),
    "SPOUSE": ("person", "person"),
    "SUBSIDIARY_OF": ("organization", "organization"),
}
OF_ONE = {"DATE_FOUNDED", "DATE_OF_BIRTH", "DATE_OF_DEATH", "HEADQUARTERS", "PLACE_OF_BIRTH"}
"""Relations to a date or place that tell who is meant."""
HE, SHE, IT = ("he", "him", "his", "himself"), ("she", "her", "hers", "herself"), ("it", "its")
NOT_NAMES = {*HE, *SHE, *IT} | set(
    "i me my myself we us our they them their themselves itself who which whom whose that".split()
)


# --- data -----------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Text:
    """A document: `spans` are the characters of its tokens, `things` the cluster of each mention.

    `heads` are, by the first character of a pronoun, the clusters that it may stand for.
    """

    title: str
    text: str
    spans: list[tuple[int, int]]
    mentions: list[Mention]
    things: list[int]
    heads: dict[int, set[int]]


@dataclass(frozen=True, slots=True)
class Argument:
    """A mention of KnowledgeNet: where, of what type, which Wikidata entity, in which facts."""

    start: int
    end: int
    type: str
    entity: str | None
    facts: frozenset[tuple[int, str]]


def rows_of(path: Path) -> tuple[list[dict[str, Any]], DataFile]:
    """The rows of a gzipped JSON Lines file."""
    data = path.read_bytes()
    rows = [json.loads(line) for line in gzip.decompress(data).splitlines()]
    return rows, DataFile(path.name, hashlib.sha256(data).hexdigest(), len(rows))


def joined(tokens: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """The tokens as a text with ordinary spacing, and where each stands in it."""
    text, spans, quoted = "", [], False
    for i, token in enumerate(tokens):
        before = tokens[i - 1] if i else ""
        glued = token in {*",.;:!?)]}%-", "'s", "’s", "n't"} or before in {*"([{-"}
        if token == '"':
            quoted = not quoted
            glued = glued or not quoted
        glued = glued or (before == '"' and quoted)
        text += "" if glued or not i else " "
        spans.append((len(text), len(text) + len(token)))
        text += token
    return text, spans


def re_docred(row: dict[str, Any]) -> Text:
    """A document of Re-DocRED."""
    text, spans = joined(row["tokens"])
    things = [0] * len(row["entities"])
    for thing, cluster in enumerate(row["clusters"]):
        for mention in cluster:
            things[mention] = thing
    mentions = [
        Mention(spans[a][0], spans[b][1], text[spans[a][0] : spans[b][1]], TYPES[kind], 1.0)
        for a, b, kind in row["entities"]
    ]
    return Text(row["title"], text, spans, mentions, things, _heads(row, spans, things))


def _heads(
    row: dict[str, Any], spans: Sequence[tuple[int, int]], things: Sequence[int]
) -> dict[int, set[int]]:
    """Whom the pronouns of a sentence stand for that proves a relation without naming its head."""
    borders = [*row["sentence_starts"], len(row["tokens"])]
    named: dict[int, set[int]] = defaultdict(set)
    kinds: dict[int, str] = {}
    for thing, (first, _, kind) in zip(things, row["entities"], strict=True):
        kinds[thing] = kind
        named[thing].add(sum(border <= first for border in borders) - 1)
    heads: dict[int, set[int]] = defaultdict(set)
    for (head, tail, _), evidence in zip(row["cluster_relations"], row["evidence"], strict=True):
        if kinds[head] != "PER" or kinds[tail] == "PER":
            continue
        for sentence in (s for s in evidence if s in named[tail] and s not in named[head]):
            inside = range(borders[sentence], borders[sentence + 1])
            said = [(spans[i][0], row["tokens"][i].lower()) for i in inside]
            found = [(start, word in HE) for start, word in said if word in HE + SHE]
            if len({he for _, he in found}) == 1:
                for start, _ in found:
                    heads[start].add(head)
    return heads


def knowledgenet(rows: list[dict[str, Any]], fold: int) -> Iterator[tuple[str, list[Argument]]]:
    """The documents of a fold, as far as their passages are in the data."""
    documents: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if row["fold"] == fold:
            documents[row["id"].split(".")[2]].append(row)
    for passages in documents.values():
        text, arguments = "", list[Argument]()
        for row in sorted(passages, key=lambda r: int(r["id"].split(".")[3])):
            passage, spans = joined(row["tokens"])
            text += " " if text else ""
            offset, first = len(text), len(arguments)
            text += passage
            types: dict[int, str] = {}
            facts: dict[int, set[tuple[int, str]]] = defaultdict(set)
            for head, tail, relation in row["relations"]:
                types[head], types[tail] = ROLES[relation]
                if relation in OF_ONE:
                    facts[head].add((first + tail, relation))
            arguments += [
                Argument(
                    offset + spans[a][0],
                    offset + spans[b][1],
                    types.get(i, ""),
                    row["qids"][i],
                    frozenset(facts[i]),
                )
                for i, (a, b, _) in enumerate(row["entities"])
            ]
        yield text, arguments


# --- names ----------------------------------------------------------------------------------------
def pairs_and_rules(documents: Sequence[Text], split: str) -> list[Row]:
    """Pairs of mentions by three ways to link them, and the aliases rule by rule."""
    linked: dict[str, Counter[bool]] = defaultdict(Counter)
    by_rule: dict[str, Counter[str]] = defaultdict(Counter)
    in_one_cluster = 0
    for document in documents:
        keys = [key(m.surface, m.type) for m in document.mentions]
        found = aliases(document.text, document.mentions)
        ways = {
            "exact name": [normal_name(m.surface) for m in document.mentions],
            "key": keys,
            "key and aliases": [root(k, found) for k in keys],
        }
        for i, j in combinations(range(len(keys)), 2):
            same = document.things[i] == document.things[j]
            in_one_cluster += same
            for way, names in ways.items():
                if names[i] == names[j]:
                    linked[way][same] += 1
        for alias in found:
            right, decided = _judged(alias, keys, document.things)
            by_rule[alias.rule].update(n=1, right=right, decided=decided)
    rows: list[Row] = []
    for way in ("exact name", "key", "key and aliases"):
        counts = linked[way]
        precision = counts[True] / counts.total()
        recall = counts[True] / in_one_cluster
        rows.append(
            {
                "data": f"Re-DocRED {split}",
                "what": way,
                "n": counts.total(),
                "precision": precision,
                "recall": recall,
                "f1": 2 * precision * recall / (precision + recall),
            }
        )
    for rule, seen in sorted(by_rule.items(), key=lambda item: -item[1]["n"]):
        rows.append(
            {
                "data": f"Re-DocRED {split}",
                "what": f"alias: {rule}",
                "n": seen["n"],
                "precision": seen["right"] / seen["n"],
                "decided": seen["decided"],
                "precision_decided": seen["right"] / seen["decided"] if seen["decided"] else None,
            }
        )
    return rows


def root(name: str, found: Sequence[Alias]) -> str:
    """Where following the aliases from `name` ends."""
    fuller = {alias.other: alias.name for alias in found}
    while name in fuller:
        name = fuller[name]
    return name


def _judged(alias: Alias, keys: Sequence[str], things: Sequence[int]) -> tuple[bool, bool]:
    """Whether an alias is right, and whether the clusters link its shorter name to anything."""
    by_name: dict[str, set[int]] = defaultdict(set)
    for name, thing in zip(keys, things, strict=True):
        by_name[name].add(thing)
    short = by_name[alias.other]
    right = bool(short & by_name[alias.name])
    linked = any(short & things for name, things in by_name.items() if name != alias.other)
    return right, linked


# --- pronouns -------------------------------------------------------------------------------------
def by_evidence(documents: Sequence[Text], split: str) -> list[Row]:
    """The references of Re-DocRED: how many are linked, and those of persons by evidence."""
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for document in documents:
        whole = Paragraph(0, 0, len(document.text), document.text, document.title)
        links = antecedents(document.text, document.mentions, abouts(document.title, whole))
        resolved = {link.start: link for link in links}
        for start, end in document.spans:
            if word := _group(document.text[start:end]):
                seen[word].update(in_text=1)
            elif start in resolved:
                word = "the film, the band, …"
            if link := resolved.get(start):
                named = {
                    thing
                    for m, thing in zip(document.mentions, document.things, strict=True)
                    if m.surface == link.name
                }
                heads = document.heads.get(start, set())
                decided = len(heads) == 1
                seen[word].update(n=1, decided=decided, right=decided and bool(heads & named))
    return [_reference_row(f"Re-DocRED {split}", word, c) for word, c in sorted(seen.items())]


def by_argument(rows: list[dict[str, Any]], fold: int) -> list[Row]:
    """The pronouns of KnowledgeNet that are arguments, against the names of the same entity."""
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for text, arguments in knowledgenet(rows, fold):
        links = {k.start: k for k in antecedents(text, _mentions(text, arguments))}
        for pronoun in arguments:
            if not (word := _group(text[pronoun.start : pronoun.end])):
                continue
            link = links.get(pronoun.start)
            seen[word].update(in_text=1, n=link is not None)
            if (
                link is not None
                and (right := _stands_for(text, pronoun, link, arguments)) is not None
            ):
                seen[word].update(decided=1, right=right)
    return [_reference_row(f"KnowledgeNet fold {fold}", w, c) for w, c in sorted(seen.items())]


def _mentions(text: str, arguments: Sequence[Argument]) -> list[Mention]:
    """The arguments that are names, and between them runs of capitalised words of no type."""
    named = [
        Mention(a.start, a.end, text[a.start : a.end], a.type, 1.0)
        for a in arguments
        if text[a.start : a.end].lower() not in NOT_NAMES
    ]
    [seen] = CapitalisedSpans().seen([text], [None])
    kept: list[Mention] = []
    for m in (*sorted(named, key=lambda m: (m.start, -m.end)), *seen.mentions):
        if not any(m.start < k.end and k.start < m.end for k in kept):
            kept.append(m)
    return sorted(kept, key=lambda m: m.start)


def _stands_for(
    text: str, pronoun: Argument, link: Link, arguments: Sequence[Argument]
) -> bool | None:
    """Whether the arguments say that `link` is right; None where they say nothing."""
    spoken = set(folded_words(link.name))
    same, other = set[str](), False
    for argument in arguments:
        name = text[argument.start : argument.end]
        if name.lower() in NOT_NAMES:
            continue
        both = pronoun.entity is not None and argument.entity is not None
        if (both and pronoun.entity == argument.entity) or pronoun.facts & argument.facts:
            same.update(folded_words(name))
        elif both and name == link.name:
            other = True
    # A full name and its short form have a word in common.
    return bool(spoken & same) if same or other else None


def _group(word: str) -> str:
    """The row in which a pronoun is counted; empty for other words."""
    said = word.lower()
    return "he" if said in HE else "she" if said in SHE else said if said in IT else ""


def _reference_row(data: str, word: str, seen: Counter[str]) -> Row:
    return {
        "data": data,
        "what": f"reference: {word}",
        "n": seen["n"],
        "coverage": seen["n"] / seen["in_text"] if seen["in_text"] else None,
        "decided": seen["decided"],
        "precision_decided": seen["right"] / seen["decided"] if seen["decided"] else None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--results", type=Path, default=Path("experiments/results"))
    arguments = parser.parse_args()
    facts, file = rows_of(arguments.data_dir / "knowledgenet.train.jsonl.gz")
    rows: list[Row] = []
    files = [file]
    for split, fold in SPLITS.items():
        found, file = rows_of(arguments.data_dir / f"re-docred-doc.{split}.jsonl.gz")
        documents = [re_docred(row) for row in found]
        files.append(file)
        rows += pairs_and_rules(documents, split)
        rows += by_evidence(documents, split)
        rows += by_argument(facts, fold)
    command = shlex.join(["python", "-m", "experiments.name_links", *sys.argv[1:]])
    result = Result.of_this_run("name_links", command, 0, rows, files)
    print(write(result, arguments.results).with_suffix(".md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
