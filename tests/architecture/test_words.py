"""One word, one idea. What the house does not say, and what to say instead; the complaint
carries its remedy.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from code_of_rebalsim import ROOT, modules

# banned → say instead. Whole words, in any case, also as parts of names_like_this; a pattern may
# look ahead and behind.
BANNED: dict[str, str] = {
    r"rngs?": "stream (a named generator derived from the seed)",
    r"tps?": "partition, which is always topic + number",
    r"shards?": "partition",
    r"zombies?": "fenced, or ghost for a member whose process is gone",
    r"outages?|downtimes?": "pause",
    r"kpis?": "metric",
    r"slas?|slos?": "budget",
    r"reshuffl\w*": "rebalance",
    r"allocations?": "assignment (what is decided) or ownership (what was held)",
    r"strateg(?:y|ies)": "assignor (Kafka's partition.assignment.strategy keeps its name)",
    r"timestamps?": "instant, as in at_us",
    r"grid cells?": "point (of a sweep)",
    r"test cases?": "scenario",
    r"utils?|helpers?|misc": "the name of the one concept that lives there",
    r"invalid input": "what is wrong, with the value; where; and what to write instead",
    r"todo|fixme|xxx|hack": "nothing: do it, or say in the open that it is not done",
}
# (file, word) → why it may stand there
_KUBERNETES = "Kubernetes' own key"
_SPELT = "names that clients give Kafka's partition.assignment.strategy"
ALLOWED: dict[tuple[str, str], str] = {
    ("rebalsim/worlds/kubernetes/workloads.py", "strategy"): _KUBERNETES,
    ("rebalsim/worlds/platforms.py", "strategy"): _KUBERNETES,
    ("rebalsim/worlds/hurts_of_pods.py", "strategy"): _KUBERNETES,
    ("rebalsim/worlds/kafka_names.py", "strategy"): _SPELT,
    ("rebalsim/worlds/kafka_names.py", "strategies"): _SPELT,
    **{
        ("rebalsim/words/synonyms.py", word): "what people say, led to what the house says"
        for word in ("downtime", "slo", "slos", "sla", "strategy")
    },
}

_PATTERNS = {
    re.compile(rf"(?<![a-z0-9])(?:{pattern})(?![a-z0-9])", re.IGNORECASE): instead
    for pattern, instead in BANNED.items()
}
# names that others gave: Kafka's keys (and the constant that holds one), Java's and Python's
# packages, mypy's error codes
_NOT_OURS = re.compile(
    r"metadata\.recovery\.strategy|rack\.aware\.assignment\.strategy|default\.timestamp\.extractor|"
    r"partition\.assignment\.strategy|partition_assignment_strategy|STRATEGY|java\.util|"
    r".@?timestamp.(?=,)|--timestamps|__REALTIME_TIMESTAMP|importlib\.util|type: "
    r"ignore\[\w+\]"
)
# where somebody's machine shows: such a path is right on one machine only
_MACHINE = re.compile(r"(?<![\w.])/(?:work|home/\w+|root|Users/\w+|tmp)/")


def texts() -> Iterator[Path]:
    yield from sorted((ROOT / "rebalsim").rglob("*.py"))
    yield from sorted((ROOT / "scenarios").rglob("*.yaml"))
    yield from sorted(ROOT.glob("*.md"))


def wrong_words(line: str) -> Iterator[tuple[str, str]]:
    line = _NOT_OURS.sub(" ", line)
    for pattern, instead in _PATTERNS.items():
        for found in pattern.finditer(line):
            yield found.group(), instead


@pytest.mark.slow
def test_only_the_words_of_the_house() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{number}: “{word}” — say {instead}"
        for path in texts()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for word, instead in wrong_words(line)
        if (str(path.relative_to(ROOT)), word.lower()) not in ALLOWED
    ]
    assert wrong == []


def test_no_file_is_named_for_nothing_in_particular() -> None:
    wrong = [
        f"{m.path.relative_to(ROOT)} — say {instead}"
        for m in modules()
        for _, instead in wrong_words(m.path.stem)
    ]
    assert wrong == []


def test_no_path_of_somebodys_machine() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]} — a path that is right on one "
        "machine only"
        for path in texts()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if _MACHINE.search(line)
    ]
    assert wrong == []


def test_messages_do_not_shout() -> None:
    """No exclamation mark at the end of a word in any text that could be shown."""
    wrong = [
        f"{module.place(node)}: {node.value.strip()[:60]!r} — say it calmly"
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.search(r"[A-Za-z]!(?:\s|$)", node.value)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("def draw(rng): ...", "rng"),
        ("self._rng.random()", "rng"),
        ("tp = Partition('a', 1)", "tp"),
        ("a rebalance strategy", "strategy"),
        ("from rebalsim.domain.utils import x", "utils"),
        ("# TODO later", "TODO"),
        ("the downtime of orders-3", "downtime"),
        ("event_timestamp_ms", "timestamp"),
    ],
)
def test_the_check_finds_a_wrong_word(line: str, word: str) -> None:
    assert [found for found, _ in wrong_words(line)] == [word]


@pytest.mark.parametrize(
    "line",
    [
        "partition.assignment.strategy: [range]",
        "partition_assignment_strategy=()",
        "http://x",
        "stopped",
        "strong",
        "a step",
        "hackneyed",
        "utility",
    ],
)
def test_the_check_leaves_other_words_alone(line: str) -> None:
    assert list(wrong_words(line)) == []
