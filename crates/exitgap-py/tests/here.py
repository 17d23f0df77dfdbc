"""Where the tests find what they are about: the shared vectors, the example, and the package's page."""

import json
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
REPOSITORY = PACKAGE.parents[1]
EXAMPLE = REPOSITORY / "pkg" / "example"


def vectors():
    """Every evidence vector, by its file's name."""
    found = sorted((REPOSITORY / "tests" / "vectors" / "evidence").glob("*.json"))
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in found}


def programs():
    """The programs of the package's page, by their names."""
    page = (PACKAGE / "README.md").read_text(encoding="utf-8")
    begin = "<!-- file: "
    parts = page.split(begin)[1:]
    return {part.split(" ")[0]: part.split("```python\n")[1].split("```")[0] for part in parts}


def printed():
    """What the page says that its first program prints."""
    page = (PACKAGE / "README.md").read_text(encoding="utf-8")
    return page.split("It prints\n\n```\n")[1].split("```")[0]
