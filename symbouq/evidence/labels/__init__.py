"""Labels that call claims and answers right or wrong: sources and their agreement."""
