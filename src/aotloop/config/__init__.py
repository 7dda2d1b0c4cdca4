"""What a person configures, from flags, variables and files, as one value."""
