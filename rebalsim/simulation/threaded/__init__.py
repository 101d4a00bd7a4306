"""Clients of a classic group in which a thread of their own joins, beats and assigns: librdkafka,
franz-go, sarama, aiokafka.

The application only takes records from a queue. What the libraries do differently among
themselves is in `domain.habits`; Kafka's own Java client, whose joins happen inside the
application's poll(), is in the files above.
"""
