"""Java's heap order: `java.util.PriorityQueue`, rebuilt because Kafka's ties fall as it sifts.

Python's heapq sifts another way: entries that weigh the same come out in another order, and an
entry whose weight changed while it was inside is found in another place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class JavaPriorityQueue(Generic[T]):
    """A binary heap over an array; `weight` is asked anew at every comparison, as a comparator is.

    Weights are compared by `<` alone, so they may be numbers or tuples.
    """

    __slots__ = ("_array", "_weight")

    def __init__(self, weight: Callable[[T], Any], given: Iterable[T] = ()) -> None:
        self._weight = weight
        self._array: list[T] = list(given)
        for at in range(len(self._array) // 2 - 1, -1, -1):
            self._sift_down(at, self._array[at])

    def __len__(self) -> int:
        return len(self._array)

    def __iter__(self) -> Iterator[T]:
        """The entries as the array holds them, which is how Java's iterator walks."""
        return iter(self._array)

    def __contains__(self, entry: object) -> bool:
        return entry in self._array

    def offer(self, entry: T) -> None:
        """Put an entry in."""
        self._array.append(entry)
        self._sift_up(len(self._array) - 1, entry)

    def poll(self) -> T | None:
        """Take the head out, None if there is none."""
        array = self._array
        if not array:
            return None
        head, last = array[0], array.pop()
        if array:
            self._sift_down(0, last)
        return head

    def remove(self, entry: T) -> None:
        """Take an entry out wherever it is: the last one fills the hole and is sifted."""
        array = self._array
        at = array.index(entry)
        last = array.pop()
        if at == len(array):
            return
        self._sift_down(at, last)
        if array[at] is last:
            self._sift_up(at, last)

    def _sift_up(self, at: int, entry: T) -> None:
        array, weight = self._array, self._weight
        mine = weight(entry)
        while at > 0:
            parent = (at - 1) >> 1
            above = array[parent]
            if not mine < weight(above):
                break
            array[at] = above
            at = parent
        array[at] = entry

    def _sift_down(self, at: int, entry: T) -> None:
        array, weight = self._array, self._weight
        size = len(array)
        half, mine = size >> 1, weight(entry)
        while at < half:
            child = 2 * at + 1
            other = child + 1
            if other < size and weight(array[other]) < weight(array[child]):
                child = other
            below = array[child]
            if not weight(below) < mine:
                break
            array[at] = below
            at = child
        array[at] = entry
