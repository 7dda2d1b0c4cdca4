"""The project under mutation: its modules, and their tests."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec


class Project(msgspec.Struct, frozen=True, kw_only=True):
    root: Path
    package: str
    """Dotted: a.package, which is to be found in the root or in `src`."""
    tests: Path
    """A folder."""

    @property
    def folder(self) -> Path:
        parts = self.package.split(".")
        below_src = self.root.joinpath("src", *parts)
        return below_src if below_src.is_dir() else self.root.joinpath(*parts)

    @property
    def search_path(self) -> list[str]:
        return [str(self.root), str(self.root / "src")]

    @property
    def cache(self) -> Path:
        """Nothing is kept where there is no environment of ours."""
        return self.root / ".venv" / "mutants-reach.json"

    def name_of(self, module: str) -> str:
        """Of its file, what it is imported as."""
        name = module.removesuffix(".py").removesuffix("__init__").strip("/").replace("/", ".")
        return f"{self.package}.{name}" if name else self.package

    def file_of(self, test: str) -> str:
        """Of a test, the path of its file."""
        return test.partition("::")[0]

    def is_about(self, test: str, module: str) -> bool:
        """Whether its file has the name of the module."""
        path = (self.root / self.file_of(test)).relative_to(self.tests)
        return path.with_name(path.name.removeprefix("test_")).as_posix() == module

    def names(self, test_file: str, module: str) -> bool:
        """Whether it imports the module, or something of it."""
        name = Path(module).stem
        text = (self.root / test_file).read_text(encoding="utf-8")
        return re.search(rf"^(from|import)\b.*\b{name}\b", text, re.MULTILINE) is not None

    def files_of_tests(self) -> list[Path]:
        return sorted(self.tests.rglob("test_*.py"))

    def used_by_tests(self) -> list[Path]:
        """What is mutated, and what several files of tests share."""
        shared = {*self.tests.rglob("*.py"), *self.tests.parent.glob("*.py")}
        return sorted({*self.folder.rglob("*.py"), *(one for one in shared if not one.name.startswith("test_"))})
