"""The answer, character by character, out of a JSON reply that is still being written."""

from __future__ import annotations

from collections.abc import Callable, Generator

_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}

Machine = Generator[None, str, None]
"""Takes one character with every `send`."""


class StreamedAnswer:
    """Decodes the string under the top-level key "answer" of a JSON object, piece by piece.

    >>> answer = StreamedAnswer()
    >>> answer.feed('{"answer": "Os'), answer.feed('lo", "suff')
    ('Os', 'lo')

    What stands before the object is skipped. A key that comes twice counts the first time. A value
    that is not a string gives nothing.
    """

    def __init__(self) -> None:
        self._decoded: list[str] = []
        self._machine: Machine | None = _answer(self._decoded.append)
        next(self._machine)

    def feed(self, piece: str) -> str:
        """What `piece` adds to the answer; empty when nothing."""
        self._decoded.clear()
        if self._machine is not None:
            try:
                for character in piece:
                    self._machine.send(character)
            except StopIteration:
                self._machine = None
        return "".join(self._decoded)


def _answer(emit: Callable[[str], None]) -> Machine:
    """Walk through an object and `emit` the characters of its answer."""
    while (yield) != "{":
        pass
    depth, key, at_key = 1, "", True
    while depth:
        character = yield
        if character == '"':
            if depth > 1:
                yield from _string(_ignore)
            elif at_key:
                read: list[str] = []
                yield from _string(read.append)
                key = "".join(read)
            elif key == "answer":
                yield from _string(emit)
                return
            else:
                yield from _string(_ignore)
        elif character in "{[":
            if depth == 1 and key == "answer":
                return
            depth += 1
        elif character in "}]":
            depth -= 1
        elif depth == 1 and character in ":,":
            at_key = character == ","


def _string(emit: Callable[[str], None]) -> Machine:
    """Decode a string from behind its first quote up to the last one."""
    high = ""  # the first half of a surrogate pair waits for the second
    while (character := (yield)) != '"':
        escaped = character == "\\"
        if escaped:
            letter = yield
            if letter == "u":
                character = yield from _code_unit()
            else:
                character = _ESCAPES.get(letter, letter)
        if high and escaped and "\udc00" <= character <= "\udfff":
            pair = (high + character).encode("utf-16", "surrogatepass")
            emit(pair.decode("utf-16"))
            high = ""
            continue
        if high:
            emit(high)
            high = ""
        if escaped and "\ud800" <= character <= "\udbff":
            high = character
        else:
            emit(character)
    if high:
        emit(high)


def _code_unit() -> Generator[None, str, str]:
    """The four hexadecimal digits of an escape as a character."""
    digits = ""
    for _ in range(4):
        digits += yield
    try:
        return chr(int(digits, 16))
    except ValueError:
        return "\N{REPLACEMENT CHARACTER}"


def _ignore(character: str) -> None:
    pass
