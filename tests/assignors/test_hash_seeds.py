"""Equal input gives equal output in any process: Python's own hash seed must not show."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import sys
from rebalsim.assignors.registry import CLIENT_ASSIGNORS, SERVER_ASSIGNORS
from rebalsim.assignors.claim import Claim
from rebalsim.assignors.server_target import ServerMember
topics = {f"topic-{i}": 3 + i % 4 for i in range(9)}
names = list(topics)
racks = {t: [[f"r{(n + i) % 3}"] for n in range(count)] for i, (t, count) in enumerate(topics.items())}
def wants(i, equal): return tuple(n for j, n in enumerate(names) if equal or (i + j) % 3)
for equal in (True, False):
    for assignor in CLIENT_ASSIGNORS.values():
        answer = {}
        for count in (7, 11, 9):
            members = [Claim(f"m{i}-{i * 7919}", wants(i, equal), None, f"r{i % 4}", tuple(answer.get(f"m{i}-{i * 7919}", ())), 3,
                             tuple(answer.get(f"m{i}-{i * 7919}", ())), 3) for i in range(count)]
            answer = assignor.assign(topics, members, racks)
            print(assignor.name, equal, {m: [str(p) for p in held] for m, held in answer.items()})
    ids = {t: "ABCDEFGHI"[i] * 21 + "A" for i, t in enumerate(names)}
    for assignor in SERVER_ASSIGNORS.values():
        targets = {}
        for count in (7, 11, 9):
            members = [ServerMember(f"m{i}", tuple(ids[t] for t in wants(i, equal)), None, targets.get(f"m{i}", {})) for i in range(count)]
            targets = assignor.assign({ids[t]: count for t, count in topics.items()}, members)
            print(assignor.name, equal, {m: {t: list(n) for t, n in target.items()} for m, target in targets.items()})
"""


def test_answers_do_not_depend_on_pythons_hash_seed() -> None:
    answers = []
    for seed in ("0", "1", "4711"):
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        assert run.returncode == 0, run.stderr
        answers.append(run.stdout)
    assert answers[0].count("\n") == 36
    assert answers[0] == answers[1] == answers[2]
