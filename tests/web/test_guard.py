"""What the server refuses: foreign hosts, foreign pages, missing secrets, wrong tokens; and what it never says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from aotloop.app.overview.loop_registry import register, registered
from aotloop.statefile.store import Store
from aotloop.web.access import MOST_WRONG
from aotloop.web.routes import ACTIONS, VIEWS
from tests.loops import a_loop, atom, write_accepted
from tests.web.requests import Client, a_server


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    path = write_accepted(tmp_path / "project", a_loop(atom("A1"), status="running"))
    register(str(path))
    return path


@pytest.fixture
def client(path: Path) -> Iterator[Client]:
    assert path.exists()
    with a_server() as found:
        yield found


@pytest.fixture
def stop() -> str:
    return f"/api/loops/{registered()[0].key}/stop"


def status_of(path: Path) -> str:
    return Store(str(path)).load().control.status


def test_the_page_comes_to_anyone_and_says_nothing(client: Client) -> None:
    page = client.get("/")
    assert page.status == 200
    assert b"script" in page.body
    policy = page.headers["content-security-policy"]
    assert "'unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "access-control-allow-origin" not in page.headers
    assert client.token not in page.body.decode()


@pytest.mark.parametrize("route", [*VIEWS, "/api/session"])
def test_no_view_answers_without_a_session(client: Client, route: str) -> None:
    address = route.replace("{key}", registered()[0].key)
    assert client.get(address).status == 401
    assert client.get(address, cookie="aot=wrong; x=y").status == 401


@pytest.mark.parametrize("route", list(ACTIONS))
def test_no_action_answers_without_a_session_and_its_second_secret(client: Client, route: str) -> None:
    address = route.replace("{key}", registered()[0].key)
    assert client.post(address).status == 401
    client.log_in()
    assert client.post(address, x_aot_secret=None).status == 403
    assert client.post(address, x_aot_secret="wrong").status == 403


def test_a_session_can_steer(client: Client, path: Path, stop: str) -> None:
    answer = client.log_in().post(stop, {"reason": "enough"})
    assert (answer.status, answer.data["reason"]) == (200, "user: enough")
    assert status_of(path) == "stopped"


def test_the_cookie_is_for_this_site_only_and_out_of_reach_of_scripts(client: Client) -> None:
    cookie = client.post("/api/login", {"token": client.token}).headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1:1",
        "127.0.0.1",
        "",
        "localhost.evil.example:{port}",
        "0.0.0.0:{port}",
        "localhost.:{port}",
        "127.1:{port}",
        "2130706433:{port}",
        "[::ffff:127.0.0.1]:{port}",
        "user@127.0.0.1:{port}",
        "127.0.0.1:{port}/x",
        "127.0.0.1:{port}?x",
        "127.0.0.1:{port}#x",
        "127.0.0.1:{port}, evil.example",
        "[::1",
    ],
)
def test_a_foreign_host_is_refused_even_with_everything_else(client: Client, path: Path, stop: str, host: str) -> None:
    client.log_in()
    named = host.format(port=client.port)
    assert client.get("/api/session", host=named).status in (400, 421)
    assert client.post(stop, host=named, origin=f"http://{named}").status in (400, 421)
    assert status_of(path) == "running"


@pytest.mark.parametrize(
    "origin",
    [None, "null", "http://evil.example", "http://127.0.0.1:1", "https://127.0.0.1:{port}", "http://localhost:{port}"],
)
def test_a_foreign_origin_is_refused_even_with_everything_else(
    client: Client, path: Path, stop: str, origin: str | None
) -> None:
    client.log_in()
    named = origin.format(port=client.port) if origin is not None else None
    assert client.post(stop, origin=named).status == 403
    assert client.post("/api/login", {"token": client.token}, origin=named).status == 403
    assert status_of(path) == "running"


def test_cookies_of_other_ports_neither_hide_ours_nor_stand_in_for_it(client: Client) -> None:
    """Browsers send the cookies of every port of a host, in any form that another program gave them."""
    client.log_in()
    ours, name = client.cookie, client.cookie.partition("=")[0]
    for cookie in (f'a={{"x": 1}}; {ours}', f'a="b; {ours}', f"a b=c; {ours}", f"{name}=x; {ours}", f"{ours}; {name}="):
        assert client.get("/api/session", cookie=cookie).status == 200, cookie
    assert client.get("/api/session", cookie=f"x{ours}; {name}=").status == 401


def test_a_form_of_another_page_is_refused(client: Client, stop: str) -> None:
    client.log_in()
    assert client.post(stop, content_type="text/plain").status == 415
    assert client.post(stop, sec_fetch_site="same-site").status == 403  # another port of this machine
    assert client.get("/api/session", sec_fetch_site="cross-site").status == 403
    assert client.send("OPTIONS", stop, origin="http://evil.example").status == 405


def test_after_some_wrong_tokens_no_token_is_looked_at(client: Client) -> None:
    for _ in range(MOST_WRONG):
        assert client.post("/api/login", {"token": "wrong"}).status == 401
    answer = client.post("/api/login", {"token": client.token})
    assert answer.status == 429
    assert int(answer.headers["retry-after"]) > 0


@pytest.mark.parametrize("body", [[], {}, {"token": 1}, {"token": "\ud800"}, "x"])
def test_a_strange_log_in_is_refused(client: Client, body: object) -> None:
    assert client.post("/api/login", body).status in (400, 401)


def test_a_body_that_is_too_large_is_refused_unread(client: Client, stop: str) -> None:
    client.log_in()
    assert client.post(stop, content_length="99999999").status == 413
    assert client.post(stop, content_length=None, transfer_encoding="chunked").status == 413


def test_a_read_only_page_shows_and_changes_nothing(path: Path, stop: str) -> None:
    with a_server(read_only=True) as client:
        client.log_in()
        assert client.get("/api/session").data["read_only"] is True
        assert client.post(stop).status == 403
    assert status_of(path) == "running"


def test_who_logs_out_is_out_and_hears_nothing_more(client: Client) -> None:
    client.log_in()
    cookie, secret = client.cookie, client.secret
    with client.listening("/api/stream") as stream:
        assert client.post("/api/logout").status == 200
        assert client.get("/api/session").status == 401
        assert stream.read().endswith(b"\n\n"), "the stream ends"
    assert client.get("/api/stream", cookie=cookie).status == 401
    assert client.post("/api/logout", cookie=cookie, x_aot_secret=secret).status == 401


def test_the_token_of_an_earlier_start_is_worth_nothing(client: Client) -> None:
    client.log_in()
    with a_server() as later:
        assert later.get("/api/session", cookie=client.cookie).status == 401
        assert later.post("/api/login", {"token": client.token}).status == 401


@pytest.mark.parametrize(
    "path_", ["/static/../server.py", "/static/%2e%2e/server.py", "/static//etc/passwd", "/loop/../x"]
)
def test_no_other_file_is_served(client: Client, path_: str) -> None:
    answer = client.get(path_)
    assert answer.status in (200, 404)
    assert b"import" not in answer.body or b"module" in answer.body
