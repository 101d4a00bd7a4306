"""Secrets that stand where a log's line should have a name, and people who stand in free text.

A torn line, or one that is like a client's by chance, can have anything behind `joining group `. A name
is taken as one unless it looks like a secret: a pair with its key (`password=…`), what a word for secrets
goes before (`token: …`), a login within an address, or what keys and tokens look like. Of reasons, which
an application may word as it likes, only those that Kafka's own code words are kept.
"""

from __future__ import annotations

import re
from functools import lru_cache

from rebalsim.worlds.logs.facts import Fact, FactKind

_SECRET = (
    r"(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|api[-_. ]?key|access[-_. ]?key|private[-_. ]?key"
    r"|secret[-_. ]?key|credentials?|authorization|cookie|jwt|jaas[-_.\w]*|signature)"
)
_PAIR = re.compile(r"[^\s=<>!]=[^\s=]")  # of base64, `=` stands at the end, or twice
_SAID = re.compile(rf"(?i){_SECRET}[\"'\\]{{0,3}}\s{{0,3}}:\s{{0,3}}[\"'\\]{{0,3}}[^\s\"'\\]")
_TOKENS = re.compile(
    r"(?<![A-Za-z0-9])(?:eyJ[\w-]{8,}\.[\w-]{4,}"  # a JSON web token
    r"|(?:AKIA|ASIA)[0-9A-Z]{16}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}"
    r"|xox[abeprs]-[\w-]{10,}|[rs]k_(?:live|test)_\w{10,}|sk-(?:proj-|ant-)?[A-Za-z0-9]{20,}"
    r"|AIza[\w-]{30,}|hf_\w{20,}|npm_\w{30,}|(?i:bearer|basic)\s{1,3}[\w+/=.-]{8,})"
    r"|-----BEGIN |[^\s/:@]{1,200}:[^\s/@]{1,200}@(?=[\w\[])"  # USER:PASSWORD@HOST
)
# some piece of each of these tokens, folded: where none stands, there is no need for a closer look
_OF_TOKENS = (
    *(
        "eyj",
        "akia",
        "asia",
        "gh",
        "glpat-",
        "xox",
        "k_live",
        "k_test",
        "sk-",
        "aiza",
        "hf_",
        "npm_",
    ),
    *("bearer", "basic", "-----begin ", "@"),
)
_LONG_WORD = re.compile(r"[A-Za-z0-9+/]{24,}")  # ids in base64 have 22
_CHANGES = re.compile(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z])(?=[a-z0-9])|(?<=[0-9])(?=[A-Za-z])")
_MASK = "…"
LONGEST_NAME, LONGEST_REASON = 1_000, 4_000


def tells_a_secret(name: str) -> bool:
    """What stands in place of a name looks like a secret, or has one within; or is far too long for one."""
    return (
        len(name) > LONGEST_NAME
        or ("=" in name and _PAIR.search(name) is not None)
        or (":" in name and _SAID.search(name) is not None)
        or (_has_one(_OF_TOKENS, name.casefold()) and _TOKENS.search(name) is not None)
        or any(_is_random(word) for word in _LONG_WORD.findall(name))
    )


def _has_one(pieces: tuple[str, ...], text: str) -> bool:
    return any(map(text.__contains__, pieces))


def _is_random(word: str) -> bool:
    """Letters of both cases and digits change as they do in random ones, and hardly in a name that is
    made of words: in 62 of 100 places.
    """
    kinds = (
        any(c.islower() for c in word),
        any(c.isupper() for c in word),
        any(map(str.isdigit, word)),
    )
    return all(kinds) and len(_CHANGES.findall(word)) > 0.42 * len(word)


# names and lists of partitions that were looked at: the usual case costs a look-up each
_fine: set[str | tuple[str, ...]] = {"", ()}
_MANY = 50_000


def is_discreet(fact: Fact) -> bool:
    """None of the names that a fact tells looks like a secret."""
    fine = _fine
    if (
        fact.member in fine
        and fact.group in fine
        and fact.client in fine
        and fact.partitions in fine
        and fact.other in fine
        and fact.instance in fine
        and (not fact.plan or fine.issuperset(fact.plan))
    ):
        return True
    return _is_seen_to_be(fact)


