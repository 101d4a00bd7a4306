"""Many runs, big logs: everything that knows Spark. It plans, distributes, retries, aggregates, reads and writes; what a run is and means lies elsewhere."""
