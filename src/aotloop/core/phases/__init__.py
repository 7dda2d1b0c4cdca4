"""The phase loop, pure: a feature goes from an idea to shipping, and every phase leaves a proof."""
