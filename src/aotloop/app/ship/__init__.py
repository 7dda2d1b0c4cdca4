"""The use cases of `aot ship`: a feature is started, resumed, approved, stopped, cancelled and shown."""
