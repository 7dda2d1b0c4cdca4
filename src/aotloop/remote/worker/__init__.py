"""A worker's side: its process, its mirrors, one attempt, signs of life, and the delivery of results."""
