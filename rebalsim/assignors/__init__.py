"""Who gets which partition: Kafka's assignors as pure functions, behind one registry by Kafka's
names.
"""
