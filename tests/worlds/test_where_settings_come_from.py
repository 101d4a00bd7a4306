"""One setting told in several places and dialects: which one holds, and what it is called."""

from __future__ import annotations

from pathlib import Path

from reading import deployment, one, read

from rebalsim.worlds.files import read_files
from rebalsim.worlds.understand import understand


def test_the_jvms_options_hold_over_the_environment_also_in_brackets() -> None:
    env = """
    - {name: SPRING_KAFKA_CONSUMER_GROUP_ID, value: in-env}
    - name: JAVA_TOOL_OPTIONS
      value: >-
        -Dspring.kafka.consumer.group-id=in-options
        -Dspring.kafka.consumer.properties[session.timeout.ms]=20000
    """
    made = one(a_yaml=deployment(env=env))
    assert made.group.value == "in-options"
    assert made.settings["session.timeout.ms"].value == "20000"


def test_dotnets_file_and_its_variables_are_one_configuration() -> None:
    settings = """
    {"Kafka": {"Consumer": {"GroupId": "bills", "SessionTimeoutMs": 30000, "EnableAutoCommit": false},
               "Topic": "bills-in"}}
    """
    workload = (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: bills}\nspec:\n  template:\n"
        "    spec:\n      containers:\n      - name: a\n        env:\n"
        '        - {name: Kafka__Consumer__SessionTimeoutMs, value: "45000"}\n'
    )
    made = one(appsettings_json=settings, a_yaml=workload)
    assert (made.group.value, made.topics.value) == ("bills", ["bills-in"])
    assert made.settings["session.timeout.ms"].value == "45000"
    assert made.settings["enable.auto.commit"].value == "false"
    assert made.client.value == "librdkafka"


def test_hostname_is_the_pods_name_unless_the_pod_is_in_its_nodes_network() -> None:
    spring = (
        "spring.kafka.consumer.group-id=g\nspring.kafka.properties.group.instance.id=${HOSTNAME}\n"
    )
    pod = deployment(kind="StatefulSet")
    assert one(a_yaml=pod, application_properties=spring).instance.value == "{pod}-{thread}"
    shared = deployment(pod="hostNetwork: true", kind="StatefulSet")
    assert not one(a_yaml=shared, application_properties=spring).instance.known


