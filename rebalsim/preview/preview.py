"""Two versions of the files in, what the change will do out."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from rebalsim.domain.client import ClientConfig
from rebalsim.domain.errors import InputError
from rebalsim.domain.verdict import Outcome
from rebalsim.preview import connect, migration, scalers, stories
from rebalsim.preview import differences as differing
from rebalsim.preview.against import hints_against
from rebalsim.preview.deployed import is_brought, pulls
from rebalsim.preview.runs import ADVICE_EVENTS, OF_A_DAY, SINCE_US, Limit, Runs, played
from rebalsim.reports import figures
from rebalsim.reports.check_report import Checked
from rebalsim.reports.previewed import Figure, Previewed
from rebalsim.reports.sentences import recurring, tell, together, worth_telling
from rebalsim.scenario.story import Story
from rebalsim.words.lists import joined
from rebalsim.worlds.connect_block import asked_of, left_out
from rebalsim.worlds.explained import nothing_consumes
from rebalsim.worlds.groups import Play
from rebalsim.worlds.rolls import Roll, rolls_of
from rebalsim.worlds.streams_block import is_streams, settings_of
from rebalsim.worlds.to_scenario import Happening, budgets_of, partitions_of, plays_of
from rebalsim.worlds.understand import understand
from rebalsim.worlds.understood import Understood

Source = tuple[str, str]
Pairs = list[tuple[Play, Play]]
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


@dataclass(slots=True)
class Side:
    """One version of the files."""

    name: str
    made: Understood
    plays: list[Play]


def side_of(name: str, sources: list[Source]) -> Side:
    """What a version of the files says; InputError where nothing in it consumes."""
    made = understand(sources)
    plays = plays_of(made)
    if not plays:
        raise InputError(f"{name}: {nothing_consumes(made)}")
    return Side(name, made, plays)


def preview(
    old: Side | None, new: Side, limits: list[Limit] | None = None, advise: int | None = None
) -> Previewed:
    """The change from `old` to `new`; without an old one, a restart as it stands. `advise`: how many
    events may be played to try what could help; None: the usual number, 0: nothing is tried.
    """
    before = old or new
    pairs = differing.pairs_of(before.plays, new.plays)
    both = [(o, n) for o, n in pairs if o is not None and n is not None]
    restarting = {} if old is None else differing.restarts(before.made, new.made)
    connectors = connect.changes_of(before.made, new.made)
    named = [n.title for _, n in both] or [p.title for p in new.plays]
    title = f"{'The deploy' if old else 'A restart'} of {', '.join(named)}"
    differs = differing.differences_of(pairs) if old else ()
    differs = (*differs, *connect.differences(before.made, new.made))
    if refused := migration.refused_by_brokers(new.plays, new.made):
        of, told = old.name if old else "", _rollouts(new, restarting)
        return Previewed(title, of, new.name, differs, told, refused=refused)
    wanted = [*budgets_of(new.made), *(limits or [])]
    metrics = _metrics(before, new)
    days = _days(old, new, metrics)
    configs = [_configs(runs.story) for runs in days]
    moves = migration.moves_of(pairs, *configs)
    happening = stories.roll(title, both, restarting, configs[1], connectors)
    happening = scalers.acting(happening, new.made, [o for o, _ in both])
    rolled = played(before.made, before.name, happening, metrics, wanted)
    over_us = [1_000_000 * stories.crash_is_over(side.plays) for side in (before, new)]
    crashes = [day.within(SINCE_US, at_us) for day, at_us in zip(days, over_us)]
    is_restart = old is None  # the deploy itself
    restarts = [rolled if is_restart else day.within(at_us) for day, at_us in zip(days, over_us)]
    scaled = scalers.tried(before.made, before.name, happening, new.made, [o for o, _ in both])
    numbers = [len(runs.seeds) for runs in (rolled, *days)]
    checked = _placed(rolled.judge.checked(), wanted) if rolled.judge is not None else ()
    again = f"rebalsim preview {shlex.join([*([old.name] if old else []), new.name])}"
    checked = tuple(replace(c, again=again) for c in checked)
    events = ADVICE_EVENTS if advise is None else advise
    if events and (broken := [c.metric for c in checked if c.outcome is Outcome.FAIL]):
        alone = rolled if is_restart else _played_as(stories.restart, new, metrics)
        hints, paid = hints_against(alone, wanted, broken, events)
        events = max(0, events - paid)  # what is left is for a usual day
        checked = tuple(replace(c, hint=hints.get(c.metric, "")) for c in checked)
    lead, rounds = metrics[0], "rebalances" if metrics is FIGURES else "worker_rebalances"
    return Previewed(
        title,
        old.name if old else "",
        new.name,
        differs,
        _rollouts(new, restarting),
        _worst(rolled, lead),
        tuple(_figures(rolled, *restarts, *crashes)),
        checked,
        tuple(_advice(days[1], events)) if events >= OF_A_DAY else (),
        _assumed(new, _asked_besides(both, new)),
        tuple(f"{h.what}: {h.why}" for h in new.made.hurts[:6]),
        (*migration.refusals(moves, new.made), *migration.without_live_migration(pairs)),
        (
            *migration.told(moves),
            *migration.emptied_first(pairs),
            *scaled,
            *connect.notes(connectors),
            *_notes(both, new, restarting),
        ),
        longest=_said(rolled, lead),
        at_worst=_beyond(rolled, lead),
        of="partition" if lead == "longest_pause" else "task",
        rebalances=_said(rolled, rounds),
        catch_up=_said(rolled, "time_to_catch_up") if "time_to_catch_up" in metrics else "",
        runs=len(rolled.seeds),
        fewest_runs=min(numbers),
        most_runs=max(numbers),
    )


def _placed(checked: Sequence[Checked], limits: list[Limit]) -> tuple[Checked, ...]:
    """The verdicts where their limits were written: the story that was judged is in no file."""
    spots = {metric: re.match(r"(.+?):(\d+)(?::|$)", where) for metric, _, where in limits}
    return tuple(
        replace(c, file=spot[1], line=int(spot[2]))
        if (spot := spots.get(c.name.split()[0]))
        else replace(c, line=0)
        for c in checked
    )


def _metrics(*sides: Side) -> tuple[str, ...]:
    """What is told, the headline first: of Connect its tasks, of groups their partitions."""
    has_workers = any(connect.is_workers(p) for s in sides for p in s.plays)
    if not has_workers:
        return FIGURES
    has_groups = any(not connect.is_workers(p) for s in sides for p in s.plays)
    if has_groups:
        return (*FIGURES, *connect.METRICS)
    has_sinks = any(c.topics for s in sides for c in s.made.connectors)
    return (*connect.METRICS, *(FIGURES if has_sinks else ()))


def _played_as(
    happening: Callable[[list[Play]], Happening],
    side: Side,
    metrics: tuple[str, ...],
    like: Runs | None = None,
) -> Runs:
    """What may happen to a group on a usual day, played with this side's settings."""
    acted = scalers.acting(happening(side.plays), side.made, side.plays)
    return played(side.made, side.name, acted, metrics, like=like, is_of_a_day=True)


