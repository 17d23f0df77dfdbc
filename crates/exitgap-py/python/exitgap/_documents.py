# Made by `cargo xtask generate` from crates/exitgap-server/docs/openapi.json. Do not edit.
"""The documents of a service, as types: dictionaries, named as the service names their fields.

What is ``NotRequired`` is absent or ``None`` if there is no value. Numbers of USD, prices and percentages are floats; raw
amounts of tokens are texts. A newer service may have more fields.
"""

# ruff: noqa: E501
from typing import Any, Literal, NotRequired, TypedDict


class AccuracyErrors(TypedDict):
    """Errors of many swaps, percent: the realised gap minus the estimated gap. **Positive: the fill was worse than estimated.**"""

    #: The median absolute error.
    abs_error_pct_q50: NotRequired[float | None]
    #: The 95th percentile of the absolute error.
    abs_error_pct_q95: NotRequired[float | None]
    #: Orders for an output amount that agree with the estimate: the amount received lies between the estimates for the amount sold and for one raw unit less. Their error is 0.
    bracketed_n: int
    #: Swaps that received exactly the estimated amount, in raw units.
    exact_n: int
    #: The mean signed error.
    mean_error_pct: NotRequired[float | None]
    #: Swaps compared.
    n: int
    #: The largest error in the direction of a worse fill.
    worst_for_seller_pct: NotRequired[float | None]
    #: The error farthest from zero, in either direction.
    worst_pct: NotRequired[float | None]


class AccuracyByAge(AccuracyErrors):
    """Errors by the age of the estimate."""

    #: How many slots the estimate is older than the newest slot before the swap.
    older_slots: int


class AccuracyBySize(AccuracyErrors):
    """Errors by size and direction, with estimates from the newest slot before the swap."""

    #: `token0` or `token1`: the token sold.
    base: str
    #: The smallest size of this group, USD. The group ends at ten times this size.
    from_usd: int


class AccuracyFlagged(TypedDict):
    """Compared swaps with other activity around them. They are compared like all others."""

    #: In the same block, one owner added liquidity to a range before the swap and removed it after the swap.
    jit: int
    #: The same transaction swapped in the pool more than once.
    same_tx: int
    #: In the same block, one party swapped shortly before this swap and in the opposite direction shortly after it.
    sandwich_suspected: int


class AccuracyNotCompared(TypedDict):
    """Swaps that were not compared, by reason."""

    #: The pool in the slot's state cannot take that much.
    estimate_refused: int
    #: The logs between two slots, when replayed, did not give the later state.
    fills_incomplete: int
    #: The error is outside the range of a percentage.
    out_of_range: int
    #: Both tokens went in, or out.
    two_sided: int
    #: Nothing went in, or nothing came out.
    zero: int


class AccuracySwap(TypedDict):
    """A swap and its estimate."""

    #: Whether the swap agrees with the estimate: `exact` (equal in raw units), `bracketed` (an order for an output amount that lies between the estimates for the amount sold and for one raw unit less) or `differs`.
    agreement: str
    #: Amount sold, raw units.
    amount_in_raw: str
    #: Amount received, raw units.
    amount_out_raw: str
    #: `token0` or `token1`: the token sold.
    base: str
    #: The block number.
    block: int
    #: The realised gap minus the estimated gap, and 0 if the swap is `bracketed`. Positive: the fill was worse than estimated.
    error_pct: float
    #: The estimated gap below the oracle price, percent.
    estimated_gap_pct: float
    #: Amount estimated, raw units.
    estimated_out_raw: str
    #: Other activity around the swap: `same_tx`, `jit`, `sandwich_suspected`.
    flags: NotRequired[list[str]]
    #: The index of the log in the block.
    log_index: int
    #: The value sold at the slot's oracle price, USD.
    size_usd: float
    #: The slot of the estimate.
    slot: int
    #: The transaction hash, `0x` and 64 hexadecimal digits.
    transaction: str


#: Whether a figure is reliable.
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
        "judged_slots": int,
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


#: Where the depth behind a result was read.
DepthSourceKind = Literal["recorded_snapshot", "latest_block", "snapshot_file"]


class SeriesSource(TypedDict):
    """Where the depth of several slots was read. The evidence of each slot has its own block, snapshot and oracles."""

    #: The chain's slug. Absent if the figures are from several chains.
    chain: NotRequired[str | None]
    #: The source of the depth.
    kind: DepthSourceKind


#: The slots that a result is computed from.
Window = TypedDict(
    "Window",
    {
        "from": str,
        "slots_missing": int,
        "slots_recorded": int,
        "to": str,
    },
)


class SeriesMethod(TypedDict):
    """The method behind figures of several slots. [`crate::Method`] is the same for a single answer."""

    #: The size of the figures, USD. Absent if each figure names its own.
    assumed_size_usd: NotRequired[float | None]
    #: Where their depth was read.
    depth_source: SeriesSource
    #: The slots used.
    window: Window


