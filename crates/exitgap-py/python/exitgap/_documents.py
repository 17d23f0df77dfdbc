# Made by `cargo xtask generate` from crates/exitgap-server/docs/openapi.json. Do not edit.
"""The documents of a service, as types: dictionaries, named as the service names their fields.

What is ``NotRequired`` is absent or ``None`` if there is no value. Numbers of USD, prices and percentages are floats; raw
amounts of tokens are texts. A newer service may have more fields.
"""

# ruff: noqa: E501
from typing import Any, Literal, NotRequired, TypedDict


class AccuracyErrors(TypedDict):
    """Errors of many swaps, percent: the realised gap less the estimated one. **Positive: reality was worse.**"""

    #: The median without the sign.
    abs_error_pct_q50: NotRequired[float | None]
    #: Nineteen of twenty did not exceed it.
    abs_error_pct_q95: NotRequired[float | None]
    #: Of them estimated to the unit.
    exact_n: int
    #: The mean, with its sign.
    mean_error_pct: NotRequired[float | None]
    #: Swaps compared.
    n: int
    #: The most that reality was worse.
    worst_pct: NotRequired[float | None]


class AccuracyByAge(AccuracyErrors):
    """Errors by the age of the estimate."""

    #: How many slots older than the newest one before the swap.
    older_slots: int


class AccuracyBySize(AccuracyErrors):
    """Errors by size and direction, of estimates of the newest slot before."""

    #: `token0` or `token1`: the token sold.
    base: str
    #: From so many USD on, up to ten times as many.
    from_usd: int


class AccuracyFlagged(TypedDict):
    """Compared swaps around which something stood. They are compared like all others."""

    #: In their block liquidity of one owner came into a range before them and left it after them.
    jit: int
    #: Their transaction swapped in the pool more than once.
    same_tx: int
    #: In their block somebody swapped before them, and the other way after them, near by.
    sandwich_suspected: int


class AccuracyNotCompared(TypedDict):
    """Swaps that were not compared, by why not."""

    #: The slot's pool does not take so much.
    estimate_refused: int
    #: The logs between two slots, replayed, did not give the later state.
    fills_incomplete: int
    #: The error is out of a percentage's bounds.
    out_of_range: int
    #: Both tokens went in, or out.
    two_sided: int
    #: Nothing went in, or nothing came out.
    zero: int


class AccuracySwap(TypedDict):
    """A swap, and what was estimated of it."""

    #: Sold, raw units.
    amount_in_raw: str
    #: Received, raw units.
    amount_out_raw: str
    #: `token0` or `token1`: the token sold.
    base: str
    #: Its block's number.
    block: int
    #: By how much farther it did. Positive: reality was worse.
    error_pct: float
    #: How far below the oracle it was estimated to fill, percent.
    estimated_gap_pct: float
    #: Estimated, raw units.
    estimated_out_raw: str
    #: What stood around it: `same_tx`, `jit`, `sandwich_suspected`.
    flags: NotRequired[list[str]]
    #: Its log's place in the block.
    log_index: int
    #: What it was worth at the slot's oracle price, USD.
    size_usd: float
    #: The slot of the estimate.
    slot: int
    #: Its transaction, `0x` and 64 hexadecimal digits.
    transaction: str


#: Whether a figure may be relied on.
Status = Literal["live", "preview"]


#: Every swap of a pool between two recorded slots.
AccuracyRecord = TypedDict(
    "AccuracyRecord",
    {
        "by_age": list[AccuracyByAge],
        "by_size": list[AccuracyBySize],
        "compared": int,
        "enough": bool,
        "figure": str,
        "flagged": AccuracyFlagged,
        "from": str,
        "newest": list[AccuracySwap],
        "not_compared": AccuracyNotCompared,
        "pool": str,
        "slots": int,
        "status": Status,
        "stretches": int,
        "stretches_incomplete": int,
        "swaps": int,
        "to": str,
        "worst": list[AccuracySwap],
    },
)


_AccuracySummary = TypedDict(
    "_AccuracySummary",
    {
        "accuracy_url": str,
        "compared": int,
        "days_observed": float,
        "enough": bool,
        "figure_url": str,
        "from": str,
        "not_compared": AccuracyNotCompared,
        "slots": int,
        "slots_waiting": int,
        "status": Status,
        "stretches": int,
        "stretches_incomplete": int,
        "swaps": int,
        "to": str,
        "until": str,
    },
)


class AccuracySummary(AccuracyErrors, _AccuracySummary):
    """An accuracy record without its swaps."""


class AccuracyRow(TypedDict):
    """A pool in the table."""

    #: Venue and fee in words; absent before the first snapshot.
    name: NotRequired[str | None]
    #: The pool.
    pool: str
    #: Its record of the last seven days, as far as it was summed up; `null` where there is none.
    record: NotRequired[AccuracySummary | None]
    #: Why there is none: `waiting`, it was not summed up yet, or the code of a refusal, such as `figure_unsupported_kind`. Absent where there is one.
    why_not: NotRequired[str | None]


class AccuracyTable(TypedDict):
    """How good the estimates of all recorded pools were: `GET /v1/accuracy`."""

    #: The rules: `accuracy/1`.
    figure: str
    #: Where the next page begins; absent on the last.
    next_cursor: NotRequired[str | None]
    #: A row for each pool of the page, in the order of their identifiers.
    pools: list[AccuracyRow]
    #: Pools of all pages of which no row was summed up yet.
    waiting: int


class AlertEventTold(TypedDict):
    """An event: what a rule and the sealed slots make, the same from whoever computes it."""

    #: The event itself. With its names in order and without white space it is the canonical document.
    document: dict[str, Any]
    #: Its name, `evt_` and 52 letters and digits.
    id: str
    #: Its place among the rule's events, from 1.
    seq: int
    #: The slot that made it.
    slot: int
    #: `alert.firing`, `alert.resolved`, `alert.no_data`, `alert.data`, `alert.reminder`, `alert.corrected` or `alert.ended`.
    type: str


class AlertEventKept(TypedDict):
    """An event of a kept rule."""

    #: How often it was sent.
    attempts: int
    #: `pending`, `delivered` or `given_up`; none where it is not sent anywhere.
    delivery: NotRequired[str | None]
    #: The event.
    event: AlertEventTold
    #: The last failure.
    last_failure: NotRequired[str | None]


class AlertEventsKept(TypedDict):
    """What a kept rule said: `GET /v1/alerts/{alert}/events`."""

    #: The rule's name.
    alert: str
    #: Its events after `after_seq`, oldest first, of the last 30 days.
    events: list[AlertEventKept]
    #: What to ask with for later ones: the place of the last event here, or `after_seq`.
    next_after_seq: int


class AlertStanding(TypedDict):
    """Where a rule stands."""

    #: Breaches in a row, before it fires.
    breach_slots: int
    #: Slots in a row that are clear, before it is over.
    clear_slots: int
    #: The slot at which it last fired.
    fired_slot: NotRequired[int | None]
    #: Slots in a row that say nothing.
    no_data_slots: int
    #: `ok`, `pending`, `firing`, `recovering` or `no_data`.
    standing: str


class WebhookTold(TypedDict):
    """Where a rule's events are sent."""

    #: Since when nothing but failures came of it, RFC 3339.
    failing_since: NotRequired[str | None]
    #: The last failure.
    last_failure: NotRequired[str | None]
    #: Events that wait for being sent.
    pending: int
    #: The one before, which signs too for a day after a change of keys.
    previous_public_key: NotRequired[str | None]
    #: The key that `v1a` signatures are checked with: `whpk_` and base64.
    public_key: str
    #: `unverified`: it was asked and has not said yet that it wants events; `verified`: it is sent them; `disabled`: it answered 410, or failed for five days.
    state: str
    #: The address.
    url: str


class AlertKept(TypedDict):
    """A rule that is kept: `GET /v1/alerts/{alert}`."""

    #: Its name, which stands in the rule and in every event.
    alert: str
    #: When it was made, RFC 3339.
    created: str
    #: Why it ended: `deleted`, `expired`, or `retired`, as its pool did.
    ended: NotRequired[str | None]
    #: The last slot that all rules were evaluated with; none before the first.
    evaluated_slot: NotRequired[int | None]
    #: When it ends, RFC 3339: 30 days after its owner last came.
    expires: str
    #: The place of its newest event; 0: it has none.
    last_seq: int
    #: The pool.
    pool: str
    #: The rule, with every default in its place: as a file it is what `exitgap alert replay` reads.
    rule: dict[str, Any]
    #: The SHA-256 of its canonical bytes.
    rule_hash: str
    #: Where it stands after `evaluated_slot`.
    state: AlertStanding
    #: Where its events are sent; none: they are only read here.
    webhook: NotRequired[WebhookTold | None]


#: What a rule has to say of a period: `GET /v1/alerts/backtest/{pool}`. The rule is the caller's, and nothing of it is kept.
AlertsTold = TypedDict(
    "AlertsTold",
    {
        "alerts_version": str,
        "days_observed": float,
        "events": list[AlertEventTold],
        "from": str,
        "pool": str,
        "rule": dict[str, Any],
        "rule_hash": str,
        "slots": int,
        "state": AlertStanding,
        "status": Status,
        "to": str,
    },
)


class AlertMade(TypedDict):
    """A rule that was made: `POST /v1/alerts`. What is secret is told here and never again."""

    #: The rule.
    alert: AlertKept
    #: When it would have spoken in the last 30 days, or as many as are recorded.
    backtest: AlertsTold
    #: What its owner shows from now on, as `Authorization: Bearer`: `exa_` and 43 letters, digits, `-` and `_`. Only where none was shown.
    token: NotRequired[str | None]
    #: The key that `v1` signatures are checked with: `whsec_` and base64. Only where the address is new to its owner.
    webhook_secret: NotRequired[str | None]


