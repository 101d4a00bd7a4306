"""Who gets which task: Kafka Streams' task assignors on the client, and the broker's.

`leader` is one whole assignment as a group's leader makes it: from the threads' claims to each
thread's tasks. Between them lie the task assignors (`high_availability`, `sticky`), what they
share, and the threads within a process. `server_sticky` is the broker's of the streams protocol.
"""
