"""Check that every link inside the built pages leads to a file, and to a place in it, that exists."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """Ids and links of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what a tag names and where it leads."""
        for name, value in attrs:
            if value and name == "id":
                self.ids.add(value)
            elif value and (name == "src" or (name == "href" and tag == "a")):
                self.links.add(value)


def broken_links(folder: Path) -> list[str]:
    """A line for every link that leads nowhere."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    found = []
    for path, page in pages.items():
        if "_static" in path.parts or "_downloads" in path.parts:
            continue
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or not (parts.path or parts.fragment):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            if not target.is_file():
                found.append(f"{path.relative_to(folder.resolve())}: no file {link}")
            elif place and target in pages and place not in pages[target].ids:
                found.append(f"{path.relative_to(folder.resolve())}: no place {link}")
    return found


if __name__ == "__main__":
    broken = broken_links(Path(sys.argv[1]))
    print("\n".join(broken) or "All links between pages lead somewhere.")
    sys.exit(bool(broken))
