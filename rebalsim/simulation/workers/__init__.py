"""Kafka Connect's workers in the simulated world: their processes and lines, their cluster's config
topic, and their sink tasks' consumers. What a worker does is the connect room's.
"""
