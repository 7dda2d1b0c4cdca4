"""`python -I -S warm_client.py SOCKET FILE` stands for a program that the parent of tests/warm_parent.py forks.

The forked process has the streams, the folder and the environment of this one, and runs that file as its program. Where
a process of its own is what a test shows (its fence, its group, its end), the test starts the program itself.
"""

import _socket
import marshal
import os
import signal
import sys
from array import array

connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
connection.connect(sys.argv[1])
told = {
    "argv": sys.argv[2:],
    "cwd": os.path.realpath("."),
    "env": dict(os.environ),
    "ignored": [],
    "stands_for_client": True,
}
order = marshal.dumps(told)
streams = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array("i", (0, 1, 2)))]
connection.sendmsg([len(order).to_bytes(8, "big")], streams)
connection.sendall(order)
connection.recv(8, _socket.MSG_WAITALL)
for number in range(3):
    os.close(number)
ended = connection.recv(8, _socket.MSG_WAITALL)
code = os.waitstatus_to_exitcode(int.from_bytes(ended, "big")) if ended else 1
if code < 0:
    signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
