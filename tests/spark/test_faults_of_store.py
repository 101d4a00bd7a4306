"""Faults that were found where a sweep's folder is written: each a test named by it. No Spark is
needed: its file systems are played by ones that fail.
"""

from __future__ import annotations

from typing import Any

import pytest

from rebalsim.spark.lock import LOCK, locked
from rebalsim.spark.session import SparkFailed
from rebalsim.spark.store import Store


class FullDisk:
    """A file system that begins files and has no room for what is written into them."""

    def __init__(self) -> None:
        self.files: list[str] = []

    def create(self, path: str, overwrites: bool) -> FullDisk:
        if path in self.files and not overwrites:
            raise OSError("File already exists")
        self.files.append(path)
        return self

    def write(self, data: bytearray) -> None:
        raise OSError("No space left on device")

    def exists(self, path: str) -> bool:
        return path in self.files

    def delete(self, path: str, is_recursive: bool) -> None:
        self.files.remove(path)


class OnFullDisk(Store):
    def __init__(self) -> None:
        self.out = "out"
        self._fs: Any = FullDisk()

    def _path(self, name: str) -> str:
        return self.path(name)


def test_a_full_disk_was_another_driver_and_left_its_lock_behind() -> None:
    store = OnFullDisk()
    for _ in range(2):
        with pytest.raises(SparkFailed, match="No space left on device"), locked(store):
            pass
    assert not store.exists(LOCK)
