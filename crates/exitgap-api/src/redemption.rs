//! Selling now beside redeeming later: the answer.

use exitgap_core::analytics::redemption::{
    self, FactError, FactUsed, PacedTerms, Pays, REDEMPTION, RedemptionError, RedemptionTermsRead,
    Sold, TermsError,
};
use exitgap_core::exit::{Exit, Refusal};
use exitgap_core::snapshot::Observation;
use exitgap_core::units::{Percent, SizeUsd, UsdMicros};
use serde::{Deserialize, Serialize};

use crate::{Answer, Number, Problem, ProblemCode};

/// Selling a size now beside redeeming it: `GET /v1/redemption/{pool}`. **Modelled**: terms are what somebody read, and
/// nothing on a chain proves them, but for the `facts` of a path, which stand in the snapshot.
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
    /// Why these terms do not take it: `below_minimum`, or `unknown_days` beyond the calendar's table; `paused`, by a fact;
    /// `fact_missing`: the snapshot has not one fact of a name that they give; `fact_invalid`: a fee of more than all, or a token
    /// that pays nothing; `asset_unknown`: what it pays in is no token of the pool; `pace_unknown`: the queue's lengths of seven
    /// days are not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refusal: Option<String>,
    /// What is kept of what is redeemed, percent; `null` where a fact would tell it and `refusal` says why none does.
    pub fee_pct: Option<Number>,
    /// The least that is redeemed, USD.
    pub minimum_usd: Number,
    /// What one whole token pays before the fee, USD, by a fact, rounded down; absent where it is the oracle's price.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pays_usd: Option<Number>,
    /// Of a queue: what is paid a day, USD, at the least, in the middle, at the most; `null` as `fee_pct`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub per_day_usd: Option<Vec<Number>>,
    /// Of a queue: whether that is what its recorded lengths fell by a day, of the last seven, and not the terms'.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub per_day_recorded: bool,
    /// The most, USD; `null`: as much as one likes, or as `fee_pct`.
    pub capacity_usd: Option<Number>,
    /// What is redeemed, USD: the size, or the capacity.
    pub redeemed_usd: Option<Number>,
    /// What is sold now beside that, USD.
    pub sold_usd: Option<Number>,
    /// What both bring, USD, at the oracle's price or at `pays_usd`; `null` where the rest cannot be sold.
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
    /// The facts that it rests on, read at the block of the snapshot; the other numbers are the terms'.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub facts: Vec<RedemptionFact>,
    /// Who may redeem, as the terms say.
    pub eligibility: String,
    /// Where the terms stand.
    pub terms_source: String,
    /// When they were read, `YYYY-MM-DD`.
    pub terms_read_on: String,
    /// The SHA-256 of the file of terms, 0x-prefixed.
    pub terms_sha256: String,
}

/// A fact of the snapshot that a redemption rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RedemptionFact {
    /// What it says: `capacity` and `ahead`, in the token's smallest units; `capacity_asset`, and `nav` of one whole token, in those
    /// of the asset; `fee`; `paused`, any word but zero.
    pub says: String,
    /// Its name in the snapshot.
    pub name: String,
    /// The contract that was asked.
    pub contract: String,
    /// The data of the call.
    pub call: String,
    /// The first word of the answer, as a whole number.
    pub word_raw: String,
}

impl From<FactUsed> for RedemptionFact {
    fn from(used: FactUsed) -> Self {
        Self {
            says: used.says.as_str().to_owned(),
            name: used.fact.name.to_string(),
            contract: used.fact.contract.to_string(),
            call: used.fact.call,
            word_raw: used.word.to_string(),
        }
    }
}

/// The answer to "sell now, or redeem later?".
pub type RedemptionWindowResult = Answer<RedemptionWindow>;

impl RedemptionWindow {
    /// Compares one sale with the terms.
    pub fn of(observation: &Observation, exit: &Exit, size: SizeUsd, terms: &[PacedTerms]) -> Self {
        let (now, at_s) = (exit.estimate(size), observation.block().timestamp);
        let path = |one: &PacedTerms| RedemptionPath::of(observation, exit, size, one);
        let paths = terms.iter().map(path).collect();
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
    fn of(observation: &Observation, exit: &Exit, size: SizeUsd, paced: &PacedTerms) -> Self {
        let PacedTerms { read, pace } = paced;
        let RedemptionTermsRead { terms, facts, eligibility, source, read_on, sha256 } = read;
        let (used, said) = facts.said(terms, observation, exit.direction(), *pace);
        let at_s = observation.block().timestamp;
        let found = match &said {
            Ok(said) => {
                redemption::redemption(exit, size, said, at_s).map_err(|error| match error {
                    RedemptionError::BelowMinimum { .. } => "below_minimum",
                    RedemptionError::UnknownDays { .. } => "unknown_days",
                })
            }
            Err(FactError::Missing(_)) => Err("fact_missing"),
            Err(FactError::Invalid(_)) => Err("fact_invalid"),
            Err(FactError::UnknownAsset(_)) => Err("asset_unknown"),
            Err(FactError::UnknownPace) => Err("pace_unknown"),
            Err(FactError::Paused(_)) => Err("paused"),
        };
        let refusal = found.as_ref().err().map(|code| (*code).to_owned());
        let (found, said) = (found.ok(), said.ok());
        let fee_e8 = match (&said, facts.fee) {
            (Some(said), _) => Some(said.fee_e8),
            (None, fee) => fee.is_none().then_some(terms.fee_e8),
        };
        let capacity = said.as_ref().map_or(terms.capacity, |said| said.capacity);
        let found = found.as_ref();
        let (worth, token) =
            (said.as_ref().and_then(|said| said.worth), exit.direction().base_index());
        let per_day_usd = match said.as_ref().map(|said| &said.pays) {
            Some(Pays::InTurn { per_day, .. }) => Some(per_day.map(Number::from).to_vec()),
            _ => None,
        };
        let kind = match terms.pays {
            Pays::AtOnce => "at_once",
            Pays::OnDays { .. } => "on_days",
            Pays::InTurn { .. } => "in_turn",
        };
        let percent = |value: Option<Percent>| value.map(Number::from);
        Self {
            kind: kind.to_owned(),
            refusal,
            fee_pct: fee_e8.map(|fee| Percent(fee.into()).into()),
            minimum_usd: terms.minimum.into(),
            pays_usd: worth.map(|worth| worth.of_token(observation.prices()[token]).into()),
            per_day_usd,
            per_day_recorded: facts.recorded_pace,
            capacity_usd: capacity.map(Number::from),
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
            facts: used.into_iter().map(RedemptionFact::from).collect(),
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
