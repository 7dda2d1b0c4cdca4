"""The phase loop of a feature: claims are checked against evidence, and `driver` lets agents take the turns."""
