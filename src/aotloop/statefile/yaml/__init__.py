"""The YAML of a state file: two readers, and edits that only touch changed entries."""
