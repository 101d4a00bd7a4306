"""Live state: what Kafka's own tools and others print of groups and topics, and a metrics dump."""
