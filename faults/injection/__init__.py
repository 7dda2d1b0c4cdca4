"""Text that would do something if anybody took it for more than text, in every place where others can put text."""
