"""Logs of brokers and clients, of any dialect and wrapping, read into facts, and facts into what
happened to each group.

The way of a line: `sources` opens files, `sieve` lets only lines through that can matter, a
wrapping takes a container's or journal's prefix off, `heads` finds time and message, a dialect says
what the line proves. Facts of one consumer are a voice; `clocks` puts the hosts' clocks right;
`groups` tells rebalances, callbacks and pauses.
"""
