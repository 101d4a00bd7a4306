"""Two versions of the files in, what the change will do out."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rebalsim.analysis.analysis import Analysis
from rebalsim.check.one_story import StoryJudge
from rebalsim.domain.client import ClientConfig
from rebalsim.domain.errors import InputError, ProblemsError
from rebalsim.domain.metrics import Selection
from rebalsim.one_run import run_once
from rebalsim.preview import differences as differing
from rebalsim.preview import stories
from rebalsim.reports import figures
from rebalsim.reports.previewed import Figure, Previewed
from rebalsim.reports.sentences import recurring, tell, together, worth_telling
from rebalsim.scenario.load import story_of
from rebalsim.scenario.story import Story
from rebalsim.worlds.explained import nothing_consumes
from rebalsim.worlds.groups import Play, groups_of, name_of
from rebalsim.worlds.rolls import AFTER, Roll, rolls_of
from rebalsim.worlds.to_scenario import Happening, budgets_of, playable, to_scenario
from rebalsim.worlds.understand import understand
from rebalsim.worlds.understood import Understood

Source = tuple[str, str]
Limit = tuple[str, str, str]  # metric, limit, where it stands
FIGURES = (
    "longest_pause",
    "p95_partition_pause",
    "partition_seconds",
    "partitions_touched",
    "rebalances",
    "lag_peak",
    "time_to_catch_up",
    "duplicates",
)
ADVICE_EVENTS = 200_000


@dataclass(slots=True)
class Side:
    """One version of the files."""

    name: str
    made: Understood
    plays: list[Play]


def side_of(name: str, sources: list[Source]) -> Side:
    """What a version of the files says; InputError where nothing in it consumes."""
    made = understand(sources)
    plays = groups_of(made)
    if not plays:
        raise InputError(f"{name}: {nothing_consumes(made)}")
    return Side(name, made, plays)


def preview(
    old: Side | None, new: Side, limits: list[Limit] | None = None, advise: bool = True
) -> Previewed:
    """The change from `old` to `new`; without an old one, a restart as it stands."""
    before = old or new
    pairs = differing.pairs_of(before.plays, new.plays)
    both = [(o, n) for o, n in pairs if o is not None and n is not None]
    restarting = {} if old is None else differing.restarts(before.made, new.made)
    title = f"{'The deploy' if old else 'A restart'} of {', '.join(n.title for _, n in both)}"
    wanted = [*budgets_of(new.made), *(limits or [])]
    after_day = _played(new, stories.day("the day after", new.plays))
    before_day = after_day if old is None else _played(before, stories.day("the day", before.plays))
    configs = _configs(after_day.story)
    happening = stories.roll(title, both, restarting, configs)
    rolled = _played(before, happening, wanted, is_judged=True)
    return _told(title, old, new, pairs, restarting, rolled, before_day, after_day, advise)


@dataclass(slots=True)
class Played:
    story: Story
    analysis: Analysis
    judge: StoryJudge | None


def _played(
    side: Side, happening: Happening, limits: list[Limit] | None = None, is_judged: bool = False
) -> Played:
    text = playable(to_scenario(side.made, happening, []))
    if limits:
        text += _budget_lines(limits)
    story = _story(text, side)
    analysis = run_once(story.scenario(story.variants[0])).analysis
    judge = None
    if is_judged:
        judge = StoryJudge(story)
        if problems := judge.problems():
            raise ProblemsError(problems)
        for (asked, variant, seed), measured in judge.measure(
            story.variants[0], story.seed, analysis
        ):
            judge.measured[asked, variant, seed] = measured
    return Played(story, analysis, judge)


def _story(text: str, side: Side) -> Story:
    return story_of(text.encode(), f"the story of {side.name}").check()


def _budget_lines(limits: list[Limit]) -> str:
    """Budgets as they were written: the story begins settled, so that a start is no part of it."""
    lines = ["", "budgets:"]
    for metric, limit, where in limits:
        name = re.sub(r"[^a-z0-9_]", "", metric.replace("-", "_"))
        lines.append(f'  - {name}: "{limit}"  # {where}')
    return "\n".join(lines) + "\n"


def _configs(story: Story) -> dict[str, ClientConfig]:
    """Group → what its members resolve to: the defaults of keys that a file no longer says."""
    scenario = story.scenario(story.variants[0])
    return {g.name: g.consumers[0].config for g in scenario.groups if g.consumers}


# ---- told ----
def _told(
    title: str,
    old: Side | None,
    new: Side,
    pairs: list[tuple[Play | None, Play | None]],
    restarting: dict[str, bool],
    rolled: Played,
    before_day: Played,
    after_day: Played,
    advise: bool,
) -> Previewed:
    begin = (AFTER - 1) * 1_000_000
    since = Selection(from_us=begin)
    pauses = [p for p in rolled.analysis.pauses if p.started_us >= begin]
    told = worth_telling(recurring(together(pauses)), 3) if pauses else []
    longest = rolled.analysis.measure("longest_pause", since)
    catch_up = rolled.analysis.measure("time_to_catch_up", since)
    refused = differing.refusals(pairs, _configs(before_day.story), _configs(after_day.story))
    return Previewed(
        title,
        old.name if old else "",
        new.name,
        differing.differences_of(pairs) if old else (),
        _rollouts(new, restarting),
        tuple(_sentence(tell(group)) for group, _ in told),
        tuple(_figures(rolled, before_day, after_day, new)),
        rolled.judge.checked() if rolled.judge is not None else (),
        tuple(_advice(after_day.story)) if advise else (),
        _assumed(new),
        tuple(f"{h.what}: {h.why}" for h in new.made.hurts[:6]),
        refused,
        _notes(old, new, restarting),
        longest=figures.say("longest_pause", longest) if longest else "",
        rebalances=int(rolled.analysis.measure("rebalances", since) or 0),
        catch_up=figures.say("time_to_catch_up", catch_up) if catch_up else "",
    )


def _sentence(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _rollouts(new: Side, restarting: dict[str, bool]) -> tuple[str, ...]:
    made = []
    for roll, pods in _rolls(new):
        if restarting.get(pods[1], True):
            ready = f", each ready {roll.ready_after} s after its start" if roll.ready_after else ""
            made.append(f"{pods[0]}: {roll.why}{ready}")
    return tuple(made)


def _rolls(new: Side) -> list[tuple[Roll, tuple[str, str]]]:
    found = []
    for play in new.plays:
        for roll in rolls_of([play]):
            workload = stories.workload_of(play, roll)
            found.append((roll, (workload or play.title, workload)))
    return found


def _figures(rolled: Played, before: Played, after: Played, new: Side) -> list[Figure]:
    names = [name_of(p.name) for p in new.plays]
    found = []
    for name in FIGURES:
        deploy = rolled.analysis.measure(name, Selection(from_us=(AFTER - 1) * 1_000_000))
        columns = [
            day.analysis.measure(name, window)
            for window in _windows(after.story, names)
            for day in (before, after)
        ]
        said = [figures.say(name, value) for value in (deploy, *columns)]
        found.append(Figure(figures.title_of(name), said[0], said[3], said[4], said[1], said[2]))
    return found


def _windows(story: Story, groups: list[str]) -> tuple[Selection, Selection]:
    """The crash's part of a day, and the restart's: the second begins with the first rollout."""
    scenario = story.scenario(story.variants[0])
    restart = min(
        (a.at_us for a in scenario.script if a.id.startswith("rollout")),
        default=scenario.horizon_us,
    )
    begin = (AFTER - 1) * 1_000_000
    return (
        Selection(from_us=begin, until_us=restart - 1_000_000),
        Selection(from_us=restart - 1_000_000),
    )


def _assumed(new: Side) -> tuple[str, ...]:
    from rebalsim.worlds.asks import QUESTIONS

    return tuple(
        f"{q.what}: {q.assumed} ({q.how})"
        for word in new.made.asks
        if (q := QUESTIONS.get(word)) is not None
    )


def _notes(old: Side | None, new: Side, restarting: dict[str, bool]) -> tuple[str, ...]:
    made = []
    for workload, replaced in restarting.items():
        if not replaced:
            made.append(
                f"{workload}: its pod template is the same, so nothing restarts now; what changed in "
                "ConfigMaps comes into force with the next restart"
            )
    for play in new.plays:
        for pods in play.pods:
            update = pods.consumer.update if pods.consumer else None
            if update is not None and update.type == "OnDelete":
                made.append(f"{pods.name}: OnDelete: an apply restarts nothing")
            if update is not None and update.paused:
                made.append(f"{pods.name}: paused: nothing changes until it is resumed")
    made += [
        f"{f}: a template, read as far as it goes: render it first" for f in new.made.to_render
    ]
    made += [f"{f}:{line}: not read: {why}" for f, line, why in new.made.unread]
    return tuple(made)


def _advice(story: Story) -> list[str]:
    """What to change in the new settings first: each was tried."""
    from rebalsim.advice.advise import remedies_of
    from rebalsim.reports.remedies_told import tell_remedy

    found = remedies_of(story, ADVICE_EVENTS)
    told = [_sentence(tell_remedy(r)) for of in found.values() for r in of]
    return [_in_kubernetes_words(t) for t in dict.fromkeys(told)][:3]


def _in_kubernetes_words(text: str) -> str:
    """The script's words for a rollout are fields of a manifest."""
    for ours, theirs in (
        (
            "the deploy goes on when a pod has its partitions (ready_when started → assigned)",
            "a readiness probe that is content only once the pod has its partitions",
        ),
        ("the deploy waits in between (settle ", "minReadySeconds ("),
    ):
        text = text.replace(ours, theirs)
    return text
