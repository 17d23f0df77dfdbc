"""A service's history as a frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ._error import ExitgapError

if TYPE_CHECKING:
    import pandas

#: The columns, and where a row has what stands in them.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "state": ("state",),
    "missing_reason": ("missing_reason",),
    "slot": ("last", "slot"),
    "exit_gap_pct": ("last", "exit_gap_pct"),
    "refusal": ("last", "refusal"),
    "max_fillable_usd": ("last", "max_fillable_usd"),
    "basis_pct": ("last_basis_pct",),
    "worst_gap_pct": ("worst", "exit_gap_pct"),
    "worst_slot": ("worst", "slot"),
    "least_fillable_usd": ("least_fillable", "max_fillable_usd"),
    "lowest_depth_usd": ("lowest_depth", "depth_usd"),
    "slots_recorded": ("slots_recorded",),
    "slots_missing": ("slots_missing",),
    "slots_retracted": ("slots_retracted",),
    "slots_refused": ("slots_refused",),
    "evidence_url": ("last", "evidence_url"),
}

#: Those that hold texts, and those that hold counts.
TEXTS = ("state", "missing_reason", "refusal", "evidence_url")
COUNTS = ("slots_recorded", "slots_missing", "slots_retracted", "slots_refused")
#: Slots' numbers, which a row may be without.
SLOTS = ("slot", "worst_slot")


def frame_of(of: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> pandas.DataFrame:
    """The frame of a history's rows, by the time at which each begins."""
    try:
        import pandas
    except ImportError:
        hint = "pip install 'exitgap[pandas]', or ask for history_rows(…), which needs nothing"
        raise ExitgapError("not_installed", "history is a frame of pandas, which is not installed", hint=hint) from None
    try:
        columns = {name: _column(pandas, name, [_at(row, path) for row in rows]) for name, path in COLUMNS.items()}
        # The library's own reader of dates takes words such as "now", too.
        times = pandas.to_datetime([datetime.fromisoformat(row["time"]) for row in rows], utc=True)
        frame = pandas.DataFrame(columns, index=pandas.DatetimeIndex(times, name="time"))
    except (AttributeError, OverflowError, TypeError, ValueError) as error:
        raise ExitgapError("not_as_specified", f"the rows of the history make no frame: {error}") from None
    frame.attrs.update({name: value for name, value in of.items() if name not in ("rows", "next_cursor")})
    return frame


def _column(pandas: Any, name: str, found: list[Any]) -> Any:
    """What stands in a column, of one type whatever its rows lack."""
    if name in SLOTS:
        return pandas.array(found, dtype="Int64")
    dtype = "object" if name in TEXTS else "int64" if name in COUNTS else "float64"
    return pandas.Series(found, dtype=dtype).array


def _at(row: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    found: Any = row
    for name in path:
        found = found.get(name) if found is not None else None
    return found
