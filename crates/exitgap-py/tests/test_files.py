"""Questions to files, and what is passed that is none."""

import json
import pickle
import random
import subprocess
import sys
import tempfile
import unittest
from decimal import Decimal
from pathlib import Path

import exitgap
from exitgap import documents
from exitgap._asked import LIMITS

from here import EXAMPLE, PACKAGE, printed, programs, vectors

EVIDENCE = (EXAMPLE / "evidence.json").read_bytes()
KEY = (EXAMPLE / "verifier-key").read_text()


def fits(found, document):
    """Whether a dict has all that its type requires, and nothing that it does not have."""
    return document.__required_keys__ <= found.keys() <= document.__annotations__.keys()


class Files(unittest.TestCase):
    def refused(self, code, field, ask):
        with self.assertRaises(exitgap.ExitgapError) as refused:
            ask()
        error = refused.exception
        self.assertEqual((error.code, error.field), (code, field), error)
        self.assertTrue(error.message)
        return error

    def test_what_is_imported_is_the_wheel(self):
        self.assertNotIn(PACKAGE, Path(exitgap.__file__).resolve().parents)
        self.assertRegex(exitgap.__version__, r"^\d+\.\d+\.\d+$")
        self.assertTrue((Path(exitgap.__file__).parent / "py.typed").is_file())
        for name in exitgap.__all__:
            self.assertTrue(getattr(exitgap, name).__doc__ or name == "__version__", name)

    def test_the_example_is_the_npm_packages(self):
        own = PACKAGE / "python" / "exitgap" / "example"
        for name in ("evidence.json", "verifier-key"):
            self.assertEqual((own / name).read_bytes(), (EXAMPLE / name).read_bytes(), f"copy {name} from pkg/example")

    def test_the_pages_first_program_prints_what_it_says(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = subprocess.run(
                [sys.executable, "-I", "-c", programs()["check.py"]], cwd=folder, capture_output=True, text=True, check=False
            )
        self.assertEqual((ran.stdout, ran.stderr), (printed(), ""))

    def test_the_example_is_valid_and_a_changed_digit_is_noticed(self):
        for given in (EVIDENCE, bytearray(EVIDENCE), memoryview(EVIDENCE), EVIDENCE.decode(), EXAMPLE / "evidence.json"):
            self.assertEqual(exitgap.verify(given, KEY)["verdict"], "valid")
        self.assertEqual(exitgap.verify(EVIDENCE)["verdict"], "incomplete")
        changed = EVIDENCE.replace(b'"exit_gap_pct":"0.2', b'"exit_gap_pct":"0.1')
        report = exitgap.verify(changed, [KEY])
        failed = [check["name"] for check in report["checks"] if check["outcome"] == "fail"]
        self.assertEqual((report["verdict"], failed), ("invalid", ["result"]))

    def test_answers_are_as_their_types_say(self):
        snapshot = exitgap.Snapshot(EVIDENCE)
        estimate, ladder = snapshot.estimate(1000, "token0"), snapshot.ladder("token0")
        most, orders = snapshot.max_size_for(2, "token0"), snapshot.simulate(1000, 3, "token0", recovery_pct="12.5")
        split = exitgap.best_split([snapshot], 1000, "token0")
        report, again = exitgap.verify(EVIDENCE, KEY), exitgap.recompute(EVIDENCE)
        for found, document in [
            (estimate, documents.ExitResult),
            (estimate["split"], documents.Split),
            (estimate["base"], documents.Token),
            (estimate["method"], documents.Method),
            (estimate["method"]["depth_source"], documents.DepthSource),
            (estimate["method"]["oracles"][0], documents.Oracle),
            (ladder, documents.Ladder),
            (ladder["by_gap"][0], documents.Depth),
            (ladder["by_size"][0], documents.Slippage),
            (ladder["by_size"][-1]["problem"], documents.Problem),
            (most, documents.MaxSizeResult),
            (orders, documents.SimulationResult),
            (orders["fills"][0], documents.OrderFill),
            (split, documents.BestSplit),
            (split["legs"][0], documents.SplitLeg),
            (split["alone"][0], documents.SplitAlone),
            (report, documents.VerificationReport),
            (report["claim"], documents.Claim),
            (report["checks"][0], documents.Check),
            (again, documents.Recomputation),
        ]:
            self.assertTrue(fits(found, document), (document.__name__, sorted(found)))
        self.assertEqual(split["exit_gap_pct"], estimate["exit_gap_pct"])
        self.assertEqual(len(orders["fills"]), 3)
        self.assertEqual(exitgap.estimate(snapshot, 1000, "token0"), estimate)
        self.assertEqual(exitgap.ladder(EVIDENCE, "token0"), ladder)
        self.assertEqual(exitgap.max_size_for(EVIDENCE, Decimal(2), "token0"), most)
        self.assertEqual(exitgap.simulate(EVIDENCE, 1000, 3, "token0", recovery_pct=12.5), orders)
        name = json.loads(EVIDENCE)["head"]["snapshot"]
        self.assertEqual(exitgap.snapshot_hash(EVIDENCE), name)
        witnesses = exitgap.witnessed(EVIDENCE, "quorum none\n", now_s=1_790_000_000)
        self.assertTrue(fits(witnesses, documents.WitnessCheck), sorted(witnesses))

    def test_a_size_is_one_size_however_it_is_spelled(self):
        sizes = [1000, 1000.0, "1000", Decimal("1000"), Decimal("1E+3"), "1000.000000"]
        found = [exitgap.estimate(EVIDENCE, size, "token0") for size in sizes]
        self.assertTrue(all(one == found[0] for one in found))
        # More than six decimals: a float is what its text says.
        self.refused("invalid_parameter", "size_usd", lambda: exitgap.estimate(EVIDENCE, 0.1 + 0.2, "token0"))

    def test_a_size_beyond_liquidity_is_refused_with_the_most_that_fills(self):
        error = self.refused("beyond_liquidity", "size_usd", lambda: exitgap.estimate(EVIDENCE, 1_000_000_000, "token0"))
        self.assertGreater(error.max_fillable_usd, 0)
        exitgap.estimate(EVIDENCE, error.max_fillable_usd, "token0")

    def test_wrong_arguments_are_refused_by_name(self):
        ask = exitgap.estimate
        for wrong in (None, True, b"1000", [1000], "", "a", "-1", 0, "1e3", float("nan"), float("inf"), Decimal("NaN"), 10**400, "9" * 2000):
            self.refused("invalid_parameter", "size_usd", lambda wrong=wrong: ask(EVIDENCE, wrong, "token0"))
        for wrong in (None, 7, b"token0", "x" * 2000, "\ud800"):
            self.refused("invalid_parameter", "base", lambda wrong=wrong: ask(EVIDENCE, 1000, wrong))
        self.refused("unknown_base", "base", lambda: ask(EVIDENCE, 1000, "token2"))
        for wrong in (None, 7, {"snapshot": {}}, json.loads(EVIDENCE), ["a"]):
            error = self.refused("invalid_parameter", "snapshot", lambda wrong=wrong: ask(wrong, 1000, "token0"))
            self.assertIn("not parsed", error.hint)
            self.refused("invalid_parameter", "evidence", lambda wrong=wrong: exitgap.verify(wrong))
        for wrong in (7, b"key", [7], [b"key"], ["a\nb"], [""], ["key"], ["x"] * 101, [KEY, "x+y"]):
            self.refused("invalid_parameter", "keys", lambda wrong=wrong: exitgap.verify(EVIDENCE, wrong))
        for wrong in ("note", ("note",), (7, []), ("note", 7), ("note", ["?"])):
            with self.assertRaises(exitgap.ExitgapError):
                exitgap.verify(EVIDENCE, KEY, seen=wrong)
        for wrong in (0, 1001, -1, 2.0, "3", True, 2**40):
            self.refused("invalid_parameter", "orders", lambda wrong=wrong: exitgap.simulate(EVIDENCE, 1000, wrong, "token0"))
        self.refused("invalid_parameter", "gap_pct", lambda: exitgap.max_size_for(EVIDENCE, 101, "token0"))
        self.refused("invalid_parameter", "gaps", lambda: exitgap.ladder(EVIDENCE, "token0", gaps=["x"]))
        self.refused("invalid_parameter", "sizes_usd", lambda: exitgap.ladder(EVIDENCE, "token0", sizes_usd=[0]))
        self.refused("invalid_parameter", "sizes_usd", lambda: exitgap.ladder(EVIDENCE, "token0", sizes_usd=[1] * 101))
        self.refused("invalid_parameter", "snapshots", lambda: exitgap.best_split(EVIDENCE, 1000, "token0"))
        self.refused("invalid_parameter", "snapshots", lambda: exitgap.best_split(7, 1000, "token0"))
        self.refused("invalid_parameter", "now_s", lambda: exitgap.witnessed(EVIDENCE, "", now_s=-1))
        fill = exitgap.Snapshot(EVIDENCE).fill
        for wrong in (-1, 2**256, "1.5", "", None, 1.0, "٣", "9" * 79):
            self.refused("invalid_parameter", "amount_in_raw", lambda wrong=wrong: fill(wrong, "token0"))

    def test_files_that_are_none_are_refused(self):
        for garbage in (b"", b"{}", b"[1]", b"\xff\xfe", b"null", b"[" * 5000, EVIDENCE[:-1], b"\0" * 1000):
            self.refused("source_unreadable", "snapshot", lambda garbage=garbage: exitgap.Snapshot(garbage))
            self.refused("source_unreadable", "snapshot", lambda garbage=garbage: exitgap.snapshot_hash(garbage))
            self.refused("source_unreadable", "evidence", lambda garbage=garbage: exitgap.recompute(garbage))
            report = exitgap.verify(garbage, KEY)
            self.assertEqual((report["verdict"], report["checks"][0]["outcome"]), ("invalid", "fail"))
        self.refused("source_unreadable", "evidence", lambda: exitgap.verify(Path("/no/such/file")))
        self.refused("source_unreadable", "evidence", lambda: exitgap.verify(Path("a\0b")))
        self.refused("source_unreadable", "evidence", lambda: exitgap.verify(Path("/")))

    def test_what_is_too_large_is_not_looked_at(self):
        for size, ask, field in [
            (LIMITS["evidence"], exitgap.verify, "evidence"),
            (LIMITS["evidence"], exitgap.recompute, "evidence"),
            (LIMITS["snapshot_file"], exitgap.Snapshot, "snapshot"),
        ]:
            for large in (b" " * (size + 1), " " * (size + 1), memoryview(b" " * (size + 1))):
                error = self.refused("invalid_parameter", field, lambda ask=ask, large=large: ask(large))
                self.assertIn(str(size), error.message)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "large"
            path.write_bytes(b" " * (LIMITS["evidence"] + 1))
            self.refused("invalid_parameter", "evidence", lambda: exitgap.verify(path))
        large = b" " * (LIMITS["window"] + 1)
        self.refused("invalid_parameter", "window", lambda: exitgap.verify(EVIDENCE, KEY, large))

    def test_changed_files_never_do_more_than_fail(self):
        random_ = random.Random(19)
        files = [vector["evidence"].encode() for name, vector in vectors().items() if name.startswith("true_")]
        self.assertGreater(len(files), 3)
        found = {"valid": 0, "invalid": 0, "incomplete": 0, "refused": 0}
        for _ in range(3000):
            whole = random_.choice(files)
            file = bytearray(whole)
            for _ in range(random_.randint(1, 3)):
                at = random_.randrange(len(file))
                match random_.randrange(3):
                    case 0:
                        file[at] = random_.randrange(256)
                    case 1:
                        del file[at : at + random_.randint(1, 40)]
                    case _:
                        file[at:at] = random_.choice([b"9", b"-", b"0" * 90, b'"', b"{", b"null"])
            if file == whole:
                continue
            found[exitgap.verify(file, KEY)["verdict"]] += 1
            try:
                exitgap.recompute(file)
                exitgap.ladder(file, "token1")
            except exitgap.ExitgapError as error:
                self.assertNotEqual(error.code, "internal_error")
                found["refused"] += 1
        self.assertEqual(found["valid"], 0, found)
        self.assertGreater(found["refused"], 1000, found)

    def test_an_error_says_all_that_it_knows_and_crosses_whole(self):
        with self.assertRaises(exitgap.ExitgapError) as refused:
            exitgap.estimate(EVIDENCE, 1_000_000_000, "token0")
        error = refused.exception
        self.assertTrue(str(error).startswith("beyond_liquidity: "))
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((again.code, again.message), (error.code, error.message))
        self.assertEqual(again.max_fillable_usd, error.max_fillable_usd)
        self.assertIsNone(error.__context__)


if __name__ == "__main__":
    unittest.main()