class AlertsKept(TypedDict):
    """An owner's rules: `GET /v1/alerts`."""

    #: The newest first, those that ended in the last 30 days included; at most 200.
    alerts: list[AlertKept]


class AlertsResent(TypedDict):
    """What is sent again: `POST /v1/alerts/{alert}/replay`."""

    #: Events that were not waiting for being sent already.
    events: int


class SplitPct(TypedDict):
    """What a gap is made of: `1 − gap = (1 − basis) × (1 − fee) × (1 − impact)`, each rounded to six decimals on its own."""

    #: How far the pool's mid price lies below the oracle, percent.
    basis_pct: float
    #: The pool's fee, percent.
    fee_pct: float
    #: What moving the price costs, percent.
    impact_pct: float


class Amounts(TypedDict):
    """The figures of one exit."""

    #: Raw units of the base token sold.
    amount_in_raw: str
    #: Raw units of the quote token bought.
    amount_out_raw: str
    #: Gap between realized price and oracle price, percent. Positive: the fill is worse than the oracle; negative: better.
    exit_gap_pct: float
    #: USD per whole base token that the next unit would fill at, fee included.
    marginal_price_usd: float
    #: USD per whole base token at the pool's mid price before the exit.
    mid_price_usd: float
    #: USD per whole base token, as filled.
    realized_price_usd: float
    #: The size, USD.
    size_usd: float
    #: What the gap is made of.
    split: SplitPct
    #: Initialised ticks crossed; absent for pools without ticks.
    ticks_crossed: NotRequired[int | None]


class TokenLabel(TypedDict):
    """A token as its contract describes itself. The symbol is a label only: any contract may choose any."""

    #: The token contract's address.
    address: str
    #: Decimals of one whole token.
    decimals: int
    #: Its symbol, cleaned to printable ASCII.
    symbol: str


#: Where the depth behind a result was read.
DepthSourceKind = Literal["recorded_snapshot", "latest_block", "snapshot_file"]


class DepthSource(TypedDict):
    """The block, and where recorded the slot, behind a result."""

    #: Block hash.
    block_hash: str
    #: Block number.
    block_number: int
    #: Block timestamp, RFC 3339.
    block_time: str
    #: The chain's CAIP-2 id.
    chain: str
    #: The hash of the chain's block 0, where it is live because its operator configured that hash: which network it is, only those can say who know the hash.
    genesis_hash: NotRequired[str | None]
    #: Where it was read.
    kind: DepthSourceKind
    #: Slots after this one that are missing or were taken back, where the newest recorded slot was asked for.
    newer_slots_missing: NotRequired[int | None]
    #: What its state is: `constant_product`, `concentrated_liquidity`, `concentrated_v4` or `concentrated_linked`.
    protocol: str
    #: The slot's number; absent where nothing is recorded.
    slot: NotRequired[int | None]
    #: The slot's instant, RFC 3339.
    slot_time: NotRequired[str | None]
    #: SHA-256 of the snapshot's canonical bytes.
    snapshot_hash: NotRequired[str | None]


class OracleDisclosure(TypedDict):
    """One oracle answer behind a result."""

    #: Seconds from the answer to the block; of a sequencer, for how long it has been up or down.
    age_s: NotRequired[int | None]
    #: The answer, raw.
    answer_raw: str
    #: Its decimals.
    decimals: int
    #: The feed's address.
    feed: NotRequired[str | None]
    #: `token0_usd` or `token1_usd`: what the answer is a factor of. `sequencer_uptime`: whether the chain's sequencer is up (0) or down (1).
    role: str
    #: `chainlink` or `fixed`.
    source: str
    #: Whether that is longer than the feed's heartbeat; of a sequencer, whether it is down, or up for no longer than its grace period.
    stale: bool


class Method(TypedDict):
    """The method behind a result, disclosed."""

    #: The size the figure holds for; absent where the size is the answer.
    assumed_size_usd: NotRequired[float | None]
    #: Where the depth was read.
    depth_source: DepthSource
    #: Every oracle answer used.
    oracles: list[OracleDisclosure]


#: How far the oracle's answers may be relied on.
OracleState = Literal["fresh", "held_over_close", "stale"]


#: The slots a result is drawn from.
Window = TypedDict(
    "Window",
    {
        "from": str,
        "slots_missing": int,
        "slots_recorded": int,
        "to": str,
    },
)


class Context(TypedDict):
    """What every result carries beside its own figures."""

    #: The token sold.
    base: TokenLabel
    #: Recorded slots ÷ 288; absent where nothing is recorded.
    days_observed: NotRequired[float | None]
    #: What a sale pays to the pool as fee, percent; absent where it depends on the sale, which `name` says.
    fee_pct: NotRequired[float | None]
    #: Whether the markets of both tokens are open at the block.
    market_open: bool
    #: The method, disclosed.
    method: Method
    #: The version of the rules that produced the figures.
    method_version: str
    #: Venue and fee in words, as of this state: `Uniswap v3 0.05 %`.
    name: str
    #: USD per whole base token, by the oracle.
    oracle_price_usd: float
    #: Whether any oracle answer is older than its heartbeat, or the chain's sequencer is down or was until just now.
    oracle_stale: bool
    #: Why, where it is: a market that is closed holds its oracle's answer over the close.
    oracle_state: OracleState
    #: The pool's identifier, `<chain>:<address>`.
    pool: str
    #: The token bought.
    quote: TokenLabel
    #: The market session of the block, e.g. `XNYS@1/regular`; `continuous` for assets without a calendar.
    session_note: str
    #: Live or preview.
    status: Status
    #: The venue; absent where the pool's factory is not known.
    venue: NotRequired[str | None]
    #: The series behind the result; absent where nothing is recorded.
    window: NotRequired[Window | None]


class Answer_Amounts(Context):
    """Figures with their context: the document of every answer about a pool."""

    #: Raw units of the base token sold.
    amount_in_raw: str
    #: Raw units of the quote token bought.
    amount_out_raw: str
    #: Gap between realized price and oracle price, percent. Positive: the fill is worse than the oracle; negative: better.
    exit_gap_pct: float
    #: USD per whole base token that the next unit would fill at, fee included.
    marginal_price_usd: float
    #: USD per whole base token at the pool's mid price before the exit.
    mid_price_usd: float
    #: USD per whole base token, as filled.
    realized_price_usd: float
    #: The size, USD.
    size_usd: float
    #: What the gap is made of.
    split: SplitPct
    #: Initialised ticks crossed; absent for pools without ticks.
    ticks_crossed: NotRequired[int | None]


class MaxSize(TypedDict):
    """The largest exit within a gap limit."""

    #: `gap`, `liquidity` (the pool's liquidity ends first) or `size_bound`.
    limited_by: str
    #: The largest raw amount of the base token that passes; usually a little above what `max_size_usd` stands for.
    max_amount_in_raw: str
    #: What the pool pays for it, raw units of the quote token.
    max_amount_out_raw: str
    #: The largest size whose own estimate passes, USD; zero where none does.
    max_size_usd: float


#: Stable codes of everything that can be refused.
ProblemCode = Literal["invalid_parameter", "invalid_pool", "unknown_pool", "unknown_base", "unknown_token", "no_snapshot_yet", "slot_missing", "slot_retracted", "before_series", "after_series", "rounds_to_no_input", "rounds_to_no_output", "beyond_liquidity", "gap_out_of_range", "search_exhausted", "sizing_not_exact", "orders_not_exact", "figure_unsupported_kind", "chain_unreadable", "proof_out_of_reach", "proofs_not_served", "unsupported_layout", "proof_too_wide", "block_not_canonical", "source_unreadable", "unknown_parameter", "unknown_chain", "period_reversed", "unknown_method_version", "not_live", "series_too_short", "snapshot_too_old", "not_available", "not_found", "method_not_allowed", "address_too_long", "body_not_accepted", "rate_limited", "token_required", "unknown_alert", "request_differs", "too_many_alerts", "alerts_full", "payment_required", "payment_malformed", "payment_used", "payment_pending", "payments_unavailable", "free_estimates_used", "timed_out", "internal_error"]


class Problem(TypedDict):
    """A refusal or failure as a document."""

    #: The stable code.
    code: ProblemCode
    #: One sentence for people: the cause.
    detail: str
    #: What anyone can check with that the size cannot be filled.
    evidence_url: NotRequired[str | None]
    #: The parameter at fault.
    field: NotRequired[str | None]
    #: The remedy, where one is known.
    hint: NotRequired[str | None]
    #: The largest size that can be filled, USD.
    max_fillable_usd: NotRequired[float | None]
    #: The stable reason behind a missing slot or an unreadable chain.
    reason: NotRequired[str | None]


class Answer_GapRung(Context):
    """Figures with their context: the document of every answer about a pool."""


class _GapRung_MaxSize(TypedDict):
    #: `gap`, `liquidity` (the pool's liquidity ends first) or `size_bound`.
    limited_by: NotRequired[str]
    #: The largest raw amount of the base token that passes; usually a little above what `max_size_usd` stands for.
    max_amount_in_raw: NotRequired[str]
    #: What the pool pays for it, raw units of the quote token.
    max_amount_out_raw: NotRequired[str]
    #: The largest size whose own estimate passes, USD; zero where none does.
    max_size_usd: NotRequired[float]


class GapRung(_GapRung_MaxSize):
    """A row by gap: how much exits within the limit, and what that fills at."""

    #: What anyone can check the exit with, where the service answers.
    evidence_url: NotRequired[str | None]
    #: The exit of exactly that size; absent where nothing passes.
    exit: NotRequired[Amounts | None]
    #: The limit, percent.
    gap_limit_pct: float
    #: Why depth or exit is absent, where something was refused.
    problem: NotRequired[Problem | None]
    #: A smaller size whose gap exceeds the limit, USD: the fee of this pool depends on the size.
    worse_below_usd: NotRequired[float | None]


