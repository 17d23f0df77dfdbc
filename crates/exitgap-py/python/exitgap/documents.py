"""The documents that this package returns, as types: dicts with the service's own field names.

A ``NotRequired`` field is absent if it does not apply. A gap is percent: positive if the fill is worse than the oracle,
negative if it is better. USD amounts, prices and percentages are numbers; raw amounts of tokens are strings. A newer
service may have more fields.
"""

from typing import Any, Literal, NotRequired, TypedDict

Verdict = Literal["valid", "invalid", "incomplete"]
Outcome = Literal["pass", "fail", "not_checked"]
Status = Literal["live", "preview"]


class Problem(TypedDict):
    """A refusal as a document."""

    code: str
    detail: str
    field: NotRequired[str]
    hint: NotRequired[str]
    reason: NotRequired[str]
    max_fillable_usd: NotRequired[float]
    evidence_url: NotRequired[str]


class Token(TypedDict):
    """A token as its contract describes it; any contract can choose any symbol."""

    address: str
    symbol: str
    decimals: int


#: Instants of the first and the last slot, RFC 3339.
Period = TypedDict("Period", {"from": str, "to": str})


class Window(Period):
    """The slots that a result is computed from."""

    slots_recorded: int
    slots_missing: int


class DepthSource(TypedDict):
    """The block behind a result, and the slot if it was recorded."""

    kind: Literal["recorded_snapshot", "latest_block", "snapshot_file"]
    chain: str
    genesis_hash: NotRequired[str]
    protocol: str
    block_number: int
    block_hash: str
    block_time: str
    slot: NotRequired[int]
    slot_time: NotRequired[str]
    snapshot_hash: NotRequired[str]
    newer_slots_missing: NotRequired[int]


class Oracle(TypedDict):
    """One oracle answer behind a result."""

    role: str
    source: str
    feed: NotRequired[str]
    answer_raw: str
    decimals: int
    age_s: NotRequired[int]
    stale: bool


class Method(TypedDict):
    """The method behind a result."""

    assumed_size_usd: NotRequired[float]
    depth_source: DepthSource
    oracles: list[Oracle]


class Context(TypedDict):
    """The fields of every result in addition to its own figures."""

    pool: str
    #: ``preview``: do not rely on it.
    status: Status
    #: The token sold, and the token bought.
    base: Token
    quote: Token
    #: Venue and fee in words.
    name: str
    venue: NotRequired[str]
    fee_pct: NotRequired[float]
    #: USD per whole base token, according to the oracle.
    oracle_price_usd: float
    oracle_stale: bool
    oracle_state: Literal["fresh", "held_over_close", "stale"]
    market_open: bool
    session_note: str
    #: Recorded slots ÷ 288.
    days_observed: NotRequired[float]
    window: NotRequired[Window]
    method_version: str
    method: Method


class Split(TypedDict):
    """The parts of a gap, percent: ``1 − gap = (1 − basis) × (1 − fee) × (1 − impact)``."""

    basis_pct: float
    fee_pct: float
    impact_pct: float


class Amounts(TypedDict):
    """The figures of one exit."""

    #: USD.
    size_usd: float
    #: Percent. Positive: the fill is worse than the oracle.
    exit_gap_pct: float
    split: Split
    #: USD per whole base token: of the fill, mid before the exit, and of the next unit with its fee.
    realized_price_usd: float
    mid_price_usd: float
    marginal_price_usd: float
    #: Raw units sold, and bought.
    amount_in_raw: str
    amount_out_raw: str
    ticks_crossed: NotRequired[int]


class ExitResult(Context, Amounts):
    """The fill of a sale of a size."""


class Depth(TypedDict):
    """The largest exit within a gap, if it was found."""

    gap_limit_pct: float
    #: USD; 0 if no size passes.
    max_size_usd: NotRequired[float]
    max_amount_in_raw: NotRequired[str]
    max_amount_out_raw: NotRequired[str]
    limited_by: NotRequired[Literal["gap", "liquidity", "size_bound"]]
    exit: NotRequired[Amounts]
    problem: NotRequired[Problem]
    worse_below_usd: NotRequired[float]
    evidence_url: NotRequired[str]


class Slippage(TypedDict):
    """The fill of a size, or why it cannot be filled."""

    size_usd: float
    exit: NotRequired[Amounts]
    problem: NotRequired[Problem]
    worse_below_usd: NotRequired[float]
    evidence_url: NotRequired[str]


