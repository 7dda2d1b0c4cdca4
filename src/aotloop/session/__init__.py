"""What a session of an interactive client does to a loop: it enters it, lands work on the branch, has it judged."""
