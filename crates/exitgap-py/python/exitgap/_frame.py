"""A service's history as a frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ._error import ExitgapError

if TYPE_CHECKING:
    import pandas

#: The columns, and the place of each value in a row.
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
    "lowest_depth_book_usd": ("lowest_depth", "book_usd"),
    "lowest_depth_cause": ("lowest_depth", "depth_cause"),
    "slots_recorded": ("slots_recorded",),
    "slots_missing": ("slots_missing",),
    "slots_retracted": ("slots_retracted",),
    "slots_refused": ("slots_refused",),
    "evidence_url": ("last", "evidence_url"),
}

#: The columns of texts, and the columns of counts.
TEXTS = ("state", "missing_reason", "refusal", "lowest_depth_cause", "evidence_url")
COUNTS = ("slots_recorded", "slots_missing", "slots_retracted", "slots_refused")
#: Slot numbers, which a row may lack.
SLOTS = ("slot", "worst_slot")


def frame_of(of: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> pandas.DataFrame:
    """The frame of a history's rows, indexed by the time at which each begins."""
    try:
        import pandas
    except ImportError:
        hint = "run pip install 'exitgap[pandas]', or call history_rows(…), which needs no pandas"
        message = "history returns a pandas DataFrame, and pandas is not installed"
        raise ExitgapError("not_installed", message, hint=hint) from None
    try:
        columns = {name: _column(pandas, name, [_at(row, path) for row in rows]) for name, path in COLUMNS.items()}
        # The library's own date parser also accepts words such as "now".
        times = pandas.to_datetime([datetime.fromisoformat(row["time"]) for row in rows], utc=True)
        frame = pandas.DataFrame(columns, index=pandas.DatetimeIndex(times, name="time"))
    except (AttributeError, OverflowError, TypeError, ValueError) as error:
        raise ExitgapError("not_as_specified", f"the rows of the history cannot be made into a frame: {error}") from None
    frame.attrs.update({name: value for name, value in of.items() if name not in ("rows", "next_cursor")})
    return frame


def _column(pandas: Any, name: str, found: list[Any]) -> Any:
    """The values of a column, of one type even if rows lack some."""
    if name in SLOTS:
        return pandas.array(found, dtype="Int64")
    dtype = "object" if name in TEXTS else "int64" if name in COUNTS else "float64"
    return pandas.Series(found, dtype=dtype).array


def _at(row: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    found: Any = row
    for name in path:
        found = found.get(name) if found is not None else None
    return found
