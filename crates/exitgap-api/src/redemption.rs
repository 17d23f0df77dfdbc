//! Selling now beside redeeming later: the answer.

use exitgap_core::analytics::redemption::{
    self, Pays, REDEMPTION, RedemptionError, RedemptionTermsRead, Sold, TermsError,
};
use exitgap_core::exit::{Exit, Refusal};
use exitgap_core::units::{Percent, SizeUsd, UsdMicros};
use serde::{Deserialize, Serialize};

use crate::{Answer, Number, Problem, ProblemCode};

/// Selling a size now beside redeeming it: `GET /v1/redemption/{pool}`. **Modelled**: terms are what somebody read, and
/// nothing on a chain proves them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RedemptionWindow {
    /// The name and version of these rules, `redemption/1`.
    pub figure: String,
    /// Always `true`.
    pub modelled: bool,
    /// The size, USD.
    pub size_usd: Number,
    /// What selling it now brings, USD: `size_usd × (1 - exit_gap_pct)`, rounded down; `null` where it cannot be sold.
    pub receives_now_usd: Option<Number>,
    /// The gap of that sale, percent; `null` likewise.
    pub exit_gap_pct: Option<Number>,
    /// Why it cannot be sold at once.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refusal: Option<ProblemCode>,
    /// When it is handed in: the time of the snapshot's block, RFC 3339.
    pub handed_in_at: String,
    /// The ways of redeeming it; none where nobody wrote terms of the token down.
    pub paths: Vec<RedemptionPath>,
}

/// One way of redeeming a size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RedemptionPath {
    /// `at_once`; `on_days`: at the close of trading days after a cut-off; `in_turn`: after those who came before.
    pub kind: String,
    /// Why these terms do not take it: `below_minimum`, or `unknown_days` beyond the calendar's table.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refusal: Option<String>,
    /// What is kept of what is redeemed, percent.
    pub fee_pct: Number,
    /// The least that is redeemed, USD.
    pub minimum_usd: Number,
    /// The most, USD; `null`: as much as one likes.
    pub capacity_usd: Option<Number>,
    /// What is redeemed, USD: the size, or the capacity.
    pub redeemed_usd: Option<Number>,
    /// What is sold now beside that, USD.
    pub sold_usd: Option<Number>,
    /// What both bring, USD, at the oracle's price; `null` where the rest cannot be sold.
    pub receives_usd: Option<Number>,
    /// How long one waits at the least, seconds; `null`: nobody is paid.
    pub t_min_s: Option<u64>,
    /// The same at the most.
    pub t_max_s: Option<u64>,
    /// Of a queue: the same at its pace in the middle.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub t_middle_s: Option<u64>,
    /// `100 × (receives_usd - receives_now_usd) ÷ receives_now_usd`: positive, redeeming brings more.
    pub advantage_pct: Option<Number>,
    /// The advantage as a simple yearly rate, percent, over `t_min_s`: who can do without the money for less redeems. `null`
    /// of no wait.
    pub break_even_annual_pct_at_t_min: Option<Number>,
    /// The same over `t_max_s`.
    pub break_even_annual_pct_at_t_max: Option<Number>,
    /// Who may redeem, as the terms say.
    pub eligibility: String,
    /// Where the terms stand.
    pub terms_source: String,
    /// When they were read, `YYYY-MM-DD`.
    pub terms_read_on: String,
    /// The SHA-256 of the file of terms, 0x-prefixed.
    pub terms_sha256: String,
}

/// The answer to "sell now, or redeem later?".
pub type RedemptionWindowResult = Answer<RedemptionWindow>;

impl RedemptionWindow {
    /// Compares one sale with the terms.
    pub fn of(exit: &Exit, size: SizeUsd, terms: &[RedemptionTermsRead], at_s: u64) -> Self {
        let now = exit.estimate(size);
        let paths = terms.iter().map(|one| RedemptionPath::of(exit, size, one, at_s)).collect();
        let refusal = now.as_ref().err().map(refused);
        let gap = now.ok().map(|now| now.gap);
        Self {
            figure: REDEMPTION.to_owned(),
            modelled: true,
            size_usd: size.into(),
            receives_now_usd: gap.map(|gap| Number::from(Sold::of(size, gap).receives)),
            exit_gap_pct: gap.map(Number::from),
            refusal,
            handed_in_at: exitgap_core::series::rfc3339(at_s),
            paths,
        }
    }
}

fn refused(refusal: &Refusal) -> ProblemCode {
    Problem::from(refusal).code
}

impl RedemptionPath {
    fn of(exit: &Exit, size: SizeUsd, read: &RedemptionTermsRead, at_s: u64) -> Self {
        let RedemptionTermsRead { terms, eligibility, source, read_on, sha256 } = read;
        let found = redemption::redemption(exit, size, terms, at_s);
        let refusal = found.as_ref().err().map(|error| match error {
            RedemptionError::BelowMinimum { .. } => "below_minimum".to_owned(),
            RedemptionError::UnknownDays { .. } => "unknown_days".to_owned(),
        });
        let found = found.ok();
        let found = found.as_ref();
        let kind = match terms.pays {
            Pays::AtOnce => "at_once",
            Pays::OnDays { .. } => "on_days",
            Pays::InTurn { .. } => "in_turn",
        };
        let percent = |value: Option<Percent>| value.map(Number::from);
        Self {
            kind: kind.to_owned(),
            refusal,
            fee_pct: Percent(terms.fee_e8.into()).into(),
            minimum_usd: terms.minimum.into(),
            capacity_usd: terms.capacity.map(Number::from),
            redeemed_usd: found.map(|found| found.redeemed.into()),
            sold_usd: found
                .map(|found| found.beside.as_ref().map_or(UsdMicros(0), |(rest, _)| *rest).into()),
            receives_usd: found.and_then(|found| found.later).map(Number::from),
            t_min_s: found.and_then(|found| found.wait_s[0]),
            t_max_s: found.and_then(|found| found.wait_s[1]),
            t_middle_s: found.and_then(|found| found.wait_middle_s),
            advantage_pct: percent(found.and_then(|found| found.advantage)),
            break_even_annual_pct_at_t_min: percent(found.and_then(|found| found.break_even[0])),
            break_even_annual_pct_at_t_max: percent(found.and_then(|found| found.break_even[1])),
            eligibility: eligibility.clone(),
            terms_source: source.clone(),
            terms_read_on: read_on.clone(),
            terms_sha256: sha256.to_string(),
        }
    }
}

impl From<TermsError> for Problem {
    fn from(error: TermsError) -> Self {
        Self::new(ProblemCode::InvalidParameter, error.to_string()).field("terms").hint(
            "a JSON file: v, kind (at_once, on_days, in_turn), what the kind takes, eligibility, source and read_on",
        )
    }
}
