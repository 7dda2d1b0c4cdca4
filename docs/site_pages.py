"""What the site adds to each page: tables that scroll by themselves, and an index for the search.

The index is a script, not JSON: a page that is opened from a folder may load scripts, but may not read other files.
"""

from __future__ import annotations

import json
import re
import shutil
from html.parser import HTMLParser
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

_HEADINGS = ("h1", "h2", "h3", "h4")
_BLOCKS = (*_HEADINGS, "p", "li", "tr", "td", "th", "pre", "div", "br", "blockquote")
_LONG = 50
_sections: list[dict[str, str]] = []


class SectionReader(HTMLParser):
    """Reads a page as sections: a heading, its address, and the text up to the next heading."""

    def __init__(self, page: str, url: str) -> None:
        super().__init__()
        self.sections: list[dict[str, str]] = []
        self._page, self._url = page, url
        self._heading = self._is_mark = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag in _HEADINGS:
            self._heading = True
            place = f"{self._url}#{attributes['id']}" if "id" in attributes else self._url
            self.sections.append({"page": self._page, "title": "", "place": place, "text": ""})
        self._is_mark = tag == "a" and attributes.get("class") == "headerlink"
        self._add(" " if tag in _BLOCKS else "")

    def handle_endtag(self, tag: str) -> None:
        self._is_mark = False
        self._heading = self._heading and tag not in _HEADINGS

    def handle_data(self, data: str) -> None:
        self._add("" if self._is_mark else data)

    def _add(self, text: str) -> None:
        if self.sections:
            section = self.sections[-1]
            key = "title" if self._heading else "text"
            section[key] = re.sub(r"\s+", " ", section[key] + text).lstrip()


def _cell(html: str) -> str:
    """A bar in the code of a table has a backslash before it, as GitHub wants it; the site would show that."""
    kind = ' class="long"' if len(re.sub(r"<[^>]*>", "", html)) > _LONG else ""
    return f"<td{kind}>" + html.replace("\\|", "|") + "</td>"


def on_pre_build(**_: object) -> None:
    _sections.clear()


def on_page_content(html: str, page: Any, **_: object) -> str:
    """Called for each page of the site, by the name that its builder looks for."""
    html = re.sub(r"<td>(.*?)</td>", lambda cell: _cell(cell[1]), html, flags=re.DOTALL)
    reader = SectionReader(page.title, page.url)
    reader.feed(html)
    _sections.extend(reader.sections)
    html = html.replace("<table>", '<div class="table" role="group" aria-label="Table" tabindex="0"><table>')
    return html.replace("</table>", "</table></div>").replace("<pre>", '<pre tabindex="0">')


def on_post_build(config: Any, **_: object) -> None:
    folder = Path(config.site_dir) / "search"
    folder.mkdir(exist_ok=True)
    index = json.dumps(_sections, ensure_ascii=False, separators=(",", ":"))
    (folder / "sections.js").write_text(f"var sections = {index};\n", encoding="utf-8")
    with as_file(files("properdocs.contrib.search") / "templates" / "search" / "lunr.js") as library:
        shutil.copyfile(library, folder / "lunr.js")
