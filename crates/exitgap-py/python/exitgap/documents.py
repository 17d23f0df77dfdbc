"""The documents that this package answers with, as types: dicts, named as the service names their fields.

What is ``NotRequired`` is absent or ``None`` if there is no value. A gap is percent: positive if the fill is worse than the
oracle, negative if it is better. USD amounts, prices and percentages are numbers; raw amounts of tokens are texts. A newer
service may have more fields.
"""

from typing import Any, Literal, NotRequired, TypedDict

from ._documents import *  # noqa: F403
from ._documents import (
    Answer_Amounts,
    Answer_GapRung,
    Answer_LadderRows,
    Answer_Simulation,
    GapRung,
    OracleDisclosure,
    Published_Amounts,
    Published_GapRung,
    Published_LadderRows,
    Published_Simulation,
    SizeRung,
    SplitPct,
    TokenLabel,
)

Verdict = Literal["valid", "invalid", "incomplete"]
Outcome = Literal["pass", "fail", "not_checked"]

#: A token as its contract describes itself; any contract may choose any symbol.
Token = TokenLabel
#: One oracle answer behind a result.
Oracle = OracleDisclosure
#: What a gap is made of, percent.
Split = SplitPct
#: The largest exit within a gap, if it was found.
Depth = GapRung
#: What a size fills at, or why it cannot be filled.
Slippage = SizeRung

ExitResult = Answer_Amounts
Ladder = Answer_LadderRows
MaxSizeResult = Answer_GapRung
SimulationResult = Answer_Simulation
PublishedExit = Published_Amounts
PublishedLadder = Published_LadderRows
PublishedMaxSize = Published_GapRung
PublishedSimulation = Published_Simulation


class Check(TypedDict):
    """One check: ``format``, ``snapshot``, ``head``, ``slot_leaf``, ``inclusion``, ``signature``, ``consistency``,
    ``window``, ``slot_rule`` and ``result`` of evidence."""

    name: str
    outcome: Outcome
    #: ``ok``, or what failed or was absent; ``unsupported_…`` where a newer version made it.
    code: str
    expected: str
    found: str


class Claim(TypedDict):
    """What an evidence file says about itself; nothing is checked."""

    pool: str
    slot: int
    slot_time: NotRequired[str]
    base: str
    size_usd: str
    exit_gap_pct: NotRequired[str]
    refusal: NotRequired[str]
    status: NotRequired[str]
    chain: NotRequired[str]
    genesis_hash: NotRequired[str]


class Contradiction(TypedDict):
    """Two signed checkpoints that cannot both be states of one log; ``fork`` is a file that ``exitgap verify`` reads."""

    checkpoints: list[str]
    proves: str
    fork: NotRequired[str]


class VerificationReport(TypedDict):
    """What verifying an evidence file found."""

    claim: NotRequired[Claim]
    verdict: Verdict
    checks: list[Check]
    unknown_signers: list[str]
    unknown_commits: list[str]
    unknown_facts: list[str]
    contradiction: NotRequired[Contradiction]


class Cosigned(TypedDict):
    """A witness that cosigned, and the Unix second that it names."""

    witness: str
    key: str
    time_s: int


class WitnessCheck(Check):
    """What the witnesses of a policy say of a checkpoint."""

    recorded_before_s: NotRequired[int]
    cosigned: list[Cosigned]


class FigureVenue(TypedDict):
    """A pool of a figure, and the token sold there."""

    pool: str
    base: NotRequired[str]


class FigureClaim(TypedDict):
    """What a figure file states that it is of; only the checks show whether that holds."""

    figure: str
    venues: list[FigureVenue]
    first_slot: NotRequired[int]
    first_slot_time: NotRequired[str]
    last_slot: NotRequired[int]
    last_slot_time: NotRequired[str]
    log: NotRequired[str]
    status: NotRequired[str]


class FigureReport(TypedDict):
    """What verifying a figure file found."""

    claim: NotRequired[FigureClaim]
    verdict: Verdict
    checks: list[Check]


class Recomputation(TypedDict):
    """A result or refusal recomputed, next to the published one: numbers are texts, percentages with six decimals."""

    request: dict[str, Any]
    computed: dict[str, Any]
    published: dict[str, Any]
    agrees: bool


class Log(TypedDict):
    """What a service's log was found to be."""

    origin: str
    #: How many slots its newest checkpoint has.
    size: int
    #: Whose word it is that the key is the log's.
    trust: Literal["named", "kept", "first_use"]
    continuity: Literal["first_seen", "continues", "not_compared", "contradicts"]
    keys: list[str]
    #: The newest checkpoint, a signed note.
    checkpoint: str


class VerifiedEvidence(TypedDict):
    """Evidence that was looked at, and what its log was found to be."""

    report: VerificationReport
    log: Log
    evidence: bytes


class VerifiedExit(VerifiedEvidence):
    """An exit whose evidence passed every check."""

    exit: PublishedExit
