"""Secrets and people that broken lines put where names belong reach no page."""

from __future__ import annotations

import string
import time
from random import Random

import pytest
from reading_logs import facts_of, observed

from rebalsim.reports.observed import render
from rebalsim.worlds.logs.discretion import OWN_WORDS, masked, tells_a_secret
from rebalsim.worlds.logs.tables import packed

TIME = "[2025-11-18 15:40:07,559] "
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"
SECRETS = {
    "a password": ("password=hunter2", "hunter2"),
    "a pair of whatever": ("x9=hunter2", "hunter2"),
    "in quotes": ('password="hunter2"', "hunter2"),
    "of JSON": ('{"api_key":"hunter2"}', "hunter2"),
    "escaped": ('{\\"secret\\":\\"hunter2\\"}', "hunter2"),
    "behind a colon": ("token:hunter2", "hunter2"),
    "in an address": ("https://svc:hunter2@db.example.com/orders", "hunter2"),
    "in a query": ("/orders?sig=hunter2", "hunter2"),
    "a web token": (JWT, JWT),
    "a cloud's key": ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
    "a cloud's secret": (
        "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",
        "wJ8a1rXq2Utn7FeM9i7M4dEn3GbP6xRf5iCy8kZ2",
    ),
    "a forge's token": ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "16C7e42F292c"),
    "a chat's token": ("xoxb-2401-2401-hunter2", "hunter2"),
    "a shop's key": ("sk_live_4eC39HqLyjWDarjtT1zdp7dc", "4eC39HqLy"),
}
KAFKA_PYTHON = "2025-11-18 15:40:07,559 INFO kafka.coordinator "
PLACES = {
    "kafka-python joins": KAFKA_PYTHON + "(Re-)joining group {}",
    "kafka-python joined": KAFKA_PYTHON
    + "Successfully joined group {} <Generation 3 (member_id: 'm')>",
    "kafka-python assigned": KAFKA_PYTHON + "Setting newly assigned partitions set() for group {}",
    "kafka-python's member": KAFKA_PYTHON
    + "Received member id {} for group orders; will retry join-group",
    "kafka-python's topic": KAFKA_PYTHON + "Setting newly assigned partitions "
    "{{TopicPartition(topic='{}', partition=0)}} for group orders",
    "Java's group": TIME + "INFO [Consumer clientId=c, groupId={}] (Re-)joining group (x.Y)",
    "Java's client": TIME + "INFO [Consumer clientId={}, groupId=orders] (Re-)joining group (x.Y)",
    "Java's instance": TIME
    + "INFO [Consumer instanceId={}, clientId=c, groupId=orders] (Re-)joining group (x.Y)",
    "Java's assignor": TIME
    + "INFO [Consumer clientId=c, groupId=orders] Successfully joined group with "
    "generation Generation{{generationId=1, memberId='c-1', protocol='{}'}} (x.Y)",
    "Java's reason": TIME
    + "INFO [Consumer clientId=c, groupId=orders] Request joining group due to: {} (x.Y)",
    "behind a known reason": TIME
    + "INFO [Consumer clientId=c, groupId=orders] Request joining group due "
    "to: rebalance failed due to '{}' (x.Y)",
    "Java leaves": TIME
    + "INFO [Consumer clientId=c, groupId=orders] Member c-1 sending LeaveGroup request "
    "to coordinator h:9092 (id: 1 rack: null) due to {} (x.Y)",
    "a coordinator's group": TIME
    + "INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=1] "
    "Stabilized group {} generation 3 with 2 members. (x.Y)",
    "a coordinator's reason": TIME
    + "INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=1] "
    "Preparing to rebalance group orders in state PreparingRebalance with old generation 3 (reason: Adding "
    "new member c-1 with group instance id null; client reason: {}). (x.Y)",
    "a coordinator's member": TIME
    + "INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=1] "
    "Member {} in group orders has failed, removing it from the group. (x.Y)",
    "a setting": "\tgroup.id = {}",
    "an assignor's setting": "\tpartition.assignment.strategy = [{}]",
    "franz-go's group": TIME + "INFO joining group; group: {}",
    "sarama's group": "2025/11/18 15:40:07 client/coordinator coordinator for {} is #1 (h:9092)",
    "sarama's topic": "2025/11/18 15:40:07 consumer/broker/1 added subscription to {}/0",
    "librdkafka's group": "%7|1763480407.559|REJOIN|c#consumer-1| [thrd:main]: "
    'Group "{}": Rejoining group without an assignment: {}',
    "Spring's": TIME + "INFO [orders-0-C-1] x.Listener: {}: partitions assigned: [t-0]",
    "KafkaJS's": '{{"level":"INFO","timestamp":"2025-11-18T15:40:07.559Z","logger":"kafkajs",'
    '"message":"[ConsumerGroup] Consumer has joined the group","groupId":"{}","memberId":"m"}}',
    "Connect's": TIME
    + "INFO [Worker clientId=w, groupId=connect] Joined group at generation 2 with protocol "
    "version 2 and got assignment: Assignment{{connectorIds=[{}], taskIds=[]}} (x.Y)",
    "nobody's": TIME + "WARN the group of {} is gone",
}
BEFORE = TIME + "INFO [Consumer clientId=c, groupId=orders] Subscribed to topic(s): t (x.Y)"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("secret", SECRETS)
def test_what_looks_like_a_secret_is_in_no_fact_and_in_nothing_told(
    place: str, secret: str
) -> None:
    written, within = SECRETS[secret]
    line = PLACES[place].replace("{}", written).replace("{{", "{").replace("}}", "}")
    assert within not in "\n".join(packed(f) for f in facts_of(BEFORE, line))
    assert within not in render(observed(app=[BEFORE, line]), "")


