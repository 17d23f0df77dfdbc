"""The client before services that fail or lie, and before wrong arguments."""

import json
import os
import signal
import sys
import tempfile
import threading
import time
import unittest
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from unittest import mock

import exitgap

from here import EXAMPLE

KEY = (EXAMPLE / "verifier-key").read_text()
POOL = "anvil:0x" + "aa" * 20


class Liar:
    """A service that answers what it is told to: status, body, and how long that takes."""

    def __init__(self, answer):
        self.asked = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.asked.append(self.path)
                status, body, seconds = answer(self.path)
                time.sleep(seconds)
                try:
                    self.send_response(status)
                    self.send_header("content-length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    pass

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def row(minute):
    time_ = f"2026-08-22T00:{minute:02}:00Z"
    return {"time": time_, "slots_recorded": 1, "slots_missing": 0, "slots_retracted": 0, "slots_refused": 0}


def page(rows, **more):
    of = {"pool": POOL, "status": "preview", "base": "token0", "size_usd": 1000, "days_observed": 0.01}
    return {**of, "interval": "5m", "rows": rows, **more}


class Lies(unittest.TestCase):
    def refused(self, code, field, ask):
        with self.assertRaises(exitgap.ExitgapError) as refused:
            ask()
        error = refused.exception
        self.assertEqual((error.code, error.field), (code, field), error)
        return error

    def history_of(self, *pages):
        """What comes of a history of these pages, asked for one after the other."""
        left = list(pages)
        with Liar(lambda _: (200, json.dumps(left.pop(0)).encode(), 0)) as liar:
            return exitgap.Client(liar.url).history_rows(POOL, 1000)

    def test_answers_that_are_none_are_not_handed_on(self):
        deep = b"[" * 100_000
        for status, body, code in [
            (200, b"", "not_as_specified"),
            (200, b"<html>", "not_as_specified"),
            (200, b"\xff", "not_as_specified"),
            (200, b"{}{}", "not_as_specified"),
            (200, b"NaN", "not_as_specified"),
            (200, deep + b"]" * 100_000, "not_as_specified"),
            (200, deep, "not_as_specified"),
            (200, b"1" * 5000, "not_as_specified"),
            (200, b" " * (5 << 20), "answer_too_large"),
            (302, b"", "not_as_specified"),
            (404, b"{}", "not_as_specified"),
            (500, b"no", "not_as_specified"),
            (404, b'{"code":"newer_code","status":404,"detail":"no","hint":"h","field":"f"}', "newer_code"),
        ]:
            with self.subTest(body[:20], status=status), Liar(lambda _: (status, body, 0)) as liar:
                client = exitgap.Client(liar.url, retries=0)
                error = self.refused(code, "f" if code == "newer_code" else None, client.pools)
                self.assertEqual(error.status, status if code == "newer_code" else None)

    def test_nothing_that_answers_nothing_is_waited_for_for_ever(self):
        with Liar(lambda _: (200, b"{}", 5)) as liar:
            client = exitgap.Client(liar.url, retries=0, timeout_s=0.3)
            begun = time.monotonic()
            self.refused("timed_out", None, client.pools)
            self.assertLess(time.monotonic() - begun, 3)
        self.refused("unreachable", None, exitgap.Client("http://127.0.0.1:9", retries=0).pools)

    def test_other_threads_run_while_it_waits_and_an_interruption_ends_the_wait(self):
        with Liar(lambda _: (200, b"{}", 20)) as liar:
            client, counted = exitgap.Client(liar.url, retries=0), []
            threading.Thread(target=lambda: [counted.append(time.sleep(0.01)) for _ in range(30)], daemon=True).start()
            threading.Timer(0.6, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            begun = time.monotonic()
            with self.assertRaises(KeyboardInterrupt):
                client.pools()
            self.assertLess(time.monotonic() - begun, 5)
            self.assertEqual(len(counted), 30)

    def test_several_threads_may_ask_one_client(self):
        with Liar(lambda _: (200, b'{"pools":[]}', 0.2)) as liar:
            client, found = exitgap.Client(liar.url), []
            threads = [threading.Thread(target=lambda: found.append(client.pools())) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(found, [{"pools": []}] * 8)

    @unittest.skipUnless(hasattr(os, "fork"), "no forks here")
    def test_a_fork_is_told_to_make_its_own(self):
        client = exitgap.Client("http://127.0.0.1:9")
        child = os.fork()
        if child == 0:
            try:
                client.pools()
            except exitgap.ExitgapError as error:
                os._exit(7 if error.code == "forked" else 8)
            os._exit(9)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)

    def test_a_history_is_of_what_was_asked_for_and_goes_on(self):
        whole = self.history_of(page([row(0), row(5)], next_cursor="a"), page([row(10)]))
        self.assertEqual([one["time"][14:16] for one in whole], ["00", "05", "10"])
        for pages, code in [
            ([page([row(0)], pool="anvil:0x" + "bb" * 20)], "not_as_specified"),
            ([page([row(0)], size_usd=1001)], "not_as_specified"),
            ([page([row(0)], interval="1h")], "not_as_specified"),
            ([page([{"slots_recorded": 1}])], "not_as_specified"),
            ([page([{**row(0), "time": 7}])], "not_as_specified"),
            ([page(None)], "not_as_specified"),
            ([[]], "not_as_specified"),
            ([page([row(5), row(0)])], "not_as_specified"),
            ([page([row(0)], order="desc")], "not_as_specified"),
            ([page([row(0)], next_cursor="a"), page([row(0)], next_cursor="a")], "not_as_specified"),
            ([page([row(0)], next_cursor="a"), page([], next_cursor="b")], "answer_too_large"),
        ]:
            with self.subTest(pages):
                self.refused(code, None, lambda pages=pages: self.history_of(*pages))

    def test_a_frame_needs_pandas_and_says_so(self):
        with Liar(lambda _: (200, json.dumps(page([row(0)])).encode(), 0)) as liar, mock.patch.dict(sys.modules, {"pandas": None}):
            client = exitgap.Client(liar.url)
            error = self.refused("not_installed", None, lambda: client.history(POOL, 1000))
            self.assertIn("history_rows", error.hint)
            self.assertEqual(len(client.history_rows(POOL, 1000)), 1)

    def test_a_frame_without_rows_has_its_columns(self):
        with Liar(lambda _: (200, json.dumps(page([])).encode(), 0)) as liar:
            frame = exitgap.Client(liar.url).history(POOL, 1000)
        self.assertEqual((len(frame), frame.index.name, str(frame.index.tz)), (0, "time", "UTC"))
        self.assertIn("exit_gap_pct", frame.columns)

    def test_rows_that_make_no_frame_are_not_handed_on(self):
        for wrong in ({"slots_recorded": "x"}, {"last": 7}, {"last": {"slot": "x"}}, {"time": "now"}, {"last_basis_pct": {}}):
            with self.subTest(wrong), Liar(lambda _: (200, json.dumps(page([{**row(0), **wrong}])).encode(), 0)) as liar:
                client = exitgap.Client(liar.url)
                self.refused("not_as_specified", None, lambda client=client: client.history(POOL, 1000))

    def test_what_was_kept_and_cannot_be_read_is_no_first_visit(self):
        with tempfile.TemporaryDirectory() as folder, Liar(lambda _: (404, b"{}", 0)) as liar:
            path = Path(folder) / "seen.json"
            for garbage in (b"", b"{", b"[]", b'{"a":1}', b"\xff", b'{"a":"' + b"x" * (1 << 20) + b'"}'):
                path.write_bytes(garbage)
                client = exitgap.Client(liar.url, storage=path)
                error = self.refused("kept_unusable", None, lambda client=client: client.estimate(POOL, 1000))
                self.assertIn("seen.json", error.message)
                self.assertEqual(path.read_bytes(), garbage)
            self.assertEqual(liar.asked, [])
            client = exitgap.Client(liar.url, storage=folder)
            self.refused("kept_unusable", None, lambda: client.estimate(POOL, 1000))


class Arguments(unittest.TestCase):
    def refused(self, code, field, ask):
        with self.assertRaises(exitgap.ExitgapError) as refused:
            ask()
        self.assertEqual((refused.exception.code, refused.exception.field), (code, field), refused.exception)
        return refused.exception

    def test_a_client_is_made_of_what_it_is_told_to_be_made_of(self):
        make = exitgap.Client
        for url in (None, 7, "", "exitgap.example", "ftp://a", "http://", "http://a b", "http://u:p@a", "http://a?b", "x" * 3000):
            self.refused("invalid_parameter", "url", lambda url=url: make(url))
        self.refused("invalid_parameter", "web_url", lambda: make("http://a", web_url="a"))
        for keys in (7, ["x"], [b"x"]):
            self.refused("invalid_parameter", "keys", lambda keys=keys: make("http://a", keys))
        for storage in (7, b"a", "", "a\0b", "x" * 5000):
            self.refused("invalid_parameter", "storage", lambda storage=storage: make("http://a", storage=storage))
        for timeout in (0, -1, float("nan"), float("inf"), "1", None, True):
            self.refused("invalid_parameter", "timeout_s", lambda timeout=timeout: make("http://a", timeout_s=timeout))
        for retries in (-1, 11, 1.0, None):
            self.refused("invalid_parameter", "retries", lambda retries=retries: make("http://a", retries=retries))
        self.assertEqual(repr(make("http://a", KEY)), "exitgap.Client('http://a')")

    def test_questions_are_refused_before_anything_is_asked(self):
        client = exitgap.Client("http://127.0.0.1:9", retries=0)
        for pool in (None, 7, "x" * 2000):
            self.refused("invalid_parameter", "pool", lambda pool=pool: client.estimate(pool, 1000))
            self.refused("invalid_parameter", "pool", lambda pool=pool: client.history(pool, 1000))
        for pool in ("", "a", "../../x", "anvil:0x12", POOL + "/x", POOL + "?a"):
            for ask in (client.exit, client.estimate, client.history_rows):
                self.refused("invalid_pool", "pool", lambda ask=ask, pool=pool: ask(pool, 1000))
        for size in (None, [], b"1", float("nan")):
            for ask in (client.exit, client.estimate, client.history_rows):
                self.refused("invalid_parameter", "size_usd", lambda ask=ask, size=size: ask(POOL, size))
        self.refused("invalid_parameter", "size_usd", lambda: client.estimate(POOL, 0))
        self.refused("invalid_parameter", "base", lambda: client.exit(POOL, 1000, base=7))
        self.refused("invalid_parameter", "at", lambda: client.exit(POOL, 1000, at=datetime(2026, 8, 22)))
        self.refused("invalid_parameter", "start", lambda: client.history_rows(POOL, 1000, start=7))
        for url in ("", "a", "http://a/b", "http://a/api/v1/exit/x"):
            self.refused("invalid_parameter", "evidence_url", lambda url=url: client.evidence(url))
            self.refused("invalid_parameter", "evidence_url", lambda url=url: client.verify(url))
            self.refused("invalid_parameter", "figure_url", lambda url=url: client.figure(url))
        self.refused("invalid_parameter", "snapshot_hash", lambda: client.snapshot("0x12"))
        error = self.refused("invalid_parameter", "operation", lambda: client.read("readNothing"))
        self.assertIn("readStress", error.hint)
        self.refused("invalid_parameter", "operation", lambda: client.read("keepAlert"))
        self.refused("invalid_parameter", "operation", lambda: client.read("readStress"))
        self.refused("unknown_parameter", "sizes", lambda: client.read("readStress", POOL, sizes=1))
        self.refused("invalid_parameter", "token", lambda: client.read("compareRoutes", "base", "../x", size_usd=1))

    def test_what_is_asked_is_what_was_meant(self):
        with Liar(lambda _: (200, b"{}", 0)) as liar:
            client = exitgap.Client(liar.url + "/")
            zone = timezone(timedelta(hours=2))
            client.exit(POOL.upper().replace("ANVIL:0X", "anvil:0x"), 250_000.5, base="WETH & co", at=datetime(2026, 8, 22, 2, tzinfo=zone))
            client.read("readStress", POOL, size_usd=1000, from_="2026-08-22T00:00:00Z", limit_pct=None)
            client.read("scorePortfolio", position=["a:1", "b:2"])
            client.read("compareRoutes", "base", "0x" + "cc" * 20, size_usd="5")
        self.assertEqual(
            liar.asked,
            [
                f"/v1/exit/{POOL}?size_usd=250000.5&base=WETH+%26+co&at=2026-08-22T00%3A00%3A00Z",
                f"/v1/stress/{POOL}?size_usd=1000&from=2026-08-22T00%3A00%3A00Z",
                "/v1/portfolio?position=a%3A1&position=b%3A2",
                f"/v1/routes/base/0x{'cc' * 20}?size_usd=5",
            ],
        )


if __name__ == "__main__":
    unittest.main()
