"""Names for clusters of mentions: what a namer sees, and one that asks no language model.

A namer is a function, so a language model can be one; what it says is cleaned by `type_name`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from smartrag.text import STOP_WORDS, normal_name
from smartrag.types import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Pending:
    """A mention that no type fits: its words, the sentence around them and a vector for both."""

    surface: str
    context: str
    vector: FloatArray  # (d,)


@dataclass(frozen=True, slots=True, eq=False)
class Cluster:
    """Mentions that hold together, as a namer sees them; `members` are their places, ascending."""

    members: tuple[int, ...]
    mentions: tuple[Pending, ...]
    coherence: float
    centroid: FloatArray  # (d,), unit length


Namer = Callable[[Cluster], str | None]
"""Names the type that the mentions of a cluster share; None where they share none."""

_LONGEST = 40
_SAYS_WHAT = re.compile(
    r"""\s*(?:,|\(|[–—-]|\bis|\bwas|\bare|\bwere)\s+(?:an?|the|one\s+of\s+the)\s+
    ((?:[\w'’-]+\s+){0,4}?[\w'’-]+?)
    (?=\s*(?:[.,;:()]|$|\s(?:at|by|for|from|in|of|on|that|to|which|who|with|based|used|and|or)\b))""",
    re.VERBOSE,
)
"""Behind a mention: ", a German rock band from …", "is a programming language that …"."""
_SAID_BEFORE = re.compile(
    r"""\b(?:[Tt]he|[Aa]n?|[Hh]is|[Hh]er|[Ii]ts|[Tt]heir)\s+(?:[\w'’-]+\s+){0,2}?([a-z][\w-]+)\s+["“'‘]?$"""
)
"""Before it: "the band Queen", "a German rock band Queen"."""
_FEWEST = 2


def type_name(said: str) -> str:
    """A name for a type made of whatever was said: words in lower case, at most 40 characters.

    Empty where nothing is left.
    """
    words = re.findall(r"[^\W_]+(?:['’-][^\W_]+)*", said.casefold())
    while words and len(" ".join(words)) > _LONGEST:
        words.pop()
    return " ".join(words)


def name_by_head_words(cluster: Cluster) -> str | None:
    """The word that most of the different names are called by, in the texts or by themselves.

    "Queen, a rock band" calls it a band and "support vector machine" ends as it is called. Where no
    word is said of two names, the cluster is called after its most frequent member.
    """
    called: dict[str, set[str]] = defaultdict(set)
    for mention in cluster.mentions:
        for word in _heads(mention):
            called[word].add(normal_name(mention.surface))
    best = min(called, key=lambda word: (-len(called[word]), word), default="")
    if best and len(called[best]) >= _FEWEST:
        return best
    surfaces = Counter(normal_name(mention.surface) for mention in cluster.mentions)
    return f"like {min(surfaces, key=lambda name: (-surfaces[name], name))}"


def _heads(mention: Pending) -> Iterator[str]:
    """The words that say what a mention is."""
    start = mention.context.find(mention.surface)
    if start >= 0:
        if said := _SAYS_WHAT.match(mention.context, start + len(mention.surface)):
            yield from _usable(said[1].split()[-1])
        if said := _SAID_BEFORE.search(mention.context[:start]):
            yield from _usable(said[1])
    words = mention.surface.split()
    if len(words) > 1:
        yield from _usable(words[-1])


def _usable(word: str) -> Iterator[str]:
    """The word in lower case and in the singular, if it is one that can name a type."""
    word = word.casefold().strip("'’-")
    if word.endswith("ies") and len(word) > 5:
        word = word[:-3] + "y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        word = word[:-1]
    if len(word) > 2 and word.isalpha() and word not in STOP_WORDS:
        yield word
