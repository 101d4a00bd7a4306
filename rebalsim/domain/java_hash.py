"""Java's hash order: the one place that knows in which order Kafka's maps and sets yield their
keys.

Kafka breaks ties by walking hash tables: who becomes leader, who keeps the extra partition,
which topic is handed out first. So the order of `java.util.HashMap`/`HashSet` and of Kafka's own
`TimelineHashMap` is part of its behaviour, and is rebuilt here from three facts: the hash of a
key, the size of the table, and when each key came. Not rebuilt: a HashMap bucket that turns into
a tree (nine colliding keys in a table of 64 or more), whose order may differ; real ids do not
get there.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from functools import lru_cache
from operator import mul
from typing import Any, Generic, TypeVar, cast

K = TypeVar("K")
V = TypeVar("V")

_POWERS: dict[int, tuple[int, ...]] = {}


def _powers(length: int) -> tuple[int, ...]:
    """31^(length-1) … 31^0 modulo 2^32: a string's hash is the dot product of its code units
    with these.
    """
    found = _POWERS.get(length)
    if found is None:
        found = _POWERS[length] = tuple(pow(31, i, 1 << 32) for i in range(length - 1, -1, -1))
    return found


def signed(number: int, bits: int = 32) -> int:
    """The lowest `bits` bits of a number read as Java's signed integer."""
    number &= (1 << bits) - 1
    return number - (1 << bits) if number >> (bits - 1) else number


@lru_cache(maxsize=1 << 16)
def string_hash(text: str) -> int:
    """`String.hashCode`: h = 31·h + unit over the UTF-16 code units, as a signed 32-bit number."""
    units: Any
    if text.isascii():
        units = text.encode()
    else:
        raw = text.encode("utf-16-le", "surrogatepass")
        units = (
            memoryview(raw).cast("H")
            if _LITTLE
            else [raw[i] | raw[i + 1] << 8 for i in range(0, len(raw), 2)]
        )
    return signed(sum(map(mul, units, _powers(len(units)))))


_LITTLE = memoryview(b"\x01\x00").cast("H")[0] == 1


@lru_cache(maxsize=1 << 14)
def uuid_halves(text: str) -> tuple[int, int]:
    """A Kafka topic id (22 characters of URL-safe base64) as its two signed 64-bit halves; sorts
    as `Uuid.compareTo` does.
    """
    raw = urlsafe_b64decode(text + "==")
    return int.from_bytes(raw[:8], "big", signed=True), int.from_bytes(
        raw[8:16], "big", signed=True
    )


@lru_cache(maxsize=1 << 14)
def uuid_hash(text: str) -> int:
    """`Uuid.hashCode` of a topic id in its base64 form: the two halves xor-ed, then that one's
    two halves.
    """
    most, least = uuid_halves(text)
    both = most ^ least
    return signed((both >> 32) ^ both)


def int_hash(number: int) -> int:
    """`Integer.hashCode`: the number itself."""
    return number


def partition_hash(partition: tuple[str, int]) -> int:
    """`TopicPartition.hashCode`."""
    return signed(31 * (31 + partition[1]) + string_hash(partition[0]))


def _spread(h: int) -> int:
    """HashMap folds the upper half of a hash into the lower one, because small tables look at
    the low bits only.
    """
    h &= 0xFFFFFFFF
    return h ^ (h >> 16)


def capacity_for(size: int) -> int:
    """The table that `new HashMap(size)` begins with: the next power of two, at least 1."""
    return 1 << max(0, size - 1).bit_length()


def copied_set_capacity(size: int) -> int:
    """The table that `new HashSet(collection)` begins with."""
    return capacity_for(max(int(size / 0.75) + 1, 16))


def copied_map_capacity(size: int) -> int:
    """The table that `new HashMap(map)` begins with."""
    return capacity_for(int(size / 0.75 + 1))


