"""What a person may write about the address of a model, and what is refused."""

from __future__ import annotations

import math

import pytest

from aotloop.config.endpoints import address, plain_variable, temperature, tools
from aotloop.config.values import Place
from aotloop.errors import AotError

AT = Place("aot.toml", ("agents", "model", "base_url"))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1"),
        ("http://127.0.0.1:11434/v1///", "http://127.0.0.1:11434/v1"),
        ("https://models.example/api", "https://models.example/api"),
        ("HTTP://localhost", "HTTP://localhost"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
    ],
)
def test_an_address_is_taken_without_the_slash_at_its_end(written: str, read: str) -> None:
    assert address(written, AT) == read


@pytest.mark.parametrize(
    "written",
    [
        "127.0.0.1:11434/v1",
        "localhost",
        "ftp://models.example",
        "file:///etc/passwd",
        "http://",
        "http:///v1",
        "http://models.example:0/v1",
        "http://models.example:99999/v1",
        "http://models.example:port/v1",
        "http://[::1/v1",
        "http://models.example/a b",
        "http://models.example/\nX: y",
        "http://models.example/\x1b[31m",
    ],
)
def test_what_is_no_address_is_refused_with_its_place_and_an_example(written: str) -> None:
    with pytest.raises(AotError, match=r"aot\.toml: agents\.model\.base_url: .* is not an address") as refused:
        address(written, AT)
    assert "http://127.0.0.1:11434/v1" in (refused.value.hint or "")
    assert "\x1b" not in str(refused.value)


@pytest.mark.parametrize(
    "written",
    [
        "https://me:sk-secret@models.example/v1",
        "https://sk-secret@models.example/v1",
        "https://models.example/v1?key=sk-secret",
        "https://models.example/v1#sk-secret",
        "htp://me:sk-secret@models.example/v1",
        "http://me:sk-secret@models.example:99999/v1",
        "models.example/v1?key=sk-secret",
    ],
)
def test_a_key_in_an_address_is_refused_and_not_repeated(written: str) -> None:
    with pytest.raises(AotError) as refused:
        address(written, AT)
    assert "sk-secret" not in f"{refused.value} {refused.value.hint}"


@pytest.mark.parametrize("written", [None, 1, True, [], {}, "", "   ", "http://a\0b"])
def test_an_address_is_text(written: object) -> None:
    with pytest.raises(AotError, match=r"^aot\.toml: agents\.model\.base_url: "):
        address(written, AT)


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "_key", "k2"])
def test_the_name_of_a_variable_is_taken(name: str) -> None:
    assert plain_variable(name, AT) == name


@pytest.mark.parametrize("written", ["sk-secret-123", "$KEY", "KEY*", "2KEY", "A B", "KEY\n", "Schlüssel"])
def test_a_key_instead_of_a_name_is_refused_and_not_repeated(written: str) -> None:
    with pytest.raises(AotError, match="must be the name of a variable") as refused:
        plain_variable(written, AT)
    assert written not in f"{refused.value} {refused.value.hint}"


@pytest.mark.parametrize(("written", "read"), [(0, 0.0), (0.7, 0.7), (1, 1.0), (2.0, 2.0)])
def test_a_temperature_is_a_number_from_0_to_2(written: object, read: float) -> None:
    taken = temperature(written, AT)
    assert taken == read
    assert isinstance(taken, float)


@pytest.mark.parametrize("written", [-0.1, 2.1, math.inf, math.nan, True, "0.7", None])
def test_another_temperature_is_refused(written: object) -> None:
    with pytest.raises(AotError, match="must be"):
        temperature(written, AT)


@pytest.mark.parametrize(("written", "read"), [(True, "yes"), (False, "no"), ("auto", "auto")])
def test_tools_are_on_or_off_or_found_out(written: object, read: str) -> None:
    assert tools(written, AT) == read


@pytest.mark.parametrize("written", ["yes", "Auto", 1, 0, None, ["auto"]])
def test_anything_else_about_tools_is_refused(written: object) -> None:
    with pytest.raises(AotError, match='must be true, false or "auto"'):
        tools(written, AT)
