"""A rollout of each workload by its own rules, as the script of a scenario."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rebalsim.worlds.groups import Play, Pods, name_of
from rebalsim.worlds.kubernetes.canary import Stage
from rebalsim.worlds.kubernetes.rollout import fences, next_probe
from rebalsim.worlds.streams_block import is_streams
from rebalsim.worlds.understood import Update

AFTER = 60  # seconds in which nothing happens to a group that has settled


@dataclass(frozen=True, slots=True)
class Act:
    """An action of a script that is part of a rollout."""

    when: tuple[str, ...]  # `at: 60s`, or `after: rollout` and a delay
    id: str
    verb: str  # "" for the rollout itself, or join or leave
    inner: str  # of its block
    why: str

    def written(self, deed: str, brought: str = "") -> str:
        """In the script's words: `deed` is how the rollout is called, and what it brings goes to
        whoever comes.
        """
        inner = (
            self.inner if self.verb == "leave" else ", ".join(filter(None, (self.inner, brought)))
        )
        return f"{self.verb or deed}: {{{inner}}}"


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
    stages: tuple[Stage, ...] = ()
    pods: tuple[tuple[str, ...], ...] = ()  # where it goes in stages: each pod's members

    def acts(self, group: str = "") -> list[Act]:
        """The actions of a script that roll it out. `group` is its group's name in that script."""
        at = (f"at: {self.begin}s",)
        if not self.stages:
            return [Act(at, self.id, "", self._inner(group), self.why)]
        made: list[Act] = []
        new, left = 0, list(self.pods)
        when: tuple[str, ...] = at
        for stage in self.stages:
            come, go = stage.new - new, max(0, len(left) - stage.old)
            going, left, new = left[:go], left[go:], stage.new
            acts = self._of_stage(group, come, going, len(made), when, stage.why)
            made += acts
            when = self._next(acts, stage.wait) if acts else when
        return made

    def _of_stage(
        self,
        group: str,
        come: int,
        going: list[tuple[str, ...]],
        number: int,
        when: tuple[str, ...],
        why: str,
    ) -> list[Act]:
        """Pods that are replaced, and those that come beside the others or go without a successor."""
        group = group or self.group
        replaced, gone = going[:come], going[come:]
        said: list[tuple[str, str]] = []
        if replaced:
            said.append(("", self._inner(group, [name for pod in replaced for name in pod])))
        said += [
            ("join", f"group: {group}, {who}") for who in self._beside(come - len(replaced), number)
        ]
        if gone:
            names = ", ".join(name for pod in gone for name in pod)
            said.append(("leave", f"group: {group}, members: [{names}]"))
        return [
            Act(when, self._id(number + i), verb, inner, "" if i else why)
            for i, (verb, inner) in enumerate(said)
        ]

    def _beside(self, pods: int, number: int) -> list[str]:
        """Pods that come beside the others; members of one pod live and die together."""
        each = len(self.pods[0])
        if each == 1:
            return [f"count: {pods}"] if pods else []
        process = f"{self.id}-{number + 1}"
        return [f"count: {each}, process: {process}-{pod}" for pod in range(pods)]

    def _id(self, number: int) -> str:
        return f"{self.id}-{number + 1}" if number else self.id

    def _next(self, acts: list[Act], wait: int) -> tuple[str, ...]:
        """When the next stage begins: a rollout is done when its pods are ready, who joins is not."""
        first = acts[0]
        wait += self.ready_after + self.settle if first.verb == "join" else 0
        return (f"after: {first.id}", *([f"delay: {wait}s"] if wait else []))

    def _inner(self, group: str, members: list[str] | None = None) -> str:
        parts = [f"group: {group or self.group}", f"as: {self.form}"]
        who = ", ".join(members) if members is not None else self.members
        pods = len(members) // len(self.pods[0]) if members is not None else None
        if who:
            parts.insert(1, f"members: [{who}]")
        if self.surge is not None:
            parts.append(f"surge: {_at_most(self.surge, pods)}")
        parts.append(f"max_unavailable: {_at_most(self.unavailable, pods)}")
        if self.down:
            parts.append(f"down: {self.down}s")
        if self.ready_after:
            parts.append(f"ready_after: {self.ready_after}s")
        if self.settle:
            parts.append(f"settle: {self.settle}s")
        return ", ".join(parts)


def _at_most(count: int, pods: int | None) -> int:
    return count if pods is None else min(count, pods)


