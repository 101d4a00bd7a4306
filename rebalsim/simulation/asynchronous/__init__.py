"""The consumer of the consumer protocol (Kafka's AsyncKafkaConsumer): an application's thread
and a background thread, and what passes between.
"""
