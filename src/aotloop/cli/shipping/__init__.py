"""What `aot ship` does: it takes a feature from idea to shipped, shows it, and takes a person's word on it."""
