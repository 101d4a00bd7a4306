"""What versions and client libraries do otherwise than Kafka's newest brokers and its own Java
client, as far as it decides when a group's members join, beat and pause. A behaviour each, by name.

Which version and which client has which is said in one place, `scenario/profiles`; nobody else
compares versions or names. A trace carries them in its header.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BrokerHabits:
    """The default is Kafka 4.3. The sources are in the table of `rebalsim explain profiles`."""

    has_consumer_protocol: bool = True
    has_scala_coordinator: bool = False  # … for classic groups, with rules of its own
    join_version: int = 9  # of JoinGroup, the highest they know: below 9 nobody skips an assignment
    # of the consumer protocol: targets are computed at intervals, else at once
    has_assignment_interval: bool = True
    first_epoch: int = 1
    known_members_may_join_again: bool = True  # with epoch 0, else they are fenced
    commits_by_partition: bool = True  # else a commit needs the very epoch
    classic_members_follow_target: bool = True  # else the group's epoch: they join again sooner


@dataclass(frozen=True, slots=True)
class Habits:
    """The default is the Java client of Kafka 4.3. The sources are in the table of `rebalsim
    explain profiles`.
    """

    runs_itself: bool = (
        False  # a thread of its own joins, beats and assigns, whatever the application does
    )
    # does a rebalance callback wait for the application to poll: always | registered (only if there
    # is one) | never
    awaits_poll: str = "never"
    pauses_meanwhile: bool = False  # … and is nothing handed over until it has run
    has_poll_limit: bool = True  # max.poll.interval.ms
    poll_check_us: int = 0  # how often it is looked at; 0: when it is over
    rebalance_timeout: str = "max-poll"  # what JoinGroup asks for: max-poll | session | fixed
    rebalance_timeout_us: int = 0  # … where it is fixed
    join_spacing_us: int = 0  # attempts to join are so far apart, unless the last one led on
    beats_after_join_us: int = 0  # one more heartbeat so soon after a cooperative join
    join_version: int = 9  # of JoinGroup: below 9 the leader is never told to skip the assignment
    follows_group: bool = (
        False  # cooperative where the group's assignor is, rather than where all of its own are
    )
    # it gives up all that it owns, as lost, and joins anew, session.timeout.ms after: last-answer |
    # first-try (a beat's)
    ends_session: str = ""
    # a commit by somebody whom the group does not know: loses | rejoins (the join tells) | nothing
    # (the next beat does)
    at_refused_commit: str = "loses"
    # fetches nothing of a broker while records of another partition of it are buffered
    drains_first: bool = True
    # made eager by a member that is, it gives up what it had only after the sync, when others may
    # have it
    gives_up_after_sync: bool = False
    may_leave_static: bool = True  # close() has an option with which a static member leaves

    @property
    def has_rebalance_timeout(self) -> bool:
        """One of its own, which neither the session nor the poll limit is."""
        return self.rebalance_timeout == "fixed"

    def rebalance_timeout_of(self, session_us: int, max_poll_us: int) -> int:
        """How long the coordinator shall wait for this member to join."""
        return {"max-poll": max_poll_us, "session": session_us, "fixed": self.rebalance_timeout_us}[
            self.rebalance_timeout
        ]


JAVA = Habits()
NEWEST = BrokerHabits()
