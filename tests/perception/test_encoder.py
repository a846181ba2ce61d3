"""The real encoder: the right tokens, the same vector whatever else is asked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments.capitalised import CapitalisedSpans
from smartrag.errors import ModelError
from smartrag.kernels import quantize
from smartrag.perception import Encoder, Perception
from smartrag.settings import PerceptionSettings
from smartrag.types import Document

TEXTS = [
    "A man is playing a guitar.",
    "Somebody plays the guitar.",
    "The stock market fell sharply today.",
    "Torvik is a harbour town. Its lighthouse was built in 1844 by Hanna Roos.",
    "",
]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        (
            "The Battle of the Bulge began in 1944.",
            [101, 1996, 2645, 1997, 1996, 23708, 2211, 1999, 3646, 1012, 102],
        ),
        (
            "Édith Piaf's naïve café — 東京!",
            [101, 13257, 24624, 2546, 1005, 1055, 15743, 7668, 1517, 1879, 1755, 999, 102],
        ),
        (
            "unbelievable tokenisation: x²+y²",
            [101, 23653, 19204, 6648, 1024, 1060, 10701, 1009, 1061, 10701, 102],
        ),
    ],
)
def test_token_ids_are_those_of_bert_uncased(minilm: Encoder, text: str, ids: list[int]) -> None:
    assert minilm._tokenizer.encode(text).ids == ids


def test_token_spans_count_characters_without_special_tokens_and_uncut(minilm: Encoder) -> None:
    assert minilm.token_spans("Édith Piaf!") == [(0, 5), (6, 9), (9, 10), (10, 11)]
    assert minilm.token_spans("") == []
    assert len(minilm.token_spans("word " * 1000)) == 1000


def test_vectors_have_unit_length_and_384_dimensions(minilm: Encoder) -> None:
    vectors = minilm.encode(TEXTS)
    assert vectors.shape == (5, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert minilm.encode([]).shape == (0, 384)


def test_a_vector_depends_on_its_text_only_to_the_last_bit(
    minilm: Encoder, minilm_file: Path
) -> None:
    together = minilm.encode(TEXTS)
    assert np.array_equal(together, np.concatenate([minilm.encode([t]) for t in TEXTS]))
    assert np.array_equal(together[::-1], minilm.encode(TEXTS[::-1]))
    for workers in (0, 1, 4):
        other = Encoder(minilm_file, PerceptionSettings(workers=workers))
        again = other.encode(TEXTS)
        assert np.array_equal(together, again)
        assert np.array_equal(quantize(together).codes, quantize(again).codes)


def test_a_paraphrase_is_nearer_than_another_topic(minilm: Encoder) -> None:
    one, paraphrase, other = minilm.encode(TEXTS[:3])
    assert one @ paraphrase > 0.7
    assert one @ other < 0.2


def test_a_part_is_the_mean_of_its_tokens_and_the_whole_part_nearly_the_whole(
    minilm: Encoder,
) -> None:
    text = TEXTS[3]
    parts = [(0, 24), (25, len(text)), (0, len(text))]
    [reading] = minilm.read([text], [parts])
    whole, inside = reading.vector, reading.parts
    assert np.array_equal(whole, minilm.encode([text])[0])
    assert inside.shape == (3, 384)
    np.testing.assert_allclose(np.linalg.norm(inside, axis=1), 1, atol=1e-6)
    assert whole @ inside[2] > 0.95  # all but the two special tokens
    town, lighthouse = minilm.encode(["a town with a harbour", "who built the lighthouse?"])
    assert inside[0] @ town > inside[1] @ town
    assert inside[1] @ lighthouse > inside[0] @ lighthouse


def test_texts_are_cut_at_the_limit_and_a_part_beyond_it_has_the_vector_of_the_whole(
    minilm_file: Path,
) -> None:
    short = Encoder(minilm_file, PerceptionSettings(encoder_tokens=6))  # four words
    text = "one two three four five six"
    [reading] = short.read([text], [[(19, 27), (0, 3), (3, 4)]])
    whole, inside = reading.vector, reading.parts
    assert np.array_equal(whole, short.encode(["one two three four"])[0])
    assert np.array_equal(inside[0], whole)
    assert not np.array_equal(inside[1], whole)
    assert np.array_equal(inside[2], whole)  # a space holds no token
    assert len(short.token_spans(text)) == 6


def test_the_identity_is_name_dimension_and_sum_of_the_file(minilm: Encoder) -> None:
    assert minilm.identity.name == "minilm-l6-int8"
    assert minilm.identity.dimension == 384
    assert minilm.identity.sha256 == (
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
    )


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(b"not a model")
    with pytest.raises(ModelError) as caught:
        Encoder(file, PerceptionSettings())
    assert caught.value.subject == str(file)


def test_paragraphs_are_read_behind_their_label(minilm: Encoder) -> None:
    perception = Perception(minilm, CapitalisedSpans(), PerceptionSettings())
    document = Document("d", "He was born in Oslo. He died in Bergen as an old man.", title="Ada")
    [paragraph] = perception.split(document)
    [seen] = perception.observe([(document, paragraph)])
    labelled = f"Ada. {document.text}"
    assert np.array_equal(seen.vector, minilm.encode([labelled])[0])
    assert seen.sentences == ((0, 20), (21, 53))
    shifted = [(a + 5, b + 5) for a, b in seen.sentences]
    [reading] = minilm.read([labelled], [shifted])
    assert np.array_equal(seen.sentence_vectors, reading.parts)
    assert [m.surface for m in seen.mentions] == ["Oslo", "Bergen"]
    assert [a.name for a in seen.abouts] == ["Ada"]


def test_a_question_is_read_with_its_vector_and_its_names(minilm: Encoder) -> None:
    perception = Perception(minilm, CapitalisedSpans(), PerceptionSettings())
    asked = perception.ask("Who built the lighthouse of Torvik?")
    assert asked.text == "Who built the lighthouse of Torvik?"
    assert np.array_equal(asked.vector, minilm.encode([asked.text])[0])
    assert [m.surface for m in asked.mentions] == ["Torvik"]
