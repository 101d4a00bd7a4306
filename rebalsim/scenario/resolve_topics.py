"""The topics of a story as written → as meant."""

from __future__ import annotations

from typing import Any

from rebalsim.domain.instants import DAY
from rebalsim.domain.scenario import (
    Topic,
)
from rebalsim.scenario.arrival_rates import rate_steps, steps_of, zipf
from rebalsim.scenario.common_language import MAX_PARTITIONS
from rebalsim.scenario.kinds import Written, build
from rebalsim.scenario.resolve_cluster import ClusterResolver
from rebalsim.words.nearest import or_nearest

MOST_STEPS = 200_000  # of all topics' rates together


class TopicResolver(ClusterResolver):
    """The part of resolving that is about topics."""

    def _topics(self) -> dict[str, Topic]:
        made: dict[str, Topic] = {}
        named = self.story.get("topics")
        if named is None:
            return made
        total = steps = 0
        for name in named.node.keys:
            written = named.values.get(name)
            if written is None or "partitions" not in written:
                # what is wrong with it is said already; whoever names it means it
                made[name] = Topic(name, MAX_PARTITIONS)
                continue
            total += written.get("partitions")
            steps += steps_of(written.get("rate", ()), self.story.get("horizon", DAY))
            if total > MAX_PARTITIONS or steps > MOST_STEPS:
                made[name] = Topic(name, written.get("partitions"))  # not worked out any further
                continue
            made[name] = self._topic(name, written)
        if steps > MOST_STEPS:
            self.out.add(
                named.node,
                f"The topics' rates come to {steps:,} steps within the horizon — write at most "
                f"{MOST_STEPS:,}: fewer topics with a daily rate, or a shorter horizon",
            )
        if total > MAX_PARTITIONS:
            self.out.add(
                named.node,
                f"The topics have {total:,} partitions together — write at most {MAX_PARTITIONS:,}",
            )
        return made

    def _topic(self, name: str, written: Written) -> Topic:
        partitions = written.get("partitions")
        more: dict[str, Any] = {"name": name}
        if "rate" in written:
            more["rate"] = rate_steps(
                written.get("rate"), partitions, self.story.get("horizon", DAY)
            )
        skew = written.get("skew")
        if isinstance(skew, float):
            more["weights"] = zipf(skew, partitions)
        elif skew is not None:
            if len(skew) != partitions:
                self.out.add(
                    written.at["skew"],
                    f"There are {len(skew)} weights for {partitions} partitions — write one for "
                    "each",
                )
            more["weights"] = skew
        if (asked := written.get("replicas")) is not None:
            replicas, wrong = self._replicas(asked, partitions)
            more["replicas"] = replicas
            if wrong:
                self.out.add(written.at["replicas"], wrong)
        return build(Topic, written, **more)

    def _replicas(
        self, asked: int | tuple[tuple[int, ...], ...], partitions: int
    ) -> tuple[tuple[tuple[int, ...], ...], str]:
        """The brokers of each partition, and what is wrong with what was asked for."""
        ids = [b.id for b in self.cluster.brokers]
        if isinstance(asked, int):
            wrong = (
                f"{asked} replicas do not fit on {len(ids)} broker{'s' if len(ids) > 1 else ''} — "
                f"write at most {len(ids)}, or more brokers under cluster:"
            )
            spread = tuple(
                tuple(ids[(p + i) % len(ids)] for i in range(min(asked, len(ids))))
                for p in range(partitions)
            )
            return spread, wrong if asked > len(ids) else ""
        return asked, _wrong_places(asked, partitions, ids)


def _wrong_places(rows: tuple[tuple[int, ...], ...], partitions: int, ids: list[int]) -> str:
    unknown = [b for row in rows for b in row if b not in ids]
    if len(rows) != partitions:
        return (
            f"Replicas are given for {len(rows)} of {partitions} partitions — write a list for each"
        )
    if unknown:
        nearest = or_nearest(str(unknown[0]), map(str, ids))
        return f"There is no broker {unknown[0]} — {nearest}"
    if any(len(dict.fromkeys(row)) != len(row) for row in rows):
        return "A broker holds a partition twice — name each broker once per partition"
    return ""