class SizeRung(TypedDict):
    """A row by size: what it fills at, or why it cannot be filled."""

    #: What anyone can check the exit with, where the service answers.
    evidence_url: NotRequired[str | None]
    #: The exit of that size.
    exit: NotRequired[Amounts | None]
    #: Why there is none.
    problem: NotRequired[Problem | None]
    #: The size, USD.
    size_usd: float
    #: A smaller size whose gap is larger, USD: the fee of this pool depends on the size.
    worse_below_usd: NotRequired[float | None]


class Answer_LadderRows(Context):
    """Figures with their context: the document of every answer about a pool."""

    #: Depth by gap, ascending.
    by_gap: list[GapRung]
    #: Slippage by size, ascending.
    by_size: list[SizeRung]


class RedemptionFact(TypedDict):
    """A fact of the snapshot that a redemption rests on."""

    #: The data of the call.
    call: str
    #: The contract that was asked.
    contract: str
    #: Its name in the snapshot.
    name: str
    #: What it says: `capacity` and `ahead`, in the token's smallest units; `capacity_asset`, and `nav` of one whole token, in those of the asset; `fee`; `paused`, any word but zero.
    says: str
    #: The first word of the answer, as a whole number.
    word_raw: str


class RedemptionPath(TypedDict):
    """One way of redeeming a size."""

    #: `100 × (receives_usd - receives_now_usd) ÷ receives_now_usd`: positive, redeeming brings more.
    advantage_pct: NotRequired[float | None]
    #: The same over `t_max_s`.
    break_even_annual_pct_at_t_max: NotRequired[float | None]
    #: The advantage as a simple yearly rate, percent, over `t_min_s`: who can do without the money for less redeems. `null` of no wait.
    break_even_annual_pct_at_t_min: NotRequired[float | None]
    #: The most, USD; `null`: as much as one likes, or as `fee_pct`.
    capacity_usd: NotRequired[float | None]
    #: Who may redeem, as the terms say.
    eligibility: str
    #: The facts that it rests on, read at the block of the snapshot; the other numbers are the terms'.
    facts: NotRequired[list[RedemptionFact]]
    #: What is kept of what is redeemed, percent; `null` where a fact would tell it and `refusal` says why none does.
    fee_pct: NotRequired[float | None]
    #: `at_once`; `on_days`: at the close of trading days after a cut-off; `in_turn`: after those who came before.
    kind: str
    #: The least that is redeemed, USD.
    minimum_usd: float
    #: What one whole token pays before the fee, USD, by a fact, rounded down; absent where it is the oracle's price.
    pays_usd: NotRequired[float | None]
    #: Of a queue: whether that is what its recorded lengths fell by a day, of the last seven, and not the terms'.
    per_day_recorded: NotRequired[bool]
    #: Of a queue: what is paid a day, USD, at the least, in the middle, at the most; `null` as `fee_pct`.
    per_day_usd: NotRequired[list[float] | None]
    #: What both bring, USD, at the oracle's price or at `pays_usd`; `null` where the rest cannot be sold.
    receives_usd: NotRequired[float | None]
    #: What is redeemed, USD: the size, or the capacity.
    redeemed_usd: NotRequired[float | None]
    #: Why these terms do not take it: `below_minimum`, or `unknown_days` beyond the calendar's table; `paused`, by a fact; `fact_missing`: the snapshot has not one fact of a name that they give; `fact_invalid`: a fee of more than all, or a token that pays nothing; `asset_unknown`: what it pays in is no token of the pool; `pace_unknown`: the queue's lengths of seven days are not known.
    refusal: NotRequired[str | None]
    #: What is sold now beside that, USD.
    sold_usd: NotRequired[float | None]
    #: The same at the most.
    t_max_s: NotRequired[int | None]
    #: Of a queue: the same at its pace in the middle.
    t_middle_s: NotRequired[int | None]
    #: How long one waits at the least, seconds; `null`: nobody is paid.
    t_min_s: NotRequired[int | None]
    #: When they were read, `YYYY-MM-DD`.
    terms_read_on: str
    #: The SHA-256 of the file of terms, 0x-prefixed.
    terms_sha256: str
    #: Where the terms stand.
    terms_source: str


class Answer_RedemptionWindow(Context):
    """Figures with their context: the document of every answer about a pool."""

    #: The gap of that sale, percent; `null` likewise.
    exit_gap_pct: NotRequired[float | None]
    #: The name and version of these rules, `redemption/1`.
    figure: str
    #: When it is handed in: the time of the snapshot's block, RFC 3339.
    handed_in_at: str
    #: Always `true`.
    modelled: bool
    #: The ways of redeeming it; none where nobody wrote terms of the token down.
    paths: list[RedemptionPath]
    #: What selling it now brings, USD: `size_usd × (1 - exit_gap_pct)`, rounded down; `null` where it cannot be sold.
    receives_now_usd: NotRequired[float | None]
    #: Why it cannot be sold at once.
    refusal: NotRequired[ProblemCode | None]
    #: The size, USD.
    size_usd: float


#: The same size sold at once: what it fills at, or why it cannot be filled.
AtOnce = Any


class OrderFill(TypedDict):
    """One order of a simulated exit."""

    #: Raw units of the base token sold.
    amount_in_raw: str
    #: Raw units of the quote token bought.
    amount_out_raw: str
    #: The order's own gap, percent.
    exit_gap_pct: float
    #: Which order, counted from 1.
    order: int


class Answer_Simulation(Context):
    """Figures with their context: the document of every answer about a pool."""

    #: Raw units of the base token sold.
    amount_in_raw: str
    #: Raw units of the quote token bought.
    amount_out_raw: str
    #: The same size sold at once.
    at_once: AtOnce
    #: Gap of all orders together, percent.
    exit_gap_pct: float
    #: Every order, in turn.
    fills: list[OrderFill]
    #: Seconds between orders, as stated; nothing is computed from it.
    interval_s: int
    #: Number of orders.
    orders: int
    #: Share of its displacement that √price is assumed to recover between two orders, percent. An assumption, not a forecast.
    recovery_pct: float
    #: The whole size, USD.
    size_usd: float


#: How exposed. Nothing decides it but whether a dollar to sell meets a dollar of depth.
Band = Literal["covered", "strained", "exposed", "unfillable", "unrated"]


class SplitAlone(TypedDict):
    """All of an exit in one venue."""

    #: The code of why it does not, such as `beyond_liquidity`.
    code: NotRequired[str | None]
    #: What anyone can check it with.
    evidence_url: NotRequired[str | None]
    #: What all of it fills at there, its fixed cost taken off, percent; `null` where it does not fill.
    exit_gap_pct: NotRequired[float | None]
    #: The largest size that it fills, USD, where that is why.
    max_fillable_usd: NotRequired[float | None]
    #: Its venue and fee.
    name: str
    #: The pool.
    pool: str
    #: SHA-256 of the snapshot that it and a leg of this pool follow from.
    snapshot_hash: NotRequired[str | None]


class SplitLeftOut(TypedDict):
    """A venue that was not split over."""

    #: Why: `not_concave`, `oracle_differs`, `gap_out_of_range`, `too_many_venues`, `slot_missing` or `no_snapshot_yet`; of a share's pools `too_many_venues`, or the code of a problem.
    code: str
    #: The same in a sentence.
    detail: str
    #: The pool.
    pool: str


class SplitLeg(TypedDict):
    """What one venue sells of an exit: a sale of its own, which its evidence proves."""

    #: Raw units of the token sold.
    amount_in_raw: str
    #: Raw units of the token bought: what the contract pays.
    amount_out_raw: str
    #: `token0` or `token1`: the token sold, by its place there.
    base: str
    #: What anyone can check the leg with.
    evidence_url: NotRequired[str | None]
    #: Its own gap, percent: exact. Positive is worse than the oracle.
    exit_gap_pct: float
    #: What using the venue costs beside, USD.
    fixed_cost_usd: float
    #: Its venue and fee.
    name: str
    #: The pool.
    pool: str
    #: The token bought.
    quote: TokenLabel
    #: What it sells, USD. The legs add up to the size asked for.
    size_usd: float


class BestSplit(TypedDict):
    """The answer to "over which venues do I exit?"."""

    #: All of it in one venue, the best first; those that do not fill it last, who fills most first.
    alone: list[SplitAlone]
    #: Raw units of the token sold, by all legs: at most one a leg less than the size in one sale.
    amount_in_raw: str
    #: The gap of all legs together and their fixed costs, percent: exact. Positive is worse than the oracle. Never worse than any venue alone.
    exit_gap_pct: float
    #: What using the venues of the legs costs, USD.
    fixed_cost_usd: float
    #: Venues that were not split over, and why.
    left_out: list[SplitLeftOut]
    #: What each venue used sells.
    legs: list[SplitLeg]
    #: The version of the rules that produced the figures.
    method_version: str
    #: No split over the venues that are not `left_out` has a gap that is lower by more than this, percent; `null` where a venue that is left out is better alone than all others together.
    optimality_gap_pct: NotRequired[float | None]
    #: The size asked for, USD.
    size_usd: float
    #: `live` only where the chain is.
    status: Status


#: How far a capability may be depended on.
CapabilityStatus = Literal["live", "preview", "roadmap"]


class Capability(TypedDict):
    """One capability."""

    #: Its name.
    capability: str
    #: What gates it, as the specification says: capabilities by their names here, or what else has to be there first.
    gated_by: NotRequired[list[str]]
    #: The chains on which it is live; on the others it is at most preview.
    live_on: NotRequired[list[str]]
    #: Its status here: live where it is so on any chain.
    status: CapabilityStatus
    #: Where it is, or what is not built of it.
    where: str


