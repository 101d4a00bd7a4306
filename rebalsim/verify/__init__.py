"""Held against reality: recordings, assignor answers and coordinator conversations of a real
Kafka, compared with ours.
"""
