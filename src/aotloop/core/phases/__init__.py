"""The phase loop, pure: a feature walks from an idea to being shipped, and every step of the way leaves a proof."""