class ChainCapability(TypedDict):
    """How a chain stands: what the statuses of capabilities rest on."""

    #: Seconds from that slot's instant to this answer.
    age_s: NotRequired[int | None]
    #: The chain's slug.
    chain: str
    #: The newest recorded slot of its pools, RFC 3339; absent before the first.
    newest_recorded_slot: NotRequired[str | None]
    #: Why it is not live; absent where it is.
    not_live_because: NotRequired[str | None]
    #: Live where all that is needed for that holds, else preview.
    status: CapabilityStatus


class Capabilities(TypedDict):
    """`GET /v1/capabilities`."""

    #: Every capability of the specification.
    capabilities: list[Capability]
    #: Every chain with a monitored pool.
    chains: NotRequired[list[ChainCapability]]
    #: Whether this process serves pages.
    pages: NotRequired[bool]
    #: Whether this process records.
    recording: NotRequired[bool]
    #: Where pages, evidence and the log are, where that is another address than the API's: all addresses that do not begin with `/v1/`.
    web_url: NotRequired[str | None]


class SeriesSource(TypedDict):
    """Where the depth of several slots was read. Each slot's own block, snapshot and oracles are in its evidence."""

    #: The chain's slug; absent where the figures are of several chains.
    chain: NotRequired[str | None]
    #: Where it was read.
    kind: DepthSourceKind


class SeriesMethod(TypedDict):
    """What [`crate::Method`] says of a single answer, said of figures of several slots."""

    #: The size the figures hold for, USD; absent where each figure names its own.
    assumed_size_usd: NotRequired[float | None]
    #: Where their depth was read.
    depth_source: SeriesSource
    #: The slots looked at.
    window: Window


#: What a decay is of, beside what came of it.
DepthDecayOf = TypedDict(
    "DepthDecayOf",
    {
        "base": str,
        "days_observed": float,
        "figure": str,
        "figure_url": str,
        "from": str,
        "gap_pct": float,
        "method": SeriesMethod,
        "method_version": str,
        "move_pct": float,
        "pool": str,
        "to": str,
        "within_slots": int,
    },
)


class DepthDecayHorizon(TypedDict):
    """Statistics of one horizon; `null` where too little is recorded."""

    #: Baselines measured.
    baseline_n: int
    #: What they withdrew over the same time where no event was near, the median, percent.
    baseline_withdrawn_pct_q50: NotRequired[float | None]
    #: Slots after the event.
    h_slots: int
    #: Events measured.
    n: int
    #: Events whose book was zero before or under the moved price: they have no shares.
    n_without_share: int
    #: The same of the worst twentieth, percent.
    retained_pct_q5: NotRequired[float | None]
    #: What is left of the book before, the median, percent.
    retained_pct_q50: NotRequired[float | None]
    #: What would be left where nobody withdraws, the median, percent.
    static_pct_q50: NotRequired[float | None]
    #: What providers withdrew, the median, percent; positive where liquidity is gone.
    withdrawn_pct_q50: NotRequired[float | None]


class DepthDecaySide(TypedDict):
    """Statistics of the events of one direction of the price."""

    #: Events after which some of the book was withdrawn.
    half_life_n: int
    #: The median half-life of those, slots; `null` where it is censored, or there are too few.
    half_life_slots_q50: NotRequired[int | None]
    #: By slots after the event.
    horizons: list[DepthDecayHorizon]


class DepthDecayStep(TypedDict):
    """A book some slots after an event. `book_before_usd + mechanical_usd + liquidity_usd = book_usd`, to the dollar."""

    #: The book before the event, whole USD.
    book_before_usd: float
    #: The liquidity of before under the price of now, whole USD.
    book_static_usd: float
    #: The book now, whole USD.
    book_usd: float
    #: Slots after the event.
    h_slots: int
    #: What providers put in or took out, whole USD; negative where they took out.
    liquidity_usd: float
    #: What the move of the price alone did, whole USD; negative where the book became smaller.
    mechanical_usd: float


class DepthDecayEvent(TypedDict):
    """One move of the price."""

    #: The books after it, at the horizons that stand.
    at: list[DepthDecayStep]
    #: Whether something was withdrawn and had not half returned within 48 slots.
    censored: bool
    #: Slots from the greatest deficit to the first of two with half of it or less; `null` where it is censored or nothing was withdrawn.
    half_life_slots: NotRequired[int | None]
    #: How far the pool's mid price moved, percent; positive where the token sold rose.
    move_pct: float
    #: The slot's number.
    slot: int
    #: Its instant, RFC 3339.
    time: str


class DepthDecay(DepthDecayOf):
    """`GET /v1/decay/{pool}`."""

    #: Books whose search was given up; their slots are in no list.
    books_unanswered: int
    #: After the price of the token sold fell.
    down: DepthDecaySide
    #: Whether the series is long enough for statistics; events are listed all the same.
    enough: bool
    #: The events, ascending.
    events: list[DepthDecayEvent]
    #: Moves within 48 slots after an event: no events of their own.
    events_suppressed: int
    #: Slots of the period with a snapshot that stands.
    have: int
    #: As many are needed.
    needed: int
    #: Events that statistics of a horizon need.
    needed_events: int
    #: Slots of the period without a snapshot that stands: never filled.
    slots_missing: int
    #: Slots that stand without one `within_slots` before them.
    slots_untestable: int
    #: Live or preview.
    status: Status
    #: After it rose.
    up: DepthDecaySide


class DepthPoint(TypedDict):
    """The depth of one slot."""

    #: Depth at 2 %, whole USD.
    depth_usd: float
    #: The slot's number.
    slot: int
    #: The slot's instant, RFC 3339.
    time: str
    #: The slot's head commits to it.
    window_url: str


class EquityState(TypedDict):
    """Where a share stands, by the newest snapshot of its deepest pool."""

    #: How far the pool's mid price lies below the oracle's, percent; `null` where that is out of a percentage's bounds.
    basis_pct: NotRequired[float | None]
    #: Whether it is paused, or a change is due within a day: such slots are in no statistic.
    corporate_action: bool
    #: When it comes, RFC 3339; also what is past.
    effective_at: NotRequired[str | None]
    #: Whether the snapshot has all facts that the operator names.
    facts_whole: bool
    #: Whether the token or its feed is paused; `null` likewise.
    feed_paused: NotRequired[bool | None]
    #: The token's multiplier, as the contract tells it; `null` where no fact is named, or it was not told.
    multiplier_raw: NotRequired[str | None]
    #: The oracle's price of the token, USD.
    oracle_price_usd: float
    #: How far the oracle's answers may be relied on.
    oracle_state: OracleState
    #: The multiplier to come; likewise.
    pending_multiplier_raw: NotRequired[str | None]
    #: `regular`, `pre`, `after`, `overnight`, `weekend`, `holiday` or `unknown`: of the share's exchange at the snapshot's block.
    session: str
    #: The slot of the snapshot, RFC 3339.
    slot_time: str
    #: Seconds since then.
    snapshot_age_s: int
    #: Live or preview.
    status: Status
    #: What a share as wallets show it costs by that, USD; `null` without a multiplier. For reading.
    ui_price_usd: NotRequired[float | None]


class EquityListed(TypedDict):
    """A token that stands for a share."""

    #: Its chain.
    chain: str
    #: How much of that the deepest pool has, percent; `null` of nothing.
    concentration_pct: NotRequired[float | None]
    #: The deepest of them; `null` before the first snapshot.
    deepest_pool: NotRequired[str | None]
    #: The depths at 2 % of its pools together, each in its newest slot, whole USD.
    depth_usd: float
    #: `scaled_ui`, `total_return`, `rebasing` or `split_rebase`.
    kind: str
    #: The decimals of its multiplier.
    multiplier_decimals: int
    #: Its monitored pools.
    pools: int
    #: Where it stands; `null` before the first snapshot.
    state: NotRequired[EquityState | None]
    #: What it calls itself; `null` before its first snapshot.
    symbol: NotRequired[str | None]
    #: Its address.
    token: str


class Equities(TypedDict):
    """`GET /v1/equities`."""

    #: All that are configured, in the order of their chains and addresses.
    equities: list[EquityListed]
    #: The name and version of the rules, `equity/1`.
    figure: str


class EquityBalanceTold(TypedDict):
    """What a pool holds of a share whose balances change."""

    #: What it holds, raw units.
    balance_raw: str
    #: What buying the share for the size would pay, raw units; `null` where that is refused.
    purchase_raw: NotRequired[str | None]
    #: Of which slot the amounts are, RFC 3339.
    slot_time: str
    #: Slots that have the fact.
    slots: int
    #: Slots of them in which the purchase would pay more than the pool holds: it reverts.
    slots_short: int


class EquityEventTold(TypedDict):
    """What became of a share."""

    #: When the change is due, RFC 3339.
    effective_at: NotRequired[str | None]
    #: `multiplier_changed`, `scheduled`, `paused` or `resumed`.
    event: str
    #: The multiplier before.
    from_raw: NotRequired[str | None]
    #: The slot that shows it first, RFC 3339.
    slot_time: str
    #: The multiplier after.
    to_raw: NotRequired[str | None]


class EquityReopeningTold(TypedDict):
    """What markets opened to after closures of one kind; gaps are `null` where too little is recorded."""

    #: `night`, `weekend` or `holiday`.
    closure_kind: str
    #: Closures with a slot that counts.
    closures: int
    #: Closures with such a gap.
    reopened: int
    #: The median of what selling in the last closed slot fetched below what the oracle gave after, percent.
    reopening_gap_pct_q50: NotRequired[float | None]
    #: The greatest, percent.
    reopening_gap_pct_worst: NotRequired[float | None]


