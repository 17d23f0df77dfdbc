//! The service's comparison of a token's venues at the newest slot.

use core::str::FromStr;

use exitgap_api::operations::parameters::{INTO, QUOTE_GROUP, SIZE, SIZE_OR_AMOUNT};
use exitgap_api::operations::{Operation, Target};
use exitgap_api::{Number, Problem, ProblemCode, invalid_parameter};
use exitgap_client::{Browser, Client, ClientError, EvidenceOf};
use exitgap_core::ids::ChainSlug;
use exitgap_core::series::Slot;
use exitgap_core::units::SizeUsd;

use crate::document::Document;
use crate::parts::size_asked;

/// The request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExitQuery {
    chain: ChainSlug,
    token: String,
    size: SizeUsd,
    /// The requested quote group, by its name in the service; any token if there is none.
    into: Option<String>,
}

impl ExitQuery {
    /// Parses the address: a token as `<chain>:<address>`, a size as people write it, and the tokens to sell for.
    pub fn parse(token: &str, size: &str, into: Option<String>) -> Result<Self, Problem> {
        let wrong = |why: &str| {
            invalid_parameter("token", &format!("token: {why}"), "Choose one of the tokens above.")
        };
        let (chain, token) =
            token.split_once(':').ok_or_else(|| wrong("not in the form <chain>:<address>"))?;
        let chain = ChainSlug::from_str(chain).map_err(|error| wrong(&error.to_string()))?;
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(wrong("not a valid address"));
        }
        Ok(Self { chain, token: token.to_owned(), size: size_asked(size)?, into })
    }

    /// The address of the sale that ends in cash, or in the requested group.
    pub fn cash_target(&self) -> Target {
        let Self { chain, token, size, into } = self;
        let target = Operation::Cash.target_of(format_args!("{chain}/{token}"));
        target.with(&SIZE_OR_AMOUNT, size).maybe(&INTO, into.as_ref())
    }

    /// The title of that sale.
    pub fn cash_title(&self) -> String {
        format!("Sold for {}", self.into.as_deref().unwrap_or("cash"))
    }

    fn target(&self, size: SizeUsd) -> Target {
        let Self { chain, token, into, .. } = self;
        let target = Operation::Routes.target_of(format_args!("{chain}/{token}"));
        target.with(&SIZE, size).maybe(&QUOTE_GROUP, into.as_ref())
    }
}

/// The comparison.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The token's address.
    pub token: String,
    /// Its symbol: untrusted text.
    pub symbol: String,
    /// The slot of all figures.
    pub slot: Slot,
    /// Its instant, RFC 3339.
    pub slot_time: String,
    /// Seconds since then.
    pub age_s: u64,
    /// The state of the oracle.
    pub oracle_state: String,
    /// For the leg with the shortest series.
    pub days_observed: String,
    /// Whether the chain is marked as a preview.
    pub preview: bool,
    /// The size of all figures.
    pub size: SizeUsd,
    /// The requested size: larger if it cannot be filled.
    pub asked: SizeUsd,
    /// Why the requested size cannot be filled.
    pub refused: Option<String>,
    /// The gap of all legs together, percent.
    pub gap: String,
    /// No other split has a gap that is lower by more than this, percent.
    pub optimality: Option<String>,
    /// The venues, the best first.
    pub venues: Vec<Venue>,
    /// The requested quote group.
    pub into: Option<String>,
    /// The available quote groups.
    pub groups: Vec<String>,
    /// The tokens received, each once: untrusted text.
    pub ends_in: Vec<String>,
    /// Venues that were not compared, and why.
    pub left_out: Vec<(String, String)>,
}

/// A venue.
#[derive(Debug, Clone)]
pub struct Venue {
    /// The pool.
    pub pool: String,
    /// Venue, fee and, if it is part of the split, the token it pays in: untrusted text.
    pub name: String,
    /// The gap of the whole size there, percent; `None` if it cannot be filled.
    pub alone: Option<String>,
    /// The maximum that it can fill, if that is the reason.
    pub most: Option<String>,
    /// The URL of the evidence.
    pub evidence_url: Option<String>,
    /// The same, parsed.
    pub evidence: Option<EvidenceOf>,
    /// Its part of the split.
    pub leg: Option<Leg>,
}

