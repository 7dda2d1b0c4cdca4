"""The site in a real browser, opened from a folder: nothing of it needs a server or the network."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from docs.site_pages import SectionReader, on_page_content

from tests.web.browser import HOW_TO_GET_ONE, MILLISECONDS, browser, program, until_page

ROOT = Path(__file__).parents[2]
AXE = Path(sys.prefix) / "browser" / "node_modules" / "axe-core" / "axe.min.js"
in_browser = [pytest.mark.web, pytest.mark.skipif(program() is None, reason=HOW_TO_GET_ONE)]


class Page:
    title, url = "Running", "running.html"


def test_a_page_is_read_as_sections_with_their_addresses() -> None:
    reader = SectionReader("Running", "running.html")
    reader.feed(
        '<h1 id="a">Running<a class="headerlink" href="#a">#</a></h1><p>One <code>aot run</code>.</p>'
        '<h2 id="b">It <em>ends</em></h2><ul><li>so</li><li>or &lt;so&gt;</li></ul>'
    )
    assert reader.sections == [
        {"page": "Running", "title": "Running", "place": "running.html#a", "text": "One aot run."},
        {"page": "Running", "title": "It ends", "place": "running.html#b", "text": "so or <so>"},
    ]


def test_a_table_scrolls_by_itself_and_long_cells_stay_readable() -> None:
    html = on_page_content(f"<table><td>a\\|b</td><td>{'word ' * 20}</td></table>", Page())
    assert html.startswith('<div class="table" role="group" aria-label="Table" tabindex="0"><table><td>a|b</td>')
    assert '<td class="long">word' in html
    assert html.endswith("</table></div>")


# --- in a browser ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "properdocs", "build", "--site-dir", str(folder)]
    subprocess.run(words, cwd=ROOT, capture_output=True, check=True)
    return folder


@pytest.fixture(scope="module")
def chrome() -> Iterator[Any]:
    with browser() as running:
        yield running


@pytest.fixture
def page(chrome: Any) -> Iterator[Any]:
    """Fails if a page reports an error or asks for anything that is not in the folder."""
    context = chrome.new_context(viewport={"width": 1300, "height": 850})
    context.set_default_timeout(MILLISECONDS)
    found = context.new_page()
    problems: list[str] = []
    found.on("pageerror", lambda error: problems.append(str(error)))
    found.on("requestfailed", lambda request: problems.append(request.url))
    found.route(lambda url: not url.startswith("file:"), lambda route: route.abort())
    yield found
    context.close()
    assert problems == []


def background(page: Any) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


LIGHT, DARK = "rgb(255, 255, 255)", "rgb(20, 23, 27)"


class TestInABrowser:
    pytestmark = in_browser

    @pytest.mark.parametrize(
        ("typed", "title", "place"),
        [
            ("max runtime", "aot run", "cli.html#aot-run"),
            ("Landlock confin", "Security", "security.html"),
            ("merging", "", ""),
            ("worktee", "orktree", ""),
            ("choice blamed", "", "decisions/0005-blame.html"),
        ],
        ids=["words", "an unfinished word", "another form of a word", "a wrong letter", "a page in a folder"],
    )
    def test_a_search_finds_sections_without_a_server(
        self, site: Path, page: Any, typed: str, title: str, place: str
    ) -> None:
        page.goto((site / "index.html").as_uri())
        page.keyboard.press("/")
        page.keyboard.type(typed)
        page.locator("#results a").first.wait_for()
        found = page.locator("#results a").evaluate_all("all => all.map(one => [one.innerText, one.href])")
        assert [one for one in found if title in one[0] and place in one[1]]
        assert page.locator("#results mark").count() or typed == "worktee"

    def test_a_result_leads_to_its_section_from_any_folder(self, site: Path, page: Any) -> None:
        page.goto((site / "decisions" / "0005-blame.html").as_uri())
        page.locator("#search").fill("exit codes")
        page.locator("#results a", has_text="Exit codes").first.wait_for()
        page.keyboard.press("ArrowDown")
        while "Exit codes" not in page.evaluate("document.activeElement.innerText"):
            page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        until_page(page, "location.hash === '#exit-codes'")
        heading = page.locator("#exit-codes")
        assert heading.inner_text().startswith("Exit codes")
        assert 0 < heading.bounding_box()["y"] < 200

    def test_what_is_typed_is_never_a_query_language_or_markup(self, site: Path, page: Any) -> None:
        page.goto((site / "index.html").as_uri())
        for typed in ("title:x -y +z ~2 ^", "<img src=x onerror=alert(1)>", "***", "the", "zzzzqqqq"):
            page.locator("#search").fill("agent")
            page.locator("#results a").first.wait_for()
            page.locator("#search").fill(typed)
            until_page(page, "document.querySelector('#count').textContent !== 'agent'")
            assert page.locator("#results img").count() == 0
        until_page(page, "document.querySelector('#count').textContent === 'No sections'")
        page.keyboard.press("Escape")
        assert page.locator(".found").is_hidden()

    @pytest.mark.parametrize(("scheme", "colour"), [("light", LIGHT), ("dark", DARK)])
    def test_colours_follow_the_system(self, site: Path, page: Any, scheme: str, colour: str) -> None:
        page.emulate_media(color_scheme=scheme)
        page.goto((site / "index.html").as_uri())
        assert background(page) == colour

    def test_a_choice_of_colours_holds_on_other_pages(self, site: Path, page: Any) -> None:
        page.emulate_media(color_scheme="dark")
        page.goto((site / "index.html").as_uri())
        page.locator("#theme").click()
        assert background(page) == LIGHT
        page.goto((site / "why.html").as_uri())
        assert background(page) == LIGHT
        page.locator("#theme").click()
        assert background(page) == DARK
        page.locator("#theme").click()
        page.emulate_media(color_scheme="light")
        assert background(page) == LIGHT

    def test_code_is_highlighted(self, site: Path, page: Any) -> None:
        page.goto((site / "tutorial.html").as_uri())
        colours = page.locator(".highlight code span").evaluate_all(
            "all => all.map(one => getComputedStyle(one).color)"
        )
        assert len(set(colours)) >= 4

    def test_every_page_lists_its_sections_and_fits_on_a_phone(self, site: Path, page: Any) -> None:
        page.set_viewport_size({"width": 390, "height": 800})
        pages = sorted(site.rglob("*.html"))
        assert len(pages) > 40
        wrong = {}
        for path in pages:
            page.goto(path.as_uri())
            seen = page.evaluate(
                """() => ({
                    wide: document.documentElement.scrollWidth,
                    sections: [...document.querySelectorAll("main :is(h2, h3)")].map(one => one.id),
                    listed: [...document.querySelectorAll("#contents a")]
                        .map(one => decodeURIComponent(one.hash.slice(1))),
                })"""
            )
            if seen["wide"] > 390 or seen["sections"] != seen["listed"]:
                wrong[path.name] = seen
        assert wrong == {}

    def test_the_contents_follow_the_reader(self, site: Path, page: Any) -> None:
        page.goto((site / "configuration.html").as_uri())
        page.locator("#contents a", has_text="Trust").click()
        page.locator("#contents a[aria-current]", has_text="Trust").wait_for()
        page.set_viewport_size({"width": 390, "height": 800})
        page.locator("#contents a", has_text="Trust").wait_for(state="hidden")
        page.locator("#contents > summary").click()
        assert page.locator("#contents a", has_text="Trust").is_visible()

    def test_a_wide_table_scrolls_inside(self, site: Path, page: Any) -> None:
        page.set_viewport_size({"width": 390, "height": 800})
        page.goto((site / "configuration.html").as_uri())
        inner, outer = page.locator(".table").first.evaluate("one => [one.scrollWidth, one.clientWidth]")
        assert inner > outer
        page.locator(".table").first.evaluate("one => one.scrollTo(one.scrollWidth, 0)")
        assert page.evaluate("scrollX") == 0

    def test_a_text_needs_no_script(self, site: Path, chrome: Any) -> None:
        context = chrome.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto((site / "why.html").as_uri())
        assert page.locator("h1").is_visible()
        assert page.locator("#find").is_hidden()
        page.set_viewport_size({"width": 390, "height": 800})
        page.locator("#pages > summary").click()
        assert page.get_by_role("link", name="Tutorial").first.is_visible()
        context.close()

    @pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed; `make test-web` installs it with npm")
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_the_site_is_accessible(self, site: Path, page: Any, scheme: str) -> None:
        page.emulate_media(color_scheme=scheme)
        for name in ("index", "tutorial", "configuration", "errors", "cli"):
            page.goto((site / f"{name}.html").as_uri())
            page.locator("#search").fill("limit")
            page.locator("#results a").first.wait_for()
            page.add_script_tag(path=str(AXE))
            violations = page.evaluate("axe.run(document, {preload: false}).then(one => one.violations)")
            found = {one["id"]: [node["html"] for node in one["nodes"]] for one in violations}
            assert found == {}, json.dumps(found, indent=1)
