"""A person and the machine agree on a loop: files, imported plans, a planner or a form → draft → shape → state file."""
