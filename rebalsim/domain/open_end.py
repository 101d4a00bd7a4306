"""What was still under way when observation ended, and what nobody ever owned: why a verdict is not
certain. Their words stand in `rebalsim/reports/open_ends_told.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class OpenEndKind(StrEnum):
    """What a longer observation could still change a verdict by."""

    # of a group
    UNSETTLED = "unsettled"
    UNSTABLE = "unstable"
    DISTURBED_AGAIN = "disturbed-again"
    WAITS_FOR_REPLACED_ID = "waits-for-replaced-id"
    LOOKS_AGAIN = "looks-again"
    # of a member
    BUSY_WITH_ITSELF = "busy-with-itself"  # it starts, closes, is in a callback or stuck
    GONE_AND_A_MEMBER = "gone-and-a-member"
    FORMER_ID_A_MEMBER = "former-id-a-member"
    CUT_AND_A_MEMBER = "cut-and-a-member"
    NOT_JOINED = "not-joined"
    IN_STATE = "in-state"
    ON_ITS_WAY = "on-its-way"
    WITHOUT_ITS_GROUP = "without-its-group"
    WAITS_FOR_ANSWER = "waits-for-answer"
    ASKED_TO_STOP = "asked-to-stop"
    WAITS_OUT_THE_DELAY = "waits-out-the-delay"
    HAS_AN_ASSIGNMENT = "has-an-assignment"
    HAS_GIVEN_UP = "has-given-up"
    HAS_READ_NOTHING = "has-read-nothing"
    JUST_BACK = "just-back"
    BETWEEN_TWO_POLLS = "between-two-polls"
    SLOW = "slow"
    MAY_OUTLAST_ITS_POLL = "may-outlast-its-poll"
    # of the world
    JUST_CHANGED = "just-changed"
    JUST_BEGUN = "just-begun"
    BROKER_JUST_CHANGED = "broker-just-changed"
    TOPIC_UNSEEN = "topic-unseen"
    POISON_WAITS = "poison-waits"
    TASKS_TO_COME = "tasks-to-come"
    BROKERS_DOWN = "brokers-down"
    # of what was measured
    OPEN_PAUSES = "open-pauses"
    TIME_MOVES_IT = "time-moves-it"
    LAG_SWAYS = "lag-sways"
    LAG_NOT_DOWN = "lag-not-down"
    LAG_NOT_CAUGHT_UP = "lag-not-caught-up"
    COPIES_BEHIND = "copies-behind"
    NOT_RUNNING = "not-running"
    OLD_RECORDS_WAIT = "old-records-wait"
    REFERENCE_OPEN = "reference-open"
    # of what nobody ever owned
    NO_GROUP_OWNED = "no-group-owned"
    GROUP_NEVER_OWNED = "group-never-owned"
    MEMBER_NEVER_OWNED = "member-never-owned"
    NEVER_OWNED = "never-owned"
    NOT_OWNED_THEN = "not-owned-then"
    MEMBER_NOT_THERE_THEN = "member-not-there-then"


@dataclass(frozen=True, slots=True)
class OpenEnd:
    """One of them: whose it is, and what its sentence needs besides."""

    kind: OpenEndKind
    who: str = ""  # a member or a group
    what: str = ""
    count: int = 0
    length_us: int = -1
    from_us: int = -1  # of a window
    until_us: int = -1