class EquitySessionTold(TypedDict):
    """A session of the exchange; statistics are `null` where too little is recorded."""

    #: The median of how far the pool's mid price lay below what the oracle said at the last regular close, percent; `null` in the regular session.
    basis_to_last_close_pct_q50: NotRequired[float | None]
    #: The one farthest from zero, percent.
    basis_to_last_close_pct_worst: NotRequired[float | None]
    #: The lowest one, whole USD.
    depth_usd_lowest: NotRequired[float | None]
    #: The median depth at the gap limit, whole USD.
    depth_usd_q50: NotRequired[float | None]
    #: The median gap at the size, percent; `null` where that is a refusal.
    exit_gap_pct_q50: NotRequired[float | None]
    #: The gap that 95 % of the slots do not exceed, percent; likewise.
    exit_gap_pct_q95: NotRequired[float | None]
    #: The widest, percent; `null` where one slot refused the size.
    exit_gap_pct_worst: NotRequired[float | None]
    #: `regular`, `pre`, `after`, `overnight`, `weekend`, `holiday` or `unknown`.
    session: str
    #: Slots that count.
    slots: int
    #: Slots of them in which the size had no gap: worse than any number.
    slots_refused: int


#: A pool of a share: a vector, never one number.
EquityPool = TypedDict(
    "EquityPool",
    {
        "balance": NotRequired[EquityBalanceTold | None],
        "base": str,
        "basis_to_last_close_pct_q50": NotRequired[float | None],
        "basis_to_last_close_pct_worst": NotRequired[float | None],
        "depth_usd": NotRequired[float | None],
        "enough": bool,
        "events": list[EquityEventTold],
        "exact": bool,
        "figure_url": str,
        "from": str,
        "have_regular_sessions": int,
        "have_weekends": int,
        "inexact_because": NotRequired[str | None],
        "name": str,
        "needed_regular_sessions": int,
        "needed_weekends": int,
        "oracle_fresh_pct": NotRequired[float | None],
        "oracle_held_over_close_pct": NotRequired[float | None],
        "oracle_stale_pct": NotRequired[float | None],
        "pool": str,
        "redemption_url": NotRequired[str | None],
        "reopening": list[EquityReopeningTold],
        "sessions": list[EquitySessionTold],
        "slots_corporate_action": int,
        "slots_missing": int,
        "slots_recorded": int,
        "slots_without_facts": int,
        "status": Status,
        "to": str,
    },
)


class EquityScore(EquityListed):
    """`GET /v1/equities/{chain}/{token}`."""

    #: Whether any pool has enough for statistics.
    enough: bool
    #: The name and version of the rules, `equity/1`.
    figure: str
    #: The gap limit of the depths in sessions, percent.
    gap_pct: float
    #: Pools that are not told, and why.
    left_out: list[SplitLeftOut]
    #: The version of the rules behind each number.
    method_version: str
    #: The size of the gaps, USD.
    size_usd: float
    #: Each of its pools, the deepest first.
    vectors: list[EquityPool]


class ExportedFile(TypedDict):
    """A file of a day."""

    #: Its bytes.
    bytes: int
    #: The first of its pools, in the order of their ids; `null` in the file of slots.
    first_pool: NotRequired[str | None]
    #: The last of them.
    last_pool: NotRequired[str | None]
    #: Its name.
    name: str
    #: Its rows.
    rows: int
    #: The SHA-256 of its bytes.
    sha256: str
    #: Where it is.
    url: str


class ExportedDay(TypedDict):
    """A closed day."""

    #: The day, UTC.
    day: str
    #: The files; only those that have rows of the pools asked for.
    files: list[ExportedFile]
    #: The first of its slots that the log has.
    first_slot: int
    #: Its last slot.
    last_slot: int
    #: The manifest's SHA-256, to which the log of days commits.
    manifest_sha256: str
    #: Where the manifest is, which says everything else.
    manifest_url: str
    #: Pools that have rows.
    pools: int
    #: Rows: one for each pool and slot.
    rows: int


class Export(TypedDict):
    """Closed days of a log."""

    #: The signed checkpoint of the log of days, under the log's own key; `null` while no day is closed and written.
    checkpoint: NotRequired[str | None]
    #: The days asked for, ascending.
    days: list[ExportedDay]
    #: Days that it covers.
    days_closed: int
    #: `from` of the next page; `null` where this is the last.
    next_from: NotRequired[str | None]


class FillablePoint(TypedDict):
    """The most that could be filled in one slot, in which the size lies beyond liquidity."""

    #: The most that could be filled, USD.
    max_fillable_usd: float
    #: The slot's number.
    slot: int
    #: The slot's instant, RFC 3339.
    time: str


class StandardGap(TypedDict):
    """The gap at one standard size."""

    #: What anyone can check the gap with.
    evidence_url: NotRequired[str | None]
    #: The gap, percent; absent where the size has none.
    exit_gap_pct: NotRequired[float | None]
    #: Where the size lies beyond liquidity: the most that can be filled, USD.
    max_fillable_usd: NotRequired[float | None]
    #: Why it has none.
    refusal: NotRequired[ProblemCode | None]
    #: The size, USD.
    size_usd: float


class LowestDepth(TypedDict):
    """The slot of the last seven days with the lowest depth."""

    #: How far the pool's mid price lay below the oracle then, percent.
    basis_pct: NotRequired[float | None]
    #: Depth at 2 %, whole USD.
    depth_usd: float
    #: The slot's number.
    slot: int
    #: Slots without a snapshot of the seven days up to it.
    slots_missing_7d: int
    #: The slot's instant, RFC 3339.
    time: str


class FragilityRow(TypedDict):
    """A pool of the board, selling its default base."""

    #: The token sold.
    base: TokenLabel
    #: The book of that slot: the depth at 2 % from the pool's own mid price in place of the oracle's, whole USD. Where only the oracle moved away, `depth_usd` falls and this does not.
    book_usd: NotRequired[float | None]
    #: The chain's slug.
    chain: str
    #: The lowest depth of each of the last eight UTC days, whole USD, the newest last; null where the day has none.
    daily_lowest_depth_usd: NotRequired[list[float | None]]
    #: Recorded slots ÷ 288.
    days_observed: float
    #: Depth at 2 % in that slot, whole USD.
    depth_usd: NotRequired[float | None]
    #: What a sale pays to the pool as fee, percent, in the newest snapshot; absent where it depends on the sale, which `name` says.
    fee_pct: NotRequired[float | None]
    #: `1 − lowest ÷ median`: the share of the median depth that was gone at the lowest slot, 0 to 1. Null under one day of recorded slots, or where the median is 0.
    fragility_score: NotRequired[float | None]
    #: The gap at each standard size, ascending.
    gaps: list[StandardGap]
    #: The lowest depth of seven days.
    lowest_depth_7d: NotRequired[LowestDepth | None]
    #: The median depth of seven days, whole USD.
    median_depth_7d_usd: NotRequired[float | None]
    #: The method, disclosed: the sizes are those of `gaps`, the window the seven days.
    method: SeriesMethod
    #: The version of the rules behind gaps and depths.
    method_version: str
    #: Venue and fee in words, `Uniswap v3 0.05 %`: no two rows of one chain and one pair have the same name.
    name: str
    #: Slots after it that are missing.
    newer_slots_missing: int
    #: Whether an oracle answer behind the row is older than its heartbeat.
    oracle_stale: bool
    #: The pool's identifier.
    pool: str
    #: The token bought.
    quote: TokenLabel
    #: Instant of the slot behind the row, RFC 3339.
    slot_time: str
    #: Slots of those seven days without a snapshot.
    slots_missing_7d: int
    #: Live or preview.
    status: Status
    #: The venue; absent where the pool's factory is not known.
    venue: NotRequired[str | None]
    #: The heads of those seven days, which commit to `days_observed` and the lowest depth.
    window_url: str


class Fragility(TypedDict):
    """`GET /v1/fragility`."""

    #: The version of the rules behind gaps and depths.
    method_version: str
    #: Where the next page begins; absent on the last.
    next_cursor: NotRequired[str | None]
    #: Pools with a snapshot, in this selection.
    pools: int
    #: Pools of the selection that have no snapshot yet, and no row.
    pools_without_snapshot: int
    #: The rows of this page.
    rows: list[FragilityRow]
    #: How the score is made, in one sentence.
    score_method: str


class GapPoint(TypedDict):
    """The gap of one slot, or why it has none."""

    #: What anyone can check the gap with.
    evidence_url: NotRequired[str | None]
    #: The gap, percent; absent where the size has none.
    exit_gap_pct: NotRequired[float | None]
    #: Where the size lies beyond liquidity: the most that could be filled in that slot, USD.
    max_fillable_usd: NotRequired[float | None]
    #: Why the size has no gap: worse than any number.
    refusal: NotRequired[ProblemCode | None]
    #: The slot's number.
    slot: int
    #: The slot's instant, RFC 3339.
    time: str


#: What a series' figures are of.
SeriesOf = TypedDict(
    "SeriesOf",
    {
        "base": str,
        "days_observed": float,
        "from": str,
        "method": SeriesMethod,
        "method_version": str,
        "pool": str,
        "size_usd": float,
        "status": Status,
        "to": str,
    },
)


#: The length of a history's rows.
Interval = Literal["5m", "1h", "1d"]


#: What a series holds for a slot.
SlotState = Literal["recorded", "missing", "retracted", "retired"]


class HistoryRow(TypedDict):
    """One row of a history. Slots that were not recorded are counted in it, not left out."""

    #: The last recorded slot's gap, or why it has none.
    last: NotRequired[GapPoint | None]
    #: How far the pool's mid price lay below the oracle in that slot, percent: what an infinitely small sale would have lost before the fee.
    last_basis_pct: NotRequired[float | None]
    #: Of the slots in which the size lay beyond liquidity, the one that could fill the least.
    least_fillable: NotRequired[FillablePoint | None]
    #: The lowest depth.
    lowest_depth: NotRequired[DepthPoint | None]
    #: Why the slot is missing; of rows of one slot only.
    missing_reason: NotRequired[str | None]
    #: Slots without one.
    slots_missing: int
    #: Slots with a snapshot that stands.
    slots_recorded: int
    #: Recorded slots in which the size had no gap: worse than any number.
    slots_refused: int
    #: Slots whose snapshot was retracted.
    slots_retracted: int
    #: What the slot holds; of rows of one slot only.
    state: NotRequired[SlotState | None]
    #: Where the row begins, RFC 3339.
    time: str
    #: The worst number: the widest gap of the recorded slots that have one. Absent where none has.
    worst: NotRequired[GapPoint | None]


