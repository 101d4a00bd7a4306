"""Budgets of many stories judged at once: plays them, in several processes where that pays, and
gathers verdicts as plain values.

Judging itself is analysis' work, telling the reports'. What ends a build, and with which code,
is the cli's.
"""
