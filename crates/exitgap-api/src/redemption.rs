//! The answer that compares selling now with redeeming later.

use exitgap_core::analytics::redemption::{
    self, FactError, FactUsed, PacedTerms, Pays, REDEMPTION, RedemptionError, RedemptionTermsRead,
    Sold, TermsError,
};
use exitgap_core::exit::{Exit, Refusal};
use exitgap_core::snapshot::Observation;
use exitgap_core::units::{Percent, SizeUsd, UsdMicros};
use serde::{Deserialize, Serialize};

use crate::{Answer, Number, Problem, ProblemCode};

/// Selling a size now compared with redeeming it: `GET /v1/redemption/{pool}`. **Modelled**: the
/// terms are what the operator read in a source, and no chain proves them, except the `facts` of a
/// path, which are in the snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RedemptionWindow {
    /// The name and version of the method, `redemption/1`.
    pub figure: String,
    /// Always `true`.
    pub modelled: bool,
    /// The size, USD.
    pub size_usd: Number,
    /// The proceeds of selling now, USD: `size_usd × (1 - exit_gap_pct)`, rounded down. `null` if
    /// the size cannot be sold.
    pub receives_now_usd: Option<Number>,
    /// The gap of that sale, percent. `null` in the same case.
    pub exit_gap_pct: Option<Number>,
    /// Why the size cannot be sold at once.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refusal: Option<ProblemCode>,
    /// The assumed time of the redemption request: the time of the snapshot's block, RFC 3339.
    pub handed_in_at: String,
    /// The ways to redeem the size. Empty if no redemption terms are configured for the token.
    pub paths: Vec<RedemptionPath>,
}

/// One way to redeem a size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RedemptionPath {
    /// `at_once`; `on_days`: at the close of trading days after a cut-off; `in_turn`: in a queue,
    /// after earlier requests.
    pub kind: String,
    /// Why redemption is not possible under these terms: `below_minimum`; `unknown_days`, beyond
    /// the calendar's table; `paused`, according to a fact; `fact_missing`, the snapshot lacks a
    /// fact that the terms name; `fact_invalid`, a fee of more than 100%, or a token that pays
    /// nothing; `asset_unknown`, the asset paid is not a token of the pool; `pace_unknown`, the
    /// queue's lengths of seven days are not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refusal: Option<String>,
    /// The redemption fee, percent. `null` if a fact would give it and `refusal` shows why it does
    /// not.
    pub fee_pct: Option<Number>,
    /// The minimum redemption, USD.
    pub minimum_usd: Number,
    /// The payment per whole token before the fee, USD, according to a fact, rounded down. Absent
    /// if it is the oracle price.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pays_usd: Option<Number>,
    /// For a queue: the payments per day, USD: minimum, middle, maximum. `null` in the same case as
    /// `fee_pct`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub per_day_usd: Option<Vec<Number>>,
    /// For a queue: whether those payments are how much its recorded lengths fell per day in the
    /// last seven days, instead of the terms.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub per_day_recorded: bool,
    /// The maximum redemption, USD. `null`: no limit, or in the same case as `fee_pct`.
    pub capacity_usd: Option<Number>,
    /// The amount redeemed, USD: the size, or the capacity.
    pub redeemed_usd: Option<Number>,
    /// The rest, sold now, USD.
    pub sold_usd: Option<Number>,
    /// The proceeds of both, USD, at the oracle price or at `pays_usd`. `null` if the rest cannot
    /// be sold.
    pub receives_usd: Option<Number>,
    /// The minimum waiting time, seconds. `null`: no payment is possible.
    pub t_min_s: Option<u64>,
    /// The maximum waiting time, seconds.
    pub t_max_s: Option<u64>,
    /// For a queue: the waiting time at its middle pace, seconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub t_middle_s: Option<u64>,
    /// `100 × (receives_usd - receives_now_usd) ÷ receives_now_usd`: positive if redeeming pays
    /// more.
    pub advantage_pct: Option<Number>,
    /// The advantage as a simple yearly rate, percent, over `t_min_s`. Redeeming pays if your cost
    /// of money is below this rate. `null` without a waiting time.
    pub break_even_annual_pct_at_t_min: Option<Number>,
    /// The same over `t_max_s`.
    pub break_even_annual_pct_at_t_max: Option<Number>,
    /// The facts behind this path, read at the snapshot's block. All other numbers are from the
    /// terms.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub facts: Vec<RedemptionFact>,
    /// Who may redeem, according to the terms.
    pub eligibility: String,
    /// The source of the terms.
    pub terms_source: String,
    /// When the terms were read, `YYYY-MM-DD`.
    pub terms_read_on: String,
    /// The SHA-256 of the file of terms, 0x-prefixed.
    pub terms_sha256: String,
}

/// A fact of the snapshot that a redemption depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RedemptionFact {
    /// The meaning: `capacity` and `ahead`, in the token's smallest units; `capacity_asset`, and
    /// `nav` of one whole token, in the smallest units of the asset; `fee`; `paused`, any value
    /// except zero.
    pub says: String,
    /// The name of the fact in the snapshot.
    pub name: String,
    /// The contract called.
    pub contract: String,
    /// The call data.
    pub call: String,
    /// The first 32-byte word of the answer, as a whole number.
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
    pub fn from_terms(
        observation: &Observation,
        exit: &Exit,
        size: SizeUsd,
        terms: &[PacedTerms],
    ) -> Self {
        let (now, at_s) = (exit.estimate(size), observation.block().timestamp);
        let path = |one: &PacedTerms| RedemptionPath::from_terms(observation, exit, size, one);
        let paths = terms.iter().map(path).collect();
        let refusal = now.as_ref().err().map(problem_code);
        let gap = now.ok().map(|now| now.gap);
        Self {
            figure: REDEMPTION.to_owned(),
            modelled: true,
            size_usd: size.into(),
            receives_now_usd: gap.map(|gap| Number::from(Sold::from_gap(size, gap).receives)),
            exit_gap_pct: gap.map(Number::from),
            refusal,
            handed_in_at: exitgap_core::series::rfc3339(at_s),
            paths,
        }
    }
}

fn problem_code(refusal: &Refusal) -> ProblemCode {
    Problem::from(refusal).code
}

impl RedemptionPath {
    fn from_terms(
        observation: &Observation,
        exit: &Exit,
        size: SizeUsd,
        paced: &PacedTerms,
    ) -> Self {
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
