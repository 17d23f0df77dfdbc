//! Recorded fills of real contracts, as `tests/vectors/pools` holds them: every case is a number or
//! a refusal, and what is computed must be the same.

use serde_json::Value;

use super::{Direction, Fill, FillError, PoolState};
use crate::ids::Pair;
use crate::wide::U256;

/// What a file's cases came to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Cases that agree …
    pub cases: usize,
    /// … of which the contract refused so many.
    pub refused: usize,
    /// Sales that left the state that the contract's left.
    pub after: usize,
}

/// A file's text, unpacked.
pub(super) fn unpacked(packed: &[u8]) -> Value {
    let text = miniz_oxide::inflate::decompress_to_vec_zlib(packed).unwrap();
    serde_json::from_slice(&text).unwrap()
}

pub(super) fn amount(value: &Value) -> U256 {
    U256::from_str_radix(value.as_str().unwrap(), 10).unwrap()
}

pub(super) fn amounts(list: &Value) -> Vec<U256> {
    list.as_array().unwrap().iter().map(amount).collect()
}

/// A number that is spelled as one, or in a string.
pub(super) fn small(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| value.as_str().unwrap().parse().unwrap())
}

/// The state asked about a case's pair, and the direction of the sale.
pub(super) fn asked(state: &PoolState, case: &Value) -> (PoolState, Direction) {
    let [sold, bought] = ["i", "j"].map(|name| u8::try_from(small(&case[name])).unwrap());
    let pair = Pair::new(sold.min(bought), sold.max(bought)).unwrap();
    let direction = Direction::BOTH[usize::from(sold > bought)];
    (state.of_pair(pair).unwrap(), direction)
}

/// Holds every case of a file to what is computed. `state_of` makes a state of a pool's fields,
/// `None` where it is refused as a whole; `left` compares a state after a sale with the recorded.
pub(super) fn tally(
    packed: &[u8],
    state_of: impl Fn(&Value) -> Option<PoolState>,
    left: impl Fn(&PoolState, &Value) -> bool,
) -> Tally {
    let mut tally = Tally::default();
    for pool in unpacked(packed)["pools"].as_array().unwrap() {
        let state = state_of(pool);
        if let Some(state) = &state {
            let bytes = state.to_canonical().unwrap();
            assert_eq!(PoolState::from_canonical(&bytes).as_ref(), Ok(state));
        }
        for case in pool["cases"].as_array().unwrap() {
            let filled = state.as_ref().and_then(|state| filled(state, case));
            let paid = filled.map(|fill| fill.amount_out);
            let expected = case.get("out").map(amount);
            assert_eq!(paid, expected, "{} {case}", pool["id"]);
            tally.cases += 1;
            tally.refused += usize::from(expected.is_none());
        }
        if let Some(sale) = pool.get("after") {
            let (state, direction) = asked(state.as_ref().unwrap(), sale);
            let fill = state.fill_once(direction, amount(&sale["in"])).unwrap();
            assert_eq!(fill.amount_out, amount(&sale["out"]));
            assert!(left(&state.after(direction, &fill), &sale["state"]), "{}", pool["id"]);
            tally.after += 1;
        }
    }
    tally
}

/// The fill of a case, which a prepared curve must give, too.
fn filled(state: &PoolState, case: &Value) -> Option<Fill> {
    let (state, direction) = asked(state, case);
    let once = state.fill_once(direction, amount(&case["in"]));
    assert_eq!(state.curve(direction).fill(amount(&case["in"])), once, "{case}");
    match once {
        Err(FillError::ZeroInput) => panic!("no case offers nothing"),
        fill => fill.ok(),
    }
}
