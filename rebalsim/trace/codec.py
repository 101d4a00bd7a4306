"""Events and headers to plain JSON values and back, by their annotations: strict, and the same
bytes for the same trace.

A key is left out where it holds its default; partitions are written `topic-number`, a batch as
{"orders-3": [first, last, age_us]}.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from rebalsim.domain.errors import BugError
from rebalsim.domain.habits import BrokerHabits, Habits
from rebalsim.domain.ids import MOST_PARTITIONS, Partition, partition_named
from rebalsim.trace.events import EVENT_CLASSES, TraceEvent
from rebalsim.trace.trace import ConsumerFacts, FormerFacts, TopicFacts, TraceHeader

Encode = Callable[[Any], Any]
Decode = Callable[[Any], Any]


class Unfit(Exception):
    """A value is not of the kind that its key wants; the message says which."""


def _same(value: Any) -> Any:
    return value


def _exactly(kind: type, called: str) -> Decode:
    def decode(value: Any) -> Any:
        if type(value) is not kind:
            raise Unfit(f"wants {called}, not {_shown(value)}")
        return value

    return decode


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "…"


def _number(value: Any) -> float:
    if type(value) not in (int, float) or value != value:
        raise Unfit(f"wants a number, not {_shown(value)}")
    if not -_LARGEST <= value <= _LARGEST:
        raise Unfit("wants a number of a sane size")
    return float(value)


def _list_of(one: Decode, called: str) -> Decode:
    def decode(value: Any) -> Any:
        if type(value) is not list:
            raise Unfit(f"wants a list of {called}, not {_shown(value)}")
        return tuple(one(x) for x in value)

    return decode


def _partition(value: Any) -> Partition:
    if type(value) is not str:
        raise Unfit(f"wants a partition like orders-3, not {_shown(value)}")
    try:
        p = partition_named(value)
    except ValueError:
        raise Unfit(f"wants a partition like orders-3, not {_shown(value)}") from None
    if not p.topic or str(p) != value or p.number >= MOST_PARTITIONS:
        raise Unfit(f"wants a partition like orders-3, not {_shown(value)}")
    return p


def _optional(one: Decode) -> Decode:
    return lambda value: None if value is None else one(value)


def _int(value: Any) -> int:
    if type(value) is not int:
        raise Unfit(f"wants an integer, not {_shown(value)}")
    if not -_LARGEST <= value <= _LARGEST:
        raise Unfit("wants an integer of a sane size")
    return value


_str = _exactly(str, "a text")
_LARGEST = 1 << 53  # 285 years of µs; more is nobody's measurement


def _batch(value: Any) -> dict[Partition, tuple[int, int, int]]:
    if type(value) is not dict:
        raise Unfit(f"wants partitions with their offsets, not {_shown(value)}")
    found = {}
    for key, numbers in value.items():
        got = _list_of(_int, "integers")(numbers)
        if len(got) != 3:
            raise Unfit(
                f"wants [first offset, last offset, age in µs] for {_shown(key)}, not "
                f"{_shown(numbers)}"
            )
        found[_partition(key)] = got
    return found


def _rate(value: Any) -> tuple[int, float, bool]:
    if type(value) is not list or len(value) != 3 or type(value[2]) is not bool:
        raise Unfit(f"wants [from µs, records a second, is it a ramp], not {_shown(value)}")
    return _int(value[0]), _number(value[1]), value[2]


def _growth(value: Any) -> tuple[int, int]:
    if type(value) is not list or len(value) != 2:
        raise Unfit(f"wants [from µs, partitions], not {_shown(value)}")
    return _int(value[0]), _int(value[1])


def _texts(value: Any) -> list[str]:
    return [str(p) for p in value]


_CODECS: dict[str, tuple[Encode, Decode]] = {
    "int": (_same, _int),
    "str": (_same, _str),
    "bool": (_same, _exactly(bool, "true or false")),
    "float": (_same, _number),
    "int | None": (_same, _optional(_int)),
    "str | None": (_same, _optional(_str)),
    "bool | None": (_same, _optional(_exactly(bool, "true or false"))),
    "Partition": (str, _partition),
    "tuple[Partition, ...]": (_texts, _list_of(_partition, "partitions")),
    "tuple[Partition, ...] | None": (
        lambda v: None if v is None else _texts(v),
        _optional(_list_of(_partition, "partitions")),
    ),
    "tuple[str, ...]": (list, _list_of(_str, "texts")),
    "tuple[float, ...]": (list, _list_of(_number, "numbers")),
    "dict[Partition, tuple[int, int, int]]": (
        lambda v: {str(p): list(x) for p, x in v.items()},
        _batch,
    ),
    "tuple[tuple[int, int], ...]": (lambda v: [list(x) for x in v], _list_of(_growth, "counts")),
    "tuple[tuple[int, float, bool], ...] | None": (
        lambda v: None if v is None else [list(x) for x in v],
        _optional(_list_of(_rate, "rates")),
    ),
}


class Shape:
    """How one dataclass is written and read."""

    def __init__(self, kind: type, extra: dict[str, tuple[Encode, Decode]] | None = None) -> None:
        self.kind = kind
        codecs = {**_CODECS, **(extra or {})}
        self.fields: list[tuple[str, Encode, bool, Any]] = []
        self.decoders: dict[str, Decode] = {}
        self.required: list[str] = []
        for field in dataclasses.fields(kind):
            annotation = (
                field.type
                if isinstance(field.type, str)
                else getattr(field.type, "__name__", str(field.type))
            )
            codec = codecs.get(annotation)
            if codec is None:
                raise BugError(
                    f"{kind.__name__}.{field.name} is of a kind that traces cannot hold yet: "
                    f"{annotation}"
                )
            has_default = (
                field.default is not dataclasses.MISSING
                or field.default_factory is not dataclasses.MISSING
            )
            default = (
                field.default_factory()
                if field.default_factory is not dataclasses.MISSING
                else field.default
            )
            self.fields.append((field.name, codec[0], has_default, default))
            self.decoders[field.name] = codec[1]
            if not has_default:
                self.required.append(field.name)

    def encode(self, thing: Any) -> dict[str, Any]:
        """The thing as a JSON object, keys in the order of its fields, defaults left out."""
        out = {}
        for name, encode, has_default, default in self.fields:
            value = getattr(thing, name)
            if not has_default or value != default:
                out[name] = encode(value)
        return out

    def decode(self, value: Any) -> Any:
        """The thing in a JSON object; Unfit says what is wrong with it."""
        if type(value) is not dict:
            raise Unfit(f"wants an object, not {_shown(value)}")
        found = {}
        for key, part in value.items():
            decode = self.decoders.get(key)
            if decode is None:
                raise Unfit(
                    f"{self.kind.__name__} has no {_shown(key)}, only {', '.join(self.decoders)}"
                )
            try:
                found[key] = decode(part)
            except Unfit as e:
                raise Unfit(f"{key} {e}" if str(e).startswith("wants") else f"{key}: {e}") from None
        for key in self.required:
            if key not in found:
                raise Unfit(f"{self.kind.__name__} lacks {key}")
        return self.kind(**found)


def _table_of(shape: Shape) -> tuple[Encode, Decode]:
    def decode(value: Any) -> Any:
        if type(value) is not dict:
            raise Unfit(f"wants an object, not {_shown(value)}")
        found = {}
        for key, part in value.items():
            try:
                found[key] = shape.decode(part)
            except Unfit as e:
                raise Unfit(f"{_shown(key)}: {e}") from None
        return found

    return (lambda table: {key: shape.encode(table[key]) for key in sorted(table)}), decode


_HABITS, _OF_BROKERS = Shape(Habits), Shape(BrokerHabits)
_WITH_HABITS: dict[str, tuple[Encode, Decode]] = {
    "Habits": (_HABITS.encode, _HABITS.decode),
    "BrokerHabits": (_OF_BROKERS.encode, _OF_BROKERS.decode),
}
_FORMER = Shape(FormerFacts, _WITH_HABITS)
HEADER = Shape(
    TraceHeader,
    {
        **_WITH_HABITS,
        "dict[str, TopicFacts]": _table_of(Shape(TopicFacts)),
        "dict[str, ConsumerFacts]": _table_of(
            Shape(
                ConsumerFacts,
                {
                    **_WITH_HABITS,
                    "tuple[FormerFacts, ...]": (
                        lambda v: [_FORMER.encode(x) for x in v],
                        _list_of(_FORMER.decode, "settings"),
                    ),
                },
            )
        ),
    },
)
EVENTS: dict[str, Shape] = {name: Shape(kind) for name, kind in EVENT_CLASSES.items()}
_BY_KIND: dict[type, tuple[str, Shape]] = {
    shape.kind: (name, shape) for name, shape in EVENTS.items()
}


def encode_event(number: int, event: TraceEvent) -> dict[str, Any]:
    """An event as it stands in a trace file: its number, its kind, then its facts."""
    name, shape = _BY_KIND[type(event)]
    return {"n": number, "event": name, **shape.encode(event)}