/// A venue's part of a split.
#[derive(Debug, Clone)]
pub struct Leg {
    /// The size (USD).
    pub size: SizeUsd,
    /// Its own gap, percent.
    pub gap: String,
    /// The URL of the evidence.
    pub evidence_url: Option<String>,
}

/// Requests the comparison. If the size cannot be filled, compares the maximum that can be.
pub async fn compare(
    client: &Client<Browser>,
    asked: &ExitQuery,
) -> Result<Comparison, ClientError> {
    let refused = match client.get_document::<Document>(&asked.target(asked.size)).await {
        Ok(told) => return parse_comparison(&told, asked, asked.size, None),
        Err(ClientError::Refused(refused)) => refused,
        Err(error) => return Err(error),
    };
    let most = refused.max_fillable_usd.as_ref().and_then(|most| most.as_str().parse().ok());
    let Some(most) = most else { return Err(ClientError::Refused(refused)) };
    let told = client.get_document::<Document>(&asked.target(most)).await?;
    parse_comparison(&told, asked, most, Some(refused.detail.clone()))
}

/// Parses the answer, if it matches the request.
fn parse_comparison(
    told: &Document,
    asked: &ExitQuery,
    size: SizeUsd,
    refused: Option<String>,
) -> Result<Comparison, ClientError> {
    let wrong =
        |why: &str| Problem::new(ProblemCode::InternalError, format!("the service's answer {why}"));
    let token = told.part("token").ok_or_else(|| wrong("names no token"))?;
    let address = token.text_or_none("address");
    let same = told.text_or_none("chain") == asked.chain.as_str()
        && address.eq_ignore_ascii_case(&asked.token)
        && told.text("size_usd").as_deref() == Some(Number::from(size).as_str())
        && told.text("quote_group") == asked.into;
    if !same {
        return Err(wrong("is for another request").into());
    }
    let slot = Slot::new(told.count("slot")).map_err(|_| wrong("has no valid slot"))?;
    let legs = told.list("legs");
    let venue = |alone: &Document| {
        let pool = alone.text_or_none("pool");
        let evidence_url = alone.text("evidence_url");
        let leg = legs.iter().find(|leg| leg.text_or_none("pool") == pool);
        let quote = leg.and_then(|leg| leg.part("quote")?.text("symbol"));
        let name = alone.text_or_none("name");
        let leg = leg.and_then(|leg| {
            let (size, gap) = (leg.text("size_usd")?.parse().ok()?, leg.text("exit_gap_pct")?);
            Some(Leg { size, gap, evidence_url: leg.text("evidence_url") })
        });
        Venue {
            name: quote.map_or_else(|| name.clone(), |quote| format!("{name} for {quote}")),
            alone: alone.text("exit_gap_pct"),
            most: alone.text("max_fillable_usd"),
            evidence: evidence_url.as_deref().and_then(EvidenceOf::from_url),
            evidence_url,
            pool,
            leg,
        }
    };
    let mut ends_in: Vec<String> = Vec::new();
    for symbol in legs.iter().filter_map(|leg| leg.part("quote")?.text("symbol")) {
        if !ends_in.contains(&symbol) {
            ends_in.push(symbol);
        }
    }
    let left_out = |one: &Document| (one.text_or_none("pool"), one.text_or_none("detail"));
    Ok(Comparison {
        token: address,
        symbol: token.text_or_none("symbol"),
        slot,
        slot_time: told.text_or_none("slot_time"),
        age_s: told.count("snapshot_age_s"),
        oracle_state: told.text_or_none("oracle_state"),
        days_observed: told.text_or_none("days_observed"),
        preview: told.text_or_none("status") == "preview",
        size,
        asked: asked.size,
        refused,
        gap: told.text("exit_gap_pct").ok_or_else(|| wrong("has no gap"))?,
        optimality: told.text("optimality_gap_pct"),
        into: asked.into.clone(),
        groups: told.text_list("quote_groups"),
        ends_in,
        venues: told.list("alone").iter().map(venue).collect(),
        left_out: told.list("left_out").iter().map(left_out).collect(),
    })
}
