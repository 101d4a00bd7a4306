"""What must be read before any figure, in a sentence each: who is dead, which group was not
stable, what nobody has, could read, or ever will.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rebalsim.analysis import Analysis
from rebalsim.analysis.values import Alarm
from rebalsim.domain.alarm import AlarmKind, AlarmReason
from rebalsim.domain.position_from import PositionFrom
from rebalsim.domain.trigger import Trigger
from rebalsim.reports.causes_told import tell_trigger
from rebalsim.reports.names import partitions_told, safe
from rebalsim.reports.report import VariantReport
from rebalsim.words.lists import listed, plural
from rebalsim.words.times import say_duration, say_instant

FOLDED = 3  # more consumers than this that died alike are told in one sentence


@dataclass(frozen=True, slots=True)
class AlarmTold:
    """A sentence; `is_bad`: red, otherwise worth a look."""

    text: str
    is_bad: bool = True


_BECAUSE = {
    "group.max.size": "the group had group.max.size members already",
    "group.consumer.max.size": "the group had group.consumer.max.size members already",
    "group.consumer.migration.policy": "the group speaks the consumer protocol, and "
    "group.consumer.migration.policy lets no "
    "classic member in",
    "streams-protocol": "the others of its group speak the streams protocol",
}
_MEANS = {
    "GroupMaxSizeReachedException": "the group had as many members as the brokers allow",
    "InconsistentGroupProtocolException": "it offers no assignor that all the others offer, too",
    "FencedInstanceIdException": "its group.instance.id is another's now",
    "UnreleasedInstanceIdException": "its group.instance.id is still another member's",
    "GroupIdNotFoundException": "the group is a classic one",
    "MissingSourceTopicException": "a topic that it reads is not there",
    "StreamsException": "an internal topic has too few partitions for its sources",
    "TopologyException": "an internal topic has too few partitions for its sources",
    "UnsupportedAssignorException": "the brokers do not know its assignor",
    "GroupAuthorizationException": "it may not join this group",
}


_NO_GROUPS = (
    AlarmKind.DIED,
    AlarmKind.KILLED_IN_GRACE,
    AlarmKind.LEADERLESS,
    AlarmKind.HELD_TWICE,
)


def tell_alarms(a: Analysis) -> list[AlarmTold]:
    """Everything that has to be said of one run: groups, the dead, partitions without a leader,
    and what was skipped.
    """
    several = len(a.groups) > 1
    lasting = (AlarmKind.NEVER_STABLE, AlarmKind.UNOWNED)
    of_groups = [alarm for alarm in a.alarms if alarm.kind not in _NO_GROUPS]
    told = [AlarmTold(_of_group(alarm, a, several), alarm.kind in lasting) for alarm in of_groups]
    told += [AlarmTold(text) for text in _dead(a.alarms)]
    told += [AlarmTold(text, False) for text in _graces(a.alarms)]
    told += [
        AlarmTold(tell_alarm(alarm, a), False)
        for alarm in a.alarms
        if alarm.kind in (AlarmKind.LEADERLESS, AlarmKind.HELD_TWICE)
    ]
    skips = _skipped(a)
    return [*told, AlarmTold(skips)] if skips else told


def alarms_of(
    variants: Iterable[VariantReport], join: Callable[[list[str]], str]
) -> list[tuple[str, AlarmTold]]:
    """The alarms of all variants, each with whose it is: what two variants share stands once, and
    nobody's name where there is only one.
    """
    found: dict[AlarmTold, list[str]] = {}
    count = 0
    for variant in variants:
        count += 1
        for alarm in tell_alarms(variant.analysis):
            found.setdefault(alarm, []).append(variant.name)
    return [(join(names) if count > 1 else "", alarm) for alarm, names in found.items()]


def uncapital(text: str) -> str:
    """The sentence as it goes on behind a name and a colon; consumers' own names stay as they
    are.
    """
    return f"the {text.removeprefix('The ')}" if text.startswith("The group") else text


def tell_alarm(alarm: Alarm, a: Analysis) -> str:
    """One of them by itself."""
    if alarm.kind is AlarmKind.HELD_TWICE:
        return _twice(alarm)
    if alarm.kind is AlarmKind.LEADERLESS:
        return _leaderless(alarm)
    if alarm.kind is AlarmKind.KILLED_IN_GRACE:
        return _grace(alarm)
    return _death(alarm) if alarm.kind is AlarmKind.DIED else _of_group(alarm, a, len(a.groups) > 1)


# ----------------------------------------------------------------------------------------- the dead


def _dead(alarms: Iterable[Alarm]) -> list[str]:
    alike: dict[tuple[object, ...], list[Alarm]] = {}
    for alarm in alarms:
        if alarm.kind is AlarmKind.DIED:
            alike.setdefault(
                (
                    alarm.group,
                    alarm.why,
                    alarm.because,
                    bool(alarm.others),
                    alarm.back_us < 0,
                    alarm.times > 1,
                ),
                [],
            ).append(alarm)
    return [
        text
        for each in alike.values()
        for text in ([_deaths(each)] if len(each) > FOLDED else map(_death, each))
    ]


def _death(alarm: Alarm) -> str:
    who, at = safe(alarm.consumers[0]), say_instant(alarm.at_us)
    if not alarm.why:
        return f"{who} was killed at {at} and did not come back."
    error = f"{safe(alarm.why)}{_meaning(alarm)}"
    if alarm.times == 1:
        return (
            f"{who} died at {at} of "
            f"{error}{' and did not come back' if alarm.back_us < 0 else f'; it was started again at {say_instant(alarm.back_us)}'}."
        )
    back = (
        ", and did not come back from the last"
        if alarm.back_us < 0
        else ", and was started again each time"
    )
    return f"{who} died {alarm.times:,} times of {error}, for the first time at {at}{back}."


def _deaths(alarms: list[Alarm]) -> str:
    who = listed([safe(alarm.consumers[0]) for alarm in alarms])
    first, last = say_instant(alarms[0].at_us), say_instant(alarms[-1].at_us)
    when = f"at {first}" if first == last else f"from {first} to {last}"
    back = " and did not come back" if alarms[0].back_us < 0 else "; they were started again"
    if not alarms[0].why:
        return f"{who} were killed {when}{back}."
    times = ", some of them more than once" if alarms[0].times > 1 else ""
    return f"{who} died {when}{times} of {safe(alarms[0].why)}{_meaning(alarms[0])}{back}."


def _graces(alarms: Iterable[Alarm]) -> list[str]:
    alike: dict[str, list[Alarm]] = {}
    for alarm in alarms:
        if alarm.kind is AlarmKind.KILLED_IN_GRACE:
            alike.setdefault(alarm.why, []).append(alarm)
    return [
        text
        for each in alike.values()
        for text in (map(_grace, each) if len(each) <= FOLDED else [_folded_graces(each)])
    ]


def _grace(alarm: Alarm) -> str:
    """What ended the process, and what had kept it from ending by itself."""
    who, since = safe(alarm.consumers[0]), say_instant(alarm.figures.get("since_us", 0))
    kept = {
        "stuck": f"its handler, stuck since {since}, kept it from closing, and ended with it",
        "frozen": f"it was frozen since {since}",
        "closing": f"its close(), begun at {since}, had not returned",
    }.get(alarm.why, "it had not come to close() yet")
    return (
        f"{who} was killed at {say_instant(alarm.at_us)}, when its grace of "
        f"{say_duration(alarm.figures['grace_us'])} was over: {kept}."
    )


def _folded_graces(alarms: list[Alarm]) -> str:
    who = listed(list(dict.fromkeys(safe(alarm.consumers[0]) for alarm in alarms)))
    first, last = say_instant(alarms[0].at_us), say_instant(alarms[-1].at_us)
    kept = {
        "stuck": "stuck handlers kept them from closing",
        "frozen": "they were frozen",
        "closing": "close() had not returned",
    }.get(alarms[0].why, "they had not come to close() yet")
    return (
        f"{who} were killed from {first} to {last}, {plural(len(alarms), 'time')} in all, when "
        f"their grace was over: {kept}."
    )


def _meaning(alarm: Alarm) -> str:
    """What the exception says, to those who do not know it."""
    if alarm.others and alarm.why == "FencedInstanceIdException":
        return f" (its group.instance.id is {listed([safe(c) for c in alarm.others])}'s now)"
    meaning = _BECAUSE.get(alarm.because) or _MEANS.get(alarm.why, "")
    return f" ({meaning})" if meaning else ""


# ------------------------------------------------------------------------------------------- groups


def _counter(alarm: Alarm, a: Analysis) -> str:
    """What such a group counts its rounds in: epochs, generations, or by turns."""
    kinds = {r.is_of_epochs for r in a.rounds_by_group.get(alarm.group, ()) if r.barrier_us >= 0}
    return "rebalance" if len(kinds) > 1 else "epoch" if kinds == {True} else "generation"


def _of_group(alarm: Alarm, a: Analysis, is_named: bool) -> str:
    group = f"The group {safe(alarm.group)}" if is_named else "The group"
    if alarm.kind is AlarmKind.UNOWNED:
        return _unowned(alarm, uncapital(group))
    if alarm.kind is AlarmKind.NEVER_STABLE:
        nobody = not any(h for (of, _), h in a.holdings.items() if of == alarm.group)
        what = "nobody has been assigned anything" if nobody else "it has not settled"
        told = (
            f"{group} never became stable: after {say_duration(a.horizon_us)} and "
            f"{plural(alarm.times, _counter(alarm, a))} {what}."
        )
    else:
        rounds = f", {plural(alarm.times, _counter(alarm, a))} later" if alarm.times > 1 else ""
        why = (
            ""
            if alarm.why in ("", AlarmReason.SYNC_TIMED_OUT)
            else f", when {tell_trigger(Trigger(alarm.why), next(iter(alarm.consumers), ''))}"
        )
        told = (
            f"{group} was not stable when the observation ended{rounds}: it has not been since "
            f"{say_instant(alarm.at_us)}{why}."
        )
    return told + _waited(alarm) if alarm.why == AlarmReason.SYNC_TIMED_OUT else told


def _unowned(alarm: Alarm, group: str) -> str:
    """What no error and no state shows: everybody is content, and some partitions are nobody's."""
    who = listed([safe(c) for c in alarm.consumers])
    each = len(alarm.consumers) > 1
    return (
        f"Nobody has {partitions_told(alarm.partitions)} since {say_instant(alarm.at_us)}, "
        f"though {group} is stable: {who} "
        f"{'were' if each else 'was'} giving {'it' if len(alarm.partitions) == 1 else 'them'} up "
        "for others, restarted under "
        f"{'their static ids' if each else 'its static id'} before joining again, and took "
        f"{'their old places' if each else 'its old place'} without a "
        f"rebalance, so the second round of the hand-over never came. Any later rebalance ends it."
    )