class History(SeriesOf):
    """`GET /v1/history/{pool}`."""

    #: What anyone can check the newest gap of these rows with; every gap and depth of a row has its own.
    evidence_url: NotRequired[str | None]
    #: The length of a row.
    interval: Interval
    #: Where the next page begins; absent on the last.
    next_cursor: NotRequired[str | None]
    #: The rows, ascending, without a hole.
    rows: list[HistoryRow]


class HoursSpread(TypedDict):
    """How the depths and gaps of some slots are spread. `q50` and `q95` are nearest ranks: values of the series."""

    #: The lowest depth at 2 %, whole USD; `null` where too little is recorded.
    depth_usd_lowest: NotRequired[float | None]
    #: The median depth at 2 %, whole USD; `null` where too little is recorded.
    depth_usd_q50: NotRequired[float | None]
    #: The median gap at the size, percent; `null` where that is a refusal, or too little is recorded.
    exit_gap_pct_q50: NotRequired[float | None]
    #: The gap that 95 % of the slots do not exceed, percent; `null` likewise.
    exit_gap_pct_q95: NotRequired[float | None]
    #: Slots with a snapshot that stands.
    slots: int
    #: Slots of them in which the size had no gap: worse than any number.
    slots_refused: int


class HoursClosed(HoursSpread):
    """The closures of one kind in the period."""

    #: `night`, `weekend`, or `holiday`: of a Monday to Friday that is not traded, with the weekend beside it.
    closure_kind: str
    #: Whether there are as many closures as are needed; else the statistics are `null`.
    enough: bool
    #: Closures of the kind with a recorded slot in them.
    have: int
    #: As many are needed.
    needed: int
    #: The greatest reopening gap of these closures, percent; `null` where none is known, or too few closures are.
    reopening_gap_pct_worst: NotRequired[float | None]
    #: Whether their median depth is less than half of that of the open market.
    thin_when_closed: NotRequired[bool | None]


class HoursClosure(TypedDict):
    """One closure of the period."""

    #: When the market closed, RFC 3339.
    closed_at: str
    #: `night`, `weekend` or `holiday`.
    closure_kind: str
    #: The lowest depth at 2 % in it, whole USD.
    depth_usd_lowest: NotRequired[float | None]
    #: What anyone can check the fill of the last closed slot with.
    evidence_url: NotRequired[str | None]
    #: The last closed slot that is recorded, RFC 3339.
    last_closed_slot: str
    #: When it opens again, RFC 3339.
    opens_at: str
    #: The slot of the fresh rounds, RFC 3339.
    reopened_slot: NotRequired[str | None]
    #: 100 × (1 − what the size fetched in the last closed slot ÷ what the oracle gave for it in the first slot with a fresh round of every feed of a token with a calendar). Positive: selling before the opening was worse. Absent where one of the two slots is.
    reopening_gap_pct: NotRequired[float | None]
    #: Slots with a snapshot that stands.
    slots_recorded: int


class HoursToken(TypedDict):
    """A token's calendar, and what it says of the newest snapshot's block."""

    #: The calendar as snapshots name it: `xnys`, `xnys_extended`, `xnys_24x5` or `xnys_continuous`.
    calendar: str
    #: `regular`, `pre`, `after`, `overnight`, `weekend`, `holiday` or `unknown`.
    state: str
    #: SHA-256 of its table's text.
    table: str
    #: When its table ends, RFC 3339: from then on nothing is known, and the market counts as closed.
    table_ends: str
    #: `token0` or `token1`.
    token: str


#: What an exposure is of, beside what came of it.
LiquidationExposureOf = TypedDict(
    "LiquidationExposureOf",
    {
        "bonus_pct": float,
        "cascade_usd": float,
        "days_observed": float,
        "fall_pct": float,
        "figure": str,
        "figure_url": str,
        "from": str,
        "method": SeriesMethod,
        "method_version": str,
        "protocol_fee_pct": float,
        "to": str,
    },
)


class LiquidationVenue(TypedDict):
    """A pool that the collateral is sold in."""

    #: `token0` or `token1`: the token sold.
    base: str
    #: The slot of it, RFC 3339, the first.
    lowest_depth_time: NotRequired[str | None]
    #: The least depth at two percent, without the fall, whole USD; `null` where no slot was looked at.
    lowest_depth_usd: NotRequired[float | None]
    #: The pool.
    pool: str


class LiquidationExposure(LiquidationExposureOf):
    """`GET /v1/exposure`. USD are whole; coverages are ratios rounded down."""

    #: Whether either is above zero, or some slot did not take it.
    bad_debt: bool
    #: How exposed.
    band: Band
    #: The sum of depths at the break-even gap, after the fall, in the newest slot looked at.
    break_even_depth_now_usd: NotRequired[float | None]
    #: The median slot's.
    break_even_depth_q50_usd: NotRequired[float | None]
    #: The gap up to which whoever liquidates does not lose, percent, rounded down.
    break_even_gap_pct: float
    #: The venues' least depths at two percent, summed though of different slots, ÷ `cascade_usd`.
    coverage: NotRequired[float | None]
    #: The least sum of depths at the break-even gap ÷ `cascade_usd`.
    coverage_break_even: NotRequired[float | None]
    #: The sum of depths at two percent in the newest slot looked at.
    depth_now_usd: NotRequired[float | None]
    #: The median slot's.
    depth_q50_usd: NotRequired[float | None]
    #: Whether enough is recorded for a band; what was seen is told all the same.
    enough: bool
    #: Slots looked at: every venue stands.
    have: int
    #: The least that the venues together could take in a slot in which they did not take it.
    least_fillable_usd: NotRequired[float | None]
    #: The least of them.
    lowest_break_even_depth_usd: NotRequired[float | None]
    #: Its slot, RFC 3339, the first.
    lowest_break_even_time: NotRequired[str | None]
    #: As many are needed.
    needed: int
    #: What liquidators would lose at the widest gap against what they repay, rounded up.
    shortfall_usd: NotRequired[float | None]
    #: Slots in which some venue stands and some does not: unknown, not empty.
    slots_incomplete: int
    #: Slots of the period in which no venue stands.
    slots_missing: int
    #: Slots of which a search was given up.
    slots_unanswered: int
    #: Slots in which the venues together did not take it.
    slots_unfillable: int
    #: Live or preview.
    status: Status
    #: What nobody would have liquidated at a profit in the slot of the least depth, rounded up.
    stranded_usd: NotRequired[float | None]
    #: By venue, as asked.
    venues: list[LiquidationVenue]
    #: The widest gap at which it would have sold, split exactly over the venues, percent; of slots that took it.
    worst_gap_pct: NotRequired[float | None]
    #: Its slot, RFC 3339, the first.
    worst_time: NotRequired[str | None]


class MarketHours(SeriesOf):
    """`GET /v1/hours/{pool}`."""

    #: The newest snapshot's block, RFC 3339: what is said of now is said of it.
    block_time: str
    #: While it was closed, by kind.
    closed: list[HoursClosed]
    #: Seconds until the market closes; `null` where it is closed, or never does.
    closes_in_s: NotRequired[int | None]
    #: The closure that lasts, or the next one: `night`, `weekend` or `holiday`; `null` where there is none, or nobody knows.
    closure_kind: NotRequired[str | None]
    #: How long that one lasts, seconds.
    closure_length_s: NotRequired[int | None]
    #: Each closure of the period with a recorded slot, ascending.
    closures: list[HoursClosure]
    #: Whether as many closures of that kind are recorded as are needed; also where there is none to come.
    enough: bool
    #: The file by which anyone computes `open`, `closed` and `closures` again.
    figure_url: str
    #: Closures of that kind with a recorded slot.
    have: int
    #: Whether the markets of both tokens are open.
    market_open: bool
    #: As many are needed; 0 where the market never closes.
    needed: int
    #: While the market was open.
    open: HoursSpread
    #: Seconds until the market opens; `null` where it is open, or nobody knows.
    opens_in_s: NotRequired[int | None]
    #: How far the oracle's answers may be relied on.
    oracle_state: OracleState
    #: The market session, `continuous` for assets without a calendar.
    session_note: str
    #: The tokens with a calendar; none: around the clock.
    sessions: list[HoursToken]
    #: Slots of the period without a snapshot that stands: what happened in them nobody knows.
    slots_missing: int
    #: Slots of which no table says whether the market was open.
    slots_unknown: int
    #: Seconds since the newest snapshot's slot.
    snapshot_age_s: int
    #: Whether the median depth in closures of that kind is less than half of that of the open market; `null` where that is not known.
    thin_when_closed: NotRequired[bool | None]


#: What the greatest fall of a recorded period did.
NamedShock = TypedDict(
    "NamedShock",
    {
        "about": str,
        "base": NotRequired[str | None],
        "fall_pct": NotRequired[float | None],
        "figure_url": NotRequired[str | None],
        "from": str,
        "gap_pct": float,
        "haircut_pct": NotRequired[float | None],
        "move_pct": float,
        "name": str,
        "pool": str,
        "time": NotRequired[str | None],
        "to": str,
        "why_not": NotRequired[str | None],
        "within_slots": int,
    },
)


class NamedShocks(TypedDict):
    """`GET /v1/shocks`: shocks that the operator named, as a stress takes them."""

    #: In the order of the configuration; none where the operator named none.
    shocks: list[NamedShock]


