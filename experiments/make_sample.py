"""Build the sample corpus: python experiments/make_sample.py --data-dir DIR

DIR holds `hotpotqa.dev_distractor.jsonl.gz` and `2wiki.dev.jsonl.gz` in the schema that
`smartrag.evaluation.datasets` reads. The output is the folder `sample/` beside `experiments/`: one
Markdown file an article, the questions, and a README with the sources. The same input gives the
same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import shutil
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

SAMPLE = Path(__file__).resolve().parents[1] / "sample"
SEED = 0
LONGEST_PARAGRAPH_WORDS = 220
LONGEST_ANSWER_WORDS = 4
LONGEST_QUESTION_WORDS = 20
WANTED = {
    "hotpotqa.dev_distractor": {"bridge": 8, "comparison": 4},
    "2wiki.dev": {"compositional": 3, "comparison": 2, "bridge_comparison": 2, "inference": 1},
}
KEPT = ("id", "dataset", "question", "answers", "type", "supporting_facts")
UNCLEAR = {
    "5a8d0c1b5542994ba4e3dbb3",
    "5adff056554299603e4183cc",
    "5a89875655429938390d4047",
    "5ac097b05542996f0d89cc18",
    "5ab412da5542996a3a969f15",
    "5a811667554299260e20a23d",
    "5a8b6ee255429950cd6afcfd",
    "5a75d8a3554299109176e5a6",
    "5a72830e5542994cef4bc2f9",
    "c1bda6060bdb11eba7f7acde48001122",
    "q-675c125fb6df96fb",
    "5a7dc3275542997cc2c4749c",
    "5adbfc945542996e68525296",
    "5a8cea40554299441c6b9f76",
    "5a77724455429972597f153e",
    "5ab322b1554299194fa93570",
    "5adf51595542993344016c52",
    "5a7b63eb55429931da12ca7e",
    "5ab68a71554299710c8d1ec2",
    "5a8c620c554299240d9c2141",
    "8c273c580bdd11eba7f7acde48001122",
}
"""They pass the filters but do not read well, have a doubtful label or resemble another one."""

# Capitals that only an automatic title case leaves, as in "17Th Earl" and "Mummy'S Boys", and
# words set apart from their punctuation.
_BADLY_SET = re.compile(
    r"'[STL]\b|\b\d+Th\b|\bI[iv]+\b|\s[?,]|\?\?|\([^)]*(?:Film|Song|Album)\)|\s\s"
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the sample corpus.")
    parser.add_argument("--data-dir", type=Path, required=True)
    folder: Path = parser.parse_args().data_dir
    rows = [
        row for name, quota in WANTED.items() for row in choose(read(folder, name), quota, name)
    ]
    write(rows)


def read(folder: Path, name: str) -> list[dict[str, Any]]:
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8", newline="\n") as lines:
        return [json.loads(line) for line in lines]


def choose(rows: list[dict[str, Any]], quota: dict[str, int], name: str) -> list[dict[str, Any]]:
    """`quota` questions of each type that read well, drawn with a fixed seed."""
    candidates = [row for row in rows if reads_well(row)]
    random.Random(f"{SEED} {name}").shuffle(candidates)
    chosen: list[dict[str, Any]] = []
    for kind, count in quota.items():
        of_kind = [row for row in candidates if row["type"] == kind and row["id"] not in UNCLEAR]
        if len(of_kind) < count:
            raise SystemExit(f"{name} has only {len(of_kind)} fitting questions of type {kind}")
        chosen += of_kind[:count]
    return chosen


def reads_well(row: dict[str, Any]) -> bool:
    question: str = row["question"]
    return (
        question[0].isupper()
        and question.endswith("?")
        and len(question.split()) <= LONGEST_QUESTION_WORDS
        and not _BADLY_SET.search(question)
        and not any("&amp;" in p["title"] for p in row["paragraphs"])
        and len(row["answers"]) == 1
        and len(row["answers"][0].split()) <= LONGEST_ANSWER_WORDS
        and all(len(p["text"].split()) <= LONGEST_PARAGRAPH_WORDS for p in row["paragraphs"])
    )


def write(rows: list[dict[str, Any]]) -> None:
    articles: dict[str, list[str]] = {}
    for row in rows:
        for paragraph in row["paragraphs"]:
            texts = articles.setdefault(paragraph["title"], [])
            if paragraph["text"] not in texts:
                texts.append(paragraph["text"])
    corpus = SAMPLE / "corpus"
    if corpus.exists():
        shutil.rmtree(corpus)
    corpus.mkdir(parents=True)
    for title, slug in slugs(sorted(articles)).items():
        text = "\n\n".join([f"# {title}", *articles[title]])
        (corpus / f"{slug}.md").write_text(text + "\n", encoding="utf-8", newline="\n")
    questions = [json.dumps({k: row[k] for k in KEPT}, ensure_ascii=False) + "\n" for row in rows]
    text = "".join(questions)
    (SAMPLE / "questions.jsonl").write_text(text, encoding="utf-8", newline="\n")
    by_dataset = Counter(row["dataset"] for row in rows)
    text = README.format(
        articles=len(articles),
        questions=len(rows),
        hotpotqa=by_dataset["hotpotqa"],
        two_wiki=by_dataset["2wiki"],
    )
    (SAMPLE / "README.md").write_text(text, encoding="utf-8", newline="\n")


def slugs(titles: list[str]) -> dict[str, str]:
    """A file name for each title: lower-case ASCII, so that it is unique on every file system."""
    named: dict[str, str] = {}
    taken: set[str] = set()
    for title in titles:
        ascii_only = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
        stem = re.sub(r"[^a-z0-9]+", "-", ascii_only.lower()).strip("-") or "article"
        slug, number = stem, 1
        while slug in taken:
            number += 1
            slug = f"{stem}-{number}"
        taken.add(slug)
        named[title] = slug
    return named


README = """\
# Sample corpus

