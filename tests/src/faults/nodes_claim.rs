//! How two snapshots of one pool and slot differ, and whether a recorder vouches for what differs.
//!
//! A recorder proves a state from the block's hash before it signs it, but not all of it: `state-proof-v1.md` lists
//! what is still taken on trust, and ticks beyond those that figures use are not proven.

use std::collections::{BTreeMap, BTreeSet};

use exitgap_chain::figures_range;
use exitgap_core::snapshot::Snapshot;
use serde_json::Value;

use super::Result;

/// Values that the documents name as taken on trust, by the end or the beginning of their places.
const TRUSTED: [&str; 6] =
    ["/decimals", "/symbol", "/tokens/", "/facts/", "/fee_pips", "/tick_spacing"];

/// What differs between two snapshots.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// The places of values that the recorder vouches for.
    pub vouched: BTreeSet<String>,
    /// The places of values that it takes on trust.
    pub trusted: BTreeSet<String>,
}

impl Difference {
    /// Compares a snapshot with the true one.
    pub fn between(truth: &Snapshot, found: &Snapshot) -> Result<Self> {
        let range = figures_range(truth);
        let is_far = |place: &str| {
            let tick = place.strip_prefix("/ticks/").and_then(|tick| tick.parse::<i32>().ok());
            tick.is_some_and(|tick| !(range.low..=range.high).contains(&tick))
        };
        let (truth, found) = (values(truth)?, values(found)?);
        let mut difference = Self::default();
        for place in truth.keys().chain(found.keys()) {
            if truth.get(place) == found.get(place) {
                continue;
            }
            let is_trusted = is_far(place) || TRUSTED.iter().any(|part| place.contains(part));
            let of = if is_trusted { &mut difference.trusted } else { &mut difference.vouched };
            of.insert(place.clone());
        }
        Ok(difference)
    }

    /// The first places, for a message.
    pub fn words(&self) -> String {
        let all: Vec<&str> = self.vouched.iter().chain(&self.trusted).map(String::as_str).collect();
        let first = all.iter().take(4).copied().collect::<Vec<_>>().join(" ");
        format!("{} values differ: {first}", all.len())
    }
}

/// Every value of a snapshot by its place, with ticks by their numbers. The state's hash follows from the others and is
/// left out.
fn values(snapshot: &Snapshot) -> Result<BTreeMap<String, String>> {
    let documents = snapshot.to_canonical()?;
    let mut values = BTreeMap::new();
    let mut whole: Value = serde_json::from_slice(&documents.snapshot)?;
    whole["state"] = Value::Null;
    flatten(&whole, "", &mut values);
    let mut state: Value = serde_json::from_slice(&documents.state)?;
    if let Some(Value::Array(ticks)) = state.get_mut("ticks").map(Value::take) {
        for tick in ticks {
            values.insert(format!("/ticks/{}", tick[0]), tick.to_string());
        }
    }
    flatten(&state, "", &mut values);
    Ok(values)
}

fn flatten(value: &Value, at: &str, values: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                flatten(field, &format!("{at}/{name}"), values);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                flatten(item, &format!("{at}/{index}"), values);
            }
        }
        other => drop(values.insert(at.to_owned(), other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use exitgap_core::pools::{Concentrated, PoolState, Tick};
    use exitgap_core::series::Slot;
    use exitgap_core::snapshot::Observation;

    use super::super::scene::BusyPool;
    use super::*;

    /// The same snapshot with another state.
    fn with_state(snapshot: &Snapshot, state: PoolState) -> Snapshot {
        let of = snapshot.observation();
        let observation = Observation::new(
            of.pool().clone(),
            of.chain(),
            of.block(),
            of.tokens().to_vec(),
            state,
            of.oracles().to_vec(),
            of.facts().to_vec(),
        );
        Snapshot::new(snapshot.slot(), observation.unwrap()).unwrap()
    }

    /// The difference that a change of the ticks makes.
    fn difference(mut pool: BusyPool, change: impl Fn(&mut Vec<Tick>)) -> Difference {
        let truth = pool.snapshot(Slot::FIRST);
        let PoolState::Concentrated(pool) = truth.observation().state() else { panic!("v3") };
        let ranges = pool.ranges();
        let mut ticks = ranges.ticks().to_vec();
        change(&mut ticks);
        let (price, tick, spacing) =
            (ranges.sqrt_price_x96(), ranges.tick(), ranges.tick_spacing());
        let state =
            Concentrated::new(price, tick, ranges.liquidity(), pool.fee_pips(), spacing, ticks);
        let found = with_state(&truth, PoolState::Concentrated(state.unwrap()));
        Difference::between(&truth, &found).unwrap()
    }

    #[test]
    fn ticks_that_no_figure_uses_are_taken_on_trust() {
        let with_far = |ticks: &mut Vec<Tick>| {
            ticks.insert(1, Tick::new(400_000, 5));
            ticks.insert(2, Tick::new(400_020, -5));
        };
        let places = BTreeSet::from(["/ticks/400000".to_owned(), "/ticks/400020".to_owned()]);
        let far = difference(BusyPool::full_range(1), with_far);
        assert_eq!(far, Difference { vouched: BTreeSet::new(), trusted: places });
        let near = difference(BusyPool::new(1, 3), |ticks| {
            for tick in ticks {
                tick.liquidity_gross += 1;
            }
        });
        assert!(!near.vouched.is_empty() && near.trusted.is_empty(), "{}", near.words());
        assert_eq!(difference(BusyPool::new(1, 3), |_| {}), Difference::default());
    }
}
