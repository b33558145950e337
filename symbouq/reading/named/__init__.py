"""Language: from text to relations, phrases and words from the ontology."""