class Rows(TypedDict):
    """A ladder's rows, ascending."""

    by_gap: list[Depth]
    by_size: list[Slippage]


class Ladder(Context, Rows):
    """Depth by gap, slippage by size."""


class MaxSizeResult(Context, Depth):
    """The largest sale within a gap."""


class OrderFill(TypedDict):
    """One order, counted from 1."""

    order: int
    amount_in_raw: str
    amount_out_raw: str
    exit_gap_pct: float


class AtOnce(TypedDict):
    """The same size sold at once: one of the two."""

    exit: NotRequired[Amounts]
    problem: NotRequired[Problem]


class Orders(TypedDict):
    """An exit in several orders, compared with the same exit at once."""

    size_usd: float
    orders: int
    recovery_pct: float
    interval_s: int
    #: Of all orders together, percent.
    exit_gap_pct: float
    amount_in_raw: str
    amount_out_raw: str
    fills: list[OrderFill]
    at_once: AtOnce


class SimulationResult(Context, Orders):
    """One sale in several orders."""


class SplitLeg(TypedDict):
    """The part sold in one venue, as a separate sale."""

    pool: str
    name: str
    base: Literal["token0", "token1"]
    quote: Token
    size_usd: float
    exit_gap_pct: float
    amount_in_raw: str
    amount_out_raw: str
    fixed_cost_usd: float
    evidence_url: NotRequired[str]


class SplitAlone(TypedDict):
    """A whole exit in one venue; ``exit_gap_pct`` is ``None`` if it does not fill, and ``code`` gives the reason."""

    pool: str
    name: str
    exit_gap_pct: float | None
    code: NotRequired[str]
    max_fillable_usd: NotRequired[float]
    evidence_url: NotRequired[str]
    snapshot_hash: NotRequired[str]


class SplitLeftOut(TypedDict):
    """A venue that the split does not use."""

    pool: str
    code: str
    detail: str


class BestSplit(TypedDict):
    """One exit split exactly over venues."""

    size_usd: float
    status: Status
    #: Over all legs and their fixed costs, percent.
    exit_gap_pct: float
    #: No other split is better by more, percent; ``None`` if a venue that is left out is better alone.
    optimality_gap_pct: float | None
    amount_in_raw: str
    fixed_cost_usd: float
    legs: list[SplitLeg]
    alone: list[SplitAlone]
    left_out: list[SplitLeftOut]
    method_version: str


class Check(TypedDict):
    """One check: ``format``, ``snapshot``, ``head``, ``slot_leaf``, ``inclusion``, ``signature``, ``consistency``,
    ``window``, ``slot_rule`` and ``result`` for evidence."""

    name: str
    outcome: Outcome
    #: ``ok``, or what failed or was absent; ``unsupported_…`` if a newer version made it.
    code: str
    expected: str
    found: str


class Claim(TypedDict):
    """The claims of an evidence file; none of them is checked."""

    pool: str
    slot: int
    slot_time: NotRequired[str]
    base: str
    size_usd: str
    exit_gap_pct: NotRequired[str]
    refusal: NotRequired[str]
    status: NotRequired[str]
    genesis_hash: NotRequired[str]


class Contradiction(TypedDict):
    """Two signed checkpoints that cannot both be states of one log; ``fork`` is a file that ``exitgap verify`` reads."""

    checkpoints: list[str]
    proves: str
    fork: NotRequired[str]


class VerificationReport(TypedDict):
    """The result of verifying an evidence file."""

    claim: NotRequired[Claim]
    verdict: Verdict
    checks: list[Check]
    unknown_signers: list[str]
    unknown_commits: list[str]
    unknown_facts: list[str]
    contradiction: NotRequired[Contradiction]


class Cosigned(TypedDict):
    """A witness that cosigned, and the Unix second of its signature."""

    witness: str
    key: str
    time_s: int


class WitnessCheck(Check):
    """The result of checking a checkpoint against a policy's witnesses."""

    recorded_before_s: NotRequired[int]
    cosigned: list[Cosigned]


class FigureReport(TypedDict):
    """The result of verifying a figure file."""

    verdict: Verdict
    checks: list[Check]


class Recomputation(TypedDict):
    """A recomputed result or refusal, with the published one: numbers are strings, percentages with six decimals."""

    request: dict[str, Any]
    computed: dict[str, Any]
    published: dict[str, Any]
    agrees: bool


