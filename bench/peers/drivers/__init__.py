"""One script for each contender, run by that contender's own interpreter: `python -m bench.peers.drivers.NAME`.

Called as `NAME WORK STEPS FOLDER`. WORK is chain (each step needs the one before) or fan (none needs another), of
functions; or chain-commands or fan-commands, of shell commands. A driver that is called again with the same folder
continues the work there. The last line that a driver prints is JSON; see `order`.
"""
