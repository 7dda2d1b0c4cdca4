"""What has to be true before a loop starts, for every driver: gate, agreement, consent, agents."""
