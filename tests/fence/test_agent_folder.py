"""Each agent has a folder of its own, which ends with it, whatever it holds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from aotloop.fence.agent_folder import agent_folder, remove_left_folders


def test_it_is_for_one_user_and_gone_afterwards(own_home: Path) -> None:
    with agent_folder() as one, agent_folder() as other:
        assert one != other
        assert one.stat().st_mode & 0o777 == 0o700
        os.mkfifo(one / "fifo")
        (other / "link").symlink_to(own_home)
        deep = one
        for _ in range(50):
            deep = deep / "d"
        deep.mkdir(parents=True)
    assert own_home.is_dir()
    assert not (own_home / ".cache" / "aot").exists()


def test_that_of_a_killed_process_is_removed_and_that_of_a_living_one_stays(own_home: Path) -> None:
    code = "import os; from aotloop.fence.agent_folder import agent_folder as f\nwith f(): os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", code], check=False)
    assert len(list((own_home / ".cache/aot/scratch").iterdir())) == 2
    with agent_folder() as mine:
        remove_left_folders()
        assert [path.name for path in mine.parent.iterdir() if path.is_dir()] == [mine.name]
    assert not (own_home / ".cache" / "aot").exists()
