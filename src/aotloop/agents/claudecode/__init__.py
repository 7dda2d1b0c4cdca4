"""The parts of the backend `claude`: where the program is, how it is started, what it prints, and what that means."""