def test_such_a_line_is_told_of_as_left_out() -> None:
    told = render(observed(app=[KAFKA_PYTHON + "(Re-)joining group password=hunter2"]), "")
    assert "1 line left out" in told


NAMES = (
    "orders",
    "orders eu",
    "Rückläufer",
    "password-reset",
    "token_service.v2",
    "tenant:orders",
    "urn:shop:orders:eu",
    "team@shop.example.com",
    "consumer-risk-1-d069a570-3e98-493a-9ade-01ca08cce7b3",
    "anonymous.Tv5bVPe-T3WkGHt3e_tMAQ",
    "Tv5bVPeT3WkGHt3etMAQAA==",
    "connect-10.0.0.7:8083-0b7e8d5e-7a84-4a3e-9d35-1b3a5e7c9f10",
    "worker-3f2504e04f8941d39a0c0305e82c3301",
    "console-consumer-85172",
    "_confluent-ksql-default_query_CTAS_ORDERS_BY_REGION_0",
    "OrderServiceConsumerGroupV2ProductionEurope",
    "KMOffsetCache-kafka-manager-7d9f8b6c5d-x2x4z",
    "PAYMENTS/SETTLEMENT/EU1",
)


@pytest.mark.parametrize("name", NAMES)
def test_names_as_people_give_them_are_names(name: str) -> None:
    assert not tells_a_secret(name)


def test_nearly_every_random_word_of_some_length_is_told_from_a_name() -> None:
    random, letters = Random(7), string.ascii_letters + string.digits
    words = ["".join(random.choices(letters, k=40)) for _ in range(1_000)]
    assert sum(map(tells_a_secret, words)) > 950


def test_a_reason_in_an_applications_own_words_is_not_repeated() -> None:
    line = PLACES["Java's reason"].format("Alice Smith of Sales wants her orders")
    [fact] = facts_of(line)
    assert fact.why == OWN_WORDS


def test_people_and_secrets_are_masked_in_examples() -> None:
    text = 'group lost: user=alice password="hunter2" of bob@example.com, Authorization: Bearer abcdefgh1'
    told = masked(text)
    assert not any(word in told for word in ("alice", "hunter2", "bob", "abcdefgh1"))


def test_a_reason_of_a_megabyte_costs_no_time() -> None:
    started = time.process_time()
    for text in ("a" * 900_000, "a:" * 450_000, "=" * 900_000, "pass:" * 180_000):
        facts_of(PLACES["behind a known reason"].format(text), PLACES["nobody's"].format(text))
    assert time.process_time() - started < 2
