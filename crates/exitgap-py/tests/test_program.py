"""The program of the package: `exitgap try`, `verify` and `estimate`."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from here import REPOSITORY

SAMPLE = REPOSITORY / "crates" / "exitgap-sample" / "sample"
EVIDENCE, KEY = str(SAMPLE / "evidence.json"), str(SAMPLE / "verifier-key")


def ran(*arguments):
    """The exit code and the output of the installed program, in an empty folder."""
    program = Path(sys.executable).with_name("exitgap")
    with tempfile.TemporaryDirectory() as folder:
        found = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    return found.returncode, found.stdout + found.stderr


class Program(unittest.TestCase):
    def test_the_sample_is_estimated_verified_and_refused_when_changed(self):
        code, shown = ran("try")
        self.assertEqual(code, 0, shown)
        evidence = json.loads((SAMPLE / "evidence.json").read_text())
        gap = evidence["result"]["exit_gap_pct"]
        self.assertIn(f"SAMPLE  published       {gap}% for 1,000,000 USD", shown)
        self.assertIn(f"SAMPLE  exit gap        {gap.rstrip('0')}% ", shown)
        self.assertIn('INVALID: the check "result" failed.', shown)
        self.assertNotRegex(shown, r"[{}]")
        for name in ("evidence.json", "verifier-key", "try.txt"):
            own = REPOSITORY / "crates" / "exitgap-py" / "python" / "exitgap" / "sample" / name
            self.assertEqual(own.read_bytes(), (SAMPLE / name).read_bytes(), "run `cargo xtask sample`")

    def test_it_prints_documents(self):
        code, shown = ran("try", "--json", "--size-usd", "1000")
        self.assertEqual(code, 0, shown)
        found = json.loads(shown)
        self.assertEqual((found["sample"], found["estimate"]["size_usd"]), (True, 1000))
        self.assertEqual(found["tampering"]["verification"]["verdict"], "invalid")

    def test_files_are_verified_and_estimated_or_refused(self):
        sale = ("--size-usd", "1000", "--base", "WETH")
        for arguments, expected, words in (
            (("verify", EVIDENCE, "--trust", KEY), 0, "VALID\n"),
            (("verify", EVIDENCE), 7, "INCOMPLETE\n"),
            (("verify", KEY, "--trust", KEY), 6, "INVALID\n"),
            (("verify", "absent.json"), 5, "source_unreadable"),
            (("estimate", EVIDENCE, *sale), 0, "exit gap"),
            (("estimate", EVIDENCE, "--size-usd", "x", "--base", "WETH"), 2, "size_usd"),
            (("estimate", EVIDENCE, "--size-usd", "1000000000", "--base", "WETH"), 3, "beyond_liquidity"),
            (("estimate", KEY, *sale), 5, "source_unreadable"),
            (("estimate", EVIDENCE), 2, "--size-usd"),
            (("trie",), 2, "trie"),
            (("--help",), 0, "exit codes:"),
        ):
            code, shown = ran(*arguments)
            self.assertEqual(code, expected, f"{arguments}: {shown}")
            self.assertIn(words, shown)


if __name__ == "__main__":
    unittest.main()
