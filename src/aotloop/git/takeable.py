"""Why the files of an attempt cannot become a commit."""


class NotTakeable(ValueError):  # noqa: N818 - reads as a sentence where it is caught
    """In words that follow `what it left cannot be committed:`."""
