"""Client settings in their dialects."""

from __future__ import annotations

from reading import deployment, one, read, told

from rebalsim.worlds.to_scenario import to_scenario


def test_properties_take_the_last_of_two_and_leave_comments_out() -> None:
    consumer = one(
        c_properties="""
        group.id=orders
        #max.poll.records=1
        session.timeout.ms=10000
        session.timeout.ms = \\
           20000
        """
    )
    assert consumer.settings["session.timeout.ms"].value == "20000"
    assert "max.poll.records" not in consumer.settings
    assert (consumer.client.value, consumer.client.sure) == ("java", "inferred")


def test_spring_reads_typed_keys_properties_and_the_listeners() -> None:
    made = read(
        application_yml="""
        spring:
          kafka:
            bootstrap-servers: ${BROKERS:localhost:9092}
            consumer:
              group-id: ${GROUP:orders}
              max-poll-records: 50
              session-timeout-ms: 9000
              properties:
                heartbeat.interval.ms: 2000
            listener: {concurrency: 3, ack-mode: record}
        """
    )
    consumer = made.consumers[0]
    assert consumer.group.value == "orders" and consumer.members.value == 3
    assert consumer.settings["bootstrap.servers"].value == "localhost:9092"
    assert consumer.settings["max.poll.records"].value == "50"
    assert consumer.settings["heartbeat.interval.ms"].value == "2000"
    assert consumer.settings["ack-mode"].value == "RECORD"
    assert consumer.settings["enable.auto.commit"].sure == "default"
    assert any("session-timeout-ms does nothing" in h.what for h in made.hurts)
    assert "members_per_pod" in made.asks


def test_springs_own_prefix_is_only_inferred() -> None:
    made = read(
        application_yml="""
        spring: {application: {name: shop}, kafka: {producer: {acks: all}}}
        kafka: {consumer: {group-id: shop-group, max-poll-records: 7}}
        """
    )
    assert made.consumers[0].group.sure == "inferred"
    assert any("Spring Boot ignores" in h.why for h in made.hurts)


def test_spring_cloud_stream_reads_its_bindings() -> None:
    consumer = one(
        application_yml="""
        spring.cloud.stream:
          bindings:
            take-in-0: {destination: orders, group: billing, consumer: {concurrency: 2}}
            give-out-0: {destination: bills}
          kafka.bindings.take-in-0.consumer.configuration: {max.poll.records: 9}
        """
    )
    assert (consumer.group.value, consumer.topics.value) == ("billing", ["orders"])
    assert consumer.members.value == 2 and consumer.settings["max.poll.records"].value == "9"


def test_a_reactive_channel_is_over_its_connector_and_named_after_itself() -> None:
    consumer = one(
        application_properties="""
        mp.messaging.incoming.fights.connector=smallrye-kafka
        mp.messaging.incoming.fights.auto.offset.reset=earliest
        mp.messaging.connector.smallrye-kafka.auto.offset.reset=latest
        %dev.mp.messaging.incoming.fights.group.id=dev
        mp.messaging.outgoing.wins.connector=smallrye-kafka
        quarkus.application.name=stats
        """
    )
    assert consumer.name == "fights"
    assert (consumer.topics.value, consumer.topics.sure) == (["fights"], "default")
    assert (consumer.group.value, consumer.group.sure) == ("stats", "default")
    assert consumer.settings["auto.offset.reset"].value == "earliest"


def test_librdkafkas_names_are_told_as_kafkas() -> None:
    consumer = one(
        settings_json="""
        {"consumer": {"rdkafkaConf": {"group.id": "g", "metadata.broker.list": "b:9092",
          "fetch.wait.max.ms": 50, "auto.offset.reset": "beginning",
          "queued.min.messages": 10}}}
        """
    )
    assert consumer.client.value == "librdkafka"
    assert consumer.settings["bootstrap.servers"].value == "b:9092"
    assert consumer.settings["fetch.max.wait.ms"].value == "50"
    assert consumer.settings["auto.offset.reset"].value == "earliest"


