"""Which of the unknown numbers move the answer? Each is tried over its plausible range, the others
left as assumed; what changes the longest pause, the lag or a budget most is asked for first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log

from rebalsim.advice.trial import OutOfEvents, Purse, cost_of
from rebalsim.analysis.analysis import Analysis
from rebalsim.domain.errors import ProblemsError
from rebalsim.domain.metrics import Selection
from rebalsim.one_run import run_once
from rebalsim.preview.connect import is_workers
from rebalsim.reports import figures
from rebalsim.scenario.load import story_of
from rebalsim.scenario.story import Story
from rebalsim.worlds.asks import QUESTIONS
from rebalsim.worlds.connect_block import GROUP, asked_of
from rebalsim.worlds.groups import Play, name_of
from rebalsim.worlds.rolls import AFTER
from rebalsim.worlds.to_scenario import plays_of
from rebalsim.worlds.understood import Understood

MOST_MEMBERS = 60  # with more, trying takes longer than an answer is waited for
MOST_GROUPS = 3
TOLD = 5
EVENTS = 45_000  # of all trials together: two seconds
AS_ASSUMED = "what is assumed"
_NOTICED = 0.05  # a change by less than a twentieth moves nothing
# What is looked at, and how much it weighs: lag follows the rate, which no pause does.
_WEIGHTS = (
    ("longest_pause", 1.0),
    ("longest_task_pause", 1.0),
    ("rebalances", 0.5),
    ("lag_peak", 0.25),
)


@dataclass(frozen=True, slots=True)
class Moved:
    """An unknown number, and what the answer is over its range."""

    word: str
    low: str
    high: str
    told: str  # `longest pause 3.02 s → 45.0 s`
    how: str  # the command or metric that tells it
    weight: float

    @property
    def sentence(self) -> str:
        return f"{QUESTIONS[self.word].what} ({self.low} to {self.high}): {self.told}; {self.how}"


def calibrated(made: Understood, scenario_text: str) -> list[Moved]:
    """The numbers that matter most and are not known, the weightiest first."""
    plays = plays_of(made)
    if len(plays) > MOST_GROUPS or sum(p.members for g in plays for p in g.pods) > MOST_MEMBERS:
        return []
    try:
        story = story_of(scenario_text.encode(), "the imported scenario").check()
    except ProblemsError:
        return []
    ranges = list(_ranges(made, plays, story))
    purse = Purse(EVENTS)
    try:
        base = _figures(story, purse)
    except OutOfEvents:
        return []
    found = []
    for number, (word, low, high, sets) in enumerate(ranges):
        share = Purse(purse.left // (len(ranges) - number))
        purse.pay(share.left)
        tried = [_tried(story, one, share) for one in sets]
        purse.left += max(0, share.left)
        values = [figures for figures in tried if figures is not None]
        if len(tried) > 1:  # from the least to the most; what is too dear is not said to be tried
            low, high = low if tried[0] else AS_ASSUMED, high if tried[-1] else AS_ASSUMED
        if values and (moved := _moved(word, low, high, base, values)) is not None:
            found.append(moved)
    return sorted(found, key=lambda m: (-m.weight, m.word))[:TOLD]


def _tried(story: Story, sets: list[str], purse: Purse) -> dict[str, float] | None:
    """What one value comes to; None where it makes no story, or one that is too dear to be played."""
    try:
        return _figures(story.with_overrides(sets).check(), purse)
    except (ProblemsError, OutOfEvents):
        return None


def _figures(story: Story, purse: Purse) -> dict[str, float]:
    scenario = story.scenario(story.variants[0])
    if purse.left <= 0:
        raise OutOfEvents
    with purse.bound():
        analysis: Analysis = run_once(scenario).analysis
    purse.pay(cost_of(scenario, analysis))
    since = Selection(from_us=(AFTER - 1) * 1_000_000)
    return {name: analysis.measure(name, since) or 0.0 for name, _ in _WEIGHTS}


def _moved(
    word: str, low: str, high: str, base: dict[str, float], values: list[dict[str, float]]
) -> Moved | None:
    weight, told = 0.0, []
    for name, share in _WEIGHTS:
        seen = [base[name], *(v[name] for v in values)]
        least, most = min(seen), max(seen)
        change = log((most + 1.0) / (least + 1.0))
        if change < _NOTICED:
            continue
        weight += share * change
        said = [figures.say(name, v) for v in (least, most)]
        if said[0] != said[1]:
            told.append(f"{figures.title_of(name)} {said[0]} to {said[1]}")
    if not told:
        return None
    return Moved(word, low, high, ", ".join(told[:2]), QUESTIONS[word].how, weight)


Range = tuple[str, str, str, list[list[str]]]  # word, lowest, highest, what is set in each trial


def _ranges(made: Understood, plays: list[Play], story: Story) -> Iterator[Range]:
    topics = [topic.name for topic in story.scenario(story.variants[0]).topics]
    blocks = [f"groups.{name_of(p.name)}" for p in plays if not is_workers(p)]
    workers = [GROUP for p in plays if is_workers(p)]
    asked = set(asked_of(made, plays))

    def each(paths: list[str], values: tuple[str, ...]) -> list[list[str]]:
        return [[f"{path}={value}" for path in paths] for value in values] if paths else []

    everybody = [*blocks, *workers]
    for word, low, high, values, paths in (
        ("partitions", "3", "48", ("3", "48"), [f"topics.{t}.partitions" for t in topics]),
        ("rate", "10/s", "2,000/s", ("10/s", "2000/s"), [f"topics.{t}.rate" for t in topics]),
        (
            "handler_time",
            "0.1 ms",
            "50 ms",
            ("100us", "50ms"),
            [f"{b}.handler.per_record" for b in blocks],
        ),
        ("start_time", "2 s", "60 s", ("2s", "60s"), [f"{b}.life.start" for b in everybody]),
        ("shutdown", "closes", "is killed", ("90s",), [f"{b}.life.stop" for b in everybody]),
        ("kafka_version", "2.8", "4.3", ('"2.8"',), ["kafka"]),
    ):
        if word in asked or word == "shutdown":
            yield word, low, high, each(paths, values)
    if "members_per_pod" in asked or "replicas" in asked:
        yield from _more_members(plays, "replicas" if "replicas" in asked else "members_per_pod")


def _more_members(plays: list[Play], word: str) -> Iterator[Range]:
    """Three times as many pods of one member each."""
    alone = [(p, pods) for p in plays for pods in p.pods if pods.each == 1]
    if not alone:
        return
    paths = [
        f"{GROUP}.workers.{pods.name}-{{n}}.count"
        if is_workers(p)
        else f"groups.{name_of(p.name)}.members.{pods.name}-{{n}}.count"
        for p, pods in alone
    ]
    counts = [pods.count for _, pods in alone]
    most = str(3 * max(counts))
    yield word, str(min(counts)), most, [[f"{path}={most}" for path in paths]]
