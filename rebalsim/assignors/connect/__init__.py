"""Who runs which connector and task in a Kafka Connect cluster: the eager and the incremental
cooperative assignor.

The leader runs them in its answer to JoinGroup. Unlike a consumer group's assignors the
incremental one remembers: what it remembers is a value of its own (`memory.Memory`), passed in and
handed back, so that both stay functions.
"""