def test_one_file_may_hold_several_groups() -> None:
    made = read(
        settings_json="""
        {"a": {"conf": {"group.id": "one", "session.timeout.ms": 7000}},
         "b": {"conf": {"group.id": "two"}}}
        """
    )
    assert [c.group.value for c in made.consumers] == ["one", "two"]
    assert "session.timeout.ms" not in made.consumers[1].settings


def test_streams_names_its_group_application_id_and_its_threads_are_members() -> None:
    consumer = one(
        app_conf="""
        input.topic = "raw"
        kafka.streams.config = {
          application.id = grouper
          num.stream.threads = 4
          num.stream.threads = ${?THREADS}
          producer.max.request.size = 1
        }
        """
    )
    assert (consumer.client.value, consumer.group.value) == ("streams", "grouper")
    assert consumer.members.value == 4 and consumer.topics.value == ["raw"]


def test_the_collectors_receiver_has_its_own_defaults() -> None:
    consumer = one(
        otel_yaml="""
        receivers:
          kafka: {brokers: [a:9092], logs: {topics: [app]}, heartbeat_interval: 2s}
        service: {pipelines: {logs: {receivers: [kafka], exporters: []}}}
        """
    )
    assert (consumer.group.value, consumer.group.sure) == ("otel-collector", "default")
    assert consumer.settings["session.timeout.ms"].value == "10000"
    assert consumer.settings["heartbeat.interval.ms"].value == "2000"
    assert consumer.topics.value == ["app"] and consumer.client.value == "franz-go"


def test_logstash_data_prepper_and_dapr_are_read_by_their_own_keys() -> None:
    logstash = one(
        l_conf='input {\n kafka {\n  group_id => "g"\n  topics => ["a"]\n  consumer_threads => 4\n }\n}\n'
    )
    assert (logstash.group.value, logstash.members.value) == ("g", 4)
    prepper = one(
        p_yaml="""
        pipe:
          source:
            kafka:
              topics: [{name: t, group_id: g, workers: 5, session_timeout: PT30S}]
        """
    )
    assert prepper.members.value == 5 and prepper.topics.value == ["t"]
    assert prepper.settings["session.timeout.ms"].value == "30000"
    dapr = one(
        d_yaml="""
        apiVersion: dapr.io/v1alpha1
        kind: Component
        metadata: {name: bus}
        spec:
          type: pubsub.kafka
          metadata: [{name: consumerGroup, value: g}, {name: brokers, value: "a:9092"}]
        """
    )
    assert dapr.group.value == "g" and dapr.members.sure == "unknown"


def test_a_gap_to_fill_in_is_unknown_and_never_a_value() -> None:
    consumer = one(c_properties="group.id=g\nbootstrap.servers={your brokers}\nclient.id=${NAME}\n")
    assert consumer.settings["bootstrap.servers"].sure == "unknown"
    assert consumer.settings["client.id"].sure == "unknown"


def test_a_consumer_of_before_zero_nine_is_refused_in_a_sentence() -> None:
    made = read(c_properties="zookeeper.connect=z:2181\ngroup.id=old\n")
    assert any("no broker of today" in h.why for h in made.hurts)
    assert made.asks in ([], ["client"])


def test_a_sink_connector_is_the_group_of_its_name() -> None:
    consumer = one(
        sink_json="""
        {"name": "search", "config": {"connector.class": "org.example.SearchSinkConnector",
          "tasks.max": "3", "topics": "orders,users", "consumer.override.max.poll.records": "9"}}
        """
    )
    assert (consumer.group.value, consumer.members.value) == ("connect-search", 3)
    assert consumer.topics.value == ["orders", "users"]
    assert consumer.settings["max.poll.records"].value == "9"


def test_what_rebalances_by_other_rules_is_said_and_not_played() -> None:
    worker = read(w_properties="group.id=w\nconfig.storage.topic=c\noffset.storage.topic=o\n")
    share = read(s_properties="group.id=s\nshare.acknowledgement.mode=explicit\n")
    assert worker.consumers == share.consumers == []
    assert "Kafka Connect" in worker.ignored[0] and "KIP-932" in share.ignored[0]


