"""Functions on files: evidence and snapshots."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from . import _exitgap
from ._asked import (
    LIMITS,
    MANY,
    DecimalInput,
    Document,
    asked,
    base_of,
    content,
    decimal,
    document,
    several,
    text,
    whole,
    wrong,
)

if TYPE_CHECKING:
    from .documents import (
        BestSplit,
        ExitResult,
        Ladder,
        MaxSizeResult,
        Recomputation,
        SimulationResult,
        VerificationReport,
        WitnessCheck,
    )


def verify(
    evidence: Document,
    keys: str | Iterable[str] = (),
    window: Document | None = None,
    *,
    seen: tuple[str, Sequence[str]] | None = None,
) -> VerificationReport:
    """Whether an evidence file proves its number, check by check. Needs no network and no clock.

    ``keys``: verifier keys that you trust, ``<origin>+<8 hex digits>+<base64>``; without one the verdict is
    ``incomplete``. ``window``: the pool's heads up to the slot, which confirm its seven-day figures. ``seen``: the note of
    a checkpoint of the same log that you saw before, and the RFC 6962 consistency proof between the two, hashes in
    base64; ``Client`` does this automatically.

    Never raises for the content of a file: its report names the failed check. ``verdict`` is ``valid``, ``invalid`` or
    ``incomplete``; each of ``checks`` has ``name``, ``outcome`` (``pass``, ``fail``, ``not_checked``), ``code``,
    ``expected`` and ``found``. *Valid* means that the number follows from a log that one of your keys signed. It does not
    mean that the chain was in that state, or that you would fill at this number now.
    """
    before = None
    if seen is not None:
        if not isinstance(seen, tuple) or len(seen) != 2:
            raise wrong("seen", "it is not a pair of a note and a proof")
        before = (text(seen[0], "seen", LIMITS["text"]), several(seen[1], "seen", text))
    heads = None if window is None else content(window, "window", LIMITS["window"])
    file = content(evidence, "evidence", LIMITS["evidence"])
    report: VerificationReport = document(_exitgap.verify, file, several(keys, "keys", text), before, heads)
    return report


def witnessed(evidence: Document, policy: Document, *, now_s: float | None = None) -> WitnessCheck:
    """Whether the witnesses that you trust cosigned the checkpoint of a file, and before when it existed.

    ``policy``: lines such as ``witness <name> <key>``, ``group <name> 2 <name> <name>`` and ``quorum <name>``. ``now_s``:
    the current Unix second, by default the system's; a later cosignature does not count. The log's own signatures are
    not checked unless the policy names logs; ``verify`` does that.
    """
    now = time.time() if now_s is None else now_s
    if isinstance(now, bool) or not isinstance(now, (int, float)) or not 0 <= now < 2**53:
        raise wrong("now_s", "it is not a number of seconds since 1970")
    file = content(evidence, "evidence", LIMITS["evidence"])
    trusted = content(policy, "policy", LIMITS["text"])
    check: WitnessCheck = document(_exitgap.witnessed, file, trusted, float(int(now)))
    return check


def recompute(evidence: Document) -> Recomputation:
    """The result of an evidence file, or its refusal, recomputed from its own snapshot, together with the published one.

    ``computed`` and ``published`` have numbers as strings, percentages with all six decimals. ``agrees`` shows whether the
    two are the same. This checks no hash and no signature.
    """
    file = content(evidence, "evidence", LIMITS["evidence"])
    found: Recomputation = document(_exitgap.recompute, file)
    return found


def snapshot_hash(snapshot: Document) -> str:
    """The hash of a snapshot, which is its name: ``0x`` and the SHA-256 of its bytes. Refuses a file whose state is not
    the one that its snapshot names."""
    name: str = asked(_exitgap.snapshot_hash, content(snapshot, "snapshot", LIMITS["snapshot_file"]))
    return name


class Snapshot:
    """A snapshot, parsed once and used often.

    Takes a snapshot file, ``{"snapshot": …, "state": …}``, from ``Client.snapshot`` or ``exitgap snapshot``, or an
    evidence file, which has both. A snapshot does not state which token its pool sells by default, so every method needs
    a ``base``: ``token0``, ``token1``, a symbol or an address.

    A gap is ``100 × (1 − realized price ÷ oracle price)``, percent. **Positive: the fill is worse than the oracle.
    Negative: better.** Sizes are USD at the oracle price. Amounts in raw units are strings.
    """

    __slots__ = ("_opened",)

    def __init__(self, snapshot: Document) -> None:
        file = content(snapshot, "snapshot", LIMITS["snapshot_file"])
        self._opened: _exitgap.Opened = asked(_exitgap.Opened, file)

    def estimate(self, size_usd: DecimalInput, base: str) -> ExitResult:
        """The fill of a sale of ``size_usd``: ``exit_gap_pct``, and its parts in ``split``. Sizes are 0.01 to
        1,000,000,000 USD, with at most six decimals. A size that the pool cannot fill is refused: ``beyond_liquidity``, with
        ``max_fillable_usd``."""
        size = decimal(size_usd, "size_usd")
        found: ExitResult = document(self._opened.estimate, base_of(base), size)
        return found

    def ladder(
        self,
        base: str,
        *,
        gaps: Iterable[DecimalInput] = (),
        sizes_usd: Iterable[DecimalInput] = (),
    ) -> Ladder:
        """Depth by gap (``by_gap``) and slippage by size (``by_size``), by default at the standard steps: ``gaps`` in
        percent, ``sizes_usd`` in USD."""
        limits, sizes = several(gaps, "gaps", decimal), several(sizes_usd, "sizes_usd", decimal)
        called = {"gap": "gaps", "size_usd": "sizes_usd"}
        found: Ladder = document(self._opened.ladder, base_of(base), limits, sizes, called=called)
        return found

    def max_size_for(self, gap_pct: DecimalInput, base: str) -> MaxSizeResult:
        """The largest sale whose gap is at most ``gap_pct`` (-100 to 100): ``max_size_usd``, 0 if no size passes, and
        the limiting factor, ``limited_by``."""
        limit = decimal(gap_pct, "gap_pct")
        called = {"gap": "gap_pct"}
        found: MaxSizeResult = document(self._opened.max_size_for, base_of(base), limit, called=called)
        return found

    def simulate(
        self,
        size_usd: DecimalInput,
        orders: int,
        base: str,
        *,
        recovery_pct: DecimalInput = 0,
        interval_s: int = 0,
    ) -> SimulationResult:
        """One sale in 1 to 1,000 orders, compared with the same sale at once. ``recovery_pct``: the share of its displacement
        that √price is assumed to recover between two orders; an assumption, not a forecast. ``interval_s`` is only echoed."""
        found: SimulationResult = document(
            self._opened.simulate_orders,
            base_of(base),
            decimal(size_usd, "size_usd"),
            whole(orders, "orders"),
            decimal(recovery_pct, "recovery_pct"),
            whole(interval_s, "interval_s"),
        )
        return found

    def fill(self, amount_in_raw: int | str, base: str) -> int:
        """What the pool's contract pays for an amount in raw units of ``base``, to the unit, in raw units of the other token."""
        amount = _raw(amount_in_raw)
        parts: list[int] = asked(
            self._opened.fill, base_of(base), [amount >> shift & 2**64 - 1 for shift in (0, 64, 128, 192)]
        )
        return sum(part << 64 * place for place, part in enumerate(parts))


