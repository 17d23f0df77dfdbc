//! The claim of an evidence file, in a sentence: shown before the page's program has loaded, and not yet verified.

use exitgap_api::operations::{EvidenceAsked, Operation};
use exitgap_core::evidence::Base;
use exitgap_core::series::Slot;
use serde::Deserialize;

use super::App;
use super::address::Address;

/// The part of an evidence file that the sentence needs.
#[derive(Deserialize)]
struct Claim {
    request: ClaimRequest,
    result: Option<ClaimResult>,
    refusal: Option<ClaimRefusal>,
}

#[derive(Deserialize)]
struct ClaimRequest {
    base: String,
    size_usd: String,
    slot: u64,
}

#[derive(Deserialize)]
struct ClaimResult {
    exit_gap_pct: String,
}

#[derive(Deserialize)]
struct ClaimRefusal {
    max_fillable_usd: Option<String>,
}

/// The sentence for the evidence at an address; `None` if there is no such evidence, and the page shows why.
pub async fn load_sentence(app: &App, address: &Address) -> Option<String> {
    let asked: EvidenceAsked = address.parse_question(Operation::Evidence).ok()?;
    let current = app.service.current();
    let labels = current.pools.get(&asked.pool).and_then(|now| now.labels.clone())?;
    let file = app.service.evidence(asked).await.ok()?;
    let claim: Claim = serde_json::from_slice(&file).ok()?;
    let base = Base::from_code(&claim.request.base)?;
    let symbol = &labels.tokens[usize::from(base == Base::Token1)].symbol;
    claim.sentence(symbol)
}

impl Claim {
    fn sentence(&self, symbol: &str) -> Option<String> {
        let ClaimRequest { size_usd, slot, .. } = &self.request;
        let at = Slot::new(*slot).ok()?;
        let what = match (&self.result, &self.refusal) {
            (Some(ClaimResult { exit_gap_pct }), None) => match exit_gap_pct.strip_prefix('-') {
                Some(above) => format!("fills {above}% above the oracle price"),
                None => format!("fills {exit_gap_pct}% below the oracle price"),
            },
            (None, Some(ClaimRefusal { max_fillable_usd: Some(most) })) => {
                format!("cannot be filled: the most that can be is {most} USD")
            }
            (None, Some(ClaimRefusal { max_fillable_usd: None })) => "cannot be filled".to_owned(),
            _ => return None,
        };
        Some(format!(
            "Claimed, and not yet checked: at {at}, selling {size_usd} USD of {symbol} {what}."
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_a_number_or_why_there_is_none() {
        let said = |answer: &str| {
            let file = format!(
                r#"{{"request":{{"base":"token0","size_usd":"250000","slot":5957856,"more":1}},"v":1{answer}}}"#
            );
            serde_json::from_str::<Claim>(&file).unwrap().sentence("WETH")
        };
        let begins =
            "Claimed, and not yet checked: at 2026-08-22T00:00:00Z, selling 250000 USD of WETH ";
        for (answer, ends) in [
            (r#","result":{"exit_gap_pct":"1.250000"}"#, "fills 1.250000% below the oracle price."),
            (
                r#","result":{"exit_gap_pct":"-0.010000"}"#,
                "fills 0.010000% above the oracle price.",
            ),
            (
                r#","refusal":{"code":"beyond_liquidity","max_fillable_usd":"90000.5"}"#,
                "cannot be filled: the most that can be is 90000.5 USD.",
            ),
            (r#","refusal":{"code":"rounds_to_no_input"}"#, "cannot be filled."),
        ] {
            assert_eq!(said(answer), Some(format!("{begins}{ends}")));
        }
        assert_eq!(said(""), None);
    }
}
