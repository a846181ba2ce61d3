"""Two edits of a serialised ONNX model, without an ONNX library.

Protocol buffers are sequences of fields, and concatenated ones are merged, repeated fields joined.
So a field is added by appending it, and nodes are exchanged by copying all fields but theirs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_GRAPH = 7  # of ModelProto
_NODE, _OUTPUT = 1, 12  # of GraphProto
_INPUT, _NODE_OUTPUT, _OP_TYPE, _ATTRIBUTE = 1, 2, 4, 5  # of NodeProto
_VALUE_NAME = 1  # of ValueInfoProto
_ATTRIBUTE_INT = 3  # of AttributeProto

_VARINT, _BYTES = 0, 2  # wire types
_FIXED = {1: 8, 5: 4}


def with_output(model: bytes, tensor: str) -> bytes:
    """The model with one more output, the values of `tensor`; their type is inferred."""
    value = _field(_VALUE_NAME, tensor.encode())
    return model + _field(_GRAPH, _field(_OUTPUT, value))


def with_small_tables(model: bytes) -> bytes:
    """The model with INT8 tables that are decoded where they are looked up.

    A table of embeddings that is stored as INT8 with a scale for each row, and decoded as a whole
    before the rows of a text are taken from it, stays in memory at four times its size. Here the
    rows are taken first and decoded then: the same numbers. A model without such a table, or that
    cannot be read, comes back as it is.
    """
    try:
        fields = list(_fields(memoryview(model)))
        [graph] = [field for field in fields if field.number == _GRAPH]
        parts = list(_fields(graph.payload))
        nodes = {place: _node(p.payload) for place, p in enumerate(parts) if p.number == _NODE}
    except (ValueError, IndexError):
        return model
    exchanged = _exchanged(nodes)
    if not exchanged:
        return model
    edited = b"".join(exchanged.get(place, part.whole) for place, part in enumerate(parts))
    return b"".join(_field(_GRAPH, edited) if f is graph else f.whole for f in fields)


# --- nodes ----------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Node:
    """An operation; `plain` is whether it has no attribute that is a number but 0."""

    operation: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    plain: bool
    attributes: bytes


def _exchanged(nodes: dict[int, _Node]) -> dict[int, bytes]:
    """What takes the places of the nodes Cast, Mul and Gather of every table."""
    used = Counter(name for node in nodes.values() for name in node.inputs)
    makers = {name: place for place, node in nodes.items() for name in node.outputs}
    exchanged: dict[int, bytes] = {}
    for place, gather in nodes.items():
        if gather.operation != "Gather" or not gather.plain:
            continue
        multiplied = nodes.get(makers.get(gather.inputs[0], -1))
        if multiplied is None or multiplied.operation != "Mul":
            continue
        table, scale = multiplied.inputs
        cast = nodes.get(makers.get(table, -1))
        once = used[gather.inputs[0]] == used[table] == 1
        if cast is None or cast.operation != "Cast" or not once or scale in makers:
            continue
        [stored], rows = cast.inputs, gather.inputs[1]
        taken, decoded, scales = (f"{table}.{part}" for part in ("taken", "decoded", "scales"))
        exchanged[makers[table]] = exchanged[makers[gather.inputs[0]]] = b""
        exchanged[place] = b"".join(
            _field(_NODE, _written(*node))
            for node in (
                ("Gather", (stored, rows), taken, gather.attributes),
                ("Cast", (taken,), decoded, cast.attributes),
                ("Gather", (scale, rows), scales, gather.attributes),
                ("Mul", (decoded, scales), gather.outputs[0], b""),
            )
        )
    return exchanged


def _node(payload: memoryview) -> _Node:
    fields = list(_fields(payload))

    def texts(number: int) -> tuple[str, ...]:
        return tuple(bytes(f.payload).decode() for f in fields if f.number == number)

    attributes = [f for f in fields if f.number == _ATTRIBUTE]
    numbers = [a for f in attributes for a in _fields(f.payload) if a.number == _ATTRIBUTE_INT]
    return _Node(
        operation="".join(texts(_OP_TYPE)),
        inputs=texts(_INPUT),
        outputs=texts(_NODE_OUTPUT),
        plain=all(bytes(number.payload) == b"\0" for number in numbers),
        attributes=b"".join(f.whole for f in attributes),
    )


def _written(operation: str, inputs: Sequence[str], output: str, attributes: bytes) -> bytes:
    named = b"".join(_field(_INPUT, name.encode()) for name in inputs)
    made = _field(_NODE_OUTPUT, output.encode()) + _field(_OP_TYPE, operation.encode())
    return named + made + attributes


# --- protocol buffers -----------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Field:
    """A field: its number, its content, and all of its bytes, both as views of the message."""

    number: int
    payload: memoryview
    whole: memoryview


def _fields(message: memoryview) -> Iterator[_Field]:
    """The fields of a message, in order; raises ValueError or IndexError where it is none."""
    at = 0
    while at < len(message):
        key, begin = _varint(message, at)
        number, wire = key >> 3, key & 7
        if wire == _BYTES:
            size, begin = _varint(message, begin)
            end = begin + size
        elif wire == _VARINT:
            _, end = _varint(message, begin)
        elif wire in _FIXED:
            end = begin + _FIXED[wire]
        else:
            raise ValueError(f"wire type {wire} at byte {at}")
        if end > len(message):
            raise ValueError(f"a field ends behind the message, at byte {end}")
        yield _Field(number, message[begin:end], message[at:end])
        at = end


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """The number that begins at a byte, and where it ends."""
    number = shift = 0
    while True:
        byte = message[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return number, at


def _field(number: int, payload: bytes) -> bytes:
    """A field of bytes, with its number and length."""
    return _as_varint(number << 3 | _BYTES) + _as_varint(len(payload)) + payload


def _as_varint(number: int) -> bytes:
    written = bytearray()
    while number >= 0x80:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)