class ReceiptJwk(TypedDict):
    """The same as others read and write it."""

    #: `EdDSA`.
    alg: NotRequired[str | None]
    #: `Ed25519`.
    crv: str
    #: The key's name: the base64url of its thumbprint, the SHA-256 of `{"crv":"Ed25519","kty":"OKP","x":"…"}`.
    kid: NotRequired[str | None]
    #: `OKP`.
    kty: str
    #: The key's 32 bytes, base64url.
    x: str


class Payments(TypedDict):
    """`GET /v1/payments`."""

    #: The token.
    asset: str
    #: What the price buys, in words.
    buys: str
    #: The token's symbol.
    currency: str
    #: How many estimates a client has free of charge on a day of UTC, by the tools for agents and as positions of portfolios.
    free_estimates_per_day: int
    #: The chain, by its CAIP-2 id.
    network: str
    #: Who is paid.
    pay_to: str
    #: The price, in whole tokens.
    price: str
    #: The same in units of the token.
    price_units: str
    #: What is priced.
    priced: list[str]
    #: The key that signs receipts, and nothing else.
    receipt_key: ReceiptJwk


class PoolAccuracy(AccuracyRecord):
    """The accuracy record of a recorded pool: `GET /v1/accuracy/{pool}`. Its swaps are those of the documents that the pool's heads commit to."""

    #: Days of snapshots behind the pool's newest, at 288 a day.
    days_observed: float
    #: Documents that the swaps were read from …
    documents: int
    #: The file by which anyone computes the record again.
    figure_url: str
    #: … and where they are, from the first slot on.
    fills_url: str
    #: Later slots of the period that stand and whose swaps no head commits to yet: their blocks are not final, or their logs were not read.
    slots_waiting: int


class PoolBook(TypedDict):
    """A pool's own price in a slot, and what it held around that: depth without the distance from the oracle."""

    #: How far the pool's mid price lay below the oracle, percent; negative: above. `null` where that is out of bounds.
    basis_pct: NotRequired[float | None]
    #: The depth at 2 % from the pool's own mid price, whole USD at the oracle's price; `null` where the search for it was given up.
    book_usd: NotRequired[float | None]


class PoolEntry(TypedDict):
    """One monitored pool."""

    #: The token sold unless the caller asks for the other; absent before the first snapshot.
    base: NotRequired[TokenLabel | None]
    #: The chain's slug.
    chain: str
    #: Recorded slots ÷ 288.
    days_observed: float
    #: What a sale pays to the pool as fee, percent, in the newest snapshot; absent where it depends on the sale, which `name` says.
    fee_pct: NotRequired[float | None]
    #: Instant of the newest slot, RFC 3339.
    last_slot: str
    #: Why the newest slot is missing; absent where it is recorded.
    last_slot_missing: NotRequired[str | None]
    #: Venue and fee in words, `Uniswap v3 0.05 %`: no two pools of one chain and one pair have the same name here. Absent before the first snapshot.
    name: NotRequired[str | None]
    #: The pool's identifier, `<chain>:<address>`.
    pool: str
    #: The other token; absent before the first snapshot.
    quote: NotRequired[TokenLabel | None]
    #: Instant at which the pool's series began, RFC 3339.
    series_start: str
    #: Slots without one.
    slots_missing: int
    #: Slots with a snapshot.
    slots_recorded: int
    #: Live or preview; absent before the first snapshot.
    status: NotRequired[Status | None]
    #: The venue; absent where the pool's factory is not known, or before the first snapshot.
    venue: NotRequired[str | None]


class PoolList(TypedDict):
    """All monitored pools, in the order of their identifiers."""

    #: Where the next page begins; absent on the last, and where there are no pages.
    next_cursor: NotRequired[str | None]
    #: The pools.
    pools: list[PoolEntry]


class Published_Amounts(Answer_Amounts):
    """An answer as the service publishes it."""

    #: What anyone can check this number with: of a simulation what the size fills at at once, of a largest size its own exit. Absent where rows carry their own, and where nothing can be proven.
    evidence_url: NotRequired[str | None]
    #: The lowest depth at 2 % of the 2,016 slots (7 days) up to the result's, USD, in the result's direction; absent where no slot tells one.
    lowest_depth_7d_usd: NotRequired[float | None]
    #: Where slots after the result's are missing or retracted: the pool's heads up to the newest sealed slot, which say so. `exitgap verify --window` takes them with the evidence.
    newer_heads_url: NotRequired[str | None]
    #: Seconds from the slot's instant to this answer.
    snapshot_age_s: int
    #: The snapshot behind the answer, canonical bytes.
    snapshot_url: str
    #: The pool's heads of the seven days up to the slot: bears out `days_observed`, the window and `lowest_depth_7d_usd`.
    window_url: str


class PortfolioExit(TypedDict):
    """All positions in one pool and direction, sold together."""

    #: `token0` or `token1`: the token sold.
    base: str
    #: The pool's identifier.
    pool: str
    #: Why there is none.
    problem: NotRequired[Problem | None]
    #: What it fills at; absent where it cannot be filled.
    result: NotRequired[Published_Amounts | None]
    #: The sum of the positions, USD.
    size_usd: float
    #: What of it cannot be filled, USD.
    unfilled_usd: float


class Position(TypedDict):
    """One position of a portfolio."""

    #: `token0` or `token1`: the token sold in that pool.
    base: NotRequired[str | None]
    #: Which of `exits` sell it, counted from 0; with other positions of the pool or token.
    exits: list[int]
    #: The pool's identifier; absent where a token is sold through all its pools.
    pool: NotRequired[str | None]
    #: The position's size, USD.
    size_usd: float
    #: The token sold through all its pools, `<chain>/<token>`.
    token: NotRequired[str | None]


class PortfolioTotal(TypedDict):
    """The sums over all exits."""

    #: That of the exit with the shortest series: the sums are no stronger than it.
    days_observed: float
    #: What anyone can check with the gaps behind the means, and what cannot be filled: of every exit, in the order of `exits`.
    evidence_urls: list[str]
    #: The mean of the exits' gaps, weighted by size, percent; null where something cannot be filled.
    exit_gap_pct: NotRequired[float | None]
    #: The same mean over what can be filled; null where nothing can.
    filled_gap_pct: NotRequired[float | None]
    #: The method, disclosed; its window is that of the exit with the shortest series.
    method: SeriesMethod
    #: The version of the rules that produced the figures.
    method_version: str
    #: All positions, USD.
    size_usd: float
    #: Preview where any exit is.
    status: Status
    #: What cannot be filled, USD.
    unfilled_usd: float


class Portfolio(TypedDict):
    """`GET /v1/portfolio`."""

    #: The exits, in the order of their first position.
    exits: list[PortfolioExit]
    #: The positions, as asked.
    positions: list[Position]
    #: The sums.
    total: PortfolioTotal
    #: Which exit is the worst: one that cannot be filled, else the one of the widest gap.
    worst_exit: int


class ProblemDocument(Problem):
    """A problem over HTTP."""

    #: Names this answer in the service's log.
    request_id: str
    #: The HTTP status.
    status: int
    #: The kind in words, the same each time.
    title: str
    #: Names the kind of problem: `urn:exitgap:problem:<code>`.
    type: str


class Published_GapRung(Answer_GapRung):
    """An answer as the service publishes it."""

    #: What anyone can check this number with: of a simulation what the size fills at at once, of a largest size its own exit. Absent where rows carry their own, and where nothing can be proven.
    evidence_url: NotRequired[str | None]
    #: The lowest depth at 2 % of the 2,016 slots (7 days) up to the result's, USD, in the result's direction; absent where no slot tells one.
    lowest_depth_7d_usd: NotRequired[float | None]
    #: Where slots after the result's are missing or retracted: the pool's heads up to the newest sealed slot, which say so. `exitgap verify --window` takes them with the evidence.
    newer_heads_url: NotRequired[str | None]
    #: Seconds from the slot's instant to this answer.
    snapshot_age_s: int
    #: The snapshot behind the answer, canonical bytes.
    snapshot_url: str
    #: The pool's heads of the seven days up to the slot: bears out `days_observed`, the window and `lowest_depth_7d_usd`.
    window_url: str


class Published_LadderRows(Answer_LadderRows):
    """An answer as the service publishes it."""

    #: What anyone can check this number with: of a simulation what the size fills at at once, of a largest size its own exit. Absent where rows carry their own, and where nothing can be proven.
    evidence_url: NotRequired[str | None]
    #: The lowest depth at 2 % of the 2,016 slots (7 days) up to the result's, USD, in the result's direction; absent where no slot tells one.
    lowest_depth_7d_usd: NotRequired[float | None]
    #: Where slots after the result's are missing or retracted: the pool's heads up to the newest sealed slot, which say so. `exitgap verify --window` takes them with the evidence.
    newer_heads_url: NotRequired[str | None]
    #: Seconds from the slot's instant to this answer.
    snapshot_age_s: int
    #: The snapshot behind the answer, canonical bytes.
    snapshot_url: str
    #: The pool's heads of the seven days up to the slot: bears out `days_observed`, the window and `lowest_depth_7d_usd`.
    window_url: str


class Published_RedemptionWindow(Answer_RedemptionWindow):
    """An answer as the service publishes it."""

    #: What anyone can check this number with: of a simulation what the size fills at at once, of a largest size its own exit. Absent where rows carry their own, and where nothing can be proven.
    evidence_url: NotRequired[str | None]
    #: The lowest depth at 2 % of the 2,016 slots (7 days) up to the result's, USD, in the result's direction; absent where no slot tells one.
    lowest_depth_7d_usd: NotRequired[float | None]
    #: Where slots after the result's are missing or retracted: the pool's heads up to the newest sealed slot, which say so. `exitgap verify --window` takes them with the evidence.
    newer_heads_url: NotRequired[str | None]
    #: Seconds from the slot's instant to this answer.
    snapshot_age_s: int
    #: The snapshot behind the answer, canonical bytes.
    snapshot_url: str
    #: The pool's heads of the seven days up to the slot: bears out `days_observed`, the window and `lowest_depth_7d_usd`.
    window_url: str