def _days(old: Side | None, new: Side, metrics: tuple[str, ...]) -> tuple[Runs, Runs]:
    """A usual day before the change and after it; once only where both sides say the same."""
    after = _played_as(stories.day, new, metrics)
    return (after if old is None else _played_as(stories.day, old, metrics, after)), after


def _configs(story: Story) -> dict[str, ClientConfig]:
    """Group → what its members resolve to: the defaults of keys that a file no longer says."""
    scenario = story.scenario(story.variants[0])
    return {g.name: g.consumers[0].config for g in scenario.groups if g.consumers}


# ---- told ----
def _said(runs: Runs, metric: str) -> str:
    """The middle of the runs in words, as the table has it; nothing where it is nought."""
    value = runs.middle(metric)
    return figures.say(metric, value) if value else ""


def _beyond(runs: Runs, metric: str) -> str:
    """The worst of the runs, where it reads otherwise than the middle one."""
    worst = figures.say(metric, runs.worst(metric))
    return worst if worst != _said(runs, metric) else ""


def _worst(rolled: Runs, lead: str) -> tuple[str, ...]:
    pauses = [p for p in rolled.typical(lead).pauses if p.started_us >= SINCE_US]
    told = worth_telling(recurring(together(pauses)), 3) if pauses else []
    return tuple(_sentence(tell(group)) for group, _ in told)


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