def test_dotnets_settings_and_telegrafs_are_known_by_their_form() -> None:
    net = one(
        appsettings_json="""
        {"Kafka": {"BootstrapServers": "k:9092", "Topic": "orders",
          "Consumer": {"GroupId": "g", "AutoOffsetReset": "Earliest"}}}
        """
    )
    assert (net.client.value, net.group.value, net.topics.value) == ("librdkafka", "g", ["orders"])
    telegraf = one(
        telegraf_conf="""
        [agent]
          interval = "10s"
        [[inputs.kafka_consumer]]
          brokers = ["k:9092"]
          topics = ["telegraf"]
          consumer_group = "tg"
        """
    )
    assert (telegraf.client.value, telegraf.group.value) == ("sarama", "tg")


def test_a_function_of_the_streams_binder_is_one_application() -> None:
    made = read(
        application_yml="""
        spring.kafka.bootstrap-servers: ${BROKERS:kafka:9092}
        spring.cloud.stream.bindings.pair-in-0.destination: buys
        spring.cloud.stream.bindings.pair-in-1.destination: sells
        spring.cloud.stream.bindings.pair-out-0.destination: pairs
        spring.cloud.stream.bindings.log-in-0.destination: pairs
        spring.cloud.stream.bindings.log-in-0.group: log
        spring.cloud.stream.kafka.streams.binder.functions.pair.applicationId: pairing
        """
    )
    log, pair = sorted(made.consumers, key=lambda c: str(c.group.value))
    assert (log.client.value, log.group.value, log.topics.value) == ("spring", "log", ["pairs"])
    assert (pair.client.value, pair.group.value) == ("streams", "pairing")
    assert pair.topics.value == ["buys", "sells"]
    assert pair.settings["bootstrap.servers"].value == "kafka:9092"


def test_a_deserialisers_own_keys_and_a_producers_are_no_slips() -> None:
    consumer = one(
        c_env="""
        SPRING_KAFKA_CONSUMER_GROUP_ID=g
        SPRING_KAFKA_CONSUMER_PROPERTIES_SPRING_JSON_TRUSTED_PACKAGES=*
        KAFKA_LINGER_MS=5
        """
    )
    assert consumer.reading.unknown_keys == []
    shared = one(c_env="KAFKA_GROUP_ID=g\nKAFKA_LINGER_MS=5\nKAFKA_LINGERING_MS=5\n")
    assert shared.reading.unknown_keys == ["lingering.ms"]


def test_variables_may_name_one_topic_each() -> None:
    consumer = one(
        c_env="""
        KAFKA_GROUP_ID=g
        KAFKA_TOPIC_ORDERS=orders.v1
        KAFKA_TOPIC_STOCK=stock.v1
        KAFKA_TOPIC_PARTITIONS=12
        KAFKA_TOPIC_ERRORS=errors.v1
        """
    )
    assert (consumer.topics.value, consumer.topics.sure) == (["orders.v1", "stock.v1"], "inferred")


def test_own_keys_beside_springs_are_likely_and_springs_stated() -> None:
    consumer = one(
        application_properties="""
        spring.kafka.bootstrap-servers=kafka:9092
        shop.kafka.topic=orders
        shop.kafka.consumer-group=shop
        """
    )
    assert (consumer.client.value, consumer.group.sure) == ("spring", "inferred")
    assert consumer.settings["bootstrap.servers"].sure == "stated"


def test_where_keys_and_trust_lie_is_a_setting_of_kafkas() -> None:
    consumer = one(c_properties="group.id=g\nssl.truststore.location=/etc/ssl/trust.jks\n")
    assert consumer.settings["ssl.truststore.location"].value == "/etc/ssl/trust.jks"
    assert not consumer.reading.unknown_keys


def test_a_control_centers_own_consumers_are_its_own_business() -> None:
    made = read(
        c_properties="""
        bootstrap.servers=kafka:9092
        confluent.controlcenter.streams.num.stream.threads=1
        """
    )
    assert not made.consumers and "a tool beside Kafka" in made.ignored[0]


