"""Evidence about the claims of a phase, from git, files and tests. No module here believes an agent."""