{articles} short encyclopaedia articles and {questions} questions over them, to try SmartRAG and to
test it. Each question needs two or more of the articles.

- `corpus/*.md`: one file an article, its title as the heading and its paragraphs below.
- `questions.jsonl`: one JSON object a line with `id`, `dataset`, `question`, `answers`, `type` and
  `supporting_facts`, a list of [article title, index of the sentence from 0].

## Sources and licences

| what | source | licence |
|---|---|---|
| {hotpotqa} questions with answers and labels, and the choice of their paragraphs | HotpotQA, \
development set with distractors: Yang, Qi, Zhang, Bengio, Cohen, Salakhutdinov and Manning, \
*HotpotQA: A Dataset for Diverse, Explainable Multi-hop Question Answering*, EMNLP 2018, \
<https://hotpotqa.github.io> | [CC BY-SA 4.0](https://creativecommons.org/licenses/by-sa/4.0/) |
| {two_wiki} questions with answers and labels, and the choice of their paragraphs | \
2WikiMultiHopQA, development set: Ho, Duong Nguyen, Sugawara and Aizawa, *Constructing A Multi-hop \
QA Dataset for Comprehensive Evaluation of Reasoning Steps*, COLING 2020, \
<https://github.com/Alab-NII/2wikimultihop> | \
[Apache-2.0](https://www.apache.org/licenses/LICENSE-2.0) |
| the text of all articles | the introductions of the English Wikipedia articles of the same \
titles, by their authors, who are named in the history of each article | CC BY-SA |

The questions and the texts are unchanged, and so are the slips in them. What was done here:
{questions} questions were chosen (seed 0, short paragraphs, short answers, several types), their
paragraphs were written as Markdown, one file an article, and keys of the questions that are not
listed above were left out. The folder is shared under the licences of its sources, not under that
of SmartRAG.

It is made by `python experiments/make_sample.py --data-dir DIR`, where DIR holds
`hotpotqa.dev_distractor.jsonl.gz` and `2wiki.dev.jsonl.gz`.
"""


if __name__ == "__main__":
    main()