def test_a_section_that_holds_a_group_holds_its_client_and_a_producers_does_not() -> None:
    consumer = one(
        appsettings_json="""
        {"Producers": {"Bus": {"BootstrapServers": "k:9092", "ClientId": "writes"}},
         "Trends": {"BootstrapServers": "k:9092", "ConsumerGroup": "trends", "ClientId": "reads"}}
        """
    )
    assert consumer.settings["client.id"].value == "reads" and consumer.group.value == "trends"
    alone = one(c_yaml="trends: {groupId: trends}\noauth: {clientId: secretive}\n")
    assert "client.id" not in alone.settings


def test_classes_of_deserialisers_tell_the_client_under_any_spelling() -> None:
    made = one(
        c_json="""
        {"kafka": {"maxPollRecords": "20000", "sessionTimeoutMs": "10000",
          "keyDeserializerClass": "org.apache.kafka.common.serialization.StringDeserializer"}}
        """
    )
    assert made.client.value == "java" and "key.deserializer" in made.settings


def test_the_connectors_own_attributes_are_no_slips() -> None:
    consumer = one(
        application_properties="""
        mp.messaging.incoming.orders.connector=smallrye-kafka
        mp.messaging.incoming.orders.failure-strategy=dead-letter-queue
        mp.messaging.incoming.orders.dead-letter-queue.topic=orders-dlq
        mp.messaging.incoming.orders.throttled.unprocessed-record-max-age.ms=60000
        mp.messaging.incoming.orders.sesion.timeout.ms=9000
        """
    )
    assert consumer.reading.unknown_keys == ["sesion.timeout.ms"]


def test_a_block_of_hocon_may_be_taken_over_whole() -> None:
    consumer = one(
        kafka_conf="""
        shared {
          bootstrap.servers = "kafka:9092"
          session.timeout.ms = 9000
        }
        akka.kafka.producer {
          kafka-clients = ${shared}
        }
        akka.kafka.consumer {
          kafka-clients = ${shared} {
            session.timeout.ms = 20000
          }
        }
        """
    )
    assert consumer.settings["bootstrap.servers"].value == "kafka:9092"
    assert consumer.settings["session.timeout.ms"].value == "20000"


def test_a_program_known_by_its_keys_consumes_where_it_names_brokers() -> None:
    text = "eventuatelocal.kafka.bootstrap.servers=kafka:9092\nspring.application.name=history\n"
    consumer = one(application_properties=text)
    assert consumer.settings["bootstrap.servers"].known and not consumer.members.known
    assert not read(application_properties=text.replace("eventuatelocal", "shop")).consumers


def test_groups_under_names_of_their_own_keep_their_topics_apart() -> None:
    made = read(
        worker_yaml="""
        ORDERS_TOPIC: ${order-service.topic:orders}
        work:
          tasks: {topic: tasks, kafka-group-id: task-workers, max-poll-records: 50}
          orders: {topic: "${ORDERS_TOPIC}", kafka-group-id: order-workers}
        """
    )
    told = {
        c.group.value: (c.topics.value, c.settings.get("max.poll.records")) for c in made.consumers
    }
    assert told["task-workers"][0] == ["tasks"] and told["order-workers"][0] == ["orders"]
    assert told["task-workers"][1] is not None and told["order-workers"][1] is None


def test_variables_of_two_groups_are_two_consumers() -> None:
    made = read(
        c_env="""
        KAFKA_BROKERS=kafka:9092
        KAFKA_CONSUMER_GROUP_ID=orders
        KAFKA_TOPIC=orders.v1
        BILLING_KAFKA_GROUP_ID=billing
        BILLING_TOPIC=billing.v1
        """
    )
    told = {c.group.value: c.topics.value for c in made.consumers}
    assert told == {"orders": ["orders.v1"], "billing": ["billing.v1"]}


