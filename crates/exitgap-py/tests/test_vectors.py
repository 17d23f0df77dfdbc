"""The shared vectors: Python comes to the same end as every other verifier."""

import json
import unittest
from decimal import Decimal

import exitgap
from exitgap import _asked, _exitgap

from here import vectors


def verified(vector):
    policy = vector["policy"]
    seen = policy["seen"]
    pair = None if seen is None else (seen["note"], seen["proof"])
    return exitgap.verify(vector["evidence"], policy["keys"], policy["window"], seen=pair)


def expected_verdict(vector):
    """The vector's own; but what a caller of the package gives is required, and the vectors require no window. One that
    only a newer version reads leaves the verdict open here."""
    expected, policy = vector["expected"], vector["policy"]
    outcomes = {name: outcome for name, outcome, _ in expected["checks"]}
    unread = policy["window"] is not None and outcomes["window"] == "not_checked"
    return "incomplete" if unread and expected["verdict"] == "valid" else expected["verdict"]


class Vectors(unittest.TestCase):
    def test_every_verdict_and_every_check_is_the_expected_one(self):
        all_of_them, open_ = vectors(), []
        for name, vector in all_of_them.items():
            with self.subTest(name):
                report, expected = verified(vector), vector["expected"]
                self.assertEqual(report["verdict"], expected_verdict(vector))
                if report["verdict"] != expected["verdict"]:
                    open_.append(name)
                found = [[check["name"], check["outcome"], check["code"]] for check in report["checks"]]
                self.assertEqual(found, expected["checks"])
                for unknown in ("unknown_signers", "unknown_commits", "unknown_facts"):
                    self.assertEqual(report[unknown], expected[unknown])
        self.assertEqual(
            open_, ["window_of_a_future_method", "window_with_a_future_leaf", "window_with_a_future_reason"]
        )
        self.assertGreater(len(all_of_them), 200)
        print(f"evidence: compared {len(all_of_them)}")

    def test_a_disagreement_is_noticed(self):
        vector = vectors()["true_constant_product"]
        self.assertEqual(verified(vector)["verdict"], "valid")
        self.assertNotEqual(verified({**vector, "policy": {**vector["policy"], "keys": []}})["verdict"], "valid")

    def test_what_is_recomputed_agrees_where_the_result_passes(self):
        compared = 0
        for vector in vectors().values():
            checks = {name: outcome for name, outcome, _ in vector["expected"]["checks"]}
            if checks.get("result") == "pass":
                found = exitgap.recompute(vector["evidence"])
                self.assertTrue(found["agrees"])
                self.assertEqual(found["computed"], found["published"])
                compared += 1
        self.assertGreater(compared, 50)

    def test_estimates_from_the_snapshot_are_the_published_numbers(self):
        compared = 0
        for name, vector in vectors().items():
            if vector["expected"]["verdict"] != "valid":
                continue
            file = json.loads(vector["evidence"])
            request, result = file["request"], file.get("result")
            with self.subTest(name):
                if result is None:
                    with self.assertRaises(exitgap.ExitgapError) as refused:
                        exitgap.estimate(vector["evidence"], request["size_usd"], request["base"])
                    self.assertEqual(refused.exception.code, file["refusal"]["code"])
                else:
                    found = exitgap.estimate(vector["evidence"], request["size_usd"], request["base"])
                    self.assertEqual(Decimal(str(found["exit_gap_pct"])), Decimal(result["exit_gap_pct"]))
                    self.assertEqual(found["amount_out_raw"], result["amount_out_raw"])
                    snapshot = exitgap.Snapshot(vector["evidence"])
                    paid = snapshot.fill(result["amount_in_raw"], request["base"])
                    self.assertEqual(str(paid), result["amount_out_raw"])
                compared += 1
        self.assertGreater(compared, 20)

    def test_a_float_of_a_document_is_the_decimal_that_was_written(self):
        evidence = _asked.content(vectors()["true_constant_product"]["evidence"], "evidence", 1 << 20)
        text = _exitgap.Opened(evidence).ladder("token0", [], [])
        exact, floats = json.loads(text, parse_float=Decimal), json.loads(text)
        compared = 0

        def compare(one, other):
            nonlocal compared
            if isinstance(one, dict):
                for name in one:
                    compare(one[name], other[name])
            elif isinstance(one, list):
                for first, second in zip(one, other, strict=True):
                    compare(first, second)
            elif isinstance(one, Decimal):
                self.assertEqual(Decimal(str(other)), one)
                compared += 1

        compare(exact, floats)
        self.assertGreater(compared, 30)


if __name__ == "__main__":
    unittest.main()