def test_a_folders_file_of_variables_is_read_though_it_is_hidden(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("KAFKA_GROUP_ID=g\n", encoding="utf-8")
    (tmp_path / ".gitignore").write_text("KAFKA_GROUP_ID=not\n", encoding="utf-8")
    assert [Path(name).name for name, _ in read_files([str(tmp_path)])] == [".env"]


def test_hocon_whose_settings_are_all_inside_braces() -> None:
    made = one(
        application_conf="""
        akka.kafka.consumer {
          kafka-clients {
            group.id = "prices"
            session.timeout.ms = 20s
          }
        }
        """
    )
    assert (made.group.value, made.settings["session.timeout.ms"].value) == ("prices", "20000")


def test_options_of_kafkajs_and_saramas_words_tell_the_client() -> None:
    js = (
        '{"kafka": {"consumer": {"groupId": "m", "sessionTimeout": 45000, "maxWaitTimeInMs": 900}}}'
    )
    made = one(default_json=js)
    assert made.client.value == "kafkajs" and made.settings["fetch.max.wait.ms"].value == "900"
    go = "kafka:\n  group: risk\n  initial_offset: oldest\n  workers: 16\n"
    made = one(config_yaml=go)
    assert (made.client.value, made.settings["auto.offset.reset"].value) == ("sarama", "earliest")
    assert made.members.sure == "inferred"  # workers may stand behind one consumer


def test_a_programs_options_of_timeouts() -> None:
    pod = deployment().replace(
        "        env:",
        '        args: ["--group=g", "--kafka-topic=t", "--session-timeout=20s"]\n        env:',
    )
    made = one(a_yaml=pod)
    assert made.settings["session.timeout.ms"].value == "20000" and made.topics.value == ["t"]


def test_a_binders_keys_are_spelt_with_hyphens_too() -> None:
    made = one(
        application_yaml="""
        spring:
          cloud.stream:
            bindings:
              go-in-0: {destination: t, group: g}
            kafka:
              binder: {brokers: "k:9092", consumer-properties: {max.poll.records: 250}}
        """
    )
    assert made.settings["max.poll.records"].value == "250"


def test_vectors_own_options_of_librdkafka() -> None:
    made = one(
        vector_toml="""
        [sources.in]
        type = "kafka"
        group_id = "v"
        topics = ["^logs-.+"]
        [sources.in.librdkafka_options]
        "max.poll.interval.ms" = "120000"
        """
    )
    assert made.settings["max.poll.interval.ms"].value == "120000"
    assert (
        made.settings["max.poll.interval.ms"].source == "vector.toml"
    )  # TOML's reader has no lines


def test_a_shipper_of_logs_produces() -> None:
    made = read(
        a_yaml=deployment()
        .replace("KAFKA_GROUP_ID", "KAFKA_BROKERS")
        .replace("- name: app", "- name: app\n        image: fluent/fluent-bit:3")
    )
    assert not made.consumers


def test_keys_of_others_are_no_slips_of_kafkas() -> None:
    text = '{"server.port": 1, "log.level": "x", "kafka.consumer.topics": "t", "group.id": "g", "auto.offest.reset": "x"}'
    assert one(a_json=text).reading.unknown_keys == ["auto.offest.reset"]


def test_a_template_without_a_release_is_called_after_its_chart() -> None:
    chart = "apiVersion: v2\nname: geocoder\nversion: 0.1.0\n"
    template = (
        deployment()
        .replace("metadata: {name: orders}", "metadata:\n  name: {{ .Release.Name }}")
        .replace("- name: app", "- name: {{ .Chart.Name }}")
    )
    assert one(Chart_yaml=chart, a_yaml=template).workload == "Deployment/geocoder"


def _services(*names: str) -> list[tuple[str, str]]:
    """A folder for each service, with its manifest and its settings, as many repositories have it."""
    env = "- {name: SPRING_KAFKA_CONSUMER_GROUP_ID, value: SERVICE}"
    made = []
    for name in names:
        manifest = deployment(env=env.replace("SERVICE", name)).replace(
            "{name: orders}", f"{{name: {name}}}"
        )
        made.append((f"shop/{name}-app/k8s/deployment.yaml", manifest))
        settings = f"spring.kafka.consumer.max-poll-records={len(made)}\n"
        made.append((f"shop/{name}-app/src/main/resources/application.properties", settings))
    return made


def test_of_several_services_each_has_the_settings_of_its_folder() -> None:
    folders = [(f.replace("bills-app", "b").replace("mails-app", "m"), t) for f, t in SERVICES]
    for files in (SERVICES, folders):  # by the name in the path, or by the folders alone
        found = understand(files).consumers
        records = {c.group.value: c.settings["max.poll.records"].value for c in found}
        assert records == {"bills": "1", "mails": "3"}


SERVICES = _services("bills", "mails")


def test_a_short_name_is_not_found_within_other_words() -> None:
    files = [("app/" + f.split("/", 1)[1], t) for f, t in _services("a", "pp")]
    found = understand(files).consumers
    assert [c.settings["max.poll.records"].value for c in found] == ["1", "3"]


def test_settings_that_are_no_nearer_to_one_than_to_another_belong_to_neither() -> None:
    manifests = [(f.replace("/k8s", ""), t) for f, t in SERVICES if f.endswith(".yaml")]
    shared = ("shop/application.properties", "spring.kafka.consumer.max-poll-records=7\n")
    found = understand([*manifests, shared]).consumers
    assert all("max.poll.records" not in c.settings for c in found if c.workload)
