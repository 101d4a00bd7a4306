"""How a member gets from what it owns to what it was given: commit, give up, apply, acknowledge,
each when the threads come to it.

AbstractMembershipManager#maybeReconcile. It begins when the application polls (or, without
anything to commit or to give up, on the background thread's own); the callbacks run when the
application next looks at what it was told, inside poll().
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rebalsim.domain.callback import Callback
from rebalsim.domain.ids import Partition
from rebalsim.protocol.consumer_member import ClientState, Given
from rebalsim.simulation.asynchronous.events import Assigned, Removed

if TYPE_CHECKING:
    from rebalsim.simulation.asynchronous.inside import AsyncInside, Thread


class Reconciliation:
    """The steps, strictly one after another."""

    __slots__ = ("_background", "_is_releasing", "_rejoins", "consumer", "engine")

    def __init__(self, consumer: AsyncInside, background: Thread) -> None:
        self.consumer = consumer
        self.engine = consumer.engine
        self._background = background
        self._is_releasing = False  # what a stale member had is being given up
        self._rejoins = False  # a stale member joins as soon as that is over

    def maybe_begin(self, can_commit: bool) -> None:
        """Begin if something waits. What must be committed or given up waits for a poll(): the
        application may be handing its records over.
        """
        consumer, member = self.consumer, self.consumer.member
        if not member.must_reconcile or self.engine.now < consumer.looks_not_before_us:
            return
        target = member.target
        if member.current.number >= 0 and frozenset(target.partitions) == frozenset(
            member.current.partitions
        ):
            # offered something else meanwhile, and the old again: acknowledged, without a callback
            member.current = target
            consumer.step_to(lambda: member.become(ClientState.ACKNOWLEDGING))
            return
        owned = tuple(sorted(consumer.feed.shares))
        wanted = dict.fromkeys(target.partitions)
        held = dict.fromkeys(owned)
        added = tuple([p for p in target.partitions if p not in held])
        revoked = tuple([p for p in owned if p not in wanted])
        if not can_commit and (consumer.commits.is_auto or revoked):
            return
        member.begin_reconciliation()
        consumer.feed.mark_revoking(revoked)
        until = self.engine.now + consumer.config.max_poll_interval_us
        consumer.commits.before_rebalance(
            until, revoked, lambda: self._revoke(target, revoked, added)
        )

    def _revoke(
        self, target: Given, revoked: tuple[Partition, ...], added: tuple[Partition, ...]
    ) -> None:
        member = self.consumer.member
        if self._aborts():
            return
        revoked = tuple([p for p in revoked if p in self.consumer.feed.shares])
        if revoked:
            self._background.told.append(
                Removed(
                    Callback.REVOKED, revoked, lambda error: self._revoked(error, target, added)
                )
            )
        else:
            self._assign(target, added)
        assert member.is_reconciling

    def _revoked(self, error: bool, target: Given, added: tuple[Partition, ...]) -> None:
        if error:
            self.consumer.member.end_reconciliation(
                None
            )  # left as it is, and tried again with the next poll()
        elif not self._aborts():
            self._assign(target, added)

    def _assign(self, target: Given, added: tuple[Partition, ...]) -> None:
        self._background.told.append(
            Assigned(target.partitions, added, lambda error: self._assigned(error, target))
        )

    def _assigned(self, error: bool, target: Given) -> None:
        consumer, member = self.consumer, self.consumer.member
        if not error:
            consumer.feed.enable(target.partitions)
        if error:
            member.end_reconciliation(None)
        elif member.is_reconciling and not self._aborts():
            consumer.commits.restart_timer()
            member.current = target
            consumer.step_to(lambda: member.become(ClientState.ACKNOWLEDGING))
            member.end_reconciliation(target)

    def _aborts(self) -> bool:
        member = self.consumer.member
        if member.must_abort():
            member.end_reconciliation(None)
            return True
        return False

    # ----------------------------------------------------------------------------------- losing all

    def fenced(self) -> None:
        """Not in the group any more: everything is lost, then it joins again."""
        consumer, member = self.consumer, self.consumer.member
        if member.state in (ClientState.PREPARE_LEAVING, ClientState.LEAVING):
            consumer.step_to(lambda: member.become(ClientState.UNSUBSCRIBED))
            return
        if not member.is_in_group:
            return
        consumer.step_to(member.fence)
        self._release(self._fenced_released)

    def _fenced_released(self) -> None:
        member = self.consumer.member
        self._clear()
        if member.state is ClientState.FENCED:
            self.consumer.step_to(member.join)

    def lose(self) -> None:
        """It left because the application did not poll: what it had is lost, when the
        application comes back.
        """
        self._is_releasing = True
        self._rejoins = False
        self._release(self._stale_released)

    def lose_to_error(self) -> None:
        """The coordinator will never have it: what it had is lost, with the poll() that throws."""
        self._release(self._clear)

    def _stale_released(self) -> None:
        self._is_releasing = False
        self._clear()
        if self._rejoins:
            self._join()

    def rejoin(self) -> None:
        """The application polls again."""
        member = self.consumer.member
        member.poll_has_expired = False
        if member.state is ClientState.STALE:
            if self._is_releasing:
                self._rejoins = True
            else:
                self._join()

    def _join(self) -> None:
        self._rejoins = False
        if self.consumer.member.state is ClientState.STALE:
            self.consumer.step_to(self.consumer.member.join)

    def _release(self, then: Any) -> None:
        consumer = self.consumer
        owned = tuple(sorted(consumer.feed.shares))
        consumer.feed.mark_revoking(owned)
        if owned:
            self._background.told.append(Removed(Callback.LOST, owned, lambda error: then()))
        else:
            then()

    def _clear(self) -> None:
        consumer = self.consumer
        consumer.feed.assign(())
        consumer.member.forget_assignment()