def hash_ordered(
    keys: Iterable[K], hash_of: Callable[[Any], int] = string_hash, capacity: int = 16
) -> list[K]:
    """The order in which a HashMap or HashSet yields these (different) keys, put into it one by
    one in the order given.
    """
    given = list(keys)
    # few enough that a crowded bucket could double the table before its size does
    if 9 <= len(given) <= 24:
        crowded: JavaHashMap[K, None] = JavaHashMap(hash_of, capacity)
        for key in given:
            crowded.put(key, None)
        return list(crowded)
    while len(given) > capacity * 3 // 4:
        capacity *= 2
    mask = capacity - 1  # at most 32 bits, so a hash may stay signed and be folded in place
    buckets = [((h := hash_of(key)) ^ (h >> 16 & 0xFFFF)) & mask for key in given]
    return [given[i] for i in sorted(range(len(given)), key=buckets.__getitem__)]


class _Table(MutableMapping[K, V], Generic[K, V]):
    """A hash table as its iterator sees it: every key has a bucket (from hash and table size) and a
    rank within it (from when it came).

    Look-ups go through a dict. The order is kept as a sorted list of bucket-and-rank codes,
    built at the first iteration and then updated in place, so that a group of thousands can be
    changed and walked again and again. A walk that is under way sees the table as it was when
    the walk began.
    """

    __slots__ = ("_capacity", "_codes", "_entries", "_hash_of", "_keys", "_lent", "_next")

    def __init__(self, hash_of: Callable[[K], int], capacity: int) -> None:
        self._hash_of = hash_of
        self._capacity = capacity
        # key → [value, hash as the bucket function wants it, rank]
        self._entries: dict[K, list[Any]] = {}
        self._keys: list[K] | None = None  # in order; None until somebody looks
        self._codes: list[int] = []  # of the same keys: bucket and rank as one number
        self._lent = False  # an iterator may still be walking over _keys
        self._next = 1

    def _bucket(self, prepared: int) -> int:
        raise NotImplementedError

    def _code(self, prepared: int, rank: int) -> int:
        return (self._bucket(prepared) << 48) + rank

    def _grow(self) -> None:
        """Twice the buckets. Each bucket is split in two and keeps its relative order, so ranks
        stay.
        """
        self._capacity *= 2
        self._keys = None

    def _place(self, key: K, value: V, prepared: int, rank: int) -> None:
        self._entries[key] = [value, prepared, rank]
        self._next += 1
        if self._keys is not None:
            code = self._code(prepared, rank)
            at = bisect_left(self._codes, code)
            self._own()
            self._codes.insert(at, code)
            self._keys.insert(at, key)

    def _own(self) -> None:
        if self._lent and self._keys is not None:
            self._keys = self._keys.copy()
            self._lent = False

    def _ordered(self) -> list[K]:
        if self._keys is None:
            keys = {
                self._code(prepared, rank): key
                for key, (_, prepared, rank) in self._entries.items()
            }
            self._codes = sorted(keys)
            self._keys = [keys[code] for code in self._codes]
            self._lent = False
        return self._keys

    def put(self, key: K, value: V) -> None:
        raise NotImplementedError

    def remove(self, key: K) -> V | None:
        """Take a key out and return its value, None if it is not there. The table never shrinks."""
        entry = self._entries.pop(key, None)
        if entry is None:
            return None
        self._forget(entry[1])
        if self._keys is not None:
            at = bisect_left(self._codes, self._code(entry[1], entry[2]))
            self._own()
            del self._codes[at], self._keys[at]
        return cast(V, entry[0])

    def _forget(self, prepared: int) -> None:
        pass

    def __setitem__(self, key: K, value: V) -> None:
        self.put(key, value)

    def __delitem__(self, key: K) -> None:
        if key not in self._entries:
            raise KeyError(key)
        self.remove(key)

    def __getitem__(self, key: K) -> V:
        return cast(V, self._entries[key][0])

    def get(self, key: K, default: Any = None) -> Any:
        entry = self._entries.get(key)
        return default if entry is None else entry[0]

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def __bool__(self) -> bool:
        return bool(self._entries)

    def __iter__(self) -> Iterator[K]:
        keys = self._ordered()
        self._lent = True
        return iter(keys)

    def first(self) -> K | None:
        """The first key of the iteration, None if there is none."""
        return self._ordered()[0] if self._entries else None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self.items())!r})"


