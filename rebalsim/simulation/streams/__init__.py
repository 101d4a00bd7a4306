"""A Kafka Streams application played: instances, their stream threads and state updaters, and the
coordinator of their group, under the classic protocol and under the streams protocol.

`play` begins; `application` says what is played. Everything an instance does goes through a
`port`: now, at, wait, draw, tell. What happens is told in the words of `happenings`.
"""
