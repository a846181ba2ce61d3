"""From a question and its plan to evidence: channels, hops, places, sentences, confidence."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from smartrag.focus import confidence as gate
from smartrag.focus.channels import (
    Relevance,
    SentenceCosines,
    quantized,
    relevance,
    sentence_channel,
)
from smartrag.focus.compress import telling_sentences
from smartrag.focus.hops import Hops, Seed, hops
from smartrag.focus.linking import Link, links, named_in, residual
from smartrag.focus.ranking import Ranked, Start, rank, seeds, start
from smartrag.memory import StoreView
from smartrag.memory.graph import Graph
from smartrag.settings import FocusSettings
from smartrag.types import ChannelScores, Evidence, FloatArray, Passage, Plan, Question, Signals

_GATE_PASSAGES = 8
"""The gate looks at as many passages as it was fitted with, however many are asked for."""

Embed = Callable[[str], FloatArray]
"""Turns a text into the encoder's vector, shape (d,)."""


def gather(
    question: Question, plan: Plan, view: StoreView, settings: FocusSettings, embed: Embed
) -> Evidence:
    """The evidence for a question. No model of language is called here.

    An empty view gives no passages and confidence 0.
    """
    if not len(view.paragraph_ids):
        nothing = Signals(cosine=0.0, sentence=0.0, coverage=0.0, named=0.0)
        return Evidence(question.text, plan, (), (), nothing, confidence=0.0, sufficient=False)
    seconds: dict[str, float] = {}
    graph = view.graph
    with _timed(seconds, "link"):
        found = links(question.text, graph)
        # A model's plan may name what the question only describes.
        planned = plan.seeds if plan.source == "model" else ()
        links_used = [*found, *(k for seed in planned for k in links(seed, graph))]
        named = {entity for link in links_used for entity in link.entities}
    with _timed(seconds, "channels"):
        query = quantized(question.vector)
        scored = relevance(view, question.text, query, settings)
    with _timed(seconds, "sentences"):
        sentences = SentenceCosines(view, query)
        channel = sentence_channel(scored, sentences, settings)
        started = start(graph, scored, channel, links_used, settings)
    with _timed(seconds, "residual"):
        rest = _rest(question, plan, found, view, settings, embed)
    wide = replace(settings, top_k=max(settings.top_k, _GATE_PASSAGES))
    with _timed(seconds, "hops"):
        first = _seeds(view, seeds(started, settings), sentences)
        typical = float(np.median(scored.cosine))
        # Taken here, so that it does not depend on how many passages are asked for.
        best_sentence = sentences.best()
        hopped = hops(graph, first, typical, best_sentence, rest, named, settings)
        ranked = rank(graph, scored, started, hopped, links_used, wide)
    with _timed(seconds, "passages"):
        passages = _passages(
            view, ranked, scored, channel, started, hopped, sentences, named, settings
        )
    measured = gate.signals(
        question.text,
        question.mentions,
        [f"{p.label} {p.text}" for p in passages[:_GATE_PASSAGES]],
        float(scored.cosine.max()),
        best_sentence,
    )
    sure = gate.confidence(measured)
    return Evidence(
        question=question.text,
        plan=plan,
        passages=passages[: settings.top_k],
        linked=tuple(question.text[k.start : k.end] for k in found if k.outermost),
        signals=measured,
        confidence=sure,
        sufficient=sure >= settings.confidence_threshold,
        seconds=seconds,
    )


def _rest(
    question: Question,
    plan: Plan,
    found: Sequence[Link],
    view: StoreView,
    settings: FocusSettings,
    embed: Embed,
) -> FloatArray | None:
    """How well each paragraph answers what is asked about the named things, float32[n] in 0 … 1.

    A plan's relation phrases say that best; without them it is the question with its linked names
    cut out, and nothing at all when there was no name to cut.
    """
    phrases = [hop.relation for hop in plan.hops if hop.relation.strip()]
    if not phrases:
        rest = residual(question.text, found, settings)
        phrases = [rest] if rest != question.text else []
    best: FloatArray | None = None
    for phrase in phrases:
        scored = relevance(view, phrase, quantized(embed(phrase)), settings)
        fits = settings.residual_lexical * scored.lexical + settings.residual_dense * scored.dense
        best = fits if best is None else np.maximum(best, fits)
    return best


def _seeds(view: StoreView, rows: Sequence[int], sentences: SentenceCosines) -> list[Seed]:
    """The seeds with what their sentences mention: what perception saw, and every stored name.

    A name may have become known only after the seed was written, and may be one that the detector
    does not see, such as *The Last of Us*; so the text is read once more against all names.
    """
    found = []
    there = view.fetch(rows)
    for (row, paragraph), cosines in zip(there.items(), sentences.of(list(there)), strict=True):
        first = int(view.graph.first_sentence[row])
        mentioned = tuple(
            tuple(
                sorted(
                    set(view.graph.entities_in.of(first + i).tolist())
                    | named_in(paragraph.text[start:end], view.graph)
                )
            )
            for i, (start, end) in enumerate(view.sentence_spans(row))
        )
        found.append(Seed(row, mentioned, cosines))
    return found


def _passages(
    view: StoreView,
    ranked: Sequence[Ranked],
    scored: Relevance,
    channel: FloatArray,
    started: Start,
    hopped: Hops,
    sentences: SentenceCosines,
    named: set[int],
    settings: FocusSettings,
) -> tuple[Passage, ...]:
    stored = view.fetch([r.row for r in ranked])
    there = [r for r in ranked if r.row in stored]
    rows = [r.row for r in there]
    kept = telling_sentences(view, rows, sentences.of(rows), named, settings)
    passages = []
    for r, telling in zip(there, kept, strict=True):
        paragraph = stored[r.row]
        passages.append(
            Passage(
                paragraph_id=paragraph.id,
                document=paragraph.document,
                label=paragraph.label,
                heading=paragraph.heading,
                page=paragraph.page,
                start=paragraph.start,
                end=paragraph.end,
                text=paragraph.text,
                sentences=view.sentence_spans(r.row),
                kept=telling,
                stage=r.stage,
                score=r.score,
                channels=ChannelScores(
                    lexical=float(scored.lexical[r.row]),
                    dense=float(scored.dense[r.row]),
                    sentence=float(channel[r.row]),
                    link=float(started.link[r.row]),
                    hops=float(hopped.scores[r.row]),
                ),
                via=_via(view, view.graph, hopped, r.row),
            )
        )
    return tuple(passages)


def _via(view: StoreView, graph: Graph, hopped: Hops, row: int) -> str:
    """The strongest edge into a passage, in words: "Corliss Archer ← Kiss and Tell"."""
    entity, seed = int(hopped.via_entity[row]), int(hopped.via_seed[row])
    if entity < 0:
        return ""
    source = view.fetch([seed]).get(seed)
    return f"{graph.names[entity]} ← {source.label or source.document}" if source else ""


@contextmanager
def _timed(seconds: dict[str, float], step: str) -> Iterator[None]:
    begun = time.perf_counter()
    yield
    seconds[step] = time.perf_counter() - begun
