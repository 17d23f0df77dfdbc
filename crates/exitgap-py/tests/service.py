"""The client before a real service, which the suite starts: `tests/suite/client/python.rs`.

EXITGAP_SERVICE is where it is, EXITGAP_KEY its log's verifier key, EXITGAP_POOL a pool of it, EXITGAP_SLOTS how many slots
it recorded.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import urllib.request
from datetime import datetime, timezone
from pathlib import Path

import exitgap
import pandas
from exitgap import documents

from here import programs

SERVICE, KEY, POOL = (os.environ[name] for name in ("EXITGAP_SERVICE", "EXITGAP_KEY", "EXITGAP_POOL"))
SLOTS = int(os.environ["EXITGAP_SLOTS"])


def served(target):
    """What the service answers, read without this package."""
    with urllib.request.urlopen(SERVICE + target) as answer:
        return json.load(answer)


def without_age(document):
    return {name: value for name, value in document.items() if name != "snapshot_age_s"}


def fits(found, document):
    return document.__required_keys__ <= found.keys() <= document.__annotations__.keys()


class Service(unittest.TestCase):
    def setUp(self):
        self.client = exitgap.Client(SERVICE)

    def refused(self, code, ask):
        with self.assertRaises(exitgap.ExitgapError) as refused:
            ask()
        self.assertEqual(refused.exception.code, code, refused.exception)
        return refused.exception

    def test_answers_are_the_services(self):
        client = self.client
        self.assertEqual(client.pools(), served("/v1/pools"))
        for found, target, document in [
            (client.exit(POOL, 25_000), f"/v1/exit/{POOL}?size_usd=25000", documents.PublishedExit),
            (client.exit(POOL, "25000", base="token1"), f"/v1/exit/{POOL}?size_usd=25000&base=token1", documents.PublishedExit),
            (client.ladder(POOL), f"/v1/ladder/{POOL}", documents.PublishedLadder),
            (client.max_size(POOL, 2), f"/v1/size/{POOL}?gap_pct=2", documents.PublishedMaxSize),
            (client.simulate(POOL, 25_000, 3), f"/v1/simulate/{POOL}?size_usd=25000&orders=3", documents.PublishedSimulation),
            (client.capabilities(), "/v1/capabilities", documents.Capabilities),
        ]:
            with self.subTest(target):
                self.assertEqual(without_age(found), without_age(served(target)))
                self.assertTrue(fits(found, document), sorted(found))
        self.assertTrue(fits(client.pools()["pools"][0], documents.PoolEntry))
        stress = client.read("readStress", POOL, size_usd=100_000)
        self.assertEqual(stress["slots_recorded"], SLOTS)
        slot = client.exit(POOL, 25_000)["method"]["depth_source"]["slot"]
        self.assertEqual(client.slot_status(POOL, slot)["state"], "recorded")

    def test_a_number_is_verified_in_one_call_and_remembered(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "seen.json"
            first = exitgap.Client(SERVICE, storage=path).estimate(POOL, 25_000)
            self.assertEqual((first["log"]["trust"], first["log"]["continuity"]), ("first_use", "first_seen"))
            self.assertEqual((first["report"]["verdict"], first["log"]["size"]), ("valid", SLOTS))
            self.assertEqual(without_age(first["exit"]), without_age(self.client.exit(POOL, 25_000)))
            self.assertEqual(exitgap.verify(first["evidence"], KEY)["verdict"], "valid")
            self.assertTrue(fits(first, documents.VerifiedExit) and fits(first["log"], documents.Log))
            kept = json.loads(path.read_text())
            self.assertTrue(all(isinstance(text, str) for text in kept.values()) and len(kept) == 2, kept)

            again = exitgap.Client(SERVICE, storage=str(path)).estimate(POOL, "25000", "token1")
            self.assertEqual((again["log"]["trust"], again["log"]["continuity"]), ("kept", "continues"))
            self.assertEqual(again["exit"]["base"], first["exit"]["quote"])
            named = exitgap.Client(SERVICE, KEY, path).estimate(POOL, 1000)
            self.assertEqual((named["log"]["trust"], named["log"]["keys"]), ("named", [KEY]))
            at = named["exit"]["window"]["from"]
            earlier = exitgap.Client(SERVICE, KEY).estimate(POOL, 1000, at=at)
            self.assertEqual(earlier["exit"]["method"]["depth_source"]["slot_time"], at)

            checked = exitgap.Client(SERVICE, storage=path).verify(first["exit"]["evidence_url"], window=True)
            self.assertEqual((checked["report"]["verdict"], checked["evidence"]), ("valid", first["evidence"]))

            # Another log of the same name was seen: whatever the service shows, it is not believed.
            name = next(name for name in kept if name.startswith("exitgap checkpoint "))
            path.write_text(json.dumps({**kept, name: kept[name].replace(f"\n{SLOTS}\n", f"\n{SLOTS + 1}\n")}))
            client = exitgap.Client(SERVICE, storage=path)
            self.refused("kept_unusable", lambda: client.estimate(POOL, 25_000))

    def test_a_client_without_a_file_remembers_as_long_as_it_lives(self):
        found = [self.client.estimate(POOL, 1000)["log"]["continuity"] for _ in range(2)]
        self.assertEqual(found, ["first_seen", "continues"])

    def test_another_key_is_not_trusted(self):
        name, _, rest = KEY.partition("+")
        other = (Path(exitgap.__file__).parent / "example" / "verifier-key").read_text()
        self.assertNotEqual((name, rest), tuple(other.partition("+")[::2]))
        error = self.refused("not_as_specified", lambda: exitgap.Client(SERVICE, other).estimate(POOL, 1000))
        self.assertIn("keys", error.hint)

    def test_evidence_and_snapshots_are_fetched_and_asked(self):
        answer = self.client.exit(POOL, 25_000)
        evidence = self.client.evidence(answer["evidence_url"])
        self.assertEqual(exitgap.verify(evidence, KEY)["verdict"], "valid")
        hash_ = answer["method"]["depth_source"]["snapshot_hash"]
        file = self.client.snapshot(hash_, pool=POOL)
        self.assertEqual(exitgap.snapshot_hash(file), hash_)
        found = exitgap.estimate(file, 25_000, answer["base"]["address"])
        for name in ("exit_gap_pct", "amount_in_raw", "amount_out_raw", "split", "oracle_price_usd"):
            self.assertEqual(found[name], answer[name])
        split = exitgap.best_split([file], 25_000, answer["base"]["address"])
        self.assertEqual(split["exit_gap_pct"], answer["exit_gap_pct"])

    def test_a_figure_is_computed_again(self):
        url = self.client.read("readMarketHours", POOL, size_usd=1000)["figure_url"]
        report = self.client.verify_figure(url, KEY)
        self.assertEqual(report["verdict"], "valid", report)
        file = self.client.figure(url)
        self.assertEqual(self.client.verify_figure(file, KEY), report)
        self.assertEqual(self.client.verify_figure(file.replace(b'"size_usd":"1000"', b'"size_usd":"1001"'), KEY)["verdict"], "invalid")

    def test_a_history_is_a_frame_of_what_the_service_says(self):
        page = served(f"/v1/history/{POOL}?size_usd=100000&interval=5m")
        frame = self.client.history(POOL, 100_000)
        rows = self.client.history_rows(POOL, 100_000)
        self.assertEqual(rows, page["rows"])
        self.assertEqual(self.client.history_rows(POOL, 100_000, order="desc"), rows[::-1])
        self.assertTrue(all(fits(row, documents.HistoryRow) for row in rows))
        self.assertEqual((len(frame), int(frame["slots_recorded"].sum())), (len(rows), SLOTS))
        self.assertIsInstance(frame.index, pandas.DatetimeIndex)
        self.assertEqual((frame.index.name, str(frame.index.tz)), ("time", "UTC"))
        for (time, line), row in zip(frame.iterrows(), rows, strict=True):
            self.assertEqual(time.strftime("%Y-%m-%dT%H:%M:%SZ"), row["time"])
            last = row["last"]
            self.assertEqual((line["exit_gap_pct"], line["slot"]), (last["exit_gap_pct"], last["slot"]))
            self.assertEqual(line["basis_pct"], row["last_basis_pct"])
            self.assertEqual(line["lowest_depth_usd"], row["lowest_depth"]["depth_usd"])
            self.assertEqual(line["lowest_depth_book_usd"], row["lowest_depth"]["book_usd"])
            self.assertEqual((line["state"], line["evidence_url"]), (row["state"], last["evidence_url"]))
            evidence = self.client.evidence(line["evidence_url"])
            self.assertEqual(exitgap.verify(evidence, KEY)["claim"]["slot"], line["slot"])
        self.assertTrue(frame["refusal"].isna().all() and frame["exit_gap_pct"].notna().all())
        self.assertEqual((frame.attrs["pool"], frame.attrs["base"]), (POOL, page["base"]))

        hourly = self.client.history(POOL, 100_000, "1h", base="token1")
        self.assertEqual(int(hourly["slots_recorded"].sum()), SLOTS)
        self.assertEqual(hourly.attrs["base"], "token1")
        start = datetime.fromisoformat(rows[1]["time"]).astimezone(timezone.utc)
        part = self.client.history(POOL, 100_000, start=start, end=rows[1]["time"])
        self.assertEqual(list(part.index), [frame.index[1]])

        # Of a size that the pool cannot fill each row says so, and what it could.
        refused = self.client.history(POOL, 500_000_000)
        self.assertEqual(set(refused["refusal"]), {"beyond_liquidity"})
        self.assertTrue(refused["exit_gap_pct"].isna().all() and (refused["max_fillable_usd"] > 0).all())
        self.assertEqual(int(refused["slots_refused"].sum()), SLOTS)

    def test_what_the_service_refuses_has_its_code(self):
        client = self.client
        for ask in (client.exit, client.estimate):
            error = self.refused("beyond_liquidity", lambda ask=ask: ask(POOL, 1_000_000_000))
            self.assertGreater(error.max_fillable_usd, 0)
            self.assertEqual(error.status, 422)
            proof = client.evidence(error.evidence_url)
            self.assertEqual(exitgap.verify(proof, KEY)["claim"]["refusal"], "beyond_liquidity")
        self.refused("unknown_pool", lambda: client.exit("anvil:0x" + "11" * 20, 1000))
        self.refused("unknown_base", lambda: client.exit(POOL, 1000, base="nothing"))
        self.refused("invalid_parameter", lambda: client.exit(POOL, 0))
        self.assertEqual(self.refused("invalid_parameter", lambda: client.exit(POOL, 1000, at="now")).field, "at")
        self.assertEqual(self.refused("invalid_parameter", lambda: client.history(POOL, 1000, "7m")).field, "interval")
        self.refused("period_reversed", lambda: client.history(POOL, 1000, start="2026-08-22T00:10:00Z", end="2026-08-22T00:05:00Z"))

    def test_the_pages_programs_run(self):
        for name in ("verified.py", "history.py"):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                ran = subprocess.run(
                    [sys.executable, "-I", "-c", programs()[name], SERVICE], cwd=folder, capture_output=True, text=True, check=False
                )
                self.assertEqual((ran.returncode, ran.stderr), (0, ""))
                self.assertIn("first_use" if name == "verified.py" else "exit_gap_pct", ran.stdout)


if __name__ == "__main__":
    unittest.main()
