"""Labels (right or wrong) for claims and answers: where they come from and how well they agree."""
