"""Labels, right or wrong, of claims and answers: their sources and their agreement."""
