"""The program of the package: ``exitgap try``, ``verify`` and ``estimate``. It reads files and uses no network."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from typing import Any

from . import ExitgapError, __version__, estimate, verify

_EPILOG = """exit codes:
  0  done       2  wrong arguments       3  the pool cannot fill this size       5  a file could not be read
  6  a check failed       7  no check failed, but some could not be made
"""

#: Exit codes of refusals; every other error of an argument has 2.
_CODES = {
    "beyond_liquidity": 3,
    "gap_out_of_range": 3,
    "rounds_to_no_input": 3,
    "rounds_to_no_output": 3,
    "search_exhausted": 3,
    "source_unreadable": 5,
}
_VERDICTS = {"valid": 0, "invalid": 6, "incomplete": 7}

_FIELD = '"exit_gap_pct":"'

_NEXT = (
    "exitgap try --size-usd 1000                          another size",
    "exitgap estimate FILE --size-usd 1000 --base TOKEN   a snapshot or evidence file of yours",
    "exitgap verify FILE --trust KEY                      an evidence file of a service",
)


def _grouped(number: object) -> str:
    """A number of a document with its digits in groups, without an exponent."""
    return f"{Decimal(str(number)):,f}"


def _tokens(raw: str, decimals: int) -> str:
    """A raw amount as whole tokens."""
    digits = raw.zfill(decimals + 1)
    whole, fraction = digits[: len(digits) - decimals], digits[len(digits) - decimals :].rstrip("0")
    return f"{int(whole):,}" + (f".{fraction}" if fraction else "")


def _side(gap: float) -> str:
    return "better" if gap < 0 else "worse"


def _values(shown: dict[str, Any]) -> dict[str, str]:
    """The names of the text's numbers, and their values."""
    found, report, tampering = shown["estimate"], shown["verification"], shown["tampering"]
    changed = tampering["verification"]
    failed = next(check for check in changed["checks"] if check["outcome"] == "fail")
    return {
        "size_usd": _grouped(found["size_usd"]),
        "base": found["base"]["symbol"],
        "quote": found["quote"]["symbol"],
        "name": found["name"],
        "slot_time": found["method"]["depth_source"]["slot_time"],
        "oracle_price_usd": _grouped(found["oracle_price_usd"]),
        "realized_price_usd": _grouped(found["realized_price_usd"]),
        "exit_gap_pct": _grouped(found["exit_gap_pct"]),
        "side": _side(found["exit_gap_pct"]),
        "amount_in": _tokens(found["amount_in_raw"], found["base"]["decimals"]),
        "amount_out": _tokens(found["amount_out_raw"], found["quote"]["decimals"]),
        "published_gap_pct": report["claim"]["exit_gap_pct"],
        "published_size_usd": _grouped(report["claim"]["size_usd"]),
        "passed": str(sum(check["outcome"] == "pass" for check in report["checks"])),
        "was": tampering["was"],
        "is": tampering["is"],
        "byte": _grouped(tampering["byte"]),
        "changed_gap_pct": changed["claim"]["exit_gap_pct"],
        "check": failed["name"],
        "expected": failed["expected"],
        "found": failed["found"],
        "next": "\n".join(f"  {line}" for line in _NEXT),
    }


def _tampering(evidence: str, key: str) -> dict[str, Any]:
    """The evidence with the last digit of its number changed, verified."""
    byte = evidence.index('"', evidence.index(_FIELD) + len(_FIELD)) - 1
    was = evidence[byte]
    changed = "8" if was == "9" else str(int(was) + 1)
    file = evidence[:byte] + changed + evidence[byte + 1 :]
    return {"byte": byte, "was": was, "is": changed, "verification": verify(file, key)}


