"""Random stories held against what must be true of any: safe with faults on, settled once they are
off, and the same with nothing skipped.

Of each pause the phases must cover it exactly: one run of many stories proves that as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rebalsim.analysis import analyse
from rebalsim.analysis.analysis import Analysis
from rebalsim.analysis.values import Pause
from rebalsim.domain.alarm import AlarmKind
from rebalsim.domain.errors import RebalsimError
from rebalsim.domain.ids import Partition
from rebalsim.domain.kafka_states import KafkaClientState, KafkaGroupState
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import Subscribe
from rebalsim.proof.random_stories import random_story
from rebalsim.scenario.load import story_of
from rebalsim.scenario.script_words import say_deed
from rebalsim.simulation.world import play
from rebalsim.trace import events as ev
from rebalsim.trace.jsonl import lines_for
from rebalsim.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class Broken:
    """A story that broke a promise."""

    seed: int
    why: str
    story: str


@dataclass(slots=True)
class Tally:
    """What many stories held in all."""

    pauses: int = 0
    phases: int = 0
    rounds: int = 0
    compared: int = 0  # played with quiet time skipped and without …
    same: int = 0  # … with the same trace
    protocols: dict[str, int] = field(default_factory=dict)  # classic | consumer | both → stories


def check_seed(seed: int, *, plain: bool = False, tally: Tally | None = None) -> Broken | None:
    """Play the story of this seed; what is wrong with it, if anything. `plain`: play it with
    nothing skipped too, and compare.
    """
    return check_story(random_story(seed), seed, plain=plain, tally=tally)


def check_story(
    text: str, seed: int = 0, *, plain: bool = False, tally: Tally | None = None
) -> Broken | None:
    """Play a story by its text; what is wrong with it, if anything. Its harm must end well before
    its horizon.
    """
    try:
        scenario = story_of(text.encode(), f"story {seed}").check().scenario()
        trace = play(scenario)
        why = _first_wrong(trace, scenario, tally or Tally())
        if not why and plain:
            why = difference(trace, play(scenario, plain=True))
            if tally is not None:
                tally.compared += 1
                tally.same += not why
    except RebalsimError as e:
        why = f"{type(e).__name__}: {e}"
    except Exception as e:  # whatever it is, its seed must be told
        import traceback

        why = f"{type(e).__name__}: {e}\n{''.join(traceback.format_tb(e.__traceback__)[-4:])}"
    return Broken(seed, why, text) if why else None


def _first_wrong(trace: Trace, scenario: Scenario, tally: Tally) -> str:
    analysis = analyse(trace)
    for broken in analysis.violations:
        return f"{broken.rule} at {broken.at_us / 1e6:.6f} s: {broken.text}"
    for group in scenario.groups:
        if why := unsettled(analysis, group.name) or _unheld(analysis, scenario, group.name):
            return f"not settled at the horizon: {why}"
    spoken = sorted({"consumer" if r.is_of_epochs else "classic" for r in analysis.rebalances})
    protocol = "both" if len(spoken) > 1 else spoken[0] if spoken else "classic"
    tally.protocols[protocol] = tally.protocols.get(protocol, 0) + 1
    tally.rounds += len(analysis.rebalances)
    return _uncovered(analysis, tally)


def _uncovered(analysis: Analysis, tally: Tally) -> str:
    """The first pause whose phases do not follow upon each other from its beginning to its end."""
    for pause in analysis.pauses:
        at = pause.started_us
        for phase in pause.phases:
            if phase.started_us != at or phase.ended_us <= at:
                return (
                    f"{_which(pause)} do not add up: {phase.kind} from {phase.started_us} to "
                    f"{phase.ended_us} µs after {at} µs"
                )
            at = phase.ended_us
        if at != pause.ended_us:
            return (
                f"{_which(pause)} do not add up: they end at {at} µs, the pause at "
                f"{pause.ended_us} µs"
            )
        tally.pauses += 1
        tally.phases += len(pause.phases)
    return ""


def _which(pause: Pause) -> str:
    return f"the phases of {pause.partition}'s pause at {pause.started_us / 1e6:.6f} s"


def unsettled(analysis: Analysis, group: str) -> str:
    """Why the group is not settled at the end: its state, members that live outside it,
    partitions that two hold.
    """
    alive = _alive(analysis, group)
    spans = analysis.group_states.get(group, [])
    state = spans[-1].state if spans else KafkaGroupState.EMPTY
    if not alive:
        return (
            ""
            if state in (KafkaGroupState.EMPTY, KafkaGroupState.DEAD)
            or _only_statics(analysis, group)
            else f"{group} is {state} though nobody lives"
        )
    if state != KafkaGroupState.STABLE:
        return f"{group} is {state}"
    if wrong := _outside(analysis, group, alive):
        return wrong
    for partition, now in _holders(analysis, group).items():
        if len(now) > 1:
            return f"{partition} is held by {' and '.join(now)}"
    return ""


def _outside(analysis: Analysis, group: str, alive: Iterable[str]) -> str:
    """Who lives outside the group, by its own last word."""
    # the group's own: a coordinator that took over may have gone back to an older generation, the
    # last that was written
    last = [
        e.generation
        for e in analysis.trace.events
        if type(e) is ev.GroupStateChanged and e.group == group
    ][-1]
    views = {consumer: _last_word(analysis, consumer) for consumer in alive}
    is_consumer_group = any(type(view) is ev.MemberStateChanged for view in views.values())
    for consumer, view in views.items():
        if type(view) is ev.MemberStateChanged:
            if (
                view.after != KafkaClientState.STABLE
            ):  # a group that is stable has all its members at its epoch
                return f"{consumer} lives, and is {view.after}"
        elif type(view) is not ev.GenerationJoined or (
            view.generation != last and not is_consumer_group
        ):
            # a classic member of a consumer group keeps the epoch that it joined at
            return f"{consumer} lives, and is not in generation {last} of {group}"
    return ""


def _holders(analysis: Analysis, group: str) -> dict[Partition, list[str]]:
    """Who holds what in the end."""
    alive = _alive(analysis, group)
    return {
        partition: [
            h.consumer
            for h in holdings
            if h.ended_us >= analysis.horizon_us and h.consumer in alive
        ]
        for (of, partition), holdings in analysis.holdings.items()
        if of == group
    }


def _last_word(
    analysis: Analysis, consumer: str
) -> ev.GenerationJoined | ev.MemberStateChanged | None:
    """What this consumer last became by its own account in its present life: a member of a
    generation, or of the consumer protocol in a state.
    """
    last: ev.GenerationJoined | ev.MemberStateChanged | None = None
    for n in analysis.index.by_consumer[consumer]:
        event = analysis.trace.events[n]
        if type(event) is ev.ConsumerStarted:
            last = None
        elif type(event) is ev.GenerationJoined or (
            type(event) is ev.MemberStateChanged and event.is_of_client
        ):
            last = event
    return last


def _unheld(analysis: Analysis, scenario: Scenario, group: str) -> str:
    """A partition that is there, and asked for by somebody who lives, and that nobody holds.
    What fell between the two rounds of a hand-over (a static member restarted before it had
    joined again) stays so, as with Kafka, until something else rebalances the group.
    """
    wanted: dict[str, None] = {}
    asks = _subscriptions(analysis, scenario)
    for consumer in _alive(analysis, group):
        wanted.update(dict.fromkeys(asks.get(consumer, ())))
    # a static leader that returns takes the topics as they are, and misses what changed (KIP-814)
    is_blind = _only_statics(analysis, group)
    if is_blind and _is_torn(analysis, group):
        return ""
    counts = _counts_known(analysis, scenario, is_blind)
    held = {
        (partition.topic, partition.number)
        for partition, now in _holders(analysis, group).items()
        if now
    }
    held.update(
        (p.topic, p.number)
        for alarm in analysis.alarms
        if alarm.kind is AlarmKind.UNOWNED and alarm.group == group
        for p in alarm.partitions
    )
    for topic in wanted:
        for number in range(counts.get(topic, 0)):
            if (topic, number) not in held:
                return f"nobody holds {topic}-{number}"
    return ""


def _is_torn(analysis: Analysis, group: str) -> bool:
    """A static member that turns the group to the other protocol, or back, does so without a round,
    however far the last one had come; no round has come since.
    """
    is_torn = False
    for event in analysis.trace.events:
        kind = type(event)
        if kind is ev.GroupStateChanged and event.trigger == "regrouped" and event.group == group:
            is_torn = event.before not in (KafkaGroupState.STABLE, KafkaGroupState.EMPTY)
        elif kind in (ev.BarrierCompleted, ev.EpochBumped) and event.group == group:
            is_torn = False
    return is_torn


def _counts_known(analysis: Analysis, scenario: Scenario, is_blind: bool) -> dict[str, int]:
    """Each topic's partitions in the end; for one who is blind, without what has come since."""
    counts = {topic.name: topic.partitions for topic in scenario.topics if topic.exists_from_start}
    for event in analysis.trace.events:
        if type(event) is ev.TopicChanged:
            shrinks = event.partitions < counts.get(event.topic, 0)
            if shrinks or not is_blind:
                counts[event.topic] = event.partitions
    return counts


