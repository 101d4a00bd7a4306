"""Lets every test import what the whole suite shares (`builders`), and holds the one switch that
rewrites golden files.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="Write what is rendered now into tests/golden; the diff is the review.",
    )


def pytest_collection_finish() -> None:
    """What was imported and collected lives until the end: the collector of cycles need not walk
    through it again and again, nor through the young at every turn.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.fixture
def alone() -> Iterator[None]:
    """For tests that hold a time: the collector does not walk through what other tests left
    behind.
    """
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Holds a text against a file under tests/golden, or writes it there with --update-golden."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
            return
        assert path.is_file(), f"{path} is missing: pytest --update-golden writes it"
        assert text == path.read_text(encoding="utf-8"), (
            f"{name} differs: look at it, and pytest --update-golden if it is right"
        )

    return check


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes minutes is slow as well; and files that need Spark stand among the others."""
    for item in items:
        if item.get_closest_marker("soak") is not None:
            item.add_marker(pytest.mark.slow)
    items[:] = _with_spark_spread(items)


def _with_spark_spread(items: list[pytest.Item]) -> list[pytest.Item]:
    """Tests on Spark wait for it half of their time: one file of them at a time, from the beginning
    on, leaves the other core to the others. Side by side at the end both cores would wait.
    """
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    on_spark = [f for f, tests in files.items() if any(map(_needs_spark, tests))]
    others = [f for f in files if f not in on_spark]
    order = list(others)
    for number, file in reversed(list(enumerate(on_spark))):
        order.insert(len(others) * number * 4 // (5 * len(on_spark)), file)
    return [item for file in order for item in files[file]]


def _needs_spark(item: pytest.Item) -> bool:
    return item.get_closest_marker("spark") is not None