def _figures(*stories_told: Runs) -> list[Figure]:
    """Each metric in the deploy, in a restart before and after it, and in a crash likewise."""
    found = []
    for name in stories_told[0].metrics:
        values = [runs.middle(name) for runs in stories_told]
        if all(value is None for value in values):
            continue  # of a Streams application no lag is known
        found.append(Figure(figures.title_of(name), *(figures.say(name, v) for v in values)))
    return found


def _asked_besides(both: Pairs, new: Side) -> list[str]:
    """What is asked for because of what is played: the pull of a new image, a topology's stores."""
    pull = ["image_pull"] if any(pulls(old, new) for old, new in both) else []
    has_stores = any(is_streams(play, new.plays) for play in new.plays)
    return [*(["stores"] if has_stores else []), *pull]


def _assumed(new: Side, more: list[str]) -> tuple[str, ...]:
    from rebalsim.worlds.asks import QUESTIONS

    return tuple(
        f"{q.what}: {_taken_for(new, word, q.assumed)} ({q.how})"
        for word in [*asked_of(new.made, new.plays), *more]
        if (q := QUESTIONS.get(word)) is not None
    )


def _taken_for(new: Side, word: str, otherwise: str) -> str:
    """What was assumed: how long a pod takes to start differs from client to client, topics may be
    declared among the files, and partitions told of a topic whose name alone was assumed.
    """
    if word == "topics":
        return joined(list(dict.fromkeys(t for p in new.plays for t in p.topics))) or otherwise
    if word == "partitions":
        return _partitions_taken(new) or otherwise
    if word != "start_time":
        return otherwise
    return joined(list(dict.fromkeys(p.drawn_start() for p in new.plays)))


def _partitions_taken(new: Side) -> str:
    topics = list(dict.fromkeys(t for p in new.plays for t in p.topics))
    counts = {t: partitions_of(new.made, t)[0] for t in topics}
    if len(set(counts.values())) < 2:
        return "".join(str(n) for n in set(counts.values()))
    return joined([f"{n} of {t}" for t, n in counts.items()])


def _notes(both: Pairs, new: Side, restarting: dict[str, bool]) -> tuple[str, ...]:
    made = []
    for workload, replaced in restarting.items():
        if not replaced:
            made.append(
                f"{workload}: its pod template is the same, so nothing restarts now; what changed in "
                "ConfigMaps comes into force with the next restart"
            )
    made += [said for before, after in both for said in _kept(before, after, new.plays)]
    for play in new.plays:
        for pods in play.pods:
            update = pods.consumer.update if pods.consumer else None
            if update is not None and update.type == "OnDelete":
                made.append(f"{pods.name}: OnDelete: an apply restarts nothing")
            if update is not None and update.paused:
                made.append(f"{pods.name}: paused: nothing changes until it is resumed")
    made += left_out(new.made)
    made += [
        f"{f}: a template, read as far as it goes: render it first" for f in new.made.to_render
    ]
    made += [f"{f}:{line}: not read: {why}" for f, line, why in new.made.unread]
    return tuple(made)


def _kept(old: Play, new: Play, plays: list[Play]) -> Iterator[str]:
    """Streams' settings of which a group has one value at a time: a rollout brings none of them."""
    if not is_streams(new, plays):
        return
    before, after = ({k: t for k, t, _ in settings_of(play)[0]} for play in (old, new))
    changed = [
        key
        for key in dict.fromkeys((*before, *after))
        if before.get(key) != after.get(key) and not is_brought(key)
    ]
    if changed:
        yield (
            f"{new.name}: {joined(changed)}: instances that have the old and the new value side by "
            "side are not played: the roll is played with the old one, the day after with the new"
        )


def _advice(day: Runs, events: int) -> list[str]:
    """What to change in the new settings first: each was tried within so many events."""
    from rebalsim.reports.remedies_told import tell_remedy

    told = [_sentence(tell_remedy(remedy)) for remedy in day.remedies(events)]
    return [_in_kubernetes_words(t) for t in dict.fromkeys(told)]


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
