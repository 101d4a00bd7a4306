"""What was still under way when observation ended, and what nobody ever owned, as clauses."""

from __future__ import annotations

from collections.abc import Callable

from rebalsim.domain.doing import Doing
from rebalsim.domain.open_end import OpenEnd, OpenEndKind
from rebalsim.words.lists import plural
from rebalsim.words.times import say_duration

_AT_ITSELF = {Doing.IN_CALLBACK: "in a callback", Doing.STUCK: "busy with one batch"}
_GONE = {Doing.AWAY: "gone", Doing.CUT_OFF: "cut off"}


def tell_open_end(end: OpenEnd) -> str:
    """`c1 had not joined`, `2 pauses had not ended`."""
    told = _TEMPLATES.get(end.kind)
    return _TELLERS[end.kind](end) if told is None else told.format(who=end.who, what=end.what)


def _never_owned(end: OpenEnd) -> str:
    more = f" and {end.count:,} more" if end.count else ""
    when = f" before {say_duration(end.length_us)}" if end.length_us >= 0 else ""
    return f"nobody ever owned {end.what}{more}{when}"


def _window(end: OpenEnd) -> str:
    begins = f"from {say_duration(end.from_us)}" if end.from_us >= 0 else ""
    ends = f"until {say_duration(end.until_us)}" if end.until_us >= 0 else "on"
    return f"{begins} {ends}" if begins else ends


# whose words need more than names
_TELLERS: dict[OpenEndKind, Callable[[OpenEnd], str]] = {
    OpenEndKind.UNSETTLED: lambda end: f"{end.who or 'the group'} had not settled",
    OpenEndKind.DISTURBED_AGAIN: lambda end: (
        f"{end.who} had disturbed {end.what} again and again, up to {say_duration(end.length_us)} "
        "apart"
    ),
    OpenEndKind.BUSY_WITH_ITSELF: lambda end: (
        f"{end.who} was still {_AT_ITSELF.get(Doing(end.what), end.what)}"
    ),
    OpenEndKind.GONE_AND_A_MEMBER: lambda end: (
        f"{end.who} was {_GONE.get(Doing(end.what), end.what)} and still a member, its session "
        "running"
    ),
    OpenEndKind.BROKERS_DOWN: lambda end: (
        f"{'brokers were' if end.count > 1 else 'a broker was'} down"
    ),
    OpenEndKind.OPEN_PAUSES: lambda end: f"{plural(end.count, 'pause')} had not ended",
    OpenEndKind.GROUP_NEVER_OWNED: lambda end: (
        f"nobody in {end.who} ever owned a partition within {say_duration(end.length_us)}"
    ),
    OpenEndKind.MEMBER_NEVER_OWNED: lambda end: (
        f"{end.who} never owned a partition{' of ' + end.what if end.what else ''}"
    ),
    OpenEndKind.NEVER_OWNED: _never_owned,
    OpenEndKind.NOT_OWNED_THEN: lambda end: f"nobody owned {end.who} {_window(end)}",
    OpenEndKind.MEMBER_NOT_THERE_THEN: lambda end: f"{end.who} was not there {_window(end)}",
}
_TEMPLATES: dict[OpenEndKind, str] = {
    OpenEndKind.UNSTABLE: "{who} was not stable",
    OpenEndKind.WAITS_FOR_REPLACED_ID: "{who} waited for an id that {what} has replaced",
    OpenEndKind.LOOKS_AGAIN: "{who} will rebalance again to see whether its copies caught up",
    OpenEndKind.FORMER_ID_A_MEMBER: (
        "{who} came back by another id, and its former one was still a member"
    ),
    OpenEndKind.CUT_AND_A_MEMBER: "{who} was cut off and still a member",
    OpenEndKind.NOT_JOINED: "{who} had not joined",
    OpenEndKind.IN_STATE: "{who} was {what}",
    OpenEndKind.ON_ITS_WAY: "{who} was on its way into a rebalance",
    OpenEndKind.WITHOUT_ITS_GROUP: "{who} was without its group",
    OpenEndKind.WAITS_FOR_ANSWER: "{who} waited for its {what}",
    OpenEndKind.ASKED_TO_STOP: "{who} had been asked to stop",
    OpenEndKind.WAITS_OUT_THE_DELAY: "{who} waited out the delay for lost work",
    OpenEndKind.HAS_AN_ASSIGNMENT: "{who} had an assignment before it",
    OpenEndKind.HAS_GIVEN_UP: "{who} had given up partitions",
    OpenEndKind.HAS_READ_NOTHING: "{who} had read nothing of {what} yet",
    OpenEndKind.JUST_BACK: "{who} had just come back",
    OpenEndKind.BETWEEN_TWO_POLLS: "{who} was between two calls of poll()",
    OpenEndKind.SLOW: "{who} took longer over its batches than usual",
    OpenEndKind.MAY_OUTLAST_ITS_POLL: (
        "{who} had work before it that may outlast its max.poll.interval.ms"
    ),
    OpenEndKind.JUST_CHANGED: "something had just changed",
    OpenEndKind.JUST_BEGUN: "{what} had just begun",
    OpenEndKind.BROKER_JUST_CHANGED: "broker {what} had just changed",
    OpenEndKind.TOPIC_UNSEEN: "not everybody can have seen what became of {what}",
    OpenEndKind.POISON_WAITS: "a poisoned record may still wait in the backlog",
    OpenEndKind.TASKS_TO_COME: "the tasks of {who} were not dealt out anew yet",
    OpenEndKind.TIME_MOVES_IT: "it moves as long as time goes on (say until: to end it)",
    OpenEndKind.LAG_SWAYS: "lag sways by as much as is left, from one batch to the next",
    OpenEndKind.LAG_NOT_DOWN: "lag had not come down",
    OpenEndKind.LAG_NOT_CAUGHT_UP: "lag had not caught up",
    OpenEndKind.COPIES_BEHIND: "a task had no copy that was as far as it, or a copy was behind",
    OpenEndKind.NOT_RUNNING: "an instance was not running",
    OpenEndKind.OLD_RECORDS_WAIT: "old records still waited",
    OpenEndKind.REFERENCE_OPEN: "{who}, which it is held against, was not decided",
    OpenEndKind.NO_GROUP_OWNED: "there is no group that ever owned a partition",
}
