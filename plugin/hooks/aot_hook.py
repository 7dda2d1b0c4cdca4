"""Called by the client: `python3 -I -S aot_hook.py EVENT`, with what happened on standard input."""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from aot_quick import main

main(sys.argv[1:])
