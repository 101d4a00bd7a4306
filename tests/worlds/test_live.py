"""Listings of groups and topics, by their headers."""

from __future__ import annotations

import pytest
from reading import read

from rebalsim.worlds.to_json import told_of

OFFSETS = """
GROUP  TOPIC      PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST   CLIENT-ID
g      orders.v1  0          5               7               2    a-1          /h     a
g      orders.v1  3          1               4               3    a-1          /h     a
"""


def test_offsets_tell_lag_and_at_least_so_many_partitions_and_may_miss_members() -> None:
    made = read(l_txt=OFFSETS)
    group = made.listed.groups["g"]
    assert group.lag == {"orders.v1": 5} and group.partitions == {"orders.v1": 4}
    assert "member_count" in made.asks and "assignor" in made.asks


@pytest.mark.parametrize(
    "cell", ["pay.v1(0,4)", "pay.v1:0,4", "pay.v1:0,4;other:1"], ids=["2.8", "4.x", "two topics"]
)
def test_an_assignment_is_read_behind_the_last_colon(cell: str) -> None:
    made = read(
        l_txt=f"GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS ASSIGNMENT\ng m1 /h c 2 {cell}\n"
    )
    assert made.listed.groups["g"].members["m1"].partitions["pay.v1"] == [0, 4]


def test_three_nine_leaves_the_topic_out_and_it_is_asked_for() -> None:
    made = read(
        l_txt="GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS ASSIGNMENT\ng m1 /h c 2 (0,4)\n"
    )
    assert made.listed.groups["g"].members["m1"].loose == [0, 4]
    assert "topics" in made.asks


def test_dashes_are_unknown_and_a_warning_may_come_first() -> None:
    text = "Warning: Consumer group 'g' is rebalancing.\n" + OFFSETS.replace("5  ", "-  ").replace(
        " 2   ", " -   "
    )
    group = read(l_txt=text).listed.groups["g"]
    assert group.rebalancing and group.lag == {"orders.v1": None}


def test_an_empty_group_of_rpk_has_empty_cells() -> None:
    made = read(
        l_txt="""
        GROUP        shop
        COORDINATOR  0
        STATE        Empty
        BALANCER
        MEMBERS      0
        TOTAL-LAG    0

        TOPIC  PARTITION  CURRENT-OFFSET  LOG-START-OFFSET  LOG-END-OFFSET  LAG  MEMBER-ID  CLIENT-ID  HOST
        t      0          2               0                 2               0
        """
    )
    group = made.listed.groups["shop"]
    assert group.is_empty and group.members == {} and "replicas" in made.asks


def test_topics_of_kafka_topics_and_kcat() -> None:
    described = read(
        t_txt="Topic: a\tTopicId: x\tPartitionCount: 6\tReplicationFactor: 3\tConfigs:\n"
    )
    assert described.topics["a"]["partitions"].value == 6
    listed = read(
        t_txt='Metadata for all topics (from broker 1):\n  topic "a" with 2 partitions:\n'
    )
    assert listed.topics["a"]["partitions"].value == 2


def test_a_metrics_dump_tells_the_rate() -> None:
    made = read(
        m_prom="""
        # HELP kafka_consumer_fetch_manager_metrics_records_consumed_rate x
        # TYPE kafka_consumer_fetch_manager_metrics_records_consumed_rate gauge
        kafka_consumer_fetch_manager_metrics_records_consumed_rate{client_id="a"} 10.5
        kafka_consumer_fetch_manager_metrics_records_consumed_rate{client_id="b"} NaN
        kafka_consumer_fetch_manager_metrics_records_consumed_rate{client_id="c"} 4.5
        """
    )
    assert made.measured is not None and made.measured.rate == 15.0


TRANSCRIPT = """
       ops@node1:~$ kafka-consumer-groups.sh --bootstrap-server b:9092 --describe --group billing

       TOPIC   PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST  CLIENT-ID
       orders  0          5               7               2    c-1          /h    c
       orders  1          5               9               4    c-2          /h    c
       ops@node1:~$ kafka-consumer-groups.sh --bootstrap-server b:9092 --describe --group audit

       Consumer group 'audit' has no active members.

       TOPIC   PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST  CLIENT-ID
       orders  0          1               7               6    -            -     -
"""


def test_an_indented_transcript_of_older_tools_tells_the_groups_by_their_commands() -> None:
    groups = read(l_txt=TRANSCRIPT).listed.groups
    assert groups["billing"].lag == {"orders": 6} and set(groups["billing"].members) == {
        "c-1",
        "c-2",
    }
    assert groups["audit"].is_empty and groups["audit"].lag == {"orders": 6}


def test_a_table_that_nobody_named_asks_for_its_group() -> None:
    made = read(l_txt="CONSUMER-ID  HOST  CLIENT-ID  #PARTITIONS\nc-1  /h  c  2\nc-2  /h  c  2\n")
    assert "group_id" in made.asks and len(made.listed.groups) == 1
    assert told_of(made)["live"][0]["group"] is None


RPK_GROUP = """
GROUP        fleet
COORDINATOR  0
STATE        Stable
BALANCER     cooperative-sticky
MEMBERS      1
TOTAL-LAG    7
TOPIC  PARTITION  CURRENT-OFFSET  LOG-START-OFFSET  LOG-END-OFFSET  LAG  MEMBER-ID  CLIENT-ID  HOST
t      0          120             0                 123             3    kgo-1      kgo        10.0.0.1
t      1          99              0                 103             4    kgo-1      kgo        10.0.0.1
"""


@pytest.mark.parametrize("between", ["", "\n"], ids=["newer", "older"])
def test_rpk_puts_a_blank_line_before_the_table_or_none(between: str) -> None:
    group = read(l_txt=RPK_GROUP.replace("\nTOPIC", f"{between}\nTOPIC")).listed.groups["fleet"]
    assert group.lag == {"t": 7} and group.members["kgo-1"].partitions == {"t": [0, 1]}
    assert (group.count, group.assignor) == (1, "cooperative-sticky")


@pytest.mark.parametrize(
    "text",
    [
        "Topic:orders\tPartitionCount:12\tReplicationFactor:3\tConfigs:\n",
        "Topic: orders\tTopicId: x\tPartitionCount: 12\tReplicationFactor: 3\tConfigs: \n",
        "NAME     PARTITIONS  REPLICAS\norders   12          3\nstock    1           1\n",
        "SUMMARY\n=======\nNAME        orders\nPARTITIONS  12\nREPLICAS    3\n",
    ],
    ids=["1.x", "2.8", "rpk topic list", "rpk topic describe"],
)
def test_topics_are_listed_in_many_forms(text: str) -> None:
    assert read(l_txt=text).listed.topics["orders"] == {"partitions": 12, "replication": 3}