def _raw(value: int | str) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 78:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**256:
        raise wrong("amount_in_raw", "it is not a whole number of raw units below 2^256")
    return value


def _opened(snapshot: Document | Snapshot) -> Snapshot:
    return snapshot if isinstance(snapshot, Snapshot) else Snapshot(snapshot)


def estimate(snapshot: Document | Snapshot, size_usd: DecimalInput, base: str) -> ExitResult:
    """The fill of a sale; see ``Snapshot.estimate``."""
    return _opened(snapshot).estimate(size_usd, base)


def ladder(
    snapshot: Document | Snapshot,
    base: str,
    *,
    gaps: Iterable[DecimalInput] = (),
    sizes_usd: Iterable[DecimalInput] = (),
) -> Ladder:
    """Depth by gap, slippage by size; see ``Snapshot.ladder``."""
    return _opened(snapshot).ladder(base, gaps=gaps, sizes_usd=sizes_usd)


def max_size_for(snapshot: Document | Snapshot, gap_pct: DecimalInput, base: str) -> MaxSizeResult:
    """The largest sale within a gap; see ``Snapshot.max_size_for``."""
    return _opened(snapshot).max_size_for(gap_pct, base)


def simulate(
    snapshot: Document | Snapshot,
    size_usd: DecimalInput,
    orders: int,
    base: str,
    *,
    recovery_pct: DecimalInput = 0,
    interval_s: int = 0,
) -> SimulationResult:
    """One sale in several orders; see ``Snapshot.simulate``."""
    opened = _opened(snapshot)
    return opened.simulate(size_usd, orders, base, recovery_pct=recovery_pct, interval_s=interval_s)


def best_split(
    snapshots: Iterable[Document | Snapshot],
    size_usd: DecimalInput,
    base: str,
    *,
    fixed_costs_usd: Iterable[DecimalInput] = (),
) -> BestSplit:
    """One exit split exactly over the venues of one slot. Each of ``legs`` is a separate sale, no venue alone is
    better, and ``optimality_gap_pct`` bounds how much better any other split over them could be.

    ``fixed_costs_usd``: the extra cost of using each venue, in the order of the snapshots, or empty.
    """
    if isinstance(snapshots, (str, bytes, bytearray, memoryview)) or not isinstance(snapshots, Iterable):
        raise wrong("snapshots", "it is not a list of snapshots")
    opened: list[_exitgap.Opened] = []
    for one in snapshots:
        if len(opened) == MANY:
            raise wrong("snapshots", f"more than {MANY}")
        opened.append(_opened(one)._opened)
    costs = several(fixed_costs_usd, "fixed_costs_usd", decimal)
    size = decimal(size_usd, "size_usd")
    found: BestSplit = document(_exitgap.best_split, opened, base_of(base), costs, size)
    return found