_AccuracySummary = TypedDict(
    "_AccuracySummary",
    {
        "accuracy_url": str,
        "compared": int,
        "days_observed": float,
        "enough": bool,
        "figure_url": str,
        "from": str,
        "judged_slots": int,
        "method": SeriesMethod,
        "method_version": str,
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

    #: Venue and fee. Absent before the first snapshot.
    name: NotRequired[str | None]
    #: The pool.
    pool: str
    #: The record of the last seven days, as far as it was computed. `null` if there is none.
    record: NotRequired[AccuracySummary | None]
    #: Why there is no record: `waiting` (not computed yet), or a problem code such as `figure_unsupported_kind`. Absent if there is a record.
    why_not: NotRequired[str | None]


class AccuracyTable(TypedDict):
    """How accurate the estimates of all recorded pools were: `GET /v1/accuracy`."""

    #: The version of the rules: `accuracy/2`.
    figure: str
    #: The cursor of the next page. Absent on the last page.
    next_cursor: NotRequired[str | None]
    #: One row per pool on the page, in the order of the pool identifiers.
    pools: list[AccuracyRow]
    #: Pools on all pages whose row is not computed yet.
    waiting: int


class AlertEventTold(TypedDict):
    """An event, computed from a rule and the sealed slots. Everyone who computes the event gets the same bytes."""

    #: The event document. With its names in order and without white space it is the canonical document.
    document: dict[str, Any]
    #: The event's id, `evt_` and 52 letters and digits.
    id: str
    #: The event's sequence number within the rule, from 1.
    seq: int
    #: The slot that caused the event.
    slot: int
    #: `alert.firing`, `alert.resolved`, `alert.no_data`, `alert.data`, `alert.reminder`, `alert.corrected` or `alert.ended`.
    type: str


class AlertEventKept(TypedDict):
    """An event of a stored rule."""

    #: How many times it was sent.
    attempts: int
    #: `pending`, `delivered` or `given_up`. Absent if the event is not sent to a webhook.
    delivery: NotRequired[str | None]
    #: The event.
    event: AlertEventTold
    #: The last failure.
    last_failure: NotRequired[str | None]


class AlertEventsKept(TypedDict):
    """The events of a stored rule: `GET /v1/alerts/{alert}/events`."""

    #: The rule's name.
    alert: str
    #: The events of the last 30 days after `after_seq`, oldest first.
    events: list[AlertEventKept]
    #: The `after_seq` of the next request: the sequence number of the last event here, or the given `after_seq`.
    next_after_seq: int


class AlertStanding(TypedDict):
    """The state of a rule."""

    #: Consecutive breaches so far, before the rule fires.
    breach_slots: int
    #: Consecutive clear slots so far, before the alert is resolved.
    clear_slots: int
    #: The slot at which the rule last fired.
    fired_slot: NotRequired[int | None]
    #: Consecutive slots without data.
    no_data_slots: int
    #: `ok`, `pending`, `firing`, `recovering` or `no_data`.
    standing: str


class WebhookTold(TypedDict):
    """The webhook that a rule's events are sent to."""

    #: The start of the current run of failures, RFC 3339.
    failing_since: NotRequired[str | None]
    #: The last failure.
    last_failure: NotRequired[str | None]
    #: Events waiting to be sent.
    pending: int
    #: The previous public key. It also signs for a day after a key rotation.
    previous_public_key: NotRequired[str | None]
    #: The public key for `v1a` signatures: `whpk_` and base64.
    public_key: str
    #: `unverified`: the URL has not answered the challenge yet; `verified`: events are sent; `disabled`: the URL answered 410, or failed for five days.
    state: str
    #: The URL.
    url: str


class AlertKept(TypedDict):
    """A stored rule: `GET /v1/alerts/{alert}`."""

    #: The rule's name. It is part of the rule and of every event.
    alert: str
    #: When the rule was created, RFC 3339.
    created: str
    #: Why the rule ended: `deleted`, `expired`, or `retired` (the pool was retired).
    ended: NotRequired[str | None]
    #: The last slot that all rules were evaluated with. Absent before the first.
    evaluated_slot: NotRequired[int | None]
    #: When the rule expires, RFC 3339: 30 days after its owner's last call.
    expires: str
    #: The sequence number of the rule's newest event. 0: no events.
    last_seq: int
    #: The pool.
    pool: str
    #: The rule with every default filled in. Saved as a file, it is the input of `exitgap alert replay`.
    rule: dict[str, Any]
    #: The SHA-256 of the rule's canonical bytes.
    rule_hash: str
    #: The state of the rule after `evaluated_slot`.
    state: AlertStanding
    #: The webhook that events are sent to. Absent: events can only be read here.
    webhook: NotRequired[WebhookTold | None]


#: The state and events of a rule over a period: `GET /v1/alerts/backtest/{pool}`. The caller supplies the rule, and the service does not store it.
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
    """A new rule: `POST /v1/alerts`. Its secrets are shown only once, in this answer."""

    #: The rule.
    alert: AlertKept
    #: The events of the rule over the last 30 days, or over as many days as are recorded.
    backtest: AlertsTold
    #: The owner's token, sent from now on as `Authorization: Bearer`: `exa_` and 43 letters, digits, `-` and `_`. Present only if the request had no token.
    token: NotRequired[str | None]
    #: The secret key for `v1` signatures: `whsec_` and base64. Present only if the URL is new for this owner.
    webhook_secret: NotRequired[str | None]


class AlertsKept(TypedDict):
    """All rules of one owner: `GET /v1/alerts`."""

    #: The rules, newest first, at most 200. Rules that ended in the last 30 days are included.
    alerts: list[AlertKept]


class AlertsResent(TypedDict):
    """The result of sending events again: `POST /v1/alerts/{alert}/replay`."""

    #: Events newly queued. Events that were already waiting are not counted.
    events: int


class SplitPct(TypedDict):
    """The parts of a gap: `1 − gap = (1 − basis) × (1 − fee) × (1 − impact)`, each rounded to six decimals separately."""

    #: How far the pool's mid price is below the oracle price, percent.
    basis_pct: float
    #: The pool's fee, percent.
    fee_pct: float
    #: The price impact, percent.
    impact_pct: float


class Amounts(TypedDict):
    """The figures of one exit."""

    #: Raw units of the base token sold.
    amount_in_raw: str
    #: Raw units of the quote token bought.
    amount_out_raw: str
    #: Gap between realized price and oracle price, percent. Positive: the fill is worse than the oracle; negative: better.
    exit_gap_pct: float
    #: USD per whole base token for the next unit after the exit, fee included.
    marginal_price_usd: float
    #: USD per whole base token at the pool's mid price before the exit.
    mid_price_usd: float
    #: USD per whole base token, as filled.
    realized_price_usd: float
    #: The size, USD.
    size_usd: float
    #: The parts of the gap.
    split: SplitPct
    #: Initialised ticks crossed. Absent for pools without ticks.
    ticks_crossed: NotRequired[int | None]


class TokenLabel(TypedDict):
    """A token, as its contract describes it. The symbol is only a label: any contract may choose any symbol."""

    #: The token contract's address.
    address: str
    #: The number of decimals of the token.
    decimals: int
    #: Its symbol, cleaned to printable ASCII.
    symbol: str


class DepthSource(TypedDict):
    """The block behind a result, and the slot if one is recorded."""

    #: Block hash.
    block_hash: str
    #: Block number.
    block_number: int
    #: Block timestamp, RFC 3339.
    block_time: str
    #: The chain's CAIP-2 id.
    chain: str
    #: The hash of the chain's block 0, if the chain is live because its operator configured that hash. Whether it is the intended network has to be checked by someone who knows the hash.
    genesis_hash: NotRequired[str | None]
    #: The source of the depth.
    kind: DepthSourceKind
    #: Slots after this one that are missing or retracted, if the request was for the newest recorded slot.
    newer_slots_missing: NotRequired[int | None]
    #: The kind of pool state: `constant_product`, `concentrated_liquidity`, `concentrated_v4` or `concentrated_linked`.
    protocol: str
    #: The slot number. Absent if nothing is recorded.
    slot: NotRequired[int | None]
    #: The time of the slot, RFC 3339.
    slot_time: NotRequired[str | None]
    #: SHA-256 of the snapshot's canonical bytes.
    snapshot_hash: NotRequired[str | None]


class OracleDisclosure(TypedDict):
    """One oracle answer behind a result."""

    #: Seconds from the answer to the block. For a sequencer, how long it has been up or down.
    age_s: NotRequired[int | None]
    #: The answer, raw.
    answer_raw: str
    #: The decimals of the answer.
    decimals: int
    #: The feed's address.
    feed: NotRequired[str | None]
    #: `token0_usd` or `token1_usd`: the price that this answer is a factor of. `sequencer_uptime`: whether the chain's sequencer is up (0) or down (1).
    role: str
    #: `chainlink` or `fixed`.
    source: str
    #: Whether the age exceeds the feed's heartbeat. For a sequencer, whether it is down, or has been up for no longer than its grace period.
    stale: bool


class Method(TypedDict):
    """The method behind a result, disclosed."""

    #: The size that the figure is for. Absent if the size is the answer.
    assumed_size_usd: NotRequired[float | None]
    #: Where the depth was read.
    depth_source: DepthSource
    #: Every oracle answer used.
    oracles: list[OracleDisclosure]


#: How reliable the oracle answers are.
OracleState = Literal["fresh", "held_over_close", "stale"]


class Context(TypedDict):
    """The context of every result."""

    #: The token sold.
    base: TokenLabel
    #: Recorded slots ÷ 288. Absent if nothing is recorded.
    days_observed: NotRequired[float | None]
    #: Whether the amounts are what a holder sends and receives. `false` if a token takes a fee on transfer, as logs of the pool's own swaps showed: the exit is then worse than computed.
    exact: bool
    #: The fee that the pool charges on a sale, percent. Absent if it depends on the sale; `name` then shows how.
    fee_pct: NotRequired[float | None]
    #: Why the amounts are not exact, if they are not: `token_taxed`.
    inexact_because: NotRequired[str | None]
    #: The same reason as a sentence that names the tokens.
    inexact_detail: NotRequired[str | None]
    #: Whether the markets of both tokens are open at the block.
    market_open: bool
    #: The method, disclosed.
    method: Method
    #: The version of the method behind the figures.
    method_version: str
    #: Venue and fee as of this state: `Uniswap v3 0.05%`.
    name: str
    #: USD per whole base token, according to the oracle.
    oracle_price_usd: float
    #: Whether any oracle answer is older than its heartbeat, or the chain's sequencer is down or was down until just now.
    oracle_stale: bool
    #: Why the oracle is stale, if it is. While a market is closed, the oracle keeps its last answer.
    oracle_state: OracleState
    #: The pool's identifier, `<chain>:<address>`.
    pool: str
    #: The token bought.
    quote: TokenLabel
    #: The market session at the block, e.g. `XNYS@1/regular`. `continuous` for assets without a calendar.
    session_note: str
    #: Live or preview.
    status: Status
    #: The venue. Absent if the pool's factory is not known.
    venue: NotRequired[str | None]
    #: The series behind the result. Absent if nothing is recorded.
    window: NotRequired[Window | None]


class Answer_Amounts(Context):
    """Figures with their context: the document of every answer about a pool."""

    #: Raw units of the base token sold.
    amount_in_raw: str
    #: Raw units of the quote token bought.
    amount_out_raw: str
    #: Gap between realized price and oracle price, percent. Positive: the fill is worse than the oracle; negative: better.
    exit_gap_pct: float
    #: USD per whole base token for the next unit after the exit, fee included.
    marginal_price_usd: float
    #: USD per whole base token at the pool's mid price before the exit.
    mid_price_usd: float
    #: USD per whole base token, as filled.
    realized_price_usd: float
    #: The size, USD.
    size_usd: float
    #: The parts of the gap.
    split: SplitPct
    #: Initialised ticks crossed. Absent for pools without ticks.
    ticks_crossed: NotRequired[int | None]


class MaxSize(TypedDict):
    """The largest exit within a gap limit."""

    #: `gap`, `liquidity` (the pool's liquidity ends first) or `size_bound`.
    limited_by: str
    #: The largest raw amount of the base token within the limit, usually slightly above `max_size_usd`.
    max_amount_in_raw: str
    #: The amount that the pool pays for it, raw units of the quote token.
    max_amount_out_raw: str
    #: The largest size whose own estimate is within the limit, USD. Zero if there is none.
    max_size_usd: float


class DepthReading(TypedDict):
    """The second reading of the depth of one slot."""

    #: The depth within the same limit from the pool's own mid price instead of the oracle price, whole USD. If only the oracle moved away, the other depth falls and this one does not. Absent if its computation was given up.
    book_usd: NotRequired[float | None]
    #: Why the depth is low: `oracle_led` or `thin_book`. Absent if neither applies.
    depth_cause: NotRequired[str | None]
    #: The same as a sentence.
    depth_note: NotRequired[str | None]


#: Stable codes of all errors.
ProblemCode = Literal["invalid_parameter", "invalid_pool", "unknown_pool", "unknown_base", "unknown_token", "no_snapshot_yet", "slot_missing", "slot_retracted", "before_series", "after_series", "rounds_to_no_input", "rounds_to_no_output", "beyond_liquidity", "gap_out_of_range", "search_exhausted", "sizing_not_exact", "orders_not_exact", "figure_unsupported_kind", "chain_unreadable", "proof_out_of_reach", "proofs_not_served", "unsupported_layout", "proof_too_wide", "block_not_canonical", "source_unreadable", "unknown_parameter", "unknown_chain", "period_reversed", "unknown_method_version", "not_live", "series_too_short", "snapshot_too_old", "not_available", "not_found", "method_not_allowed", "address_too_long", "body_not_accepted", "rate_limited", "token_required", "unknown_alert", "request_differs", "too_many_alerts", "alerts_full", "payment_required", "payment_malformed", "payment_used", "payment_pending", "payments_unavailable", "free_estimates_used", "timed_out", "internal_error"]


class Problem(TypedDict):
    """An error document."""

    #: The stable code.
    code: ProblemCode
    #: The cause, in one sentence.
    detail: str
    #: URL of the evidence that the size cannot be filled.
    evidence_url: NotRequired[str | None]
    #: The parameter at fault.
    field: NotRequired[str | None]
    #: What to do, if known.
    hint: NotRequired[str | None]
    #: The largest size that can be filled, USD.
    max_fillable_usd: NotRequired[float | None]
    #: The stable reason behind a missing slot or an unreadable chain.
    reason: NotRequired[str | None]
    #: The size that cannot be filled, USD.
    size_usd: NotRequired[float | None]


class _Answer_GapRung_MaxSize(TypedDict):
    #: `gap`, `liquidity` (the pool's liquidity ends first) or `size_bound`.
    limited_by: NotRequired[str]
    #: The largest raw amount of the base token within the limit, usually slightly above `max_size_usd`.
    max_amount_in_raw: NotRequired[str]
    #: The amount that the pool pays for it, raw units of the quote token.
    max_amount_out_raw: NotRequired[str]
    #: The largest size whose own estimate is within the limit, USD. Zero if there is none.
    max_size_usd: NotRequired[float]


class Answer_GapRung(_Answer_GapRung_MaxSize, DepthReading, Context):
    """Figures with their context: the document of every answer about a pool."""

    #: URL of the evidence for the exit, or that the size cannot be filled, if a service answers.
    evidence_url: NotRequired[str | None]
    #: The exit of exactly that size. Absent if nothing can be sold within the limit.
    exit: NotRequired[Amounts | None]
    #: The limit, percent.
    gap_limit_pct: float
    #: Why depth or exit is absent.
    problem: NotRequired[Problem | None]
    #: A smaller size whose gap exceeds the limit, USD: the fee of this pool depends on the size.
    worse_below_usd: NotRequired[float | None]


class _GapRung_MaxSize(TypedDict):
    #: `gap`, `liquidity` (the pool's liquidity ends first) or `size_bound`.
    limited_by: NotRequired[str]
    #: The largest raw amount of the base token within the limit, usually slightly above `max_size_usd`.
    max_amount_in_raw: NotRequired[str]
    #: The amount that the pool pays for it, raw units of the quote token.
    max_amount_out_raw: NotRequired[str]
    #: The largest size whose own estimate is within the limit, USD. Zero if there is none.
    max_size_usd: NotRequired[float]


class GapRung(_GapRung_MaxSize, DepthReading):
    """A row by gap: the size that can be sold within the limit, and its fill."""

    #: URL of the evidence for the exit, or that the size cannot be filled, if a service answers.
    evidence_url: NotRequired[str | None]
    #: The exit of exactly that size. Absent if nothing can be sold within the limit.
    exit: NotRequired[Amounts | None]
    #: The limit, percent.
    gap_limit_pct: float
    #: Why depth or exit is absent.
    problem: NotRequired[Problem | None]
    #: A smaller size whose gap exceeds the limit, USD: the fee of this pool depends on the size.
    worse_below_usd: NotRequired[float | None]


class SizeRung(TypedDict):
    """A row by size: its fill, or why the size cannot be filled."""

    #: URL of the evidence for the exit, or that the size cannot be filled, if a service answers.
    evidence_url: NotRequired[str | None]
    #: The exit of that size.
    exit: NotRequired[Amounts | None]
    #: Why there is no exit.
    problem: NotRequired[Problem | None]
    #: The size, USD.
    size_usd: float
    #: A smaller size with a larger gap, USD: the fee of this pool depends on the size.
    worse_below_usd: NotRequired[float | None]


class Answer_LadderRows(Context):
    """Figures with their context: the document of every answer about a pool."""

    #: Depth by gap, ascending.
    by_gap: list[GapRung]
    #: Slippage by size, ascending.
    by_size: list[SizeRung]


class RedemptionFact(TypedDict):
    """A fact of the snapshot that a redemption depends on."""

    #: The call data.
    call: str
    #: The contract called.
    contract: str
    #: The name of the fact in the snapshot.
    name: str
    #: The meaning: `capacity` and `ahead`, in the token's smallest units; `capacity_asset`, and `nav` of one whole token, in the smallest units of the asset; `fee`; `paused`, any value except zero.
    says: str
    #: The first 32-byte word of the answer, as a whole number.
    word_raw: str


class RedemptionPath(TypedDict):
    """One way to redeem a size."""

    #: `100 × (receives_usd - receives_now_usd) ÷ receives_now_usd`: positive if redeeming pays more.
    advantage_pct: NotRequired[float | None]
    #: The same over `t_max_s`.
    break_even_annual_pct_at_t_max: NotRequired[float | None]
    #: The advantage as a simple yearly rate, percent, over `t_min_s`. Redeeming pays if your cost of money is below this rate. `null` without a waiting time.
    break_even_annual_pct_at_t_min: NotRequired[float | None]
    #: The maximum redemption, USD. `null`: no limit, or in the same case as `fee_pct`.
    capacity_usd: NotRequired[float | None]
    #: Who may redeem, according to the terms.
    eligibility: str
    #: The facts behind this path, read at the snapshot's block. All other numbers are from the terms.
    facts: NotRequired[list[RedemptionFact]]
    #: The redemption fee, percent. `null` if a fact would give it and `refusal` shows why it does not.
    fee_pct: NotRequired[float | None]
    #: `at_once`; `on_days`: at the close of trading days after a cut-off; `in_turn`: in a queue, after earlier requests.
    kind: str
    #: The minimum redemption, USD.
    minimum_usd: float
    #: The payment per whole token before the fee, USD, according to a fact, rounded down. Absent if it is the oracle price.
    pays_usd: NotRequired[float | None]
    #: For a queue: whether those payments are how much its recorded lengths fell per day in the last seven days, instead of the terms.
    per_day_recorded: NotRequired[bool]
    #: For a queue: the payments per day, USD: minimum, middle, maximum. `null` in the same case as `fee_pct`.
    per_day_usd: NotRequired[list[float] | None]
    #: The proceeds of both, USD, at the oracle price or at `pays_usd`. `null` if the rest cannot be sold.
    receives_usd: NotRequired[float | None]
    #: The amount redeemed, USD: the size, or the capacity.
    redeemed_usd: NotRequired[float | None]
    #: Why redemption is not possible under these terms: `below_minimum`; `unknown_days`, beyond the calendar's table; `paused`, according to a fact; `fact_missing`, the snapshot lacks a fact that the terms name; `fact_invalid`, a fee of more than 100%, or a token that pays nothing; `asset_unknown`, the asset paid is not a token of the pool; `pace_unknown`, the queue's lengths of seven days are not known.
    refusal: NotRequired[str | None]
    #: The rest, sold now, USD.
    sold_usd: NotRequired[float | None]
    #: The maximum waiting time, seconds.
    t_max_s: NotRequired[int | None]
    #: For a queue: the waiting time at its middle pace, seconds.
    t_middle_s: NotRequired[int | None]
    #: The minimum waiting time, seconds. `null`: no payment is possible.
    t_min_s: NotRequired[int | None]
    #: When the terms were read, `YYYY-MM-DD`.
    terms_read_on: str
    #: The SHA-256 of the file of terms, 0x-prefixed.
    terms_sha256: str
    #: The source of the terms.
    terms_source: str


class Answer_RedemptionWindow(Context):
    """Figures with their context: the document of every answer about a pool."""

    #: The gap of that sale, percent. `null` in the same case.
    exit_gap_pct: NotRequired[float | None]
    #: The name and version of the method, `redemption/1`.
    figure: str
    #: The assumed time of the redemption request: the time of the snapshot's block, RFC 3339.
    handed_in_at: str
    #: Always `true`.
    modelled: bool
    #: The ways to redeem the size. Empty if no redemption terms are configured for the token.
    paths: list[RedemptionPath]
    #: The proceeds of selling now, USD: `size_usd × (1 - exit_gap_pct)`, rounded down. `null` if the size cannot be sold.
    receives_now_usd: NotRequired[float | None]
    #: Why the size cannot be sold at once.
    refusal: NotRequired[ProblemCode | None]
    #: The size, USD.
    size_usd: float


#: The same size sold at once: the fill, or why the size cannot be filled.
AtOnce = Any


class OrderFill(TypedDict):
    """One order of a simulated exit."""

    #: Raw units of the base token sold.
    amount_in_raw: str
    #: Raw units of the quote token bought.
    amount_out_raw: str
    #: The order's own gap, percent.
    exit_gap_pct: float
    #: The number of the order, from 1.
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
    #: The orders, in sequence.
    fills: list[OrderFill]
    #: Seconds between orders, as given. Not used in any computation.
    interval_s: int
    #: Number of orders.
    orders: int
    #: The assumed recovery of √price between two orders, as a share of its displacement, percent. An assumption, not a forecast.
    recovery_pct: float
    #: The whole size, USD.
    size_usd: float


#: The rating of the exposure. It depends only on whether each dollar to sell has a dollar of depth.
Band = Literal["covered", "strained", "exposed", "unfillable", "unrated"]


class SplitAlone(TypedDict):
    """The whole exit in one venue."""

    #: Why the venue cannot fill the size: a code such as `beyond_liquidity`.
    code: NotRequired[str | None]
    #: URL of the evidence for this result.
    evidence_url: NotRequired[str | None]
    #: The gap of selling everything here, percent, after the fixed cost. `null` if the venue cannot fill the size.
    exit_gap_pct: NotRequired[float | None]
    #: The largest size that the venue fills, USD. Present if that is the reason.
    max_fillable_usd: NotRequired[float | None]
    #: The venue and fee.
    name: str
    #: The pool.
    pool: str
    #: SHA-256 of the snapshot behind this result and the leg of this pool.
    snapshot_hash: NotRequired[str | None]


class SplitLeftOut(TypedDict):
    """A venue that is not part of the split."""

    #: Why: `not_concave`, `oracle_differs`, `gap_out_of_range`, `too_many_venues`, `slot_missing` or `no_snapshot_yet`. For pools of a tokenized stock: `too_many_venues`, or the code of a problem.
    code: str
    #: The same reason as a sentence.
    detail: str
    #: The pool.
    pool: str


class SplitLeg(TypedDict):
    """One venue's share of an exit. Each share is a sale with its own evidence."""

    #: Raw units of the token sold.
    amount_in_raw: str
    #: Raw units of the token bought: the amount that the contract pays.
    amount_out_raw: str
    #: `token0` or `token1`: the token sold, by its position in that pool.
    base: str
    #: URL of the evidence for this leg.
    evidence_url: NotRequired[str | None]
    #: The gap of this leg, percent: exact. Positive is worse than the oracle.
    exit_gap_pct: float
    #: The fixed cost of using the venue, USD.
    fixed_cost_usd: float
    #: The venue and fee.
    name: str
    #: The pool.
    pool: str
    #: The token bought.
    quote: TokenLabel
    #: The size sold here, USD. The sizes of all legs add up to the requested size.
    size_usd: float


class BestSplit(TypedDict):
    """The optimal split of an exit over venues."""

    #: Each venue if it took the whole size, best first. Venues that cannot fill the size come last, the one that fills most first.
    alone: list[SplitAlone]
    #: Raw units of the token sold by all legs. At most one unit per leg less than one single sale of the size.
    amount_in_raw: str
    #: The gap of all legs together with their fixed costs, percent: exact. Positive is worse than the oracle. Never worse than any venue alone.
    exit_gap_pct: float
    #: The fixed costs of the venues of the legs, USD.
    fixed_cost_usd: float
    #: Venues that are not part of the split, and why.
    left_out: list[SplitLeftOut]
    #: The share of each venue used.
    legs: list[SplitLeg]
    #: The version of the method behind the figures.
    method_version: str
    #: No other split over the venues that are not in `left_out` improves the gap by more than this, percent. `null` if a venue in `left_out` alone is better than all others together.
    optimality_gap_pct: NotRequired[float | None]
    #: The requested size, USD.
    size_usd: float
    #: `live` only if the chain is live.
    status: Status


#: The status of a capability.
CapabilityStatus = Literal["live", "preview", "roadmap"]


class Capability(TypedDict):
    """One capability."""

    #: Its name.
    capability: str
    #: What the capability depends on, according to the specification: other capabilities by name, or other conditions.
    gated_by: NotRequired[list[str]]
    #: The chains on which the capability is live. On other chains it is at most preview.
    live_on: NotRequired[list[str]]
    #: The status on this service: live if the capability is live on any chain.
    status: CapabilityStatus
    #: Where to find the capability, or what is not built yet.
    where: str


class ChainCapability(TypedDict):
    """The status of a chain. The statuses of capabilities depend on it."""

    #: Seconds from that slot to this answer.
    age_s: NotRequired[int | None]
    #: The chain's slug.
    chain: str
    #: The newest recorded slot of the chain's pools, RFC 3339. Absent before the first slot.
    newest_recorded_slot: NotRequired[str | None]
    #: Why the chain is not live. Absent if it is live.
    not_live_because: NotRequired[str | None]
    #: Live if all conditions for that are met, otherwise preview.
    status: CapabilityStatus


class Capabilities(TypedDict):
    """`GET /v1/capabilities`."""

    #: Every capability in the specification.
    capabilities: list[Capability]
    #: Every chain with a monitored pool.
    chains: NotRequired[list[ChainCapability]]
    #: Whether this process serves pages.
    pages: NotRequired[bool]
    #: Whether this process records.
    recording: NotRequired[bool]
    #: The base URL of pages, evidence and the log, if it differs from the API's: all addresses that do not begin with `/v1/`.
    web_url: NotRequired[str | None]


class Exactness(TypedDict):
    """Whether the amounts of a series are what a holder sends and receives, by the newest snapshot of its pools."""

    #: Whether the amounts are what a holder sends and receives. `false` if a token takes a fee on transfer, as logs of swaps showed up to the newest snapshot: exits are then worse than computed.
    exact: bool
    #: Why the amounts are not exact, if they are not: `token_taxed`.
    inexact_because: NotRequired[str | None]
    #: The same reason as a sentence that names the tokens.
    inexact_detail: NotRequired[str | None]


class CashLeg(TypedDict):
    """A sale of a plan, which is the contract's own fill."""

    #: Raw units sold here.
    amount_in_raw: str
    #: Raw units bought here.
    amount_out_raw: str
    #: `token0` or `token1`: the token sold, by its position in that pool.
    base: str
    #: The token bought here.
    bought: TokenLabel
    #: The venue and fee.
    name: str
    #: The pool.
    pool: str
    #: The token sold here.
    sold: TokenLabel


class CashReceived(TypedDict):
    """The amount received of a cash token."""

    #: The least that you accept at your tolerance: `amount_out_raw` less `tolerance_pct`, rounded down.
    amount_out_min_raw: str
    #: Raw units received.
    amount_out_raw: str
    #: USD per whole token, according to the oracle.
    oracle_price_usd: float
    #: The token.
    token: TokenLabel


class CashPlan(TypedDict):
    """A plan, and what it brings."""

    #: No route through the pools that count brings more than this, USD. `null` if the law of a pool is not known.
    bound_usd: NotRequired[float | None]
    #: The cash received against the amount sold, both at their oracle prices, percent. Positive is worse than the oracle.
    exit_gap_pct: float
    #: Your assumption of the gas, USD.
    gas_usd: NotRequired[float | None]
    #: The sales, in an order in which they can be executed.
    legs: list[CashLeg]
    #: The version of the method behind the figures.
    method_version: str
    #: No other route through the pools that count, with at most three in a row, has a gap that is lower by more than this, percent. Pools in `left_out` do not count. `null` if the law of a pool is not known.
    optimality_gap_pct: NotRequired[float | None]
    #: The cash received, by token.
    received: list[CashReceived]
    #: The same less `gas_usd`, if that was given. Never below 0.
    received_after_gas_usd: NotRequired[float | None]
    #: The cash received at its oracle prices, USD, rounded down.
    received_usd: float
    #: The amount sold at its oracle price, USD, rounded down. The requested size, if there is one.
    size_usd: float
    #: `live` only if the chain is live.
    status: Status
    #: How much less than stated you accept, percent.
    tolerance_pct: float


class CashExit(Exactness, CashPlan):
    """The answer of `GET /v1/cash/{chain}/{token}`."""

    #: The amount sold, raw units.
    amount_in_raw: str
    #: `not_configured` if the request is for cash and the operator configured none for this chain. The sale then ends in any token in which a pool pays for the token sold, as with `any`.
    cash: NotRequired[str | None]
    #: The chain's slug.
    chain: str
    #: The length of the shortest series of the legs' pools, days.
    days_observed: float
    #: URL of the figure file that proves the plan, what it brings, and the bound.
    evidence_url: str
    #: What the sale must end in, as requested: `cash`, `any`, the name of a group, or token addresses.
    into: str
    #: Pools of the chain that are not part of the search or of its bound, and why.
    left_out: list[SplitLeftOut]
    #: Whether the markets of the tokens of all legs are open.
    market_open: bool
    #: The method, disclosed. Its window is that of the leg with the shortest series.
    method: SeriesMethod
    #: What is not counted.
    not_counted: list[str]
    #: USD per whole token sold, according to the oracle.
    oracle_price_usd: float
    #: How reliable the oracle answers of the legs' pools are: the worst of them.
    oracle_state: OracleState
    #: The market session: of a leg whose market is closed, if there is one.
    session_note: str
    #: The slot number. All pools are used as they were at this slot.
    slot: int
    #: The time of the slot, RFC 3339.
    slot_time: str
    #: Seconds since the slot.
    snapshot_age_s: int
    #: The token sold.
    token: TokenLabel


_DepthDecayOf = TypedDict(
    "_DepthDecayOf",
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


class DepthDecayOf(Exactness, _DepthDecayOf):
    """The parameters and sources of a decay report."""


class DepthDecayHorizon(TypedDict):
    """Statistics of one horizon. `null` if too little is recorded."""

    #: Baselines measured.
    baseline_n: int
    #: Share withdrawn over the same time without an event nearby, median, percent.
    baseline_withdrawn_pct_q50: NotRequired[float | None]
    #: Slots after the event.
    h_slots: int
    #: Events measured.
    n: int
    #: Events whose depth was zero before the move or at the new price. They have no percentages.
    n_without_share: int
    #: Remaining depth ÷ depth before, 5th percentile, percent.
    retained_pct_q5: NotRequired[float | None]
    #: Remaining depth ÷ depth before, median, percent.
    retained_pct_q50: NotRequired[float | None]
    #: Depth that would remain if no one withdrew liquidity ÷ depth before, median, percent.
    static_pct_q50: NotRequired[float | None]
    #: Share of the depth that providers withdrew, median, percent. Positive if liquidity was removed.
    withdrawn_pct_q50: NotRequired[float | None]


class DepthDecaySide(TypedDict):
    """Statistics of the events in one direction of the price."""

    #: Events after which liquidity was withdrawn.
    half_life_n: int
    #: The median half-life of those events, slots. `null` if it is censored or there are too few events.
    half_life_slots_q50: NotRequired[int | None]
    #: Statistics by slots after the event.
    horizons: list[DepthDecayHorizon]


class DepthDecayStep(TypedDict):
    """The depth some slots after an event. `book_before_usd + mechanical_usd + liquidity_usd = book_usd`, to the dollar."""

    #: The depth before the event, whole USD.
    book_before_usd: float
    #: The depth of the earlier liquidity at the new price, whole USD.
    book_static_usd: float
    #: The depth now, whole USD.
    book_usd: float
    #: Slots after the event.
    h_slots: int
    #: The change caused by providers who added or removed liquidity, whole USD. Negative if they removed liquidity.
    liquidity_usd: float
    #: The change caused by the price move alone, whole USD. Negative if the depth became smaller.
    mechanical_usd: float


class DepthDecayEvent(TypedDict):
    """One move of the price."""

    #: The depths after the event, at each horizon with a snapshot that was not retracted.
    at: list[DepthDecayStep]
    #: Whether liquidity was withdrawn and half had not returned within 48 slots.
    censored: bool
    #: Slots from the greatest deficit to the first of two consecutive slots with half of that deficit or less. `null` if it is censored or nothing was withdrawn.
    half_life_slots: NotRequired[int | None]
    #: How far the pool's mid price moved, percent. Positive if the token sold rose.
    move_pct: float
    #: The slot number.
    slot: int
    #: The time of the slot, RFC 3339.
    time: str


class DepthDecay(DepthDecayOf):
    """`GET /v1/decay/{pool}`."""

    #: Depths whose computation was given up. Their slots are in no list.
    books_unanswered: int
    #: Statistics after the price of the token sold fell.
    down: DepthDecaySide
    #: Whether the series is long enough for statistics. Events are listed in any case.
    enough: bool
    #: The events, ascending.
    events: list[DepthDecayEvent]
    #: Moves within 48 slots after an event. They do not count as separate events.
    events_suppressed: int
    #: Slots of the period with a snapshot that was not retracted.
    have: int
    #: The number of slots needed.
    needed: int
    #: The number of events needed for the statistics of a horizon.
    needed_events: int
    #: Slots of the period without such a snapshot. They are never interpolated.
    slots_missing: int
    #: Recorded slots without a recorded slot `within_slots` earlier to compare with.
    slots_untestable: int
    #: Live or preview.
    status: Status
    #: Statistics after it rose.
    up: DepthDecaySide


class DepthPoint(DepthReading):
    """The depth of one slot."""

    #: Depth at 2%, whole USD.
    depth_usd: float
    #: The slot number.
    slot: int
    #: The time of the slot, RFC 3339.
    time: str
    #: URL of the slot's head, which commits to this depth.
    window_url: str


class OracleLead7d(TypedDict):
    """How far the oracle price was above the pool's own price in the 2,016 slots (7 days) up to a slot."""

    #: The largest lead, percent of the oracle price. 0 if the oracle was never ahead.
    largest_pct: float
    #: The first slot with that lead, RFC 3339.
    largest_time: NotRequired[str | None]
    #: The limit above which slots are counted, percent.
    limit_pct: float
    #: The first slot of that run, RFC 3339.
    longest_run_from: NotRequired[str | None]
    #: The longest run of consecutive slots above the limit.
    longest_run_slots: int
    #: Slots with a lead above the limit.
    slots_above: int


class DepthWeek(TypedDict):
    """The second reading of the lowest depth of the 2,016 slots (7 days) up to a slot. Absent fields are not computed for that slot."""

    #: URL of the figure file that proves both lows and the lead, from the snapshots of these days.
    depths_url: NotRequired[str | None]
    #: The lowest depth at 2% from the pool's own mid price instead of the oracle price, whole USD. Heads do not commit to it.
    lowest_book_7d_usd: NotRequired[float | None]
    #: Why the lowest depth is low. `oracle_led`: the oracle price was above the pool's own price, around which the pool had more than twice that depth. `thin_book`: around its own price the pool had nothing either. Absent if neither applies.
    lowest_depth_7d_cause: NotRequired[str | None]
    #: The same as a sentence.
    lowest_depth_7d_note: NotRequired[str | None]
    #: How far the oracle price was above the pool's own price in these days.
    oracle_lead_7d: NotRequired[OracleLead7d | None]


class EquityState(TypedDict):
    """The current state of a tokenized stock, from the newest snapshot of its deepest pool."""

    #: The discount of the pool's mid price to the oracle price, percent. `null` if it is outside the range of a percentage.
    basis_pct: NotRequired[float | None]
    #: Whether trading is paused or a change is due within a day. Such slots are excluded from the statistics.
    corporate_action: bool
    #: When the next multiplier takes effect, RFC 3339. It may be in the past.
    effective_at: NotRequired[str | None]
    #: Whether the amounts are what a holder sends and receives. `false` if a token takes a fee on transfer, as logs of the pool's own swaps showed: the exit is then worse than computed.
    exact: bool
    #: Whether the snapshot has all facts that the operator configured.
    facts_whole: bool
    #: Whether the token or its feed is paused. `null` in the same cases.
    feed_paused: NotRequired[bool | None]
    #: Why the amounts are not exact, if they are not: `token_taxed`.
    inexact_because: NotRequired[str | None]
    #: The same reason as a sentence that names the tokens.
    inexact_detail: NotRequired[str | None]
    #: The token's multiplier, read from the contract. `null` if no fact is configured or it could not be read.
    multiplier_raw: NotRequired[str | None]
    #: The oracle price of the token, USD.
    oracle_price_usd: float
    #: How reliable the oracle answers are.
    oracle_state: OracleState
    #: The next multiplier. `null` in the same cases.
    pending_multiplier_raw: NotRequired[str | None]
    #: `regular`, `pre`, `after`, `overnight`, `weekend`, `holiday` or `unknown`: the session of the stock's exchange at the snapshot's block.
    session: str
    #: The slot of the snapshot, RFC 3339.
    slot_time: str
    #: Seconds since that slot.
    snapshot_age_s: int
    #: Live or preview.
    status: Status
    #: The price of one share as shown in wallets, from the oracle price, USD. `null` without a multiplier. For display only.
    ui_price_usd: NotRequired[float | None]


class EquityListed(TypedDict):
    """A tokenized stock."""

    #: The chain.
    chain: str
    #: The share of the deepest pool in that depth, percent. `null` if the depth is zero.
    concentration_pct: NotRequired[float | None]
    #: The deepest pool. `null` before the first snapshot.
    deepest_pool: NotRequired[str | None]
    #: The total depth at 2% of its pools, each in its newest slot, whole USD.
    depth_usd: float
    #: `scaled_ui`, `total_return`, `rebasing` or `split_rebase`.
    kind: str
    #: The decimals of its multiplier.
    multiplier_decimals: int
    #: Its monitored pools.
    pools: int
    #: The current state. `null` before the first snapshot.
    state: NotRequired[EquityState | None]
    #: The token's name for itself. `null` before its first snapshot.
    symbol: NotRequired[str | None]
    #: The token's address.
    token: str


class Equities(TypedDict):
    """`GET /v1/equities`."""

    #: All configured tokens, ordered by chain and address.
    equities: list[EquityListed]
    #: The name and version of the method, `equity/1`.
    figure: str


class EquityBalanceTold(TypedDict):
    """The amount that a pool holds of a tokenized stock whose balances change."""

    #: The amount held, raw units.
    balance_raw: str
    #: The amount that a purchase of the token for the size would pay out, raw units. `null` if the pool cannot fill the purchase.
    purchase_raw: NotRequired[str | None]
    #: The slot of the amounts, RFC 3339.
    slot_time: str
    #: Slots that have the fact.
    slots: int
    #: Slots in which the purchase would pay out more than the pool holds. Such a purchase reverts.
    slots_short: int


class EquityEventTold(TypedDict):
    """A corporate action of a tokenized stock."""

    #: When the change takes effect, RFC 3339.
    effective_at: NotRequired[str | None]
    #: `multiplier_changed`, `scheduled`, `paused` or `resumed`.
    event: str
    #: The multiplier before.
    from_raw: NotRequired[str | None]
    #: The first slot that shows the action, RFC 3339.
    slot_time: str
    #: The multiplier after.
    to_raw: NotRequired[str | None]


class EquityReopeningTold(TypedDict):
    """The market's reopenings after closures of one kind. Gaps are `null` if too little is recorded."""

    #: `night`, `weekend` or `holiday`.
    closure_kind: str
    #: Closures with a slot that counts.
    closures: int
    #: Closures with a reopening gap.
    reopened: int
    #: The median reopening gap: how much less a sale in the last closed slot paid than the oracle price afterwards, percent.
    reopening_gap_pct_q50: NotRequired[float | None]
    #: The greatest reopening gap, percent.
    reopening_gap_pct_worst: NotRequired[float | None]


class EquitySessionTold(TypedDict):
    """One session of the exchange. Statistics are `null` if too little is recorded."""

    #: The median discount of the pool's mid price to the oracle price at the last regular close, percent. `null` in the regular session.
    basis_to_last_close_pct_q50: NotRequired[float | None]
    #: The discount farthest from zero, percent.
    basis_to_last_close_pct_worst: NotRequired[float | None]
    #: The lowest depth at the gap limit, whole USD.
    depth_usd_lowest: NotRequired[float | None]
    #: The median depth at the gap limit, whole USD.
    depth_usd_q50: NotRequired[float | None]
    #: The median gap at the size, percent. `null` if the median slot could not fill the size.
    exit_gap_pct_q50: NotRequired[float | None]
    #: The 95th percentile of the gap, percent. `null` in the same case.
    exit_gap_pct_q95: NotRequired[float | None]
    #: The widest gap, percent. `null` if any slot could not fill the size.
    exit_gap_pct_worst: NotRequired[float | None]
    #: `regular`, `pre`, `after`, `overnight`, `weekend`, `holiday` or `unknown`.
    session: str
    #: Slots that count.
    slots: int
    #: Slots in which the size had no gap: worse than any number.
    slots_refused: int


#: A pool of a tokenized stock: a set of measures, never one score.
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

    #: Whether any pool has enough data for statistics.
    enough: bool
    #: The name and version of the method, `equity/1`.
    figure: str
    #: The gap limit of the depths in the sessions, percent.
    gap_pct: float
    #: Pools that are not included, and why.
    left_out: list[SplitLeftOut]
    #: The version of the method behind each number.
    method_version: str
    #: The size of the gaps, USD.
    size_usd: float
    #: The token's pools, deepest first.
    vectors: list[EquityPool]


class ExportedFile(TypedDict):
    """One file of a day."""

    #: The size in bytes.
    bytes: int
    #: The first pool in the file, in the order of the pool ids. `null` in the file of slots.
    first_pool: NotRequired[str | None]
    #: The last pool in the file.
    last_pool: NotRequired[str | None]
    #: The file name.
    name: str
    #: The number of rows.
    rows: int
    #: The SHA-256 of the file.
    sha256: str
    #: The URL.
    url: str


class ExportedDay(TypedDict):
    """A closed day."""

    #: The day, UTC.
    day: str
    #: The files. If pools were requested, only files with rows of those pools.
    files: list[ExportedFile]
    #: The first slot of the day in the log.
    first_slot: int
    #: The last slot of the day.
    last_slot: int
    #: The manifest's SHA-256. The log of days commits to it.
    manifest_sha256: str
    #: The URL of the manifest, which has all other details.
    manifest_url: str
    #: Pools that have rows.
    pools: int
    #: Rows: one per pool and slot.
    rows: int


class Export(TypedDict):
    """Closed days of a log."""

    #: The signed checkpoint of the log of days, signed with the log's own key. `null` until a day is closed and written.
    checkpoint: NotRequired[str | None]
    #: The requested days, ascending.
    days: list[ExportedDay]
    #: The number of days in that log.
    days_closed: int
    #: The `from` of the next page. `null` on the last page.
    next_from: NotRequired[str | None]


class FailuresByCause(TypedDict):
    """The slots of a report in which the sale failed, by cause."""

    #: Both counts in words.
    note: str
    #: The first slot of that run, RFC 3339. `null` if there is no such slot.
    oracle_led_longest_run_from: NotRequired[str | None]
    #: The longest run of consecutive slots of that kind.
    oracle_led_longest_run_slots: int
    #: Slots in which the gap from the oracle price was above the limit, and the gap from the pools' own prices was not: the oracle led.
    oracle_led_slots: int
    #: The widest gap from the oracle price in these slots, percent. `null` in the same case.
    oracle_led_worst_gap_pct: NotRequired[float | None]
    #: Slots in which the gap from the pools' own prices was above the limit, or the venues together could not absorb the sale: the book was too thin.
    thin_book_slots: int


class FillablePoint(TypedDict):
    """The largest size that could be filled in a slot whose liquidity the requested size exceeds."""

    #: The largest size that could be filled, USD.
    max_fillable_usd: float
    #: The slot number.
    slot: int
    #: The time of the slot, RFC 3339.
    time: str


class StandardGap(TypedDict):
    """The gap at one standard size."""

    #: URL of the evidence for the gap.
    evidence_url: NotRequired[str | None]
    #: The gap, percent. Absent if the size has no gap.
    exit_gap_pct: NotRequired[float | None]
    #: The largest size that can be filled, USD, if the requested size exceeds the liquidity.
    max_fillable_usd: NotRequired[float | None]
    #: Why the size has no gap.
    refusal: NotRequired[ProblemCode | None]
    #: The size, USD.
    size_usd: float


class LowestDepth(TypedDict):
    """The slot of the last seven days with the lowest depth."""

    #: How far the pool's mid price was below the oracle price at that time, percent.
    basis_pct: NotRequired[float | None]
    #: Depth at 2%, whole USD.
    depth_usd: float
    #: The slot number.
    slot: int
    #: Slots without a snapshot in the seven days up to this slot.
    slots_missing_7d: int
    #: The time of the slot, RFC 3339.
    time: str


class FragilityRow(DepthWeek):
    """A pool on the board, selling its default base token."""

    #: The token sold.
    base: TokenLabel
    #: `1 − lowest_book_7d_usd ÷ median_book_7d_usd`: the same of the pool's own book, on which the oracle has no effect. Absent in the cases in which `fragility_score` is null, and if the week is not computed.
    book_fragility_score: NotRequired[float | None]
    #: The depth at 2% from the pool's own mid price instead of the oracle price in that slot, whole USD. If only the oracle moved away, `depth_usd` falls and this value does not.
    book_usd: NotRequired[float | None]
    #: The chain's slug.
    chain: str
    #: The lowest depth of each of the last eight UTC days, whole USD, newest last. Null if the day has no depth.
    daily_lowest_depth_usd: NotRequired[list[float | None]]
    #: Recorded slots ÷ 288.
    days_observed: float
    #: Why `depth_usd` is low: `oracle_led` or `thin_book`, as in `lowest_depth_7d_cause`. Absent if neither applies.
    depth_cause: NotRequired[str | None]
    #: The same as a sentence.
    depth_note: NotRequired[str | None]
    #: Depth at 2% in that slot, whole USD.
    depth_usd: NotRequired[float | None]
    #: The fee that the pool charges on a sale in the newest snapshot, percent. Absent if it depends on the sale; `name` then shows how.
    fee_pct: NotRequired[float | None]
    #: `1 − lowest ÷ median`: the share of the median depth that was missing in the slot with the lowest depth, 0 to 1. Null with less than one day of recorded slots, or if the median is 0.
    fragility_score: NotRequired[float | None]
    #: The gap at each standard size, ascending.
    gaps: list[StandardGap]
    #: The lowest depth of seven days.
    lowest_depth_7d: NotRequired[LowestDepth | None]
    #: The median of the depths at 2% from the pool's own mid price over seven days, whole USD, by nearest rank.
    median_book_7d_usd: NotRequired[float | None]
    #: The median depth of seven days by nearest rank, whole USD.
    median_depth_7d_usd: NotRequired[float | None]
    #: The method, disclosed. The sizes are those of `gaps`, and the window is the seven days.
    method: SeriesMethod
    #: The version of the method behind gaps and depths.
    method_version: str
    #: Venue and fee, `Uniswap v3 0.05%`. No two rows of one chain and pair have the same name.
    name: str
    #: Slots after it that are missing.
    newer_slots_missing: int
    #: Whether an oracle answer behind the row is older than its heartbeat.
    oracle_stale: bool
    #: The pool's identifier.
    pool: str
    #: The token bought.
    quote: TokenLabel
    #: Time of the slot behind the row, RFC 3339.
    slot_time: str
    #: Slots of those seven days without a snapshot.
    slots_missing_7d: int
    #: Live or preview.
    status: Status
    #: The venue. Absent if the pool's factory is not known.
    venue: NotRequired[str | None]
    #: URL of the heads of those seven days. They commit to `days_observed` and the lowest depth.
    window_url: str


class Fragility(TypedDict):
    """`GET /v1/fragility`."""

    #: The formula of `book_fragility_score`, in one sentence.
    book_score_method: NotRequired[str]
    #: The version of the method behind gaps and depths.
    method_version: str
    #: The cursor of the next page. Absent on the last page.
    next_cursor: NotRequired[str | None]
    #: Pools with a snapshot in this selection.
    pools: int
    #: Pools of the selection without a snapshot. They have no row yet.
    pools_without_snapshot: int
    #: The rows of this page.
    rows: list[FragilityRow]
    #: The formula of `fragility_score`, in one sentence.
    score_method: str


class GapPoint(TypedDict):
    """The gap of one slot, or why there is no gap."""

    #: URL of the evidence for the gap.
    evidence_url: NotRequired[str | None]
    #: The gap, percent. Absent if the size has no gap.
    exit_gap_pct: NotRequired[float | None]
    #: The largest size that could be filled in that slot, USD, if the requested size exceeded the liquidity.
    max_fillable_usd: NotRequired[float | None]
    #: Why the size has no gap: worse than any number.
    refusal: NotRequired[ProblemCode | None]
    #: The slot number.
    slot: int
    #: The time of the slot, RFC 3339.
    time: str


_SeriesOf = TypedDict(
    "_SeriesOf",
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


class SeriesOf(Exactness, _SeriesOf):
    """The parameters and sources of a series."""


#: The length of a history's rows.
Interval = Literal["5m", "1h", "1d"]


#: The order of a history's rows.
RowOrder = Literal["asc", "desc"]


#: The content of a series at a slot.
SlotState = Literal["recorded", "missing", "retracted", "retired"]


class HistoryRow(TypedDict):
    """One row of a history. Slots that were not recorded are counted, not omitted."""

    #: The gap of the last recorded slot, or why there is no gap.
    last: NotRequired[GapPoint | None]
    #: How far the pool's mid price was below the oracle price in that slot, percent. An infinitely small sale would have lost this much before the fee.
    last_basis_pct: NotRequired[float | None]
    #: Among the slots whose liquidity the size exceeded, the one that could fill the least.
    least_fillable: NotRequired[FillablePoint | None]
    #: The lowest depth.
    lowest_depth: NotRequired[DepthPoint | None]
    #: Why the slot is missing. Only in rows of one slot.
    missing_reason: NotRequired[str | None]
    #: Slots without a snapshot.
    slots_missing: int
    #: Slots with a snapshot that was not retracted.
    slots_recorded: int
    #: Recorded slots in which the size had no gap: worse than any number.
    slots_refused: int
    #: Slots whose snapshot was retracted.
    slots_retracted: int
    #: The content of the slot. Only in rows of one slot.
    state: NotRequired[SlotState | None]
    #: Start of the row, RFC 3339.
    time: str
    #: The widest gap of the recorded slots that have a gap. Absent if none has a gap.
    worst: NotRequired[GapPoint | None]


class History(SeriesOf):
    """`GET /v1/history/{pool}`."""

    #: URL of the evidence for the newest gap in these rows. Every gap and depth of a row has its own URL.
    evidence_url: NotRequired[str | None]
    #: The length of a row.
    interval: Interval
    #: The cursor of the next page. Absent on the last page.
    next_cursor: NotRequired[str | None]
    #: The order of the rows.
    order: NotRequired[RowOrder]
    #: The rows in this order, without omissions.
    rows: list[HistoryRow]


class HourOfWeek(TypedDict):
    """The slots of one hour of the week."""

    #: The median gap, percent. `null` if that slot could not fill the size.
    exit_gap_pct_q50: NotRequired[float | None]
    #: The 95th percentile of the gap, percent. `null` in the same case.
    exit_gap_pct_q95: NotRequired[float | None]
    #: The hour, from 0 (Monday 00:00 to 01:00 UTC) to 167.
    hour: int
    #: Slots with a snapshot that was not retracted.
    slots: int
    #: Slots in which the size had no gap.
    slots_refused: int
    #: The number of weeks that these slots are from, counted back from the end of the period.
    weeks: int
    #: The worst slot; of equal ones, the earlier.
    worst: GapPoint


class HoursSpread(TypedDict):
    """The distribution of depths and gaps over some slots. `q50` and `q95` are nearest ranks: values of the series."""

    #: The lowest depth at 2%, whole USD. `null` if too little is recorded.
    depth_usd_lowest: NotRequired[float | None]
    #: The median depth at 2%, whole USD. `null` if too little is recorded.
    depth_usd_q50: NotRequired[float | None]
    #: The median gap at the size, percent. `null` if the median slot could not fill the size, or too little is recorded.
    exit_gap_pct_q50: NotRequired[float | None]
    #: The 95th percentile of the gap, percent. `null` in the same cases.
    exit_gap_pct_q95: NotRequired[float | None]
    #: Slots with a snapshot that was not retracted.
    slots: int
    #: Slots in which the size had no gap: worse than any number.
    slots_refused: int


class HoursClosed(HoursSpread):
    """The closures of one kind in the period."""

    #: `night`, `weekend`, or `holiday`: a Monday to Friday without trading, including an adjoining weekend.
    closure_kind: str
    #: Whether there are enough closures. If not, the statistics are `null`.
    enough: bool
    #: Closures of this kind with a recorded slot.
    have: int
    #: The number of closures needed.
    needed: int
    #: The greatest reopening gap of these closures, percent. `null` if none is known, or there are too few closures.
    reopening_gap_pct_worst: NotRequired[float | None]
    #: Whether their median depth is less than half of the median depth of the open market.
    thin_when_closed: NotRequired[bool | None]


class HoursClosure(TypedDict):
    """One closure of the period."""

    #: When the market closed, RFC 3339.
    closed_at: str
    #: `night`, `weekend` or `holiday`.
    closure_kind: str
    #: The lowest depth at 2% during the closure, whole USD.
    depth_usd_lowest: NotRequired[float | None]
    #: URL of the evidence for the fill in the last closed slot.
    evidence_url: NotRequired[str | None]
    #: The last recorded closed slot, RFC 3339.
    last_closed_slot: str
    #: When it opens again, RFC 3339.
    opens_at: str
    #: The slot of the fresh rounds, RFC 3339.
    reopened_slot: NotRequired[str | None]
    #: 100 × (1 − proceeds of the size in the last closed slot ÷ its oracle value in the first slot with a fresh round of every feed of a token with a calendar). Positive: selling before the opening was worse. Absent if one of the two slots is missing.
    reopening_gap_pct: NotRequired[float | None]
    #: Slots with a snapshot that was not retracted.
    slots_recorded: int


class HoursToken(TypedDict):
    """A token's calendar and the session at the newest snapshot's block."""

    #: The calendar's name in snapshots: `xnys`, `xnys_extended`, `xnys_24x5` or `xnys_continuous`.
    calendar: str
    #: `regular`, `pre`, `after`, `overnight`, `weekend`, `holiday` or `unknown`.
    state: str
    #: SHA-256 of the text of the calendar's table.
    table: str
    #: When the table ends, RFC 3339. After that the schedule is unknown, and the market counts as closed.
    table_ends: str
    #: `token0` or `token1`.
    token: str


_LiquidationExposureOf = TypedDict(
    "_LiquidationExposureOf",
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
        "reference": NotRequired[str | None],
        "to": str,
    },
)


class LiquidationExposureOf(Exactness, _LiquidationExposureOf):
    """The parameters and sources of an exposure report."""


class VenueLeftOut(TypedDict):
    """A venue that cannot take part in a report. The report continues without it."""

    #: `token0` or `token1`: the token sold.
    base: str
    #: Its share of the depth of all venues at 2%, percent, in the last slot in which every venue has a snapshot. `null` if that is not known.
    depth_share_pct: NotRequired[float | None]
    #: The pool.
    pool: str
    #: The kind of the pool, whose liquidity cannot be moved to another price.
    protocol: str


class LiquidationVenue(TypedDict):
    """A pool that the collateral is sold in."""

    #: `token0` or `token1`: the token sold.
    base: str
    #: The first slot with that depth, RFC 3339.
    lowest_depth_time: NotRequired[str | None]
    #: The lowest depth at 2%, before the price drop, whole USD. `null` if no slot was used.
    lowest_depth_usd: NotRequired[float | None]
    #: The pool.
    pool: str


class LiquidationExposure(LiquidationExposureOf):
    """`GET /v1/exposure`. USD are whole. Coverages are ratios, rounded down."""

    #: Whether either amount is above zero, or some slot could not absorb the size.
    bad_debt: bool
    #: The rating.
    band: Band
    #: The total depth at the break-even gap, after the drop, in the newest slot used.
    break_even_depth_now_usd: NotRequired[float | None]
    #: The median of that total.
    break_even_depth_q50_usd: NotRequired[float | None]
    #: The gap at which a liquidator breaks even, percent, rounded down.
    break_even_gap_pct: float
    #: The slots in which a liquidator would have lost money, by cause. The counts do not depend on `reference`. Absent in `exposure/1`.
    causes: NotRequired[FailuresByCause | None]
    #: The sum of the venues' lowest depths at 2% (possibly in different slots) ÷ `cascade_usd`.
    coverage: NotRequired[float | None]
    #: The lowest total depth at the break-even gap ÷ `cascade_usd`.
    coverage_break_even: NotRequired[float | None]
    #: The total depth at 2% in the newest slot used.
    depth_now_usd: NotRequired[float | None]
    #: The median of that total.
    depth_q50_usd: NotRequired[float | None]
    #: Whether enough is recorded for a rating. Partial results are shown in any case.
    enough: bool
    #: Slots used: every venue has a snapshot that was not retracted.
    have: int
    #: The smallest total amount that the venues could absorb, among the slots that could not absorb the size.
    least_fillable_usd: NotRequired[float | None]
    #: Venues that cannot take part, because their kind cannot be moved to another price.
    left_out: NotRequired[list[VenueLeftOut]]
    #: The lowest of those totals.
    lowest_break_even_depth_usd: NotRequired[float | None]
    #: The first slot with that total, RFC 3339.
    lowest_break_even_time: NotRequired[str | None]
    #: The number of slots needed.
    needed: int
    #: The loss of liquidators at the widest gap, compared with what they repay, rounded up.
    shortfall_usd: NotRequired[float | None]
    #: Slots with a snapshot of some venues only. Their depth is unknown, not zero.
    slots_incomplete: int
    #: Slots of the period without a snapshot of any venue.
    slots_missing: int
    #: Slots in which a computation was given up.
    slots_unanswered: int
    #: Slots in which the venues together could not absorb the size.
    slots_unfillable: int
    #: Live or preview.
    status: Status
    #: The part that could not have been liquidated profitably in the slot of the lowest depth, rounded up.
    stranded_usd: NotRequired[float | None]
    #: One entry per venue that takes part, in the order of the request.
    venues: list[LiquidationVenue]
    #: The widest gap of the optimal split over the venues, percent. Only slots that could absorb the size count.
    worst_gap_pct: NotRequired[float | None]
    #: The first slot with that gap, RFC 3339.
    worst_time: NotRequired[str | None]


#: The check of whether logs are complete.
LogsCheckedBy = Literal["blooms", "receipts", "unproven"]


class LogsStatus(TypedDict):
    """How the logs of a slot were checked for being complete."""

    #: The check.
    checked_by: LogsCheckedBy
    #: Why they are unproven: until the next full reading, at most an hour later, a log that the node left out is not found.
    unproven_because: NotRequired[str | None]


class MarketHours(SeriesOf):
    """`GET /v1/hours/{pool}`."""

    #: The newest snapshot's block, RFC 3339. Statements about the present refer to this block.
    block_time: str
    #: Statistics while it was closed, by kind.
    closed: list[HoursClosed]
    #: Seconds until the market closes. `null` if it is closed, or never closes.
    closes_in_s: NotRequired[int | None]
    #: The current or next closure: `night`, `weekend` or `holiday`. `null` if there is none, or it is unknown.
    closure_kind: NotRequired[str | None]
    #: The duration of that closure, seconds.
    closure_length_s: NotRequired[int | None]
    #: Each closure of the period with a recorded slot, ascending.
    closures: list[HoursClosure]
    #: Whether enough closures of that kind are recorded. Also true if there is no next closure.
    enough: bool
    #: URL of the figure file. Anyone can recompute `open`, `closed` and `closures` from this file.
    figure_url: str
    #: Closures of that kind with a recorded slot.
    have: int
    #: Whether the markets of both tokens are open.
    market_open: bool
    #: The number of closures needed. 0 if the market never closes.
    needed: int
    #: Statistics while the market was open.
    open: HoursSpread
    #: Seconds until the market opens. `null` if it is open, or the opening is unknown.
    opens_in_s: NotRequired[int | None]
    #: How reliable the oracle answers are.
    oracle_state: OracleState
    #: The market session. `continuous` for assets without a calendar.
    session_note: str
    #: The tokens with a calendar. Empty: the market is open around the clock.
    sessions: list[HoursToken]
    #: Slots of the period without a snapshot, or with a retracted one. What happened in them is unknown.
    slots_missing: int
    #: Slots for which no table shows whether the market was open.
    slots_unknown: int
    #: Seconds since the newest snapshot's slot.
    snapshot_age_s: int
    #: Whether the median depth in closures of that kind is less than half of the median depth of the open market. `null` if unknown.
    thin_when_closed: NotRequired[bool | None]


#: The effect of the greatest price fall in a recorded period.
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
    """`GET /v1/shocks`: shocks named by the operator, as input for a stress test."""

    #: The shocks, in the order of the configuration. Empty if the operator configured none.
    shocks: list[NamedShock]


class ReceiptJwk(TypedDict):
    """The public key in the format in which others read and write it."""

    #: `EdDSA`.
    alg: NotRequired[str | None]
    #: `Ed25519`.
    crv: str
    #: The key id: the base64url of its thumbprint, the SHA-256 of `{"crv":"Ed25519","kty":"OKP","x":"…"}`.
    kid: NotRequired[str | None]
    #: `OKP`.
    kty: str
    #: The key's 32 bytes, base64url.
    x: str


class Payments(TypedDict):
    """`GET /v1/payments`."""

    #: The token's address.
    asset: str
    #: A description of what the price buys.
    buys: str
    #: The token's symbol.
    currency: str
    #: The number of free estimates per client and UTC day, through the agent tools and as portfolio positions.
    free_estimates_per_day: int
    #: The chain's CAIP-2 id.
    network: str
    #: The recipient.
    pay_to: str
    #: The price, in whole tokens.
    price: str
    #: The price in raw units of the token.
    price_units: str
    #: What is charged for.
    priced: list[str]
    #: The key that signs receipts. It has no other use.
    receipt_key: ReceiptJwk


class PlanAnswer(CashPlan, Exactness):
    """The sale of several tokens, and what it brings."""

    #: The length of the shortest series of the legs' pools, days.
    days_observed: float
    #: URL of the figure file that proves the plan, what it brings, and the bound.
    evidence_url: str
    #: Whether the markets of the tokens of all legs are open.
    market_open: bool
    #: The method, disclosed. Its window is that of the leg with the shortest series.
    method: SeriesMethod
    #: How reliable the oracle answers of the legs' pools are: the worst of them.
    oracle_state: OracleState
    #: The market session: of a leg whose market is closed, if there is one.
    session_note: str


class PlanSold(TypedDict):
    """A token held, and how much a plan sells."""

    #: The amount that the plan sells, raw units: everything, or what the pools take.
    amount_in_raw: str
    #: USD per whole token, according to the oracle.
    oracle_price_usd: float
    #: The size of all positions in it, USD.
    size_usd: float
    #: The token.
    token: TokenLabel
    #: The part that the pools do not take, USD.
    unfilled_usd: float


class PoolAccuracy(AccuracyRecord, Exactness):
    """The accuracy record of a recorded pool: `GET /v1/accuracy/{pool}`. Its swaps come from the documents that the pool's heads commit to."""

    #: Days of snapshots up to the pool's newest snapshot, at 288 slots a day.
    days_observed: float
    #: The number of documents that the swaps were read from …
    documents: int
    #: URL of the figure file. Anyone can recompute the record from this file.
    figure_url: str
    #: … and their URL, starting at the first slot.
    fills_url: str
    #: The method, disclosed. Its window counts the slots of the record.
    method: SeriesMethod
    #: The version of the method behind the estimates.
    method_version: str
    #: Later slots of the period, recorded and not retracted, whose swaps no head commits to yet: their blocks are not final, or their logs were not read.
    slots_waiting: int


class PoolBook(TypedDict):
    """A pool's own price in a slot and the depth around that price, independent of the oracle."""

    #: How far the pool's mid price was below the oracle price, percent. Negative: above. `null` if it is out of bounds.
    basis_pct: NotRequired[float | None]
    #: The depth at 2% from the pool's own mid price, whole USD at the oracle price. `null` if its computation was given up.
    book_usd: NotRequired[float | None]


class PoolEntry(TypedDict):
    """One monitored pool."""

    #: The token sold unless the caller chooses the other. Absent before the first snapshot.
    base: NotRequired[TokenLabel | None]
    #: The chain's slug.
    chain: str
    #: Recorded slots ÷ 288.
    days_observed: float
    #: The fee that the pool charges on a sale in the newest snapshot, percent. Absent if it depends on the sale; `name` then shows how.
    fee_pct: NotRequired[float | None]
    #: Time of the newest slot, RFC 3339.
    last_slot: str
    #: Why the newest slot is missing. Absent if it is recorded.
    last_slot_missing: NotRequired[str | None]
    #: Venue and fee, `Uniswap v3 0.05%`. No two pools of one chain and pair have the same name. Absent before the first snapshot.
    name: NotRequired[str | None]
    #: The pool's identifier, `<chain>:<address>`.
    pool: str
    #: The other token. Absent before the first snapshot.
    quote: NotRequired[TokenLabel | None]
    #: Start of the pool's series, RFC 3339.
    series_start: str
    #: Slots without a snapshot.
    slots_missing: int
    #: Slots with a snapshot.
    slots_recorded: int
    #: Live or preview. Absent before the first snapshot.
    status: NotRequired[Status | None]
    #: The venue. Absent if the pool's factory is not known, or before the first snapshot.
    venue: NotRequired[str | None]


class PoolList(TypedDict):
    """All monitored pools, in the order of their identifiers."""

    #: The cursor of the next page. Absent on the last page and if there are no pages.
    next_cursor: NotRequired[str | None]
    #: The pools.
    pools: list[PoolEntry]


class Published_Amounts(Answer_Amounts, DepthWeek):
    """An answer, as published by the service."""

    #: URL of the evidence for this number: for a simulation, the sale at once; for a largest size, its exit. Absent if rows have their own, or nothing can be proven.
    evidence_url: NotRequired[str | None]
    #: The lowest depth at 2% of the 2,016 slots (7 days) up to the result's slot, USD, in the result's direction. Absent if no slot has a depth.
    lowest_depth_7d_usd: NotRequired[float | None]
    #: If slots after the result's are missing or retracted: URL of the pool's heads up to the newest sealed slot, which show that. `exitgap verify --window` takes them together with the evidence.
    newer_heads_url: NotRequired[str | None]
    #: Seconds from the slot's time to this answer.
    snapshot_age_s: int
    #: URL of the snapshot behind the answer, canonical bytes.
    snapshot_url: str
    #: URL of the pool's heads of the seven days up to the slot. They confirm `days_observed`, the window and `lowest_depth_7d_usd`. They do not commit to `lowest_book_7d_usd`.
    window_url: str


class PortfolioExit(TypedDict):
    """All positions in one pool and direction, sold together."""

    #: `token0` or `token1`: the token sold.
    base: str
    #: The pool's identifier.
    pool: str
    #: Why there is no exit.
    problem: NotRequired[Problem | None]
    #: The exit. Absent if the size cannot be filled.
    result: NotRequired[Published_Amounts | None]
    #: The sum of the positions, USD.
    size_usd: float
    #: The part that cannot be filled, USD.
    unfilled_usd: float


class PortfolioPlan(TypedDict):
    """One plan for all tokens of a chain that are held."""

    #: `not_configured` if the request is for cash and the operator configured none for this chain. The sale then ends in any token in which a pool pays for a token sold, as with `any`.
    cash: NotRequired[str | None]
    #: The chain's slug.
    chain: str
    #: What the sale must end in, as requested.
    into: str
    #: Pools of the chain that are not part of the search or of its bound, and why.
    left_out: list[SplitLeftOut]
    #: What is not counted.
    not_counted: list[str]
    #: Why not everything can be filled.
    problem: NotRequired[Problem | None]
    #: The sale of what can be filled. Absent if nothing can.
    result: NotRequired[PlanAnswer | None]
    #: The size of all of them, USD.
    size_usd: float
    #: The slot number. All pools are used as they were at this slot.
    slot: int
    #: The time of the slot, RFC 3339.
    slot_time: str
    #: Seconds since the slot.
    snapshot_age_s: int
    #: The tokens held, ascending by address, each with all of its positions.
    sold: list[PlanSold]
    #: The part that cannot be filled, USD.
    unfilled_usd: float


class Position(TypedDict):
    """One position of a portfolio."""

    #: `token0` or `token1`: the token sold in that pool.
    base: NotRequired[str | None]
    #: The index in `exits` of the exit that sells this position, from 0, together with other positions in the pool. Empty if a token is held.
    exits: list[int]
    #: True if the token is one of those that the sale must end in: it is not sold.
    is_cash: NotRequired[bool]
    #: The index in `plans` of the plan that sells this token, from 0.
    plan: NotRequired[int | None]
    #: The pool's identifier. Absent if a token is sold through all its pools.
    pool: NotRequired[str | None]
    #: Why this token is not sold: no path of the recorded pools leads from it to what the sale must end in. The other positions are sold without it.
    problem: NotRequired[Problem | None]
    #: The position's size, USD.
    size_usd: float
    #: The token held, `<chain>/<token>`. It is sold for cash, together with the other tokens.
    token: NotRequired[str | None]


class PortfolioTotal(TypedDict):
    """The totals over all exits and plans."""

    #: The length of the shortest series of all exits and legs. The totals are no more reliable than that one.
    days_observed: float
    #: URLs of the evidence for the gaps behind the means and for the parts that cannot be filled: of every exit, in the order of `exits`, then the figure file of every plan.
    evidence_urls: list[str]
    #: The mean of the gaps of exits and plans, weighted by size, percent. A token that is cash already has no gap and counts as 0. Null if something cannot be filled.
    exit_gap_pct: NotRequired[float | None]
    #: The same mean over the part that can be filled. Null if nothing can be filled.
    filled_gap_pct: NotRequired[float | None]
    #: The method, disclosed. Its window is that of the shortest series.
    method: SeriesMethod
    #: The version of the method behind the figures.
    method_version: str
    #: All positions, USD.
    size_usd: float
    #: Preview if any exit or plan is preview.
    status: Status
    #: The part that cannot be filled, USD.
    unfilled_usd: float


class Portfolio(TypedDict):
    """`GET /v1/portfolio`."""

    #: The exits of positions that name a pool, in the order of their first position.
    exits: list[PortfolioExit]
    #: The sales of tokens held, one plan for each chain, in the order of their first position.
    plans: list[PortfolioPlan]
    #: The positions, as requested.
    positions: list[Position]
    #: The totals.
    total: PortfolioTotal
    #: The index of the worst exit: one that cannot be filled, otherwise the one with the widest gap. Null if no position names a pool.
    worst_exit: NotRequired[int | None]


class ProblemDocument(Problem):
    """A problem over HTTP."""

    #: The id of this answer in the service's log.
    request_id: str
    #: The HTTP status.
    status: int
    #: A title for the type, the same each time.
    title: str
    #: The type of problem: `urn:exitgap:problem:<code>`.
    type: str


class Published_GapRung(Answer_GapRung, DepthWeek):
    """An answer, as published by the service."""

    #: URL of the evidence for this number: for a simulation, the sale at once; for a largest size, its exit. Absent if rows have their own, or nothing can be proven.
    evidence_url: NotRequired[str | None]
    #: The lowest depth at 2% of the 2,016 slots (7 days) up to the result's slot, USD, in the result's direction. Absent if no slot has a depth.
    lowest_depth_7d_usd: NotRequired[float | None]
    #: If slots after the result's are missing or retracted: URL of the pool's heads up to the newest sealed slot, which show that. `exitgap verify --window` takes them together with the evidence.
    newer_heads_url: NotRequired[str | None]
    #: Seconds from the slot's time to this answer.
    snapshot_age_s: int
    #: URL of the snapshot behind the answer, canonical bytes.
    snapshot_url: str
    #: URL of the pool's heads of the seven days up to the slot. They confirm `days_observed`, the window and `lowest_depth_7d_usd`. They do not commit to `lowest_book_7d_usd`.
    window_url: str


class Published_LadderRows(Answer_LadderRows, DepthWeek):
    """An answer, as published by the service."""

    #: URL of the evidence for this number: for a simulation, the sale at once; for a largest size, its exit. Absent if rows have their own, or nothing can be proven.
    evidence_url: NotRequired[str | None]
    #: The lowest depth at 2% of the 2,016 slots (7 days) up to the result's slot, USD, in the result's direction. Absent if no slot has a depth.
    lowest_depth_7d_usd: NotRequired[float | None]
    #: If slots after the result's are missing or retracted: URL of the pool's heads up to the newest sealed slot, which show that. `exitgap verify --window` takes them together with the evidence.
    newer_heads_url: NotRequired[str | None]
    #: Seconds from the slot's time to this answer.
    snapshot_age_s: int
    #: URL of the snapshot behind the answer, canonical bytes.
    snapshot_url: str
    #: URL of the pool's heads of the seven days up to the slot. They confirm `days_observed`, the window and `lowest_depth_7d_usd`. They do not commit to `lowest_book_7d_usd`.
    window_url: str


class Published_RedemptionWindow(Answer_RedemptionWindow, DepthWeek):
    """An answer, as published by the service."""

    #: URL of the evidence for this number: for a simulation, the sale at once; for a largest size, its exit. Absent if rows have their own, or nothing can be proven.
    evidence_url: NotRequired[str | None]
    #: The lowest depth at 2% of the 2,016 slots (7 days) up to the result's slot, USD, in the result's direction. Absent if no slot has a depth.
    lowest_depth_7d_usd: NotRequired[float | None]
    #: If slots after the result's are missing or retracted: URL of the pool's heads up to the newest sealed slot, which show that. `exitgap verify --window` takes them together with the evidence.
    newer_heads_url: NotRequired[str | None]
    #: Seconds from the slot's time to this answer.
    snapshot_age_s: int
    #: URL of the snapshot behind the answer, canonical bytes.
    snapshot_url: str
    #: URL of the pool's heads of the seven days up to the slot. They confirm `days_observed`, the window and `lowest_depth_7d_usd`. They do not commit to `lowest_book_7d_usd`.
    window_url: str


class Published_Simulation(Answer_Simulation, DepthWeek):
    """An answer, as published by the service."""

    #: URL of the evidence for this number: for a simulation, the sale at once; for a largest size, its exit. Absent if rows have their own, or nothing can be proven.
    evidence_url: NotRequired[str | None]
    #: The lowest depth at 2% of the 2,016 slots (7 days) up to the result's slot, USD, in the result's direction. Absent if no slot has a depth.
    lowest_depth_7d_usd: NotRequired[float | None]
    #: If slots after the result's are missing or retracted: URL of the pool's heads up to the newest sealed slot, which show that. `exitgap verify --window` takes them together with the evidence.
    newer_heads_url: NotRequired[str | None]
    #: Seconds from the slot's time to this answer.
    snapshot_age_s: int
    #: URL of the snapshot behind the answer, canonical bytes.
    snapshot_url: str
    #: URL of the pool's heads of the seven days up to the slot. They confirm `days_observed`, the window and `lowest_depth_7d_usd`. They do not commit to `lowest_book_7d_usd`.
    window_url: str


class RankedSlot(GapPoint):
    """A slot, and how many of the other recorded slots of the period were worse and better."""

    #: Other slots with a smaller gap.
    slots_better: int
    #: Other slots with the same gap.
    slots_equal: int
    #: Other slots with a wider gap, or that could fill less.
    slots_worse: int
    #: The worse ones in percent of the others. `null` if there are no others.
    worse_pct: NotRequired[float | None]


class RetractionNotice(TypedDict):
    """A retraction."""

    #: The slot whose head retracts it.
    by_slot: int
    #: The hash of the block in its place, if it was orphaned.
    canonical_block_hash: NotRequired[str | None]
    #: `orphaned`: its block is not on the final chain; `misread`: a later full reading proved its ticks wrong.
    code: str
    #: The hash of the snapshot's block, if it was orphaned.
    orphaned_block_hash: NotRequired[str | None]


class Routes(BestSplit):
    """`GET /v1/routes/{chain}/{token}`."""

    #: The chain's slug.
    chain: str
    #: The length of the shortest series of the legs. The figures are no more reliable than that leg.
    days_observed: float
    #: Whether the amounts are what a holder sends and receives. `false` if a token takes a fee on transfer, as logs of swaps of a leg's pool showed: the exit is then worse than computed.
    exact: bool
    #: Why the amounts are not exact, if they are not: `token_taxed`.
    inexact_because: NotRequired[str | None]
    #: The same reason as a sentence that names the tokens.
    inexact_detail: NotRequired[str | None]
    #: Whether the markets of the tokens of all legs are open.
    market_open: bool
    #: The method, disclosed. Its window is that of the leg with the shortest series.
    method: SeriesMethod
    #: USD per whole token sold, according to the oracle.
    oracle_price_usd: float
    #: How reliable the oracle answers are: the worst of the legs' pools.
    oracle_state: OracleState
    #: The requested quote group. Only pools that buy a token of the group were used.
    quote_group: NotRequired[str | None]
    #: The quote groups of the chain that can be requested, such as `usd`. Without one, a leg may end in any token, valued at its oracle price.
    quote_groups: NotRequired[list[str]]
    #: The market session: of a leg whose market is closed, if there is one.
    session_note: str
    #: The slot number. All venues are compared at this slot.
    slot: int
    #: The time of the slot, RFC 3339.
    slot_time: str
    #: Seconds since the slot.
    snapshot_age_s: int
    #: The token sold.
    token: TokenLabel


class SlotStatus(TypedDict):
    """The current status of a sealed slot, separate from its evidence."""

    #: If the ticks are in doubt: the slot whose full reading of the pool differed from the state followed until then.
    doubted_by_slot: NotRequired[int | None]
    #: How the logs that name changed ticks were checked for being complete. Only from the service that recorded the slot, for about a day and until it is started again.
    logs: NotRequired[LogsStatus | None]
    #: Why the slot is missing.
    missing_reason: NotRequired[str | None]
    #: The pool's identifier.
    pool: str
    #: The retraction, if the slot was retracted because its block was orphaned or its ticks were misread.
    retraction: NotRequired[RetractionNotice | None]
    #: The slot number.
    slot: int
    #: The time of the slot, RFC 3339.
    slot_time: str
    #: The content of the series at the slot.
    state: SlotState


class StreamTicket(TypedDict):
    """A ticket that replaces the owner's token in a stream: `POST /v1/alerts/ticket`."""

    #: Until when a stream can be opened with the ticket, RFC 3339.
    expires: str
    #: The value of the parameter `ticket` of `/v1/stream`. It only allows reading the events of the owner's rules.
    ticket: str


class TimeAbove(TypedDict):
    """How long a gap was above a limit. A slot that could not fill the size counts as above."""

    #: The limit, percent.
    limit_pct: float
    #: The first slot of that run, RFC 3339. `null` if there is no such slot.
    longest_run_from: NotRequired[str | None]
    #: The longest run of consecutive slots above the limit. A slot without a snapshot ends the run.
    longest_run_slots: int
    #: Slots above the limit.
    slots: int


class StressDetail(TypedDict):
    """Statistics over the single slots of a period. A slot that could not fill the size is worse than any number."""

    #: How long the gap was above `limit_pct`, if a limit was given.
    above: NotRequired[TimeAbove | None]
    #: The median gap, percent, by nearest rank. `null` if that slot could not fill the size, or there is no slot.
    gap_q50_pct: NotRequired[float | None]
    #: The 95th percentile of the gap, percent. `null` in the same cases.
    gap_q95_pct: NotRequired[float | None]
    #: Slots without a snapshot (or with a retracted one) within an hour before or after the worst slot. Outages often coincide with market stress.
    slots_missing_near_worst: int
    #: The ten worst slots, worst first.
    worst_slots: list[GapPoint]


class Stress(SeriesOf):
    """`GET /v1/stress/{pool}`."""

    #: More details of the period's slots. Absent for a period of more than 31 days.
    detail: NotRequired[StressDetail | None]
    #: URL of the evidence for the worst gap.
    evidence_url: NotRequired[str | None]
    #: Among the slots whose liquidity the size exceeded, the one that could fill the least.
    least_fillable: NotRequired[FillablePoint | None]
    #: The lowest depth.
    lowest_depth: NotRequired[DepthPoint | None]
    #: … and in the slot of the lowest depth. Compare both to see whether liquidity was withdrawn or the price had moved away.
    lowest_depth_book: NotRequired[PoolBook | None]
    #: Slots without a snapshot. What happened in them is unknown.
    slots_missing: int
    #: Slots with a snapshot that was not retracted.
    slots_recorded: int
    #: Recorded slots in which the size had no gap: worse than any number.
    slots_refused: int
    #: Slots whose snapshot was retracted.
    slots_retracted: int
    #: The widest gap of the recorded slots that have a gap. Absent if none has a gap.
    worst_gap: NotRequired[GapPoint | None]
    #: The pool's depth around its own price in the slot of the worst gap …
    worst_gap_book: NotRequired[PoolBook | None]


class StressedSlot(TypedDict):
    """One of the worst slots."""

    #: The total depth at 2% from the pools' own mid prices.
    book_usd: float
    #: The total depth of the venues at 2% from the oracle price, whole USD.
    depth_usd: float
    #: The gap of the optimal split, percent. `null` if the venues together could not absorb the size.
    exit_gap_pct: NotRequired[float | None]
    #: The same from the pools' own mid prices. Absent in the same cases.
    gap_from_mid_pct: NotRequired[float | None]
    #: The same from the oracle price, whatever the reference. Absent in `stress/1`, and if `exit_gap_pct` is `null`.
    gap_from_oracle_pct: NotRequired[float | None]
    #: The amount that they could absorb, whole USD. `null` if they could absorb all of the size.
    max_fillable_usd: NotRequired[float | None]
    #: The slot number.
    slot: int
    #: The time of the slot, RFC 3339.
    time: str


class StressedVenue(TypedDict):
    """A pool of the stress test."""

    #: `token0` or `token1`: the token sold.
    base: str
    #: The first slot with that depth, RFC 3339.
    lowest_depth_time: NotRequired[str | None]
    #: The lowest depth at 2% after the shock, whole USD. `null` if no slot was used.
    lowest_depth_usd: NotRequired[float | None]
    #: The pool.
    pool: str


_VenueStressOf = TypedDict(
    "_VenueStressOf",
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
        "reference": NotRequired[str | None],
        "size_usd": float,
        "to": str,
        "within_slots": NotRequired[int | None],
    },
)


class VenueStressOf(Exactness, _VenueStressOf):
    """The parameters and sources of a stress test."""


class VenueStress(VenueStressOf):
    """`GET /v1/stress`. USD are whole. A slot in which the venues could not absorb the size is worse than any number."""

    #: How long the gap was above `limit_pct`. `null` if no limit was given.
    above: NotRequired[TimeAbove | None]
    #: The median of that total depth.
    book_q50_usd: NotRequired[float | None]
    #: The slots above `limit_pct` by cause. The counts do not depend on `reference`. Absent in `stress/1`, and if no limit was given.
    causes: NotRequired[FailuresByCause | None]
    #: The median total depth.
    depth_q50_usd: NotRequired[float | None]
    #: The median gap, percent, by nearest rank. `null` if that slot could not absorb the size, or there is no slot.
    gap_q50_pct: NotRequired[float | None]
    #: The 95th percentile of the gap, percent. `null` in the same cases.
    gap_q95_pct: NotRequired[float | None]
    #: Slots used: every venue has a snapshot that was not retracted.
    have: int
    #: Venues that cannot take part, because their kind cannot be shocked.
    left_out: NotRequired[list[VenueLeftOut]]
    #: The first slot with that depth, RFC 3339.
    lowest_book_time: NotRequired[str | None]
    #: The lowest total depth of the venues at 2% from their own mid prices.
    lowest_book_usd: NotRequired[float | None]
    #: The total depth around the pools' own mid prices in that slot. Compare both to see whether liquidity was withdrawn or the price had moved away.
    lowest_depth_book_usd: NotRequired[float | None]
    #: The first slot with that depth, RFC 3339.
    lowest_depth_time: NotRequired[str | None]
    #: The lowest total depth of the venues at 2% from the oracle price.
    lowest_depth_usd: NotRequired[float | None]
    #: Slots with a snapshot of some venues only. Their depth is unknown, not zero.
    slots_incomplete: int
    #: Slots of the period without a snapshot of any venue.
    slots_missing: int
    #: Slots with a snapshot of some venues only, or of none, within an hour before or after the worst slot. Outages often coincide with market stress.
    slots_missing_near_worst: int
    #: Slots in which a computation was given up.
    slots_unanswered: int
    #: Slots in which the venues together could not absorb the size.
    slots_unfillable: int
    #: Slots that were not used because no venue's mid price had moved by `after_move_pct`. Absent without it.
    slots_unmoved: NotRequired[int | None]
    #: Slots in which the move is unknown, because not every venue has a snapshot that many slots before in the period. Absent in the same case.
    slots_untestable: NotRequired[int | None]
    #: Live or preview.
    status: Status
    #: One entry per venue that takes part, in the order of the request.
    venues: list[StressedVenue]
    #: The ten worst slots, worst first.
    worst_slots: list[StressedSlot]


class WebhookKeys(TypedDict):
    """New keys of a webhook: `POST /v1/alerts/{alert}/rotate`."""

    #: Until when the previous keys also sign, RFC 3339.
    previous_until: str
    #: The public key for `v1a` signatures.
    public_key: str
    #: The secret key for `v1` signatures. It is shown only once, in this answer.
    webhook_secret: str


class WhenToSell(SeriesOf):
    """`GET /v1/when/{pool}`: the gap of a size by hour of the week, and where the newest slot ranks. Percentiles are nearest ranks over single slots. A slot that could not fill the size is worse than any gap."""

    #: The hour with the lowest 95th percentile, of the hours recorded in at least four weeks; of equal ones, the one with the lower median, then the earlier. `null` if the period is shorter than four weeks, or if no such hour could fill the size at its 95th percentile.
    best_hour: NotRequired[int | None]
    #: Whether the period covers four weeks. A best hour is only named if it does.
    enough: bool
    #: The hours of the week with a recorded slot, from Monday 00:00 UTC.
    hours: list[HourOfWeek]
    #: The newest recorded slot of the period, ranked among the others. `null` if there is none.
    now: NotRequired[RankedSlot | None]
    #: Slots with a snapshot that was not retracted.
    slots: int
    #: Slots without a snapshot, or with a retracted one. What happened in them is unknown.
    slots_missing: int
    #: Of these, slots in which the size had no gap.
    slots_refused: int
