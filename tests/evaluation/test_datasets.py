"""Loading questions into a pool: gold labels, what is left out, and what is refused."""

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from smartrag.errors import DataError
from smartrag.evaluation.datasets import DataFile, GoldSentences, PoolPassage, load

RIVER: dict[str, Any] = {
    "title": "Aare",
    "text": "The Aare is a river. It passes Bern.",
    "supporting": True,
    "sentences": ["The Aare is a river.", " It passes Bern."],
}
CITY: dict[str, Any] = {"title": "Bern", "text": "Bern is a city.", "supporting": True}
OTHER: dict[str, Any] = {"title": "Basel", "text": "Basel is a city.", "supporting": False}
TWO_HOPS: dict[str, Any] = {
    "id": "q1",
    "question": "What is the city on the Aare?",
    "answers": ["Bern"],
    "type": "bridge",
    "paragraphs": [OTHER, RIVER, CITY],
    "supporting_facts": [["Aare", 1], ["Bern", 0], ["Aare", 7]],
}
UNANSWERABLE: dict[str, Any] = {
    "id": "q2",
    "question": "Who founded Basel?",
    "answers": [],
    "unanswerable": True,
    "paragraphs": [OTHER],
}


def write(path: Path, *rows: dict[str, Any]) -> Path:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def test_distinct_paragraphs_become_the_pool_in_order_of_first_appearance(tmp_path: Path) -> None:
    again = {**CITY, "text": "Bern is the capital."}
    questions = write(tmp_path / "two.dev.jsonl", TWO_HOPS, {**UNANSWERABLE, "paragraphs": [again]})
    pool = load(questions)
    assert pool.name == "two.dev"
    assert pool.passages == (
        PoolPassage("Basel", "Basel is a city."),
        PoolPassage("Aare", "The Aare is a river. It passes Bern."),
        PoolPassage("Bern", "Bern is a city."),
        PoolPassage("Bern", "Bern is the capital."),
    )


def test_an_item_knows_its_gold_passages_and_sentences(tmp_path: Path) -> None:
    pool = load(write(tmp_path / "a.jsonl", TWO_HOPS))
    (item,) = pool.items
    assert (item.id, item.question) == ("q1", "What is the city on the Aare?")
    assert (item.answers, item.type, item.unanswerable) == (("Bern",), "bridge", False)
    assert item.gold == {1, 2}
    assert item.facts == (("Aare", 1), ("Bern", 0), ("Aare", 7))
    # Passage 2 comes without sentences, and passage 1 has no sentence 7.
    sentences = ("The Aare is a river.", " It passes Bern.")
    assert item.sentences == {1: GoldSentences(sentences, frozenset({1}))}


def test_a_gzipped_file_loads_alike_and_is_named_by_its_digest(tmp_path: Path) -> None:
    plain = load(write(tmp_path / "a.jsonl", TWO_HOPS, UNANSWERABLE))
    path = write(tmp_path / "a.jsonl.gz", TWO_HOPS, UNANSWERABLE)
    zipped = load(path)
    assert (zipped.name, zipped.passages, zipped.items) == ("a", plain.passages, plain.items)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert zipped.files == (DataFile("a.jsonl.gz", digest, rows=2),)


def test_an_unanswerable_question_is_kept_without_gold(tmp_path: Path) -> None:
    pool = load(write(tmp_path / "a.jsonl", UNANSWERABLE))
    (item,) = pool.items
    assert (item.gold, item.unanswerable, item.answers, pool.left_out) == (frozenset(), True, (), 0)


def test_questions_without_their_whole_gold_are_left_out_and_counted(tmp_path: Path) -> None:
    unlabelled = {**TWO_HOPS, "id": "q3", "paragraphs": [{**CITY, "supporting": None}]}
    half = {**TWO_HOPS, "id": "q4", "paragraphs": [OTHER, RIVER]}
    pool = load(write(tmp_path / "a.jsonl", unlabelled, half, TWO_HOPS))
    assert ([item.id for item in pool.items], pool.left_out) == (["q1"], 2)


def test_the_limit_is_on_questions_and_not_on_the_pool(tmp_path: Path) -> None:
    more = {**TWO_HOPS, "id": "q5", "paragraphs": [RIVER, CITY, {**OTHER, "text": "Another."}]}
    questions = write(tmp_path / "a.jsonl", TWO_HOPS, more)
    pool = load(questions, limit=1)
    assert [item.id for item in pool.items] == ["q1"]
    assert (len(pool.passages), pool.left_out) == (4, 0)