class Published_Simulation(Answer_Simulation):
    """An answer as the service publishes it."""

    #: What anyone can check this number with: of a simulation what the size fills at at once, of a largest size its own exit. Absent where rows carry their own, and where nothing can be proven.
    evidence_url: NotRequired[str | None]
    #: The lowest depth at 2 % of the 2,016 slots (7 days) up to the result's, USD, in the result's direction; absent where no slot tells one.
    lowest_depth_7d_usd: NotRequired[float | None]
    #: Where slots after the result's are missing or retracted: the pool's heads up to the newest sealed slot, which say so. `exitgap verify --window` takes them with the evidence.
    newer_heads_url: NotRequired[str | None]
    #: Seconds from the slot's instant to this answer.
    snapshot_age_s: int
    #: The snapshot behind the answer, canonical bytes.
    snapshot_url: str
    #: The pool's heads of the seven days up to the slot: bears out `days_observed`, the window and `lowest_depth_7d_usd`.
    window_url: str


class RetractionNotice(TypedDict):
    """A retraction."""

    #: The slot whose head retracts it.
    by_slot: int
    #: The hash of the block that stands in its place, where it was orphaned.
    canonical_block_hash: NotRequired[str | None]
    #: `orphaned`: its block is not on the chain that became final; `misread`: a later full reading proved its ticks wrong.
    code: str
    #: The hash of the block the snapshot was read at, where that was orphaned.
    orphaned_block_hash: NotRequired[str | None]


class Routes(BestSplit):
    """`GET /v1/routes/{chain}/{token}`."""

    #: The chain's slug.
    chain: str
    #: That of the leg with the shortest series: the figures are no stronger than it.
    days_observed: float
    #: Whether the markets of the tokens of all legs are open.
    market_open: bool
    #: The method, disclosed; its window is that of the leg with the shortest series.
    method: SeriesMethod
    #: USD per whole token sold, by the oracle.
    oracle_price_usd: float
    #: How far the oracles' answers may be relied on: the worst of the legs' pools.
    oracle_state: OracleState
    #: The quote group asked for: only pools that buy a token of it were looked at.
    quote_group: NotRequired[str | None]
    #: The quote groups of the chain that may be asked for, such as `usd`: without one, a leg may end in any token, which is counted at its oracle's price.
    quote_groups: NotRequired[list[str]]
    #: The market session: of a leg whose market is closed, where one is.
    session_note: str
    #: The slot's number: all venues are of this one.
    slot: int
    #: Its instant, RFC 3339.
    slot_time: str
    #: Seconds since it.
    snapshot_age_s: int
    #: The token sold.
    token: TokenLabel


class SlotStatus(TypedDict):
    """What became of a slot since it was sealed: told beside its evidence, never inside it."""

    #: Where its ticks are in doubt: the slot whose full reading of the pool was not what had been followed until then.
    doubted_by_slot: NotRequired[int | None]
    #: Why it is missing.
    missing_reason: NotRequired[str | None]
    #: The pool's identifier.
    pool: str
    #: Where the slot was taken back, because its block was orphaned or its ticks were misread.
    retraction: NotRequired[RetractionNotice | None]
    #: The slot's number.
    slot: int
    #: The slot's instant, RFC 3339.
    slot_time: str
    #: What the series holds for it.
    state: SlotState


class StreamTicket(TypedDict):
    """What an owner shows for a stream in place of the token: `POST /v1/alerts/ticket`."""

    #: Until when a stream can be begun with it, RFC 3339.
    expires: str
    #: The parameter `ticket` of `/v1/stream`. It lets nobody do anything but read what the owner's rules say.
    ticket: str


class TimeAbove(TypedDict):
    """How long a gap lay above a limit. A slot that refused the size did."""

    #: The limit, percent.
    limit_pct: float
    #: Its first slot, RFC 3339; `null` where there is none.
    longest_run_from: NotRequired[str | None]
    #: The longest run of such slots, one after the other: a slot without a snapshot ends it.
    longest_run_slots: int
    #: Slots above it.
    slots: int


class StressDetail(TypedDict):
    """The slots of a period, one by one. A slot that refused the size is worse than any number."""

    #: How long the gap lay above `limit_pct`, where that was asked for.
    above: NotRequired[TimeAbove | None]
    #: The median gap, percent, by nearest rank; `null` where that slot refused the size, or there is none.
    gap_q50_pct: NotRequired[float | None]
    #: The gap that nineteen of twenty slots did not exceed, percent; `null` likewise.
    gap_q95_pct: NotRequired[float | None]
    #: Slots without a snapshot that stands, within an hour of the worst slot either way: outages come with storms.
    slots_missing_near_worst: int
    #: The ten worst slots, the worst first.
    worst_slots: list[GapPoint]


class Stress(SeriesOf):
    """`GET /v1/stress/{pool}`."""

    #: More of the period's slots; absent of a period of more than 31 days.
    detail: NotRequired[StressDetail | None]
    #: What anyone can check the worst gap with.
    evidence_url: NotRequired[str | None]
    #: Of the slots in which the size lay beyond liquidity, the one that could fill the least.
    least_fillable: NotRequired[FillablePoint | None]
    #: The lowest depth.
    lowest_depth: NotRequired[DepthPoint | None]
    #: … and of the lowest depth: whether liquidity had gone, or the price had moved away.
    lowest_depth_book: NotRequired[PoolBook | None]
    #: Slots without one: what happened in them nobody knows.
    slots_missing: int
    #: Slots with a snapshot that stands.
    slots_recorded: int
    #: Recorded slots in which the size had no gap: worse than any number.
    slots_refused: int
    #: Slots whose snapshot was retracted.
    slots_retracted: int
    #: The worst number: the widest gap of the recorded slots that have one. Absent where none has.
    worst_gap: NotRequired[GapPoint | None]
    #: What the pool held around its own price in the slot of the worst gap …
    worst_gap_book: NotRequired[PoolBook | None]


class StressedSlot(TypedDict):
    """One of the worst slots."""

    #: The same from the pools' own mid prices.
    book_usd: float
    #: The venues' depths at two percent from the oracle, summed, whole USD.
    depth_usd: float
    #: The gap of the exact split, percent; `null` where the venues together did not take the size.
    exit_gap_pct: NotRequired[float | None]
    #: What they took then, whole USD; `null` where they took all of it.
    max_fillable_usd: NotRequired[float | None]
    #: The slot's number.
    slot: int
    #: The slot's instant, RFC 3339.
    time: str


class StressedVenue(TypedDict):
    """A pool that is sold in."""

    #: `token0` or `token1`: the token sold.
    base: str
    #: The slot of it, RFC 3339, the first.
    lowest_depth_time: NotRequired[str | None]
    #: The least depth at two percent after the shock, whole USD; `null` where no slot was looked at.
    lowest_depth_usd: NotRequired[float | None]
    #: The pool.
    pool: str


#: What a stress is of, beside what came of it.
VenueStressOf = TypedDict(
    "VenueStressOf",
    {
        "after_move_pct": NotRequired[float | None],
        "days_observed": float,
        "fall_pct": float,
        "figure": str,
        "figure_url": str,
        "from": str,
        "haircut_pct": float,
        "method": SeriesMethod,
        "method_version": str,
        "size_usd": float,
        "to": str,
        "within_slots": NotRequired[int | None],
    },
)


class VenueStress(VenueStressOf):
    """`GET /v1/stress`. USD are whole. A slot in which the venues did not take the size is worse than any number."""

    #: How long the gap lay above `limit_pct`; `null` where that was not asked for.
    above: NotRequired[TimeAbove | None]
    #: The median slot's.
    book_q50_usd: NotRequired[float | None]
    #: The median slot's depth.
    depth_q50_usd: NotRequired[float | None]
    #: The median gap, percent, by nearest rank; `null` where that slot did not take it, or there is none.
    gap_q50_pct: NotRequired[float | None]
    #: The gap that nineteen of twenty slots did not exceed, percent; `null` likewise.
    gap_q95_pct: NotRequired[float | None]
    #: Slots looked at: every venue stands.
    have: int
    #: Its slot, RFC 3339, the first.
    lowest_book_time: NotRequired[str | None]
    #: The least sum over venues of the depth at two percent from their own mid prices.
    lowest_book_usd: NotRequired[float | None]
    #: The sum of books in that slot: whether liquidity had gone, or the price had moved away.
    lowest_depth_book_usd: NotRequired[float | None]
    #: Its slot, RFC 3339, the first.
    lowest_depth_time: NotRequired[str | None]
    #: The least sum over venues of the depth at two percent from the oracle.
    lowest_depth_usd: NotRequired[float | None]
    #: Slots in which some venue stands and some does not: unknown, not empty.
    slots_incomplete: int
    #: Slots of the period in which no venue stands.
    slots_missing: int
    #: Slots in which not every venue stands, within an hour of the worst either way: outages come with storms.
    slots_missing_near_worst: int
    #: Slots of which a search was given up.
    slots_unanswered: int
    #: Slots in which the venues together did not take it.
    slots_unfillable: int
    #: Slots in which no venue's mid price had moved by `after_move_pct`: not looked at; absent without it.
    slots_unmoved: NotRequired[int | None]
    #: Slots of which that is unknown, since so many slots before in the period not every venue stands; likewise.
    slots_untestable: NotRequired[int | None]
    #: Live or preview.
    status: Status
    #: By venue, as asked.
    venues: list[StressedVenue]
    #: The ten worst slots, the worst first.
    worst_slots: list[StressedSlot]


class WebhookKeys(TypedDict):
    """New keys of an endpoint: `POST /v1/alerts/{alert}/rotate`."""

    #: Until when the keys before sign too, RFC 3339.
    previous_until: str
    #: The key that `v1a` signatures are checked with.
    public_key: str
    #: The key that `v1` signatures are checked with: told here and never again.
    webhook_secret: str
