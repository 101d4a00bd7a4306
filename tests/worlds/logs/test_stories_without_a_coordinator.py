"""Small stories of which only clients tell: what began each rebalance, all the same."""

from __future__ import annotations

from time import process_time

from reading_logs import observed
from test_stories_in_logs import U, client, joined


def test_a_new_member_id_is_one_that_joins_though_it_gives_no_reason() -> None:
    """A client of Kafka 2.8, thrown out and back: its new id tells it, no reason does."""
    stays = [
        client(1_000, "(Re-)joining group"),
        joined(1_010, 1, 1),
        client(1_030, "Adding newly assigned partitions: [t-0]"),
        client(62_000, "Attempt to heartbeat failed since group is rebalancing"),
        client(62_006, "(Re-)joining group"),
        joined(62_012, 2, 1),
    ]
    comes_back = [
        client(1_001, "(Re-)joining group"),
        joined(1_011, 1, 2),
        client(1_031, "Adding newly assigned partitions: [t-1]"),
        client(59_000, "Lost previously assigned partitions t-1"),
        client(59_001, "(Re-)joining group"),
        client(59_004, "(Re-)joining group"),
        joined(62_011, 2, 3),
    ]
    second = observed(c1=stays, c2=comes_back).groups["g"].rounds[1]
    assert (second.trigger.kind, second.trigger.member) == ("join", f"consumer-g-1-{U}3")


def test_a_static_member_that_closes_does_not_leave() -> None:
    """c1 (static) closes; what begins the next round is that c2's session ran out."""

    def said(who: int, ms: int, text: str) -> str:
        return client(ms, text).replace("[Consumer ", f"[Consumer instanceId=i{who}, ")

    def there(who: int, ms: int, generation: int) -> list[str]:
        told = joined(ms, generation, who).replace("[Consumer ", f"[Consumer instanceId=i{who}, ")
        return [said(who, ms - 5, "(Re-)joining group"), told]

    closes = [
        *there(1, 1_010, 1),
        "[2026-01-05 10:00:20,000] INFO App info kafka.consumer for consumer-g-1 unregistered (x.Y)",
    ]
    dies = there(2, 1_011, 1)
    stays = [
        *there(3, 1_012, 1),
        said(3, 45_000, "Attempt to heartbeat failed since group is rebalancing"),
        *there(3, 45_010, 2),
    ]
    closes += there(1, 45_012, 2)
    second = observed(c1=closes, c2=dies, c3=stays).groups["g"].rounds[1]
    assert (second.trigger.kind, second.trigger.member) == (
        "session-timeout",
        f"consumer-g-1-{U}2",
    )


def test_a_static_member_that_comes_back_sets_no_clock() -> None:
    """It is given the generation that the others joined long before, at once: its host's clock is right."""

    def static(ms: int, text: str) -> str:
        return (
            client(ms, text)
            .replace("consumer-g-1", "consumer-g-i")
            .replace("[Consumer ", "[Consumer instanceId=i, ")
        )

    first = [client(1_000, "(Re-)joining group"), joined(4_010, 1, 1)]
    again = [
        static(30_000, "(Re-)joining group"),
        static(30_020, joined(30_020, 1, 2).partition("] ")[2].partition("] ")[2]),
        static(30_030, "Adding newly assigned partitions: [t-1]"),
    ]
    found = observed(c1=first, twin=again)
    assert found.clocks["twin.log"].ahead_us == 0
    assert [
        f.generation for v in found.groups["g"].voices for f in v.facts if f.generation > 0
    ] == [1, 1]


def _cost(rebalances: int) -> float:
    """The processor time that a client's log with so many costs."""
    head = "[2026-01-05 {:02d}:{:02d}:{:02d},000] INFO [Consumer clientId=c, groupId=g] "
    told = "Generation{{generationId={}, memberId='c-1', protocol='range'}}"
    lines = []
    for n in range(1, rebalances + 1):
        when = head.format(n // 360 % 24, n // 6 % 60, n % 6 * 10)
        lines.append(f"{when}(Re-)joining group (x.Y)")
        lines.append(f"{when}Successfully joined group with generation {told.format(n)} (x.Y)")
    begun = process_time()
    (story,) = observed(app=lines).groups.values()
    assert len(story.rounds) == rebalances
    return process_time() - begun


def test_many_rebalances_cost_what_few_cost_each() -> None:
    _cost(100)
    assert _cost(3_200) < 24 * _cost(400)  # eight times as many
