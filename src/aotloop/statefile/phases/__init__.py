"""The file of the phase loop: strict JSON, read and durably replaced."""
