"""What happened to a loop, in plain words and sums: its history, its attempts, its costs."""