def _twice(alarm: Alarm) -> str:
    """An oddity of a client, which costs duplicates."""
    who = listed([safe(c) for c in alarm.consumers])
    if alarm.why == AlarmReason.TWO_COPIES:
        return (
            f"{partitions_told(alarm.partitions)} ran in two copies for up to "
            f"{say_duration(alarm.figures['longest_us'])}: {listed(alarm.consumers)} came back after "
            f"{listed(alarm.others)} had been given them, and nothing fences a worker."
        )
    if alarm.why == AlarmReason.RAN_ON:
        return (
            f"{partitions_told(alarm.partitions)} did not stop in time on {listed(alarm.consumers)} "
            f"and ran on for up to {say_duration(alarm.figures['longest_us'])} after they were given "
            "up: meanwhile their new copies may run beside them."
        )
    return (
        f"{partitions_told(alarm.partitions)} had two owners for up to "
        f"{say_duration(alarm.figures['longest_us'])}, for the first time at "
        f"{say_instant(alarm.at_us)}: {who} went on until after the sync, when others had been "
        "given them. franz-go's clients do so where a member that "
        f"knows eager assignors only makes the group eager."
    )


def _waited(alarm: Alarm) -> str:
    """The one reason that hides from everybody: whoever waits for the leader gives up before it
    has computed.
    """
    computed = alarm.figures.get("computed_us", -1)
    leader = listed([safe(c) for c in alarm.others])
    took = (
        f"took {say_duration(computed)} to send the assignment"
        if computed >= 0
        else "had not sent the assignment"
    )
    return (
        f" {listed([safe(c) for c in alarm.consumers])} gave up waiting for SyncGroup after "
        f"{say_duration(alarm.figures['waited_us'])} "
        f"(request.timeout.ms), while the leader {leader} {took}; then everybody joined again."
    )


