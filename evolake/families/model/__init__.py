"""What a family is: contract, texts, similarity, transforms of its sources."""