def test_with_a_corpus_gold_is_the_first_row_of_each_title(tmp_path: Path) -> None:
    rows = [{"title": t, "text": f"{t} {i}."} for i, t in enumerate(("Bern", "Aare", "Bern"))]
    corpus = write(tmp_path / "c.jsonl", *rows)
    facts_only = {k: v for k, v in TWO_HOPS.items() if k != "paragraphs"}
    missing = {**facts_only, "id": "q6", "supporting_facts": [["Aare", 0], ["Rhine", 0]]}
    questions = write(tmp_path / "a.jsonl", facts_only, missing)
    pool = load(questions, corpus)
    assert [p.text for p in pool.passages] == ["Bern 0.", "Aare 1.", "Bern 2."]
    assert ([item.gold for item in pool.items], pool.left_out) == ([frozenset({0, 1})], 1)
    assert [file.name for file in pool.files] == ["a.jsonl", "c.jsonl"]


def test_evidence_names_the_gold_where_there_are_no_supporting_facts(tmp_path: Path) -> None:
    corpus = write(tmp_path / "c.jsonl", {"title": "20260105_09:00", "text": "Hello."})
    asked = {
        "id": "l1",
        "question": "Who wrote?",
        "answers": ["Li"],
        "evidence": ["20260105_09:00"],
    }
    refused = {"id": "l2", "question": "Why?", "answers": [], "evidence": [], "unanswerable": True}
    pool = load(write(tmp_path / "a.jsonl", asked, refused), corpus)
    assert [item.gold for item in pool.items] == [{0}, frozenset()]


def test_a_line_separator_inside_a_string_does_not_end_the_row(tmp_path: Path) -> None:
    odd = {"title": "A", "text": "one\u2028two", "supporting": True}
    pool = load(write(tmp_path / "a.jsonl", {"id": "q", "question": "?", "paragraphs": [odd]}))
    assert pool.passages == (PoolPassage("A", "one\u2028two"),)


# --- what is refused ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"id": "q", ', "line 2: this is not JSON"),
        ("[1]", "line 2: this is not a JSON object"),
        ('{"question": "?"}', "line 2: the key 'id' is missing"),
        ('{"id": "q"}', "line 2: the key 'question' is missing"),
        ('{"id": 1, "question": "?"}', "line 2: 'id' is of type int, not str"),
        ('{"id": "q", "question": "?", "answers": "no"}', "line 2: 'answers' is of type str"),
        ('{"id": "q", "question": "?", "answers": [1]}', "line 2: 'answers' is not a list of str"),
        ('{"paragraphs": [{"title": "A"}]}', "line 2: the key 'text' is missing"),
        ('{"paragraphs": ["A"]}', "line 2: 'paragraphs' is not a list of dict"),
        (
            '{"supporting_facts": [["A", "0"]]}',
            "line 2: 'supporting_facts' is not a list of [title",
        ),
    ],
)
def test_a_bad_row_is_named_by_file_and_line(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(f"{json.dumps(TWO_HOPS)}\n{line}\n", encoding="utf-8")
    with pytest.raises(DataError) as caught:
        load(path)
    assert caught.value.problem.startswith(problem)
    assert caught.value.subject == "bad.jsonl"
    assert caught.value.remedy


def test_a_missing_file_is_named_without_its_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^evaluation: none\.jsonl: the file cannot be read"):
        load(tmp_path / "none.jsonl")


@pytest.mark.parametrize("cut", [5, 40])
def test_a_cut_gzip_file_is_damaged(tmp_path: Path, cut: int) -> None:
    path = write(tmp_path / "a.jsonl.gz", TWO_HOPS)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(DataError, match="the file is damaged"):
        load(path)


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl"])
def test_bytes_that_are_neither_gzip_nor_text_are_damaged(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="the file is damaged"):
        load(tmp_path / name)


def test_questions_without_any_passage_need_a_corpus(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there are no passages\. Give a corpus file"):
        load(write(tmp_path / "a.jsonl", {"id": "q", "question": "?"}))


# --- the sample -----------------------------------------------------------------------------------
def test_the_articles_of_the_sample_answer_its_questions(tmp_path: Path) -> None:
    sample = Path(__file__).parents[2] / "sample"
    files = sorted((sample / "corpus").glob("*.md"))
    texts = [file.read_text(encoding="utf-8").split("\n\n", 1) for file in files]
    articles = [{"title": head.removeprefix("# "), "text": text} for head, text in texts]
    pool = load(sample / "questions.jsonl", write(tmp_path / "c.jsonl", *articles))
    assert (len(pool.items), pool.left_out) == (20, 0)
    assert all(len(item.gold) >= 2 and item.answers for item in pool.items)
    assert len({p.title for p in pool.passages}) == len(files)
    assert all(file.stem.isascii() and file.stem == file.stem.lower() for file in files)
