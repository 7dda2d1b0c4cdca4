"""What goes wrong between a model and its client, and the errors of real services."""

from __future__ import annotations

import json
import time
from http.client import HTTPException, IncompleteRead

import pytest

from tests.modelserver import Delivery, Fail, ModelServer, Say, Script, cut, errors, garbled, silent, slow, stalled
from tests.modelserver.talking import PATHS, ask, begun, request
from tests.patience import until

APIS = tuple(PATHS)
TEXT = "some words to be said, more than one piece"


def saying(delivery: Delivery) -> list[Script]:
    return [Script(".", [Say(TEXT, delivery=delivery)])]


@pytest.mark.parametrize("api", APIS)
class TestAStream:
    def test_that_is_slow_arrives_piece_by_piece(self, api: str) -> None:
        with (
            ModelServer(saying(slow(0.1))) as server,
            begun(server, PATHS[api], request(api, streamed=True)) as (_, response),
        ):
            first = response.read1()
            assert first
            assert server.usage == {}, "the last piece is not even sent"
            assert len(response.read()) > len(first)

    def test_that_is_cut_has_a_beginning_and_no_end(self, api: str) -> None:
        with ModelServer(saying(cut(after=3))) as server:
            with (
                begun(server, PATHS[api], request(api, streamed=True)) as (_, response),
                pytest.raises((IncompleteRead, ConnectionError)),
            ):
                response.read()
            assert server.usage == {}

    def test_that_ends_too_early_does_so_in_order(self, api: str) -> None:
        with ModelServer(saying(Delivery(events=3, then="end"))) as server:
            assert len(ask(server, api, streamed=True).events) == 3
            assert server.usage == {}

    def test_that_is_garbled_has_one_broken_event_among_good_ones(self, api: str) -> None:
        with ModelServer(saying(garbled(after=2))) as server:
            body = ask(server, api, streamed=True).body.decode()
        data = [line.removeprefix("data: ") for line in body.splitlines() if line.startswith("data: {")]
        assert [number for number, line in enumerate(data) if not _is_json(line)] == [2]

    def test_that_stalls_sends_nothing_any_more(self, api: str) -> None:
        with ModelServer(saying(stalled(after=2))) as server:
            with (
                pytest.raises(TimeoutError),
                begun(server, PATHS[api], request(api, streamed=True), patience=0.3) as (_, response),
            ):
                response.read()
            until(lambda: len(server.played) == 1)

    def test_that_only_pings_shows_life_and_says_nothing(self, api: str) -> None:
        with (
            ModelServer(saying(Delivery(events=1, then="ping"))) as server,
            begun(server, PATHS[api], request(api, streamed=True)) as (_, response),
        ):
            lines = [response.readline() for _ in range(6)]
        assert any(b"ping" in line for line in lines)


@pytest.mark.parametrize("api", APIS)
class TestAWholeReply:
    def test_that_is_cut_or_garbled(self, api: str) -> None:
        with ModelServer(saying(cut())) as server, pytest.raises((HTTPException, ConnectionError)):
            ask(server, api)
        with ModelServer(saying(garbled())) as server:
            assert not _is_json(ask(server, api).body.decode())

    def test_that_never_comes(self, api: str) -> None:
        with (
            ModelServer(saying(silent())) as server,
            pytest.raises(TimeoutError),
            begun(server, PATHS[api], request(api), patience=0.2),
        ):
            pass


class TestErrors:
    @pytest.mark.parametrize("api", APIS)
    @pytest.mark.parametrize(
        ("fail", "status"),
        [
            (errors.rate_limited(), 429),
            (errors.subscription_used_up(), 429),
            (errors.no_quota(), 429),
            (errors.overloaded(), 529),
            (errors.overloaded(503), 503),
            (errors.server_error(), 500),
            (errors.unauthorized(), 401),
            (errors.forbidden(), 403),
            (errors.no_credit(), 400),
            (errors.too_long(), 400),
            (errors.unknown_model(), 404),
        ],
    )
    def test_status_and_message_in_the_words_of_the_api(self, api: str, fail: Fail, status: int) -> None:
        with ModelServer([Script(".", [fail])]) as server:
            heard = ask(server, api, streamed=True)
        assert (heard.status, heard.json["error"]["message"]) == (status, fail.message)
        assert heard.json["error"]["type"] == fail.kind

    def test_a_rate_limit_says_when_to_come_back(self) -> None:
        with ModelServer([Script(".", [errors.rate_limited(retry_after=30)])]) as server:
            headers = ask(server, "messages").headers
        assert (headers["retry-after"], headers["retry-after-ms"]) == ("30", "30000")
        assert headers["anthropic-ratelimit-requests-reset"].endswith("Z")

    def test_the_limit_of_a_subscription_names_a_time(self) -> None:
        before = int(time.time())
        with ModelServer([Script(".", [errors.subscription_used_up(resets_in=3600)])]) as server:
            headers = ask(server, "messages").headers
        after = int(time.time()) + 1
        assert before <= int(headers["anthropic-ratelimit-unified-reset"]) - 3600 <= after


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