class JavaHashMap(_Table[K, V]):
    """`java.util.HashMap` (and, for its keys, `HashSet`).

    A key's bucket is given by the low bits of its hash. `put` hangs a new key on the bucket's
    tail and doubles the table when it is more than three quarters full afterwards; `compute`
    (also computeIfAbsent and merge) hangs it on the bucket's head and doubles beforehand. A
    bucket that gets nine keys long (eight, by compute) while the table is smaller than 64
    doubles it too.
    """

    __slots__ = ("_lengths",)

    def __init__(self, hash_of: Callable[[Any], int] = string_hash, capacity: int = 16) -> None:
        super().__init__(hash_of, capacity)
        # bucket → keys in it, counted while the table is smaller than 64
        self._lengths: dict[int, int] = {}

    @classmethod
    def copy_of(
        cls, other: MutableMapping[K, V], hash_of: Callable[[Any], int] = string_hash
    ) -> JavaHashMap[K, V]:
        """`new HashMap(other)`: filled in the other one's order, in a table that suits its size."""
        made = cls(hash_of, copied_map_capacity(len(other)))
        for key, value in other.items():
            made.put(key, value)
        return made

    def _bucket(self, prepared: int) -> int:
        return prepared & (self._capacity - 1)

    def put(self, key: K, value: V) -> None:
        """`put`, `putIfAbsent` of a new key, `HashSet.add`: a new key to the bucket's tail; a
        known one keeps its place.
        """
        entry = self._entries.get(key)
        if entry is not None:
            entry[0] = value
            return
        prepared = _spread(self._hash_of(key))
        self._place(key, value, prepared, self._next)
        self._count(prepared, 9)
        if len(self._entries) > self._capacity * 3 // 4:
            self._grow()

    def compute(self, key: K, value: V) -> None:
        """`compute`, `computeIfAbsent` of a new key, `merge`: a new key to the bucket's head; a
        known one keeps its place.
        """
        if len(self._entries) > self._capacity * 3 // 4:
            self._grow()
        entry = self._entries.get(key)
        if entry is not None:
            entry[0] = value
            return
        prepared = _spread(self._hash_of(key))
        self._place(key, value, prepared, -self._next)
        self._count(prepared, 8)

    def _count(self, prepared: int, crowd: int) -> None:
        if self._capacity < 64:
            bucket = self._bucket(prepared)
            self._lengths[bucket] = length = self._lengths.get(bucket, 0) + 1
            if length >= crowd:
                self._grow()

    def _forget(self, prepared: int) -> None:
        if self._capacity < 64:
            self._lengths[self._bucket(prepared)] -= 1

    def _grow(self) -> None:
        super()._grow()
        self._lengths.clear()
        if self._capacity < 64:
            for _, prepared, _ in self._entries.values():
                bucket = self._bucket(prepared)
                self._lengths[bucket] = self._lengths.get(bucket, 0) + 1


class TimelineHashMap(_Table[K, V]):
    """Kafka's `org.apache.kafka.timeline.TimelineHashMap`, in which the coordinator keeps its
    groups' members.

    A key's slot is given by the high bits of its hash times 2^64/φ; within a slot the youngest
    key comes first. The table begins with 2 slots and doubles before a put (even of a known key)
    when three quarters of size + 1 exceed the slots.
    """

    __slots__ = ()

    def __init__(self, hash_of: Callable[[Any], int] = string_hash, capacity: int = 2) -> None:
        super().__init__(hash_of, capacity)

    def _bucket(self, prepared: int) -> int:
        return prepared >> (65 - self._capacity.bit_length())

    def put(self, key: K, value: V) -> None:
        """A new key comes before the older ones of its slot; a known one keeps its place."""
        if (len(self._entries) + 1) * 3 > self._capacity * 4:
            self._grow()
        entry = self._entries.get(key)
        if entry is not None:
            entry[0] = value
            return
        self._place(
            key, value, (self._hash_of(key) * 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF, -self._next
        )
