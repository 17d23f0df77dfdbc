"""Requests to a service."""

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

#: The maximum number of rows of a history: ten years of slots.
MOST_ROWS = 1_100_000
#: The maximum number of rows of a page.
PAGE = 1_000


class Client:
    """A client for a service, over HTTP.

    ``url``: its address, such as ``https://exitgap.example``. ``keys``: verifier keys of its log that you trust. Without
    any, the client uses the keys in ``storage`` from an earlier visit, or otherwise the service's own on first use;
    ``log["trust"]`` shows which. ``storage``: the path of a JSON file in which ``estimate`` and ``verify`` keep the state of
    the log that they saw, so that a history that was rewritten since is detected; ``None``: in memory, as long as the client
    exists. The npm package's ``fileStorage`` reads the same file. ``timeout_s``: how long one request may take.
    ``retries``: how often a request is repeated if that may help. ``web_url``: the address of evidence and log, unless the
    service names it.

    Several threads may share a client. Other threads run while it waits, and Ctrl-C ends the wait. After a fork, create a
    new client. Only ``estimate``, ``verify``, ``verify_figure`` and ``snapshot`` verify the answers they receive.
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
            raise wrong("storage", f"{kind(storage)} is not a file path")
        path = None if storage is None else text(os.fspath(storage), "storage", 4096)
        if path is not None and ("\0" in path or not path):
            raise wrong("storage", "it is not a file path")
        if isinstance(timeout_s, bool) or not isinstance(timeout_s, (int, float)) or not 0 < timeout_s <= 86_400:
            raise wrong("timeout_s", "it is not a number of seconds above 0 and at most 86400")
        names = several(keys, "keys", text)
        self._service: _exitgap.Service = asked(
            _exitgap.Service, self._url, web, names, path, float(timeout_s), whole(retries, "retries", 10)
        )

    def __repr__(self) -> str:
        return f"exitgap.Client({self._url!r})"

    def pools(self, *, chain: str | None = None, cursor: str | None = None) -> PoolList:
        """The recorded pools, ``{"pools": […]}``: each with its id (``pool``), its tokens (``base``, ``quote``), its
        ``name`` and the length of its series (``days_observed``). ``next_cursor`` starts the next page, if there is one."""
        found = self.read("listPools", chain=maybe(chain, "chain"), cursor=maybe(cursor, "cursor"))
        return cast("PoolList", found)

    def exit(
        self, pool: str, size_usd: DecimalInput, *, base: str | None = None, at: str | datetime | None = None
    ) -> PublishedExit:
        """The fill of a sale of ``size_usd`` USD, according to the service; ``estimate`` also verifies it. ``exit_gap_pct``
        is positive if the fill is worse than the oracle. ``base``: the token sold; default: the pool's default. ``at``:
        the slot at or before this instant; default: the newest."""
        size = decimal(size_usd, "size_usd")
        return cast("PublishedExit", self._of(pool, "estimateExit", base, at, size_usd=size))

    def ladder(self, pool: str, *, base: str | None = None, at: str | datetime | None = None) -> PublishedLadder:
        """Depth by gap (``by_gap``), slippage by size (``by_size``), according to the service."""
        return cast("PublishedLadder", self._of(pool, "readLadder", base, at))

    def max_size(
        self, pool: str, gap_pct: DecimalInput, *, base: str | None = None, at: str | datetime | None = None
    ) -> PublishedMaxSize:
        """The largest sale whose gap is at most ``gap_pct`` percent, according to the service: ``max_size_usd``."""
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
        """One sale in several orders, compared with the same sale at once, according to the service."""
        of = {
            "size_usd": decimal(size_usd, "size_usd"),
            "orders": whole(orders, "orders"),
            "recovery_pct": decimal(recovery_pct, "recovery_pct"),
            "interval_s": whole(interval_s, "interval_s"),
        }
        return cast("PublishedSimulation", self._of(pool, "simulateOrders", base, at, **of))

    def slot_status(self, pool: str, slot: int) -> SlotStatus:
        """The status of a slot since it was sealed: whether it was retracted."""
        number = whole(slot, "slot")
        return cast("SlotStatus", self.read("readSlotStatus", text(pool, "pool"), slot=number))

    def capabilities(self) -> Capabilities:
        """The capabilities of this deployment."""
        return cast("Capabilities", self.read("listCapabilities"))

    def read(self, operation: str, *named: str, **parameters: object) -> Any:
        """Any other document of the service, by its operation's id in the service's ``/docs``, such as
        ``client.read("readStress", pool, size_usd=100_000)``. ``named`` are the variable parts of its path, in order. A
        parameter that is ``None`` is left out. A list repeats a parameter. Write ``from_`` for ``from``."""
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

        Requests the fill of a sale of ``size_usd`` USD, recomputes the answer locally from the snapshot that it names,
        downloads its evidence, makes every check, and compares its log with the state in ``storage``. An answer that is not
        proven is raised as an error: ``not_proven``, with the ``report``.

        Returns ``exit`` (the service's answer; ``exit["exit_gap_pct"]`` is positive if the fill is worse than the
        oracle), ``report`` (every check), ``evidence`` (the file that proves it, bytes) and ``log``: its ``origin``,
        ``size`` and newest signed ``checkpoint``; ``trust``, the source of the log's key (``named``: yours,
        ``kept``: an earlier visit, ``first_use``: the service, just now); ``continuity``, ``first_seen`` or
        ``continues``.
        """
        size, instant = decimal(size_usd, "size_usd"), _instant(at, "at")
        found, evidence = asked(
            self._service.estimate, text(pool, "pool"), size, maybe(base, "base"), instant
        )
        return cast("VerifiedExit", {**parsed(found), "evidence": evidence})

    def verify(self, evidence_url: str, *, window: bool = False) -> VerifiedEvidence:
        """Downloads the evidence at an ``evidence_url``, requires that it answers the question in the address, and
        verifies it against the state of the log that was seen before. Returns ``report``, ``log`` and ``evidence`` as
        ``estimate`` does, with any verdict. ``window``: also requires that the pool's heads confirm its seven-day figures."""
        url = text(evidence_url, "evidence_url", LONG)
        found, evidence = asked(self._service.verify, url, bool(window))
        return cast("VerifiedEvidence", {**parsed(found), "evidence": evidence})

    def evidence(self, url: str) -> bytes:
        """The evidence file at an ``evidence_url``: bytes, not verified. ``exitgap.verify`` takes them."""
        found: bytes = asked(self._service.evidence, text(url, "evidence_url", LONG))
        return found

    def snapshot(self, snapshot_hash: str, *, pool: str | None = None) -> bytes:
        """The snapshot with this hash (``method.depth_source.snapshot_hash`` of an answer) and the state that it names,
        both hashes checked locally: a file for ``exitgap.Snapshot``. A contract with more than two tokens has one snapshot
        for all its pools: ``pool`` selects one of them."""
        name = text(snapshot_hash, "snapshot_hash")
        found: bytes = asked(self._service.snapshot, name, maybe(pool, "pool"), called={"hash": "snapshot_hash"})
        return found

    def figure(self, figure_url: str) -> bytes:
        """The figure file at a ``figure_url``: bytes, not verified."""
        url = text(figure_url, "figure_url", 65_536)
        found: bytes = asked(self._service.figure, url)
        return found

    def verify_figure(self, figure: Document, keys: str | Iterable[str] = ()) -> FigureReport:
        """Whether a figure computed from many snapshots follows from them: each is downloaded and hashed, and the figure is
        recomputed locally. ``figure``: a ``figure_url`` of the service, or the file. Keys as in ``exitgap.verify``."""
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
        UTC ``time`` at which it begins. No slot is left out: a slot without a snapshot is a row with NaN values.

        ``exit_gap_pct``: the gap of the row's last recorded slot, percent, positive if the fill is worse than the
        oracle; NaN if the size has no gap, with the reason in ``refusal`` and the fillable size in ``max_fillable_usd``.
        ``basis_pct``: how far the pool's mid price was below the oracle in that slot. ``worst_gap_pct``: the widest gap of
        the row, in ``worst_slot``. ``least_fillable_usd``: the smallest fillable size among the slots that refused the size.
        ``lowest_depth_usd``: the lowest depth at 2%, USD. ``lowest_depth_book_usd``: in the same slot, from the pool's own
        price. ``lowest_depth_cause``: why the first is low, ``oracle_led`` or ``thin_book``. ``slots_recorded``,
        ``slots_missing``, ``slots_retracted``, ``slots_refused``: counts. ``evidence_url``: the evidence of the gap. ``state`` and ``missing_reason``
        belong to rows of one slot. ``frame.attrs`` describes the series.

        ``start`` and ``end`` are RFC 3339 texts or datetimes with a time zone; default: the whole series. A size that is
        not 1,000, 10,000, 100,000 or 1,000,000 is computed from snapshots, for at most seven days.
        """
        pages = list(self._pages(pool, size_usd, interval, base, start, end, "asc"))
        return frame_of(pages[0], [row for page in pages for row in page["rows"]])

    def history_rows(
        self,
        pool: str,
        size_usd: DecimalInput,
        interval: str = "5m",
        base: str | None = None,
        start: str | datetime | None = None,
        end: str | datetime | None = None,
        order: str = "asc",
    ) -> list[HistoryRow]:
        """The same as the service's own rows, a list of dicts; needs no pandas. With the ``order`` ``desc``, the newest
        row comes first."""
        pages = self._pages(pool, size_usd, interval, base, start, end, order)
        return [row for page in pages for row in page["rows"]]

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
        order: str,
    ) -> Iterator[History]:
        """All pages. Each must answer the request, and continue where the page before it ended."""
        size = decimal(size_usd, "size_usd")
        asked_for = {
            "size_usd": size,
            "interval": text(interval, "interval"),
            "base": maybe(base, "base"),
            "from": _instant(start, "start"),
            "to": _instant(end, "end"),
            "limit": PAGE,
            # A service of an earlier version knows ascending rows only, and refuses the parameter.
            "order": None if text(order, "order") == "asc" else order,
        }
        name, cursor, count, last = text(pool, "pool").lower(), None, 0, list[str]()
        while True:
            try:
                page: History = self.read("readHistory", name, cursor=cursor, **asked_for)
            except ExitgapError as error:
                error.field = {"from": "start", "to": "end"}.get(error.field or "", error.field)
                raise
            _require(page, name, size, interval, base, order)
            yield page
            times = [*last, *(row["time"] for row in page["rows"])]
            cursor, count, last = page.get("next_cursor"), count + len(page["rows"]), times[-1:]
            in_time = times if order == "asc" else times[::-1]
            if any(earlier >= later for earlier, later in zip(in_time, in_time[1:])):
                raise ExitgapError("not_as_specified", "the rows of the history are not in order of time")
            if cursor is None:
                return
            if not page["rows"] or count > MOST_ROWS:
                hint = "request a shorter period, or longer intervals"
                message = f"the history has more than {MOST_ROWS} rows, or a page without rows"
                raise ExitgapError("answer_too_large", message, hint=hint)


def _require(page: Any, pool: str, size: str, interval: str, base: str | None, order: str) -> None:
    """Requires that a page answers the request."""
    try:
        same = (
            page["pool"] == pool
            and Decimal(str(page["size_usd"])) == Decimal(size)
            and page["interval"] == interval
            and page.get("order", "asc") == order
            and (base not in ("token0", "token1") or page["base"] == base)
            and all(isinstance(row["time"], str) for row in page["rows"])
        )
    except (ArithmeticError, KeyError, TypeError) as error:
        raise ExitgapError("not_as_specified", f"the answer is not a page of a history: {error!r}") from None
    if not same:
        raise ExitgapError("not_as_specified", "the answer is not the requested history")


def _parameter(value: object, name: str) -> str:
    """A parameter in the form of an address."""
    if isinstance(value, datetime):
        return cast(str, _instant(value, name))
    return text(value, name, LONG) if isinstance(value, str) else decimal(value, name)


def _instant(value: str | datetime | None, field: str) -> str | None:
    """An instant in RFC 3339 form, whole seconds of UTC."""
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            raise wrong(field, "a datetime needs a time zone", "pass datetime(…, tzinfo=timezone.utc)")
        return value.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return maybe(value, field)
