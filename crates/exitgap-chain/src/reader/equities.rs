//! Checks a chain's tokenized stocks: whether pool and oracle price the same unit.

use exitgap_core::exit::Exit;
use exitgap_core::ids::PoolId;
use exitgap_core::pools::Direction;
use exitgap_core::snapshot::Observation;
use exitgap_core::units::Percent;
use tokio::time::Instant;

use super::ChainReader;
use super::check::{CheckFinding, Severity, build_finding};
use crate::config::Equities;

/// How far a pool's price can be from the oracle price before a different unit is suspected, in millionths of a
/// percent.
const FAR: u128 = 20_000_000;

impl ChainReader {
    /// Checks that each pool of a tokenized stock has about the oracle's price.
    pub(super) async fn check_equities(&mut self, deadline: Instant) -> Vec<CheckFinding> {
        let equities = self.plan.equities().clone();
        if equities.is_empty() {
            return Vec::new();
        }
        let pools: Vec<PoolId> = self.plan.pools().iter().map(|pool| pool.id.clone()).collect();
        let mut findings = Vec::new();
        for pool in pools {
            // A pool that cannot be read is reported elsewhere.
            if let Ok(seen) = self.read_latest(&pool, deadline).await {
                findings.extend(judge_equities(&seen, &equities));
            }
        }
        findings
    }
}

/// The findings for each tokenized stock among a pool's tokens.
fn judge_equities(seen: &Observation, equities: &Equities) -> Vec<CheckFinding> {
    let of = |direction: Direction| {
        let token = &seen.tokens()[direction.base_index()];
        let equity = equities.get(&token.address)?;
        let subject = format!("equity {} in pool {}", token.symbol, seen.pool());
        Some(judge(&subject, equity.kind.code(), Exit::mid_basis(seen, direction)))
    };
    Direction::BOTH.into_iter().filter_map(of).collect()
}

fn judge(subject: &str, kind: &str, basis: Option<Percent>) -> CheckFinding {
    let shown = match basis {
        None => "too far from its oracle price for a percentage".to_owned(),
        Some(basis) if basis.0 < 0 => format!("{}% above its oracle price", Percent(-basis.0)),
        Some(basis) => format!("{basis}% below its oracle price"),
    };
    let message = format!("{kind}; the pool's price is {shown}");
    if basis.is_some_and(|basis| basis.0.unsigned_abs() <= FAR) {
        return build_finding(Severity::Fine, subject, message);
    }
    let message = format!(
        "{message}: a difference of more than 20% suggests that a feed for the raw unit is used as one for the ui \
         unit, or the reverse; compare kind and feed_prices of its [[equity]], and the pool's oracles, with the \
         feed's page"
    );
    build_finding(Severity::Warning, subject, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_that_is_far_from_the_oracle_is_warned_of() {
        let says =
            |basis: Option<i128>| judge("equity A", "scaled_ui", basis.map(Percent)).to_string();
        let near = "ok: equity A: scaled_ui; the pool's price is 20% below its oracle price";
        assert_eq!(says(Some(20_000_000)), near);
        assert!(says(Some(-20_000_000)).ends_with("is 20% above its oracle price"));
        let far = "warning: equity A: scaled_ui; the pool's price is 20.000001% above its oracle price: a difference of more than \
                   20% suggests that a feed for the raw unit is used as one for the ui unit, or the reverse; compare kind and \
                   feed_prices of its [[equity]], and the pool's oracles, with the feed's page";
        assert_eq!(says(Some(-20_000_001)), far);
        assert!(says(Some(20_000_001)).starts_with("warning: "));
        assert!(
            says(None).contains("too far from its oracle price for a percentage: a difference")
        );
    }
}
