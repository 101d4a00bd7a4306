"""rebalsim replays what a Kafka consumer group does when members come, go, crash or hang, and says which partition paused, and why."""

__version__ = "0.1.0"
