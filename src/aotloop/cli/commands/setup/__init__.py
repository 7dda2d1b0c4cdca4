"""Commands about this machine: demo, doctor, plugin, services, workers, clean."""