def rolls_of(
    plays: list[Play], begin: int = AFTER, is_alone: bool = True, is_restart: bool = False
) -> list[Roll]:
    """One after another, so that each is seen for itself; `is_alone`: no others are in the story;
    `is_restart`: all are restarted as they stand.
    """
    made: list[Roll] = []
    for play in plays:
        for pods in play.pods:
            many = not is_alone or len(plays) > 1 or len(play.pods) > 1
            roll = roll_of(play, pods, begin, many)
            if roll is not None and roll.stages:
                roll = _restarted(roll) if is_restart or is_streams(play, plays) else roll
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
    stages = _stages(pods)
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
        (steps + len(stages)) * (max(ready, start) + settle + grace + down + 10)
        + sum(stage.wait for stage in stages)
        + 60,
        stages,
        tuple(_names(pods, number) for number in range(pods.count)) if stages else (),
    )


def _restarted(roll: Roll) -> Roll:
    """Argo Rollouts restarts pods without its steps: so many at a time as may be away."""
    away = max(1, roll.unavailable)
    return replace(
        roll, surge=0, unavailable=away, stages=(), pods=(), why=f"a restart: {away} at a time"
    )


def _members(pods: Pods, first: int) -> str:
    """The members of the pods from this ordinal on."""
    return ", ".join(name for n in range(first, pods.count) for name in _names(pods, n))


def _names(pods: Pods, number: int) -> tuple[str, ...]:
    """The members of one pod."""
    if pods.each == 1:
        return (f"{pods.name}-{number}",)
    return tuple(f"{pods.name}-{number}-{m}" for m in range(pods.each))


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
    update = _update(pods)
    kind = _workload(pods)
    if kind.startswith("StatefulSet/"):
        return "statefulset", None, 1, 0
    if kind.startswith("DaemonSet/"):
        return "statefulset", None, _of_nodes(pods), 0
    if update is None:
        return "in-place", None, 1, 0
    if update.type == "Recreate":
        return "in-place", None, pods.count, 1
    return "deployment", *_fences(pods, update), 0


def _fences(pods: Pods, update: Update) -> tuple[int, int]:
    """How many more and how many fewer there may be, of as many pods as are played: a scaler may own
    their number, and shares are of these.
    """
    surge, away = update.surge, update.unavailable
    if surge is None or away is None:
        return 1, 0
    if update.most_pods == pods.count + surge[1]:
        return surge[1], away[1]
    limits = fences(pods.count, surge[0] or "25%", away[0] or "25%")
    return min(limits.surge, pods.count), min(limits.unavailable, pods.count)


def _stages(pods: Pods) -> tuple[Stage, ...]:
    update = _update(pods)
    if update is None or update.staged is None:
        return ()
    return update.staged(pods.count, _fences(pods, update)[0])


def _of_nodes(pods: Pods) -> int:
    """How many of a DaemonSet's pods go at a time; a share is of all, rounded up."""
    update = _update(pods)
    if update is None or update.unavailable is None:
        return 1
    given, count, _, _ = update.unavailable
    if given is not None and given.endswith("%"):
        return max(1, -(-pods.count * int(given[:-1]) // 100))
    return count


def _update(pods: Pods) -> Update | None:
    return pods.consumer.update if pods.consumer is not None else None


def _workload(pods: Pods) -> str:
    """As `Deployment/orders`; empty where no file tells."""
    return str(pods.consumer.workload or "") if pods.consumer is not None else ""


def _by_operator(pods: Pods) -> bool:
    """Strimzi replaces the pods of its workers itself, one after another."""
    return _workload(pods).startswith(("KafkaConnect/", "KafkaMirrorMaker2/"))


def _why(pods: Pods) -> str:
    update = _update(pods)
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
    if stages := _stages(pods):
        whose = "Nomad" if _workload(pods).startswith("Nomad/") else "Argo Rollouts"
        return f"{whose}: {'; '.join(map(_stage, stages))}"
    if _workload(pods).startswith("DaemonSet/"):
        said = f" (maxUnavailable {unavailable[0]})" if unavailable and unavailable[0] else ""
        return f"DaemonSet: {_of_nodes(pods)} of {pods.count} assumed nodes at a time{said}"
    if surge and unavailable:
        stay = f"; {update.partition} stay as they are (partition)" if update.partition else ""
        up, down = _fences(pods, update)
        return (
            f"maxSurge {surge[0]} = {up}, maxUnavailable {unavailable[0]} = {down} "
            f"({surge[2] if surge[2] != 'stated' else surge[3]}){stay}"
        )
    return "a rolling update"


def _stage(stage: Stage) -> str:
    """`3 new beside 8 old (setWeight 25, pause 60s)`."""
    beside = f" beside {stage.old} old" if stage.old else ""
    return f"{stage.new} new{beside}" + (f" ({stage.why})" if stage.why else "")
