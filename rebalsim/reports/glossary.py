"""The words that rebalsim uses, each with one meaning. Kafka's words where Kafka has one; ours
are few. Printed by `rebalsim explain WORD`.
"""

from __future__ import annotations

# word → (what it means, words to look at next)
WORDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "scenario": (
        "The whole story to play: cluster, topics, groups, script, horizon, budgets. One YAML "
        "file; `rebalsim show FILE` prints it with "
        "every default filled in.",
        ("script", "variant", "budget"),
    ),
    "script": (
        "The list of what is done to the world, by time or by condition: deploy, scale, crash, "
        "freeze. An entry of it is an action; an "
        "action that harms is a fault.",
        ("scenario", "variant"),
    ),
    "variant": (
        "One way of playing a scenario, such as eager or cooperative: the scenario with an "
        "overlay of settings on it. A story that is "
        'played without overlays is the variant as-written; {kafka: "3.9"} and {client: '
        "librdkafka} are variants too, kafka-3.9 and "
        "librdkafka.",
        ("eager", "cooperative", "profiles", "seed"),
    ),
    "seed": (
        "The number that every random draw of a run comes from. The same scenario, seed and "
        "version give the same trace, byte by byte, on "
        "any machine. Seed 1 plays the script at its written times; every other seed plays the "
        "whole of it later, by its own share of the "
        "longest heartbeat interval, so that it strikes at another moment between two heartbeats "
        "(heartbeat_phase: as-written in a story "
        "switches that off). Facts and windows of budgets go with it, and what is asked of the end is "
        "played so much longer.",
        ("run", "heartbeat"),
    ),
    "run": ("One scenario, one variant, one seed, played once.", ("seed", "trace")),
    "horizon": (
        "The instant at which the story ends. A pause that is open then is told as open, and is "
        "not measured.",
        ("pause",),
    ),
    "trace": (
        "Everything that happened in a run, in order, in the past tense. It may as well come "
        "from a recording or from real logs; analysis "
        "and reports know nothing else.",
        ("pause", "evidence"),
    ),
    "evidence": (
        "The numbers of the trace's entries that a statement rests on. `rebalsim trace FILE` "
        "prints them.",
        ("trace",),
    ),
    "consumer": (
        "The client process (or one of several in it): poll loop, heartbeat thread, callbacks. "
        "Not to be mixed up with the consumer "
        "protocol, which is group.protocol=consumer.",
        ("member", "consumer-protocol"),
    ),
    "member": (
        "The group's record of a consumer, under a member id that the coordinator gave it. A "
        "restarted consumer is a new member, unless "
        "it is static.",
        ("consumer", "static", "dynamic"),
    ),
    "static": (
        "A member with a group.instance.id (KIP-345). Its close() does not leave the group: it "
        "is expected back under the same id until "
        "its session runs out, and if it is, nobody else notices.",
        ("dynamic", "fenced", "session"),
    ),
    "dynamic": (
        "A member without group.instance.id: it leaves when it closes and comes back as a "
        "stranger.",
        ("static",),
    ),
    "coordinator": (
        "The part of one broker that leads a given group: it knows the members, times their "
        "sessions, and collects them at the "
        "barrier.",
        ("leader", "barrier"),
    ),
    "leader": (
        "The member that computes the assignment in a classic group. (A partition's leader is "
        "the broker that serves it.)",
        ("assignor",),
    ),
    "group": (
        "Consumers with one group.id that share the partitions of their topics among them.",
        ("member", "rebalance"),
    ),
    "partition": (
        "A topic and a number, such as orders-3. At most one member of a group owns it at a time.",
        ("owner", "pause"),
    ),
    "owner": (
        "The member that holds a partition, as observed in the trace: from the end of its "
        "assigned callback until it is revoked, lost, or "
        "gone. An assignment is what was decided; ownership is what was.",
        ("assignment", "partition"),
    ),
    "assignment": (
        "Which partition goes to which member, decided for one generation (or epoch). The phase "
        "of that name is the time it takes "
        "to get there.",
        ("generation", "epoch", "assignor"),
    ),
    "subscription": ("What a member asks for: topics by name, or a pattern.", ("group",)),
    "assignor": (
        "The function that decides who gets what: range, roundrobin, sticky, cooperative-sticky "
        "on the client; range and uniform on the "
        "broker (consumer protocol). `rebalsim assign` asks one.",
        ("leader", "eager", "cooperative"),
    ),
    "eager": (
        "A rebalance in which every member gives up all its partitions before it joins. What "
        "runs with range, roundrobin, sticky, and with "
        "any list that holds one of them, Kafka's default list included.",
        ("cooperative", "barrier"),
    ),
    "cooperative": (
        "A rebalance in which members keep what does not move (KIP-429). What moves is given up "
        "after a first round and handed over in "
        "a second one. Needs every assignor in the list to be cooperative: cooperative-sticky "
        "alone.",
        ("eager", "follow-up"),
    ),
    "consumer-protocol": (
        "group.protocol=consumer (KIP-848): the broker computes the assignment, and each member "
        "moves towards its target at its "
        "own heartbeats. No barrier; the phases interval, release and pickup instead.",
        ("epoch", "release", "pickup"),
    ),
    "generation": (
        "The classic protocol's counter of completed join rounds. One more also when the group "
        "becomes empty.",
        ("epoch", "rebalance"),
    ),
    "epoch": (
        "The consumer protocol's counters: of the group, of its target assignment, and of each "
        "member. Never mixed with generations.",
        ("generation", "consumer-protocol"),
    ),
    "rebalance": (
        "One round that the coordinator completed: join, assign, sync. A cooperative hand-over "
        "is two; a static member's return is none. "
        "The clients' own metrics count differently (a static return is 1 there).",
        ("disturbance", "generation"),
    ),
    "disturbance": (
        "The time from a trigger to a stable group, over as many rounds as it takes.",
        ("trigger", "rebalance"),
    ),
    "trigger": (
        "Why a rebalance began: joined, left, session-expired, poll-expired, metadata-changed, "
        "leader-rejoined, static-protocol-changed, "
        "sync-expired, coordinator-moved …",
        ("disturbance", "cause"),
    ),
    "cause": (
        "Why a pause happened: what started it, and the chain of evidence from there to its end.",
        ("evidence", "trigger"),
    ),
    "pause": (
        "A half-open interval in which a partition is not consumed though it should be: from the "
        "moment its last owner stopped taking its "
        "records (a new partition: since it is there) to the moment an owner is handed records "
        "again. It is cut into phases that add up to it "
        "exactly. The time that a handler normally spends on a batch is no pause, and neither is "
        "the time without a leader, since "
        "its owner goes on: a line above the figures tells that. Unowned: nobody holds the "
        "partition; stalled: its owner does not poll.",
        ("stuck", "detection", "barrier", "follow-up"),
    ),
    "phase": (
        "A part of a pause, by what the partition was waiting for: stuck, detection, away, "
        "notice, revoke, release, interval, barrier, "
        "follow-up, pickup, assignment, restore, fetch.",
        ("pause",),
    ),
    "fenced": (
        "An old identity that the coordinator refuses: another consumer has taken over its "
        "instance id, or its epoch is past. Fatal for the "
        "consumer that hears it.",
        ("static", "ghost"),
    ),
    "ghost": (
        "A member whose process is gone and whose session has not run out: it owns its "
        "partitions, and the barrier waits for it.",
        ("detection", "session"),
    ),
    "session": (
        "How long the coordinator believes in a member without a heartbeat: session.timeout.ms, "
        "or the broker's "
        "group.consumer.session.timeout.ms under the consumer protocol.",
        ("detection", "heartbeat"),
    ),
    "heartbeat": (
        "A member's sign of life every heartbeat.interval.ms, and the only way in which it "
        "learns of a rebalance.",
        ("notice", "session"),
    ),
    "rebalance-timeout": (
        "How long the coordinator waits at the barrier: the longest max.poll.interval.ms of all "
        "members.",
        ("barrier",),
    ),
    "lag": (
        "Records of a partition that have arrived and are not handled. Fluid in rebalsim: it "
        "decides how many records a poll returns.",
        ("pause", "lag_peak"),
    ),
    "duplicate": (
        "A record handled again: a new owner began below what had been handled, or the old one, "
        "thrown out, went on beside it.",
        ("duplicates",),
    ),
    "budget": (
        'A limit on a metric, in the scenario: longest_pause: "<= 2s". For a variant or all; '
        "narrowed by topics, members, from and until, or the "
        'action of the script that set it off; absolute, or relative to a variant ("<= 0.5 × '
        'eager", same seed) or a baseline ("<= baseline + '
        '5%"). Over several seeds it must hold in each of them, or at its percentile (seeds: '
        "p95). level: warn only tells. `rebalsim check` "
        "says whether it is kept.",
        ("metric", "verdict", "expectation", "baseline"),
    ),
    "expectation": (
        "A fact that must hold, under expect: in the scenario. A state (orders-3 owned by c2, "
        "orders-3 is unowned, group is stable, group is "
        "empty, c1 is gone) holds at its moment, throughout its window, from its moment on "
        "(after), at some moment (before), or at the end. "
        "An event (c1 is fenced, c1 is never removed) happens, or never does, within its window. "
        "`no rebalance` counts what overlaps its "
        "window; a group's first settling is none.",
        ("budget", "verdict"),
    ),
    "head-room": (
        "The share of a budget's limit that was left; over, where it was exceeded.",
        ("budget",),
    ),
    "baseline": (
        "A file with what every scenario measured when it was saved, to be committed: `rebalsim "
        "check --save-baseline FILE`. `--baseline FILE` "
        "tells what improved and what regressed, by which phase, and whether the story, its "
        "settings or rebalsim changed. Any difference is real: "
        "the draws are the same.",
        ("budget", "seed"),
    ),
    "metric": (
        "A measured number of a run, by one name everywhere: budgets, sweeps, reports. `rebalsim "
        "explain METRIC` says what it means.",
        ("budget",),
    ),
    "verdict": (
        "Pass, fail, or inconclusive: a pause still open at the horizon, or a group that has not "
        "settled, could break the budget.",
        ("budget", "horizon"),
    ),
    "sweep": ("A family of scenarios over axes, played point by point.", ("scenario",)),
    "standby": (
        "A copy of a partition's state at another member, which saves a share of the restore. In "
        "Kafka Streams it saves the restoration after a crash, and never the session before it.",
        ("restore", "warm-up"),
    ),
    "stream-task": (
        "Kafka Streams: what processes partition p of a sub-topology's topics, with its part of the "
        "stores. A task is worked on by one thread, and moves as a whole.",
        ("sub-topology", "changelog"),
    ),
    "sub-topology": (
        "Kafka Streams: a connected part of an application's topology. It has as many tasks as its "
        "largest source has partitions.",
        ("stream-task",),
    ),
    "changelog": (
        "Kafka Streams: the topic that holds a store's writes, a partition for each task. A new "
        "owner rebuilds the store from it: from nothing, or from its checkpoint on.",
        ("restore", "standby"),
    ),
    "warm-up": (
        "Kafka Streams, classic protocol: a standby where a task shall move to. The owner goes on "
        "until the copy is within acceptable.recovery.lag, which the next probing rebalance sees. "
        "Smaller stores move at once, and cold; the streams protocol has none up to Kafka 4.3.",
        ("probing-rebalance", "standby"),
    ),
    "probing-rebalance": (
        "Kafka Streams, classic protocol: while warm-ups are under way, one member joins again every "
        "probing.rebalance.interval.ms, so that the leader sees who has caught up.",
        ("warm-up",),
    ),
    "surge": ("How many new pods a Deployment starts before it stops old ones.", ("dynamic",)),
    "poison": (
        "A record that hangs whoever handles it. It is not committed, so the next owner gets it "
        "too.",
        ("stuck",),
    ),
}
