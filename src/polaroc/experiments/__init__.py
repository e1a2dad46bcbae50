"""The sources' experiments, run again from the raw data (extra `experiments`)."""
