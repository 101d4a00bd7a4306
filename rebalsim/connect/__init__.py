"""Kafka Connect's workers: the herder's thread and all that it does, as generator processes that
see one port.

Here is a worker as Connect has it (ticks, joins, stops, starts), in Kafka's order. Not here:
networks, hosts, other workers, time itself; those are the port's, which the simulation provides.
Who gets which work is the assignors' matter.
"""
