"""What a person sees of loops from anywhere: all loops of this machine, one loop, its events, its needs."""