class Publication(TypedDict):
    """The fields that a service adds to an answer."""

    lowest_depth_7d_usd: NotRequired[float]
    snapshot_age_s: int
    evidence_url: NotRequired[str]
    snapshot_url: str
    window_url: str
    newer_heads_url: NotRequired[str]


class PublishedExit(ExitResult, Publication):
    """``GET /v1/exit/{pool}``."""


class PublishedLadder(Ladder, Publication):
    """``GET /v1/ladder/{pool}``."""


class PublishedMaxSize(Context, Depth):
    """``GET /v1/size/{pool}``."""

    lowest_depth_7d_usd: NotRequired[float]
    snapshot_age_s: int
    snapshot_url: str
    window_url: str
    newer_heads_url: NotRequired[str]


class PublishedSimulation(SimulationResult, Publication):
    """``GET /v1/simulate/{pool}``."""


class Log(TypedDict):
    """The state of a service's log."""

    origin: str
    #: The number of slots in its newest checkpoint.
    size: int
    #: The source of the log's key.
    trust: Literal["named", "kept", "first_use"]
    continuity: Literal["first_seen", "continues", "not_compared", "contradicts"]
    keys: list[str]
    #: The newest checkpoint, a signed note.
    checkpoint: str


class VerifiedEvidence(TypedDict):
    """Verified evidence, and the state of its log."""

    report: VerificationReport
    log: Log
    evidence: bytes


class VerifiedExit(VerifiedEvidence):
    """An exit whose evidence passed every check."""

    exit: PublishedExit


class PoolEntry(TypedDict):
    """One recorded pool. Some fields are absent before its first snapshot."""

    pool: str
    chain: str
    status: NotRequired[Status]
    base: NotRequired[Token]
    quote: NotRequired[Token]
    name: NotRequired[str]
    venue: NotRequired[str]
    fee_pct: NotRequired[float]
    series_start: str
    days_observed: float
    slots_recorded: int
    slots_missing: int
    last_slot: str
    last_slot_missing: NotRequired[str]


class PoolList(TypedDict):
    """All recorded pools."""

    pools: list[PoolEntry]
    next_cursor: NotRequired[str]


class SlotStatus(TypedDict):
    """The status of a slot since it was sealed."""

    pool: str
    slot: int
    slot_time: str
    state: Literal["recorded", "missing", "retracted", "retired"]
    missing_reason: NotRequired[str]
    retraction: NotRequired[dict[str, Any]]
    doubted_by_slot: NotRequired[int]


class GapPoint(TypedDict):
    """The gap of one slot, or the reason why it has none."""

    slot: int
    time: str
    exit_gap_pct: NotRequired[float]
    refusal: NotRequired[str]
    max_fillable_usd: NotRequired[float]
    evidence_url: NotRequired[str]


class FillablePoint(TypedDict):
    """The largest size that could be filled in a slot, USD."""

    slot: int
    time: str
    max_fillable_usd: float


class DepthPoint(TypedDict):
    """The depth of a slot at 2%, USD."""

    slot: int
    time: str
    depth_usd: float
    window_url: str


class HistoryRow(TypedDict):
    """One row of a history."""

    time: str
    state: NotRequired[Literal["recorded", "missing", "retracted", "retired"]]
    missing_reason: NotRequired[str]
    slots_recorded: int
    slots_missing: int
    slots_retracted: int
    last: NotRequired[GapPoint]
    last_basis_pct: NotRequired[float]
    worst: NotRequired[GapPoint]
    slots_refused: int
    least_fillable: NotRequired[FillablePoint]
    lowest_depth: NotRequired[DepthPoint]


class History(Period):
    """A page of ``GET /v1/history/{pool}``."""

    pool: str
    status: Status
    base: Literal["token0", "token1"]
    size_usd: float
    days_observed: float
    method_version: str
    method: dict[str, Any]
    interval: Literal["5m", "1h", "1d"]
    evidence_url: NotRequired[str]
    rows: list[HistoryRow]
    next_cursor: NotRequired[str]


class Capabilities(TypedDict):
    """The capabilities of a deployment."""

    #: The address of evidence and log, if it is a different one.
    web_url: NotRequired[str]
    recording: bool
    pages: bool
    chains: list[dict[str, Any]]
    capabilities: list[dict[str, Any]]
