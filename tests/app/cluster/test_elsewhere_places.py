"""Where the settings let attempts be made, and merges be checked."""

from __future__ import annotations

import pytest

from aotloop.app.cluster.elsewhere import check_queue_of, places_of, queues_of, slots_of_places
from aotloop.config.remote_settings import QueueSettings, RemoteSettings
from aotloop.config.schema import AgentConfig, Config

LARGE = {"large": AgentConfig(kind="claude", queue="gpu")}


def test_without_settings_all_is_here() -> None:
    assert (places_of(Config(), "claude"), queues_of(Config()), check_queue_of(Config())) == (("local",), (), None)


@pytest.mark.parametrize(("local", "places"), [(0, ("q",)), (2, ("local", "q"))])
def test_with_slots_here_there_is_a_choice(local: int, places: tuple[str, ...]) -> None:
    remote = RemoteSettings(queue="q", local=local, queues={"gpu": QueueSettings(slots=3)})
    config = Config(isolation="remote", remote=remote, agents=LARGE)
    assert places_of(config, "claude") == places
    assert places_of(config, "large") == ("gpu",)
    assert slots_of_places(config) == {"local": local, "gpu": 3, "q": None}
    assert check_queue_of(config) == "q"


def test_agents_of_this_machine_have_no_slots_of_their_own() -> None:
    config = Config(agents=LARGE)
    assert places_of(config, "claude") == ("local",)
    assert slots_of_places(config) == {"local": None, "gpu": None}
    assert check_queue_of(config) is None


@pytest.mark.parametrize(("checks", "queue"), [("gpu", "gpu"), ("local", None)])
def test_the_place_of_checks_can_be_said(checks: str, queue: str | None) -> None:
    remote = RemoteSettings(checks=checks)
    assert check_queue_of(Config(isolation="remote", remote=remote)) == queue
    assert check_queue_of(Config(agents=LARGE, remote=remote)) == queue
