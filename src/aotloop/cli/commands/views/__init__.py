"""Commands that show a loop and change nothing: status, log, show, graph, report."""
