"""What a run tells other services, if its user wants that: messages to a person, and telemetry. It never disturbs."""
