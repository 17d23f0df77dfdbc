use serde_json::Value;

use super::*;
use crate::pools::PoolState;
use crate::pools::vectors::{Tally, amounts, small, tally};
use crate::wide::U256;

const WEIGHTED_V2: &[u8] =
    include_bytes!("../../../../../tests/vectors/pools/balancer_v2_weighted.json.zz");
const WEIGHTED_V3: &[u8] =
    include_bytes!("../../../../../tests/vectors/pools/balancer_v3_weighted.json.zz");
const STABLE_V2: &[u8] =
    include_bytes!("../../../../../tests/vectors/pools/balancer_v2_composable_stable.json.zz");
const STABLE_V3: &[u8] =
    include_bytes!("../../../../../tests/vectors/pools/balancer_v3_stable.json.zz");

fn vault_of(state: &Value) -> VaultParts {
    let third = state.get("balances_raw").is_some();
    let one = U256::from(10).pow(U256::from(18));
    let scaling = |decimals: &Value| U256::from(10).pow(U256::from(18 - small(decimals)));
    let decimals = state["decimals"].as_array().unwrap();
    VaultParts {
        balances: amounts(&state[if third { "balances_raw" } else { "balances" }]),
        live_balances: third.then(|| amounts(&state["balances_live_scaled18"])),
        scaling_factors: decimals.iter().map(scaling).collect(),
        rates: state.get("rates").map_or_else(|| vec![one; decimals.len()], amounts),
        swap_fee: small(&state["swap_fee"]),
    }
}

fn weighted(pool: &Value) -> Option<PoolState> {
    let state = &pool["state"];
    let weights = state["weights"].as_array().unwrap().iter().map(small).collect();
    let least = state.get("min_balances_scaled18").map(amounts);
    Weighted::new(vault_of(state), weights, least).ok().map(PoolState::from)
}

fn stable(pool: &Value) -> Option<PoolState> {
    let (state, amp) = (&pool["state"], small(&pool["state"]["amp"]));
    let release = match state.get("version").and_then(Value::as_str) {
        None => return StableV2::new(vault_of(state), amp).ok().map(PoolState::from),
        Some(version) if version.starts_with("stable v1") => StableRelease::First,
        Some(version) if version.starts_with("stable v2") => StableRelease::Second,
        Some(_) => StableRelease::Third,
    };
    StableV3::new(vault_of(state), amp, release).ok().map(PoolState::from)
}

fn left(state: &PoolState, recorded: &Value) -> bool {
    let vault = match state {
        PoolState::Weighted(pool) => &pool.vault,
        PoolState::StableV2(pool) => &pool.vault,
        PoolState::StableV3(pool) => &pool.vault,
        _ => return false,
    };
    let live = recorded.get("balances_live_scaled18").map(amounts);
    let raw = if live.is_some() { "balances_raw" } else { "balances" };
    vault.raw == amounts(&recorded[raw]) && live.is_none_or(|live| vault.live == live)
}

#[test]
fn weighted_pools_fill_as_their_contracts_did() {
    let expected = Tally { cases: 2_346, refused: 1_046, after: 10 };
    assert_eq!(tally(WEIGHTED_V2, weighted, left), expected);
    let expected = Tally { cases: 1_828, refused: 1_157, after: 10 };
    assert_eq!(tally(WEIGHTED_V3, weighted, left), expected);
}

#[test]
fn stable_pools_fill_as_their_contracts_did() {
    let expected = Tally { cases: 1_756, refused: 506, after: 10 };
    assert_eq!(tally(STABLE_V2, stable, left), expected);
    let expected = Tally { cases: 1_728, refused: 603, after: 10 };
    assert_eq!(tally(STABLE_V3, stable, left), expected);
}
