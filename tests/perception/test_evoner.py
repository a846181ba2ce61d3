"""The shipped recogniser: names with and without capitals, and nothing in the wrong place."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smartrag.errors import ModelError
from smartrag.perception import Encoder, EvoNER, Perception, evoner
from smartrag.perception.words import words_of
from smartrag.settings import PerceptionSettings
from smartrag.types import Document, Mention

TEXT = (
    "Ada Lovelace was born in London on 10 December 1815 and corresponded with Charles Babbage, "
    "a professor at the University of Cambridge."
)


@pytest.fixture(scope="session")
def perceiver() -> EvoNER:
    return EvoNER(evoner.shipped())


def found(text: str, reader: Encoder, perceiver: EvoNER) -> tuple[Mention, ...]:
    [reading] = reader.read([text], [()])
    [seen] = perceiver.seen([text], [reading.tokens])
    return seen.mentions


def test_names_are_found_with_their_types(minilm_shared: Encoder, perceiver: EvoNER) -> None:
    mentions = {m.surface: m.type for m in found(TEXT, minilm_shared, perceiver)}
    assert mentions == {
        "Ada Lovelace": "person",
        "London": "location",
        "10 December 1815": "time",
        "Charles Babbage": "person",
        "University of Cambridge": "organization",
    }


def test_names_without_capitals_are_found_too(minilm_shared: Encoder, perceiver: EvoNER) -> None:
    mentions = {m.surface: m.type for m in found(TEXT.lower(), minilm_shared, perceiver)}
    assert mentions["charles babbage"] == "person"
    assert mentions["london"] == "location"


def test_a_text_without_names_has_no_mentions(minilm_shared: Encoder, perceiver: EvoNER) -> None:
    assert found("It rained, and nobody came.", minilm_shared, perceiver) == ()
    assert found("", minilm_shared, perceiver) == ()


@settings(max_examples=30)
@given(st.text(max_size=120))
def test_mentions_of_any_text_are_spans_of_it_in_order(
    minilm_shared: Encoder, perceiver: EvoNER, text: str
) -> None:
    clean = text.encode("utf-8", "replace").decode()
    mentions = found(clean, minilm_shared, perceiver)
    end = 0
    for mention in mentions:
        assert mention.start >= end
        end = mention.end
        assert clean[mention.start : mention.end] == mention.surface != ""
        assert 0 < mention.score <= 1


def test_several_texts_at_once_are_read_as_each_alone(minilm_shared: Encoder) -> None:
    texts = [TEXT, "Oslo is in Norway.", "", TEXT[:50]]
    perceiver = EvoNER(evoner.shipped(), workers=2)
    tokens = [reading.tokens for reading in minilm_shared.read(texts, [()] * 4)]
    together = [seen.mentions for seen in perceiver.seen(texts, tokens)]
    assert together == [found(t, minilm_shared, perceiver) for t in texts]


def test_the_output_has_a_row_for_every_type_of_the_future(
    minilm_shared: Encoder, perceiver: EvoNER
) -> None:
    inventory = perceiver.model.inventory
    assert inventory.rows == 1 + 10 + 128
    [reading] = minilm_shared.read([TEXT], [()])
    assert reading.tokens is not None
    words = words_of(TEXT, reading.tokens)
    logits, vectors = perceiver.scores(words)
    assert logits.shape == (len(words), 10, inventory.used)
    assert vectors.shape == (len(words), 10, 256)


def test_a_label_helps_to_read_and_its_own_names_are_no_mentions(
    minilm_shared: Encoder, perceiver: EvoNER
) -> None:
    perception = Perception(minilm_shared, perceiver, PerceptionSettings())
    document = Document("d", "She was born in London.", title="Ada Lovelace")
    [seen] = perception.observe([(document, p) for p in perception.split(document)])
    assert [(m.start, m.end, m.surface) for m in seen.mentions] == [(16, 22, "London")]


def test_an_encoder_that_shares_nothing_is_read_beside_another(
    minilm: Encoder, minilm_shared: Encoder, perceiver: EvoNER
) -> None:
    assert not minilm.shares
    perception = Perception(minilm, perceiver, PerceptionSettings(), minilm_shared)
    asked = perception.ask("Who was Charles Babbage?")
    assert [m.surface for m in asked.mentions] == ["Charles Babbage"]
    assert np.array_equal(asked.vector, minilm.encode([asked.text])[0])


def test_sharing_changes_no_vector(minilm: Encoder, minilm_shared: Encoder) -> None:
    assert np.array_equal(minilm.encode([TEXT]), minilm_shared.encode([TEXT]))


@pytest.mark.parametrize("damage", ["graph", "description", "sum", "inventory"])
def test_a_damaged_model_is_refused(tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "evoner"
    shutil.copytree(evoner.SHIPPED, folder)
    described = json.loads((folder / evoner.DESCRIPTION).read_text(encoding="utf-8"))
    if damage == "graph":
        (folder / evoner.GRAPH).unlink()
    elif damage == "description":
        (folder / evoner.DESCRIPTION).write_text("{", encoding="utf-8")
    elif damage == "sum":
        (folder / evoner.GRAPH).write_bytes(b"other")
    else:
        described["inventory"]["types"][0]["row"] = 5
        (folder / evoner.DESCRIPTION).write_text(json.dumps(described), encoding="utf-8")
    with pytest.raises(ModelError) as caught:
        evoner.load(folder)
    assert caught.value.remedy


def test_what_no_type_fits_is_pending_with_its_vector(
    minilm_shared: Encoder, perceiver: EvoNER
) -> None:
    text = "They speak Esperanto, which was not named after Ada Lovelace."
    [reading] = minilm_shared.read([text], [()])
    assert reading.tokens is not None
    [seen] = perceiver.seen([text], [reading.tokens])
    pending = {text[p.start : p.end]: p.vector for p in seen.pending}
    assert "Esperanto" in pending
    assert "Ada Lovelace" not in pending
    assert pending["Esperanto"].shape == (256,)