def _is_seen_to_be(fact: Fact) -> bool:
    """The same, by looking at each name."""
    names = (fact.group, fact.client, fact.member, fact.other, fact.instance)
    if any(map(tells_a_secret, (*names, *fact.partitions, *(fact.plan or ())))):
        return False
    if len(_fine) > _MANY:
        _fine.clear()
    _fine.update(names, fact.plan or (), ("",), (fact.partitions, ()))
    return True


# --------------------------------------------------------------------------------------- free text

_OF_PEOPLE = r"(?:user(?:[-_. ]?name)?|login|e-?mail|principal)"
_WORDED = re.compile(
    rf"(?i)((?:{_SECRET}|{_OF_PEOPLE})[\"'\\]{{0,3}}\s{{0,3}}[=:]\s{{0,3}}[\"'\\]{{0,3}})"
    r"[^\s,;\"'&)\]}]+"
)
_OF_WORDED = (  # a piece of each of these words, folded
    *(
        "pass",
        "pwd",
        "secret",
        "token",
        "key",
        "credential",
        "authorization",
        "cookie",
        "jwt",
        "jaas",
    ),
    *("signature", "user", "login", "mail", "principal"),
)
_ANY_PAIR = re.compile(r"([^\s=<>!]=)[^\s=,;)\]}]+")
_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}")


def masked(text: str) -> str:
    """A text of nobody's template, without what looks like secrets and addresses in it."""
    folded = text.casefold()
    if _has_one(_OF_TOKENS, folded):
        text = _TOKENS.sub(_MASK, text)
    if ("=" in text or ":" in text) and _has_one(_OF_WORDED, folded):
        text = _WORDED.sub(rf"\1{_MASK}", text)
    text = _LONG_WORD.sub(lambda m: _MASK if _is_random(m[0]) else m[0], text)
    return _ADDRESS.sub(_MASK, text) if "@" in text else text


# how reasons begin that Kafka's coordinators, and the clients' own code, word themselves
_WORDED_BY_CODE = re.compile(
    r"(?i)not provided|need to re-?join with|need to revoke|rebalance failed due to|encountered |lost$|"
    r"(?:the )?(?:cached |assignment |cluster |group )?metadata (?:for .{1,300}? )?has changed|"
    r"(?:the )?subscription has changed|consumer pro-?actively|group is already rebalancing|"
    r"triggered followup rebalance|the consumer (?:is being closed|unsubscribed)|"
    r"(?:consumer|worker) poll timeout|the thread or worker|client leaving group|"
    r"beginning to manage the group|after revoking what we lost|rejoining (?:group )?to redistribute|"
    r"(?:incremental )?unassign|current assignment is empty|group \S{1,260} subscription updated|"
    r"joingroup error|max\.poll\.interval|static member|standby|shutdown"
)
_ASKED = "client reason: "
OWN_WORDS = "in the application's own words"
_REASONED = (
    FactKind.REJOINING,
    FactKind.LEAVING,
    FactKind.LEFT,
    FactKind.RESET,
    FactKind.PREPARING,
)


def without_own_words(fact: Fact) -> None:
    """Leave of a fact's reason what Kafka's own code says: an application may give any text as one."""
    fact.why = fact.why[:LONGEST_REASON]
    if fact.what in _REASONED:
        fact.why = _reason(fact.why, fact.what == FactKind.PREPARING)
    else:
        fact.why = _masked_once(fact.why)


WORDED_BY_US = (FactKind.SETTING, FactKind.STATE, FactKind.RD_STATE, FactKind.STREAMS_STATE)


@lru_cache(4_096)
def _masked_once(text: str) -> str:
    """Of a coordinator's address pairs are the usual form; nothing else that is told has any."""
    return masked(text if text.startswith("Coordinator(") else _ANY_PAIR.sub(rf"\1{_MASK}", text))


@lru_cache(16_384)
def _reason(why: str, is_coordinators: bool) -> str:
    before, asked, clients = why.partition(_ASKED) if is_coordinators else ("", "", why)
    if clients and _WORDED_BY_CODE.match(clients) is None:
        clients = OWN_WORDS
    return masked(before + asked + _ANY_PAIR.sub(rf"\1{_MASK}", clients))
