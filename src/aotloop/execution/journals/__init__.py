"""The files of a run in `.aot/`: evidence, records, events, and readers of them."""
