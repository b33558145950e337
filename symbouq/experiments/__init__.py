"""Full runs: stages that write files, keyed by what they were made from."""