# --------------------------------------------------------------------------------------- partitions


def _leaderless(alarm: Alarm) -> str:
    """No pause of the group's, since its owners stand by; but nobody reads, and rebalances do
    not help.
    """
    which = partitions_told(alarm.partitions)
    broker, at = alarm.figures["broker"], say_instant(alarm.at_us)
    how_long = (
        f"for {say_duration(alarm.back_us - alarm.at_us)}, from {at} on"
        if alarm.back_us >= 0
        else f"from {at} to the end"
    )
    return (
        f"{which} had no leader {how_long}, when broker {broker} went down: nobody could read or "
        "write there. That counts as lag and not as a pause, "
        "since the owner did not stop."
    )


# ------------------------------------------------------------------------------------------ records


def _skipped(a: Analysis) -> str:
    """Records that no owner will ever read: the loss of data that a rebalance can mean."""
    skips = [r for r in a.redeliveries if r.is_skip]
    records = a.measure("skipped")
    if not skips or not records:
        return ""
    where = partitions_told(dict.fromkeys(r.partition for r in skips))
    latest = (
        " (auto.offset.reset: latest)" if any(r.how is PositionFrom.LATEST for r in skips) else ""
    )
    return (
        f"{plural(round(records), 'record')} of {where} will never be read: their owners began "
        f"behind them{latest}."
    )
