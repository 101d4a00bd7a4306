"""A rollout of each workload by its own rules, as the script of a scenario."""

from __future__ import annotations

from dataclasses import dataclass

from rebalsim.worlds.groups import Play, Pods, name_of
from rebalsim.worlds.kubernetes.rollout import next_probe

AFTER = 60  # seconds in which nothing happens to a group that has settled


@dataclass(frozen=True, slots=True)
class Roll:
    """One workload's rollout."""

    id: str
    begin: int  # seconds
    group: str
    members: str  # a pattern over names, empty for all of the group
    form: str  # in-place · statefulset · deployment
    surge: int | None
    unavailable: int
    ready_after: int
    settle: int
    down: int
    why: str
    longest_seconds: int

    @property
    def at(self) -> str:
        return f"{self.begin}s"

    def written(self) -> str:
        parts = [f"group: {self.group}", f"as: {self.form}"]
        if self.members:
            parts.insert(1, f"members: [{self.members}]")
        if self.surge is not None:
            parts.append(f"surge: {self.surge}")
        parts.append(f"max_unavailable: {self.unavailable}")
        if self.down:
            parts.append(f"down: {self.down}s")
        if self.ready_after:
            parts.append(f"ready_after: {self.ready_after}s")
        if self.settle:
            parts.append(f"settle: {self.settle}s")
        return "{" + ", ".join(parts) + "}"


def rolls_of(plays: list[Play], begin: int = AFTER, is_alone: bool = True) -> list[Roll]:
    """One after another, so that each is seen for itself; `is_alone`: no others are in the story."""
    made: list[Roll] = []
    for play in plays:
        for pods in play.pods:
            roll = roll_of(
                play, pods, begin, many=not is_alone or len(plays) > 1 or len(play.pods) > 1
            )
            if roll is not None:
                made.append(roll)
                begin += roll.longest_seconds + 60
    return made


def roll_of(play: Play, pods: Pods, begin: int, many: bool) -> Roll | None:
    """The rollout of one workload, or nothing where an apply restarts nothing."""
    consumer = pods.consumer
    update = consumer.update if consumer is not None else None
    if pods.count == 0 or (update is not None and (update.type == "OnDelete" or update.paused)):
        return None
    kept = min(pods.count, update.partition or 0) if update is not None else 0
    if kept == pods.count:
        return None  # every ordinal is below the partition
    start, _ = play.start_seconds()
    ready = ready_seconds(pods, start)
    settle = update.min_ready_seconds if update is not None else 0
    grace = _grace(pods)
    form, surge, unavailable, down = _form(pods)
    steps = -(-(pods.count - kept) // max(1, (surge or 0) + unavailable))
    members = _members(pods, kept) if kept or len(play.pods) > 1 else ""
    return Roll(
        f"rollout-{name_of(pods.name)}" if many else "rollout",
        begin,
        name_of(play.name),
        members,
        form,
        surge,
        unavailable,
        ready,
        settle,
        down,
        _why(pods),
        steps * (max(ready, start) + settle + grace + down + 10) + 60,
    )


def _members(pods: Pods, first: int) -> str:
    """The members of the pods from this ordinal on."""
    numbers = range(first, pods.count)
    if pods.each == 1:
        return ", ".join(f"{pods.name}-{n}" for n in numbers)
    return ", ".join(f"{pods.name}-{n}-{m}" for n in numbers for m in range(pods.each))


def ready_seconds(pods: Pods, start: int) -> int:
    """From the pod's start until the rollout takes it for ready."""
    consumer = pods.consumer
    if consumer is None or consumer.update is None or _by_operator(pods):
        return start  # whoever restarts by hand waits until it runs
    if consumer.ready is None or consumer.ready.period is None:
        return 0
    return round(next_probe(start, consumer.ready.at_least, consumer.ready.period))


def _grace(pods: Pods) -> int:
    grace = pods.consumer.grace if pods.consumer is not None else None
    return int(grace.value) if grace is not None and grace.known else 30


def _form(pods: Pods) -> tuple[str, int | None, int, int]:
    """As a Deployment, a StatefulSet, or everything at once (Recreate): surge, unavailable, down."""
    update = pods.consumer.update if pods.consumer is not None else None
    kind = str(pods.consumer.workload or "") if pods.consumer is not None else ""
    if kind.startswith("StatefulSet/"):
        return "statefulset", None, 1, 0
    if kind.startswith("DaemonSet/"):
        return "statefulset", None, _of_nodes(pods), 0
    if update is None:
        return "in-place", None, 1, 0
    if update.type == "Recreate":
        return "in-place", None, pods.count, 1
    if update.surge is not None and update.unavailable is not None:
        return "deployment", update.surge[1], update.unavailable[1], 0
    return "deployment", 1, 0, 0


def _of_nodes(pods: Pods) -> int:
    """How many of a DaemonSet's pods go at a time; a share is of all, rounded up."""
    update = pods.consumer.update if pods.consumer is not None else None
    if update is None or update.unavailable is None:
        return 1
    given, count, _, _ = update.unavailable
    if given is not None and given.endswith("%"):
        return max(1, -(-pods.count * int(given[:-1]) // 100))
    return count


def _by_operator(pods: Pods) -> bool:
    """Strimzi replaces the pods of its workers itself, one after another."""
    kind = str(pods.consumer.workload or "") if pods.consumer is not None else ""
    return kind.startswith(("KafkaConnect/", "KafkaMirrorMaker2/"))


def _why(pods: Pods) -> str:
    update = pods.consumer.update if pods.consumer is not None else None
    if _by_operator(pods):
        return "Strimzi: one worker after another"
    if update is None:
        return "one restart after another: how they are deployed is not among the files"
    if update.type == "Recreate":
        return "Recreate: all old pods stop before the first new one starts"
    if update.order:
        kept = f"; ordinals below {update.partition} stay (partition)" if update.partition else ""
        return f"StatefulSet: {update.order}, each waited for{kept}"
    surge, unavailable = update.surge, update.unavailable
    if str(pods.consumer.workload if pods.consumer else "").startswith("DaemonSet/"):
        said = f" (maxUnavailable {unavailable[0]})" if unavailable and unavailable[0] else ""
        return f"DaemonSet: {_of_nodes(pods)} of {pods.count} assumed nodes at a time{said}"
    if surge and unavailable:
        return (
            f"maxSurge {surge[0]} = {surge[1]}, maxUnavailable {unavailable[0]} = {unavailable[1]} "
            f"({surge[2] if surge[2] != 'stated' else surge[3]})"
        )
    return "a rolling update"
