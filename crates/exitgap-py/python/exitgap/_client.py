"""Questions to a service."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

from . import _exitgap
from ._asked import (
    LIMITS,
    LONG,
    DecimalInput,
    Document,
    asked,
    content,
    decimal,
    document,
    kind,
    maybe,
    parsed,
    several,
    text,
    whole,
    wrong,
)
from ._error import ExitgapError
from ._frame import frame_of

if TYPE_CHECKING:
    import pandas

    from .documents import (
        Capabilities,
        FigureReport,
        History,
        HistoryRow,
        PoolList,
        PublishedExit,
        PublishedLadder,
        PublishedMaxSize,
        PublishedSimulation,
        SlotStatus,
        VerifiedEvidence,
        VerifiedExit,
    )

#: The most rows of a history: ten years of slots.
MOST_ROWS = 1_100_000
#: The most rows of a page.
PAGE = 1_000


class Client:
    """A service, asked over HTTP.

    ``url``: where it is, such as ``https://exitgap.example``. ``keys``: verifier keys of its log that you trust; without
    any, those that ``storage`` keeps since an earlier visit, else the service's own on first use, which ``log["trust"]``
    then says. ``storage``: the path of a JSON file in which ``estimate`` and ``verify`` keep what they saw of the log, so
    that a history that was rewritten since is noticed; ``None``: in memory, as long as the client lives. The npm package's
    ``fileStorage`` reads the same file. ``timeout_s``: how long one request may take. ``retries``: how often one is
    repeated where that may help. ``web_url``: where evidence and log are, unless the service says so.

    It may be asked from several threads; other threads run while it waits, and Ctrl-C ends the wait. After a fork, make
    another. Only ``estimate``, ``verify``, ``verify_figure`` and ``snapshot`` check what they are told.
    """

    __slots__ = ("_service", "_url")

    def __init__(
        self,
        url: str,
        keys: str | Iterable[str] | None = None,
        storage: str | os.PathLike[str] | None = None,
        *,
        timeout_s: float = 30.0,
        retries: int = 2,
        web_url: str | None = None,
    ) -> None:
        self._url = text(url, "url", LONG)
        web = None if web_url is None else text(web_url, "web_url", LONG)
        if storage is not None and (isinstance(storage, bytes) or not isinstance(storage, (str, os.PathLike))):
            raise wrong("storage", f"{kind(storage)} is no path of a file")
        path = None if storage is None else text(os.fspath(storage), "storage", 4096)
        if path is not None and ("\0" in path or not path):
            raise wrong("storage", "it is no path of a file")
        if isinstance(timeout_s, bool) or not isinstance(timeout_s, (int, float)) or not 0 < timeout_s <= 86_400:
            raise wrong("timeout_s", "it is no number of seconds, above 0 and at most a day's")
        names = several(keys, "keys", text)
        self._service: _exitgap.Service = asked(
            _exitgap.Service, self._url, web, names, path, float(timeout_s), whole(retries, "retries", 10)
        )

    def __repr__(self) -> str:
        return f"exitgap.Client({self._url!r})"

    def pools(self, *, chain: str | None = None, cursor: str | None = None) -> PoolList:
        """The monitored pools, ``{"pools": […]}``: each with its id (``pool``), its tokens (``base``, ``quote``), its
        ``name`` and how long its series is (``days_observed``). ``next_cursor`` begins another page, where there is one."""
        found = self.read("listPools", chain=maybe(chain, "chain"), cursor=maybe(cursor, "cursor"))
        return cast("PoolList", found)

    def exit(
        self, pool: str, size_usd: DecimalInput, *, base: str | None = None, at: str | datetime | None = None
    ) -> PublishedExit:
        """What a sale of ``size_usd`` USD fills at, as the service says; ``estimate`` verifies it, too. ``exit_gap_pct`` is
        positive where the fill is worse than the oracle. ``base``: the token sold, the pool's default unless told. ``at``:
        the slot at or before this instant; the newest unless told."""
        size = decimal(size_usd, "size_usd")
        return cast("PublishedExit", self._of(pool, "estimateExit", base, at, size_usd=size))

    def ladder(self, pool: str, *, base: str | None = None, at: str | datetime | None = None) -> PublishedLadder:
        """Depth by gap (``by_gap``), slippage by size (``by_size``), as the service says."""
        return cast("PublishedLadder", self._of(pool, "readLadder", base, at))

    def max_size(
        self, pool: str, gap_pct: DecimalInput, *, base: str | None = None, at: str | datetime | None = None
    ) -> PublishedMaxSize:
        """The largest sale whose gap is at most ``gap_pct`` percent, as the service says: ``max_size_usd``."""
        gap = decimal(gap_pct, "gap_pct")
        return cast("PublishedMaxSize", self._of(pool, "maxExitSize", base, at, gap_pct=gap))

    def simulate(
        self,
        pool: str,
        size_usd: DecimalInput,
        orders: int,
        *,
        recovery_pct: DecimalInput = 0,
        interval_s: int = 0,
        base: str | None = None,
        at: str | datetime | None = None,
    ) -> PublishedSimulation:
        """One sale in several orders, beside the same sale at once, as the service says."""
        of = {
            "size_usd": decimal(size_usd, "size_usd"),
            "orders": whole(orders, "orders"),
            "recovery_pct": decimal(recovery_pct, "recovery_pct"),
            "interval_s": whole(interval_s, "interval_s"),
        }
        return cast("PublishedSimulation", self._of(pool, "simulateOrders", base, at, **of))

    def slot_status(self, pool: str, slot: int) -> SlotStatus:
        """What became of a slot since it was sealed: whether it was taken back."""
        number = whole(slot, "slot")
        return cast("SlotStatus", self.read("readSlotStatus", text(pool, "pool"), slot=number))

    def capabilities(self) -> Capabilities:
        """What this deployment can do."""
        return cast("Capabilities", self.read("listCapabilities"))

    def read(self, operation: str, *named: str, **parameters: object) -> Any:
        """Any other document of the service, by its operation's id in ``/docs`` there, such as
        ``client.read("readStress", pool, size_usd=100_000)``: ``named`` is what varies of its path, in order. What is
        ``None`` is left out; a list gives a parameter several times. ``from_`` stands for ``from``."""
        given: list[tuple[str, str]] = []
        for name, value in parameters.items():
            for one in value if isinstance(value, (list, tuple)) else [value]:
                if one is not None:
                    given.append((name.removesuffix("_"), _parameter(one, name)))
        parts = [text(part, "operation", LONG) for part in named]
        return document(self._service.read, text(operation, "operation"), parts, given)

    def estimate(
        self, pool: str, size_usd: DecimalInput, base: str | None = None, at: str | datetime | None = None
    ) -> VerifiedExit:
        """From a pool to a verified number, in one call.

        Asks what a sale of ``size_usd`` USD fills at, computes the answer again here from the snapshot that it names,
        fetches its evidence, makes every check, and holds its log against what ``storage`` keeps of it. What is not proven
        is raised: ``not_proven``, with the ``report``.

        Answers ``exit`` (the service's answer; ``exit["exit_gap_pct"]`` is positive where the fill is worse than the
        oracle), ``report`` (every check), ``evidence`` (the file that proves it, bytes) and ``log``: its ``origin``,
        ``size`` and newest signed ``checkpoint``; ``trust``, whose word it is that the key is the log's (``named``: yours,
        ``kept``: an earlier visit's, ``first_use``: the service's just now); ``continuity``, ``first_seen`` or
        ``continues``.
        """
        size, instant = decimal(size_usd, "size_usd"), _instant(at, "at")
        found, evidence = asked(
            self._service.estimate, text(pool, "pool"), size, maybe(base, "base"), instant
        )
        return cast("VerifiedExit", {**parsed(found), "evidence": evidence})

    def verify(self, evidence_url: str, *, window: bool = False) -> VerifiedEvidence:
        """Fetches the evidence at an ``evidence_url``, requires that it is of the question that the address asks, and
        verifies it against the log as it was seen before. Answers ``report``, ``log`` and ``evidence`` as ``estimate``
        does, whatever the verdict. ``window``: requires that the pool's heads bear out its seven-day figures, too."""
        url = text(evidence_url, "evidence_url", LONG)
        found, evidence = asked(self._service.verify, url, bool(window))
        return cast("VerifiedEvidence", {**parsed(found), "evidence": evidence})

    def evidence(self, url: str) -> bytes:
        """The evidence file at an ``evidence_url``: bytes, not verified. ``exitgap.verify`` takes them."""
        found: bytes = asked(self._service.evidence, text(url, "evidence_url", LONG))
        return found

    def snapshot(self, snapshot_hash: str, *, pool: str | None = None) -> bytes:
        """The snapshot of this name (``method.depth_source.snapshot_hash`` of an answer) with the state that it names,
        both hashes checked here: a file for ``exitgap.Snapshot``. A contract of more than two tokens has one snapshot for
        all its pools: ``pool`` says which of them the file is asked about."""
        name = text(snapshot_hash, "snapshot_hash")
        found: bytes = asked(self._service.snapshot, name, maybe(pool, "pool"), called={"hash": "snapshot_hash"})
        return found

    def figure(self, figure_url: str) -> bytes:
        """The figure file at a ``figure_url``: bytes, not verified."""
        url = text(figure_url, "figure_url", 65_536)
        found: bytes = asked(self._service.figure, url)
        return found

    def verify_figure(self, figure: Document, keys: str | Iterable[str] = ()) -> FigureReport:
        """Whether a figure drawn from many snapshots follows from them: each is fetched and hashed, and the figure
        computed again here. ``figure``: a ``figure_url`` of the service, or the file. Keys as in ``exitgap.verify``."""
        names = several(keys, "keys", text)
        if isinstance(figure, str) and figure.startswith(("http://", "https://")):
            figure = self.figure(figure)
        file = content(figure, "figure", LIMITS["figure"])
        found: FigureReport = document(self._service.verify_figure, file, names)
        return found

    def history(
        self,
        pool: str,
        size_usd: DecimalInput,
        interval: str = "5m",
        base: str | None = None,
        start: str | datetime | None = None,
        end: str | datetime | None = None,
    ) -> pandas.DataFrame:
        """A pool's recorded series as a DataFrame, one row for each ``interval`` (``5m``, ``1h``, ``1d``), indexed by the
        UTC ``time`` at which it begins. No slot is left out: one without a snapshot is a row whose figures are NaN.

        ``exit_gap_pct``: the gap of the row's last recorded slot, percent, positive where the fill is worse than the
        oracle; NaN where the size has none, and ``refusal`` says why, ``max_fillable_usd`` what could be filled.
        ``basis_pct``: how far the pool's mid price lay below the oracle then. ``worst_gap_pct``: the widest gap of the row,
        in ``worst_slot``. ``least_fillable_usd``: the least that could be filled where the size was refused.
        ``lowest_depth_usd``: the lowest depth at 2 %, USD. ``slots_recorded``, ``slots_missing``, ``slots_retracted``,
        ``slots_refused``: counts. ``evidence_url``: what anyone can check the gap with. ``state`` and ``missing_reason``
        are of rows of one slot. ``frame.attrs`` says what the series is of.

        ``start`` and ``end`` are RFC 3339 texts or datetimes with a time zone; the whole series unless told. A size that is
        not 1,000, 10,000, 100,000 or 1,000,000 is computed from snapshots, of at most seven days.
        """
        pages = list(self._pages(pool, size_usd, interval, base, start, end))
        return frame_of(pages[0], [row for page in pages for row in page["rows"]])

    def history_rows(
        self,
        pool: str,
        size_usd: DecimalInput,
        interval: str = "5m",
        base: str | None = None,
        start: str | datetime | None = None,
        end: str | datetime | None = None,
    ) -> list[HistoryRow]:
        """The same as the service's own rows, a list of dicts; needs no pandas."""
        return [row for page in self._pages(pool, size_usd, interval, base, start, end) for row in page["rows"]]

    def _of(self, pool: str, operation: str, base: str | None, at: str | datetime | None, **of: object) -> Any:
        parameters = {**of, "base": maybe(base, "base"), "at": _instant(at, "at")}
        return self.read(operation, text(pool, "pool"), **parameters)

    def _pages(
        self,
        pool: str,
        size_usd: DecimalInput,
        interval: str,
        base: str | None,
        start: str | datetime | None,
        end: str | datetime | None,
    ) -> Iterator[History]:
        """All pages. Each is required to be of what was asked, and to go on where the one before it ended."""
        size = decimal(size_usd, "size_usd")
        asked_for = {
            "size_usd": size,
            "interval": text(interval, "interval"),
            "base": maybe(base, "base"),
            "from": _instant(start, "start"),
            "to": _instant(end, "end"),
            "limit": PAGE,
        }
        name, cursor, count, last = text(pool, "pool").lower(), None, 0, ""
        while True:
            try:
                page: History = self.read("readHistory", name, cursor=cursor, **asked_for)
            except ExitgapError as error:
                error.field = {"from": "start", "to": "end"}.get(error.field or "", error.field)
                raise
            _require(page, name, size, interval, base)
            yield page
            times = [last, *(row["time"] for row in page["rows"])]
            cursor, count, last = page.get("next_cursor"), count + len(page["rows"]), times[-1]
            if any(earlier >= later for earlier, later in zip(times, times[1:])):
                raise ExitgapError("not_as_specified", "the rows of the history are not in the order of their times")
            if cursor is None:
                return
            if len(times) == 1 or count > MOST_ROWS:
                hint = "ask for a shorter period, or longer intervals"
                raise ExitgapError("answer_too_large", f"more than {MOST_ROWS} rows, or a page without any", hint=hint)


def _require(page: Any, pool: str, size: str, interval: str, base: str | None) -> None:
    """Requires that a page answers the question asked."""
    try:
        same = (
            page["pool"] == pool
            and Decimal(str(page["size_usd"])) == Decimal(size)
            and page["interval"] == interval
            and (base not in ("token0", "token1") or page["base"] == base)
            and all(isinstance(row["time"], str) for row in page["rows"])
        )
    except (ArithmeticError, KeyError, TypeError) as error:
        raise ExitgapError("not_as_specified", f"the answer is no page of a history: {error!r}") from None
    if not same:
        raise ExitgapError("not_as_specified", "the answer is the history of something else than was asked for")


def _parameter(value: object, name: str) -> str:
    """A parameter as an address has it."""
    if isinstance(value, datetime):
        return cast(str, _instant(value, name))
    return text(value, name, LONG) if isinstance(value, str) else decimal(value, name)


def _instant(value: str | datetime | None, field: str) -> str | None:
    """An instant as RFC 3339 has it, whole seconds of UTC."""
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            raise wrong(field, "a datetime without a time zone is no instant", "datetime(…, tzinfo=timezone.utc)")
        return value.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return maybe(value, field)
