"""How far below the oracle price a sale into a liquidity pool fills: exact, and verified on your machine.

>>> import exitgap
>>> client = exitgap.Client("https://exitgap.example", storage="seen.json")
>>> found = client.estimate("ethereum:0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640", 250_000)
>>> found["exit"]["exit_gap_pct"], found["log"]["trust"]

``exit_gap_pct`` is ``100 × (1 − realized price ÷ oracle price)``, percent. **Positive: the fill is worse than the oracle.
Negative: better.** Sizes are USD at the oracle price. Documents are the service's own, as dicts. USD amounts, prices and
percentages are numbers of at most fifteen digits, so ``Decimal(str(number))`` is exactly the decimal that was written. Raw
amounts of tokens are strings. Every error is an ``ExitgapError`` with a stable ``code``.

``verify``, ``recompute``, ``estimate``, ``ladder`` and the other functions need no network. They are the service's own Rust
code, and compute the same bits.
"""

from ._client import Client
from ._error import ExitgapError
from ._exitgap import VERSION as __version__
from ._files import (
    Snapshot,
    best_split,
    estimate,
    ladder,
    max_size_for,
    recompute,
    simulate,
    snapshot_hash,
    verify,
    witnessed,
)

__all__ = [
    "Client",
    "ExitgapError",
    "Snapshot",
    "__version__",
    "best_split",
    "estimate",
    "ladder",
    "max_size_for",
    "recompute",
    "simulate",
    "snapshot_hash",
    "verify",
    "witnessed",
]
