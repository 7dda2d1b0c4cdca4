"""The handlers of `advance`: one module for each kind of event."""
