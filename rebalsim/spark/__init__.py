"""Many runs and big logs: plans, sweeps and ingestion on Spark, a thin layer over one_run and trace."""