def test_a_shells_script_in_quotes_is_read_as_words() -> None:
    consumer = one(
        docker_yaml="""
        services:
          reader:
            image: apache/kafka:4.0.0
            command: >
              bash -c "sleep 5 && kafka-console-consumer.sh --consumer-property group.id=readers
              --topic orders --bootstrap-server kafka:9092 > /dev/null"
        """
    )
    assert consumer.group.value == "readers" and consumer.topics.value == ["orders"]


def test_another_systems_session_is_no_members() -> None:
    old = one(
        consumer_properties="""
        zookeeper.connect=zk:2181
        zookeeper.session.timeout.ms=30000
        bootstrap.servers=kafka:9092
        group.id=mirror
        """
    )
    assert "session.timeout.ms" not in old.settings
    assert {"zookeeper.connect", "zookeeper.session.timeout.ms"} <= set(old.reading.unknown_keys)


def test_alpakkas_defaults_are_a_consumer_also_beside_a_producers() -> None:
    stream = one(
        application_conf="""
        akka.kafka.producer.kafka-clients {
          bootstrap.servers = "kafka:9092"
        }
        akka.kafka.consumer {
          kafka-clients {
            enable.auto.commit = false
          }
        }
        akka.kafka.committer {
          parallelism = 100
        }
        """
    )
    assert stream.client.value == "java" and stream.group.sure == "unknown"
    assert stream.members.value == 1


def test_daprs_topics_are_subscribed_to_by_the_application() -> None:
    component = """
    apiVersion: dapr.io/v1alpha1
    kind: Component
    metadata: {name: bus}
    spec: {type: pubsub.kafka, metadata: [{name: consumerGroup, value: g}, {name: topics, value: carts}]}
    """
    bus = one(c_yaml=component)
    assert bus.topics.sure == "unknown" and bus.reading.unknown_keys == ["topics"]
    bound = one(c_yaml=component.replace("pubsub", "bindings"))
    assert bound.topics.value == ["carts"] and not bound.reading.unknown_keys


def test_hocon_may_nest_its_braces_on_one_line() -> None:
    consumer = one(
        app_conf="""
        akka.kafka.consumer { kafka-clients { group.id = "billing", session.timeout.ms = 20000 } }
        shop.kafka { bootstrap.servers = "kafka-"${ENV}":9092,b:9092", topics { orders = "orders.v1" } }
        """
    )
    assert consumer.group.value == "billing" and consumer.topics.value == ["orders.v1"]
    assert consumer.settings["session.timeout.ms"].value == "20000"


def test_a_gap_in_braces_is_no_block_of_hocon() -> None:
    consumer = one(
        c_properties="bootstrap.servers={brokers}\ngroup.id={group}\nmax.poll.records=5\n"
    )
    assert consumer.client.source != "HOCON is Java's and Scala's"
    assert consumer.settings["max.poll.records"].value == "5"


def test_logstashs_pairs_may_stand_on_one_line() -> None:
    consumer = one(p_conf='input { kafka { topics => ["a", "b"] group_id => "g" } }\n')
    assert consumer.topics.value == ["a", "b"] and consumer.group.value == "g"


def test_micronauts_brokers_alone_are_a_producers_as_well() -> None:
    brokers = """
    micronaut: {application: {name: orders}}
    kafka:
      bootstrap: {servers: "kafka:9092"}
    """
    assert not read(application_yml=brokers).consumers
    producing = f"{brokers}  producers: {{default: {{retries: 5}}}}\n"
    assert not read(application_yml=producing).consumers
    consuming = f"{brokers}  consumers: {{default: {{max-poll-records: 5}}}}\n"
    assert one(application_yml=consuming).group.value == "orders"


def test_javas_client_of_today_does_not_know_fetch_message_max_bytes() -> None:
    java = one(c_properties="group.id=g\nfetch.message.max.bytes=1048576\nmax.poll.records=5\n")
    assert java.reading.unknown_keys == ["fetch.message.max.bytes"]
    assert "max.partition.fetch.bytes" not in java.settings
    other = one(c_json='{"group.id": "g", "fetch.message.max.bytes": 1048576}')
    assert other.settings["max.partition.fetch.bytes"].value == "1048576"