def _try(size_usd: str | None, as_json: bool) -> int:
    sample = files("exitgap") / "sample"
    evidence, key, text = ((sample / name).read_text() for name in ("evidence.json", "verifier-key", "try.txt"))
    request = json.loads(evidence)["request"]
    shown: dict[str, Any] = {
        "sample": True,
        "estimate": estimate(evidence, request["size_usd"] if size_usd is None else size_usd, request["base"]),
        "verification": verify(evidence, key),
        "tampering": _tampering(evidence, key),
    }
    verdicts = (shown["verification"]["verdict"], shown["tampering"]["verification"]["verdict"])
    if verdicts != ("valid", "invalid"):
        print("error: the sample is damaged; install exitgap again", file=sys.stderr)
        return _VERDICTS["invalid"]
    if as_json:
        print(json.dumps(shown, indent=2))
        return 0
    values = _values(shown)
    print(re.sub(r"\{(\w+)\}", lambda found: values[found[1]], text), end="")
    return 0


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ExitgapError("source_unreadable", f"reading {path}: {error.strerror}") from error


def _verify(path: str, trust: str | None, as_json: bool) -> int:
    keys: list[str] = []
    if trust is not None:
        lines = [trust] if "+" in trust else _read(trust).decode(errors="replace").split("\n")
        keys = [line.strip() for line in lines if line.strip()]
    report = verify(_read(path), keys)
    if as_json:
        print(json.dumps(report, indent=2))
        return _VERDICTS[report["verdict"]]
    print(report["verdict"].upper())
    for check in report["checks"]:
        expected, found = check["expected"], check["found"]
        more = found if check["outcome"] == "pass" else f"{check['code']}: expected {expected}, found {found}"
        print(f"{check['name']:<12} {check['outcome']:<12} {more}")
    return _VERDICTS[report["verdict"]]


def _estimate(path: str, size_usd: str, base: str, as_json: bool) -> int:
    found: Any = estimate(_read(path), size_usd, base)
    if as_json:
        print(json.dumps(found, indent=2))
        return 0
    sold, bought = found["base"], found["quote"]
    lines = [
        ("pool", f"{found['name']}, {found['pool']}"),
        ("size", f"{_grouped(found['size_usd'])} USD"),
        ("oracle price", f"{_grouped(found['oracle_price_usd'])} USD per {sold['symbol']}"),
        ("realized price", f"{_grouped(found['realized_price_usd'])} USD per {sold['symbol']}"),
        ("exit gap", f"{_grouped(found['exit_gap_pct'])}% {_side(found['exit_gap_pct'])} than the oracle price"),
        ("you sell", f"{_tokens(found['amount_in_raw'], sold['decimals'])} {sold['symbol']}"),
        ("you receive", f"{_tokens(found['amount_out_raw'], bought['decimals'])} {bought['symbol']}"),
    ]
    if found["status"] == "preview":
        lines.insert(0, ("PREVIEW", "not a live chain; do not rely on these figures"))
    for name, value in lines:
        print(f"{name:<16}{value}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="exitgap",
        description="At this size, how far below the oracle price will I really fill?",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name: str, about: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=about, description=about)
        added.add_argument("--json", action="store_true", help="print JSON")
        return added

    sample = command("try", "show an estimate, verify its evidence and tamper with it, on a recorded sample")
    sample.add_argument("--size-usd", metavar="USD", help="the size, such as 250000 (default: 1000000)")
    checked = command("verify", "verify an evidence file")
    checked.add_argument("file", metavar="FILE")
    checked.add_argument("--trust", metavar="KEY|FILE", help="the log's verifier key, or a file with one key per line")
    asked = command("estimate", "estimate a sale from a snapshot file or an evidence file")
    asked.add_argument("file", metavar="FILE")
    asked.add_argument("--size-usd", metavar="USD", required=True, help="the size, such as 250000")
    asked.add_argument("--base", metavar="TOKEN", required=True, help="token0, token1, a symbol or an address")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line, and returns the exit code."""
    given = _parser().parse_args(arguments)
    try:
        if given.command == "try":
            return _try(given.size_usd, given.json)
        if given.command == "verify":
            return _verify(given.file, given.trust, given.json)
        return _estimate(given.file, given.size_usd, given.base, given.json)
    except ExitgapError as error:
        print(f"error [{error.code}]: {error.message}", file=sys.stderr)
        if error.hint:
            print(f"  hint: {error.hint}", file=sys.stderr)
        return _CODES.get(error.code, 2)