def _subscriptions(analysis: Analysis, scenario: Scenario) -> dict[str, tuple[str, ...]]:
    """Who asks for which topics in the end, by name; who asks by pattern is left out."""
    asks = {
        spec.name: spec.topics
        for group in scenario.groups
        for spec in group.consumers
        if spec.pattern is None
    }
    pending: list[Subscribe] = []
    for action in scenario.script:
        if isinstance(action.deed, Subscribe):
            pending += [action.deed] * action.times
        for new in ("consumers", "joiners", "surge_consumers"):
            for spec in getattr(action.deed, new, ()):
                if not isinstance(spec, str) and spec.pattern is None:
                    asks[spec.name] = spec.topics
    for event in analysis.trace.events:
        if type(event) is ev.ScriptActed and event.kind == Subscribe.__name__:
            deed = next(deed for deed in pending if say_deed(deed) == event.text)
            pending.remove(deed)
            asks.update(dict.fromkeys(deed.consumers, deed.topics))
    return asks


def _alive(analysis: Analysis, group: str) -> dict[str, None]:
    alive: dict[str, None] = {}
    for event in analysis.trace.events:
        kind = type(event)
        if kind is ev.ConsumerStarted and analysis.header.consumers[event.consumer].group == group:
            alive[event.consumer] = None
        elif kind is ev.ConsumerExited or (
            kind is ev.MemberStateChanged
            and event.is_of_client
            and event.after == KafkaClientState.FATAL
        ):
            # whoever polls on after a fatal error is in no group any more
            alive.pop(event.consumer, None)
    return alive


def _only_statics(analysis: Analysis, group: str) -> bool:
    """Static members outlive their processes for a session; with the horizon set far behind the
    last of them this is not needed.
    """
    return any(
        facts.group == group and facts.instance_id is not None
        for facts in analysis.header.consumers.values()
    )


def difference(quiet: Trace, plain: Trace) -> str:
    """The first line in which two traces of one story differ, empty if none."""
    for number, (one, other) in enumerate(zip(lines_for(quiet), lines_for(plain))):
        # the header counts the events, and would only say that something differs
        if one != other and number:
            return (
                f"quiet and plain differ in line {number + 1}:\n  quiet: {one[:300]}\n  plain: "
                f"{other[:300]}"
            )
    if len(quiet.events) != len(plain.events) or quiet.header != plain.header:
        return f"quiet and plain differ: {len(quiet.events)} and {len(plain.events)} events"
    return ""
