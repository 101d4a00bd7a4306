"""The stories that a preview plays, as scenarios' text: the roll from the old to the new, and the
group's usual day (a crash, a restart) before it and after it.
"""

from __future__ import annotations

from rebalsim.domain.client import ClientConfig
from rebalsim.preview import connect
from rebalsim.preview.deployed import deployed, is_of
from rebalsim.worlds.groups import Play, name_of
from rebalsim.worlds.rolls import AFTER, Act, Roll, rolls_of
from rebalsim.worlds.streams_block import is_streams
from rebalsim.worlds.to_scenario import Happening
from rebalsim.worlds.words import milliseconds

CRASH = "crash"
Lines = list[tuple[str, str]]


def day(plays: list[Play]) -> Happening:
    """One pod of each group dies and comes back; later everything is restarted as it stands."""
    later = restart(plays, crash_is_over(plays))
    return Happening("the day", (*crash(plays).lines, *later.lines), later.seconds)


def crash(plays: list[Play]) -> Happening:
    """One pod of each group dies and comes back."""
    lines: Lines = []
    for play in plays:
        victim = _first_member(play, plays)
        start, _ = play.start_seconds()
        if victim:
            lines.append((f"- at: {AFTER}s", "one pod dies, and is started again"))
            lines.append((f"  id: {CRASH}-{name_of(play.name)}", ""))
            back = max(1, start // 3)
            lines.append((f"  crash: {{member: {victim}, restart_after: {back}s}}", ""))
    return Happening("a crash", tuple(lines), crash_is_over(plays))


def restart(plays: list[Play], begin: int = AFTER) -> Happening:
    """Everything is restarted as it stands."""
    lines: Lines = []
    last = begin
    for roll in rolls_of(plays, begin, is_restart=True):
        lines += _rolled(roll.acts(), "rolling_bounce")
        last = roll.begin + roll.longest_seconds
    return Happening("a restart", tuple(lines), last + connect.seconds_after(plays, 300))


def crash_is_over(plays: list[Play]) -> int:
    """The second at which the crash is over for sure: a session, a start, and a while."""
    session = 45
    for play in plays:
        value = (play.consumer.settings if play.consumer else {}).get("session.timeout.ms")
        if value is not None and value.known:
            session = max(session, (milliseconds(str(value.value)) or 0) // 1000)
    return AFTER + 2 * session + connect.seconds_after(plays, 90)


def _first_member(play: Play, plays: list[Play]) -> str:
    for pods in play.pods:
        if pods.count:
            is_one = pods.each == 1 or is_streams(play, plays)
            return f"{pods.name}-0" if is_one else f"{pods.name}-0-0"
    return ""


def roll(
    title: str,
    pairs: list[tuple[Play, Play]],
    restarts: dict[str, bool],
    configs: dict[str, ClientConfig],
    connectors: list[connect.Change],
) -> Happening:
    """From the old to the new, workload by workload: by the new files' rules of update, the new
    settings on the pods that come. `configs`: group → what its new members resolve to.
    """
    lines: Lines = []
    last = AFTER
    olds, news = [old for old, _ in pairs], [new for _, new in pairs]
    for old, new in pairs:
        for one in rolls_of([new], last, is_alone=len(pairs) == 1):
            if restarts.get(workload_of(new, one), True):
                brought = deployed(one, old, new, configs, pairs)
                lines += _rolled(one.acts(name_of(old.name)), "deploy", brought)
                last = one.begin + one.longest_seconds + 60
        before, after = (_seats(play, plays) for play, plays in ((old, olds), (new, news)))
        if before != after:
            lines.append((f"- at: {last}s", f"members: {before} before, {after} after"))
            lines.append((f"  id: scale-{name_of(new.name)}", ""))
            lines.append((f"  scale: {{group: {name_of(old.name)}, to: {after}}}", ""))
            last += 120
    more, last = connect.deeds(connectors, last)
    last += connect.seconds_after([play for pair in pairs for play in pair], 300)
    return Happening(title, (*lines, *more), last, connect.coming(connectors))


def _seats(play: Play, plays: list[Play]) -> int:
    """Members of a group; of a Streams application its instances, whose threads are a setting."""
    return sum(p.count if is_streams(play, plays) else p.members for p in play.pods)


def workload_of(play: Play, one: Roll) -> str:
    """The workload that a roll replaces."""
    for pods in play.pods:
        if is_of(one, pods) and pods.consumer is not None:
            return str(pods.consumer.workload or "")
    return ""


def _rolled(acts: list[Act], deed: str, brought: str = "") -> Lines:
    lines: Lines = []
    for act in acts:
        first, *more = act.when
        lines.append((f"- {first}", act.why))
        lines += [
            (f"  {line}", "") for line in (*more, f"id: {act.id}", act.written(deed, brought))
        ]
    return lines