def test_a_program_that_says_how_many_messages_come_is_not_asked() -> None:
    env = "- {name: KAFKA_TOPIC, value: orders}\n- {name: MESSAGES_PER_MINUTE, value: '600'}\n"
    made = told(deploy_yaml=deployment(env=env))
    assert "rate" not in made["ask"] and "handler_time" in made["ask"]
    consumer = one(deploy_yaml=deployment(env=env))
    assert consumer.reading.rate is not None and consumer.reading.rate.sure == "inferred"
    written = to_scenario(read(deploy_yaml=deployment(env=env)))
    assert "rate: 10.0/s" in written and "inferred from its name" in written
    bound = env.replace("MESSAGES_PER", "MAX_MESSAGES_PER")
    assert "rate" in told(deploy_yaml=deployment(env=bound))["ask"]


def test_a_service_called_produce_consumes_nothing() -> None:
    services = "services:\n" + "".join(
        f"  {name}:\n    build: ./{name}\n    environment: {{KAFKA_BROKERS: 'k:9092', {more}}}\n"
        for name, more in (
            ("produce", "KAFKA_TOPIC: clicks"),
            ("consume", "KAFKA_TOPIC: clicks, KAFKA_CONSUMER_GROUP_ID: counters"),
        )
    )
    assert one(compose_yml=services).workload == "service/consume"


def test_logs_of_errors_are_a_topic_like_others() -> None:
    own = '"EventLogsTopic": "events", "ErrorLogsTopic": "errors", "ErrorTopic": "dead"'
    consumer = one(a_json=f'{{"Kafka": {{"ConsumerGroup": "writers", {own}}}}}')
    assert sorted(consumer.topics.value) == ["errors", "events"]


def test_telegraf_says_offset_for_where_it_begins() -> None:
    consumer = one(
        telegraf_conf="""
        [[inputs.kafka_consumer]]
          brokers = ["kafka:9092"]
          topics = ["telegraf"]
          consumer_group = "metrics"
          offset = "oldest"
        """
    )
    assert consumer.settings["auto.offset.reset"].value == "earliest"


def test_group_alone_beside_brokers_and_a_topic_is_the_consumers() -> None:
    workload = deployment(env="- {name: TOPIC, value: t}\n- {name: BROKERS, value: 'k:9092'}\n")
    alone = workload.replace("KAFKA_GROUP_ID", "GROUP")
    assert (one(d_yaml=alone).group.value, one(d_yaml=alone).group.sure) == (
        "orders-group",
        "stated",
    )
    both = deployment(
        env="- {name: TOPIC, value: t}\n- {name: BROKERS, value: 'k:9092'}\n"
        "- {name: GROUP, value: admins}\n"
    )
    assert one(d_yaml=both).group.value == "orders-group"


def test_bindings_of_one_file_are_told_apart_by_their_names() -> None:
    bindings = """
    spring.cloud.stream:
      kafka.binder.brokers: kafka:9092
      bindings:
        onOrder-in-0: {destination: orders, group: shipping}
    """
    assert one(a_yml=bindings).name is None
    both = read(a_yml=bindings + "    onPaid-in-0: {destination: payments, group: shipping}\n")
    assert [c.name for c in both.consumers] == ["onOrder-in-0", "onPaid-in-0"]


def test_micronauts_defaults_are_nobodys_group_in_variables_either() -> None:
    settings = """
    micronaut: {application: {name: invoicing}}
    kafka: {consumers: {default: {session: {timeout: {ms: 30000}}}}}
    """
    env = '- {name: KAFKA_CONSUMERS_DEFAULT_HEARTBEAT_INTERVAL_MS, value: "5000"}'
    workload = deployment(env=env).replace("- {name: KAFKA_GROUP_ID, value: orders-group}", "")
    made = one(application_yml=settings, a_yaml=workload)
    assert made.group.value == "invoicing"
    told = {
        name: made.settings[f"{name}.ms"].value
        for name in ("session.timeout", "heartbeat.interval")
    }
    assert told == {"session.timeout": "30000", "heartbeat.interval": "5000"}
