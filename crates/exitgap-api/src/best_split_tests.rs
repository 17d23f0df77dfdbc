use exitgap_core::ids::{Address, BlockHash, Caip2, PoolId};
use exitgap_core::pools::{ConstantProduct, Direction, FeeRate};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{
    BlockRef, ChainKind, ChainTag, Observation, OracleReading, OracleRole, OracleSource, Symbol,
    Token,
};

use super::*;

/// A pair at this address on a chain, with token 0 worth `cents` cents.
fn snapshot(chain: &str, place: u8, reserve: u128, cents: u64, slot: u64) -> Snapshot {
    let slot = Slot::new(u64::from(Slot::FIRST.number()) + slot).unwrap();
    let token = |index: u8| Token {
        address: Address([index + 1; 20]),
        decimals: 6,
        symbol: Symbol::clean("T"),
    };
    let reading = |index: u8, answer: u64| OracleReading {
        role: OracleRole::TokenUsd(index),
        answer: U256::from(answer),
        decimals: 2,
        source: OracleSource::Fixed,
    };
    let fee = FeeRate { numerator: 3, denominator: 1_000 };
    let timestamp = slot.unix_s() - 4;
    let observation = Observation::new(
        PoolId::new(chain.parse().unwrap(), Address([place; 20])),
        ChainTag { caip2: Caip2(31_337), kind: ChainKind::Preview },
        BlockRef { hash: BlockHash([1; 32]), number: 1, timestamp },
        [token(0), token(1)],
        ConstantProduct::new([reserve, reserve], fee).unwrap().into(),
        vec![reading(0, cents), reading(1, 100)],
        Vec::new(),
    );
    Snapshot::new(slot, observation.unwrap()).unwrap()
}

fn best(snapshots: &[Snapshot], direction: Direction, size: &str) -> Result<BestSplit, Problem> {
    let exits: Vec<Exit> =
        snapshots.iter().map(|one| Exit::from_pool(one.observation(), direction)).collect();
    let candidates: Vec<SplitCandidate<'_>> = (snapshots.iter().zip(&exits))
        .map(|(snapshot, exit)| SplitCandidate {
            snapshot,
            hash: None,
            exit,
            fixed_cost: UsdMicros(0),
        })
        .collect();
    BestSplit::from_candidates(&candidates, size.parse().unwrap(), |at, size| {
        Some(format!("{at}/{size}"))
    })
}

const ZERO: Direction = Direction::ZeroForOne;

#[test]
fn the_order_of_the_venues_does_not_matter_and_evidence_is_of_each_leg() {
    let venues = [(1, 40_000_000_000), (2, 9_000_000_000), (3, 25_000_000_000)]
        .map(|(place, reserve)| snapshot("anvil", place, reserve, 100, 0));
    let split = best(&venues, ZERO, "1000").unwrap();
    assert_eq!(split.legs.len(), 3);
    assert_eq!(split.alone.iter().map(|one| &one.pool[40..]).collect::<Vec<_>>().len(), 3);
    let deepest = &split.alone[0];
    assert!(deepest.pool.ends_with("0101"), "{deepest:?}");
    assert_eq!(deepest.evidence_url.as_deref(), Some("0/1000"));
    let sum: f64 = split.legs.iter().map(|leg| leg.size_usd.as_str().parse::<f64>().unwrap()).sum();
    assert!((sum - 1_000.0).abs() < 1e-9);
    for leg in &split.legs {
        let at = leg.evidence_url.as_deref().unwrap().split_once('/').unwrap();
        assert_eq!(at.1, leg.size_usd.as_str());
        assert!(leg.pool.ends_with(&format!("0{}", at.0.parse::<u8>().unwrap() + 1)));
    }
    let mut turned = venues.to_vec();
    turned.reverse();
    let figures = |split: &BestSplit| {
        let mut split = split.clone();
        split.legs.iter_mut().for_each(|leg| leg.evidence_url = None);
        split.alone.iter_mut().for_each(|one| one.evidence_url = None);
        split
    };
    assert_eq!(figures(&best(&turned, ZERO, "1000").unwrap()), figures(&split));
    let read: BestSplit = serde_json::from_value(serde_json::to_value(&split).unwrap()).unwrap();
    assert_eq!(read, split);
}

#[test]
fn a_venue_of_another_oracle_is_left_out_and_most_decide_which() {
    let prices = [101, 100, 100];
    let venues: Vec<Snapshot> = (0_u8..3)
        .map(|at| snapshot("anvil", at + 1, 40_000_000_000, prices[usize::from(at)], 0))
        .collect();
    let split = best(&venues, ZERO, "1000").unwrap();
    assert_eq!(split.left_out.len(), 1);
    assert_eq!(split.left_out[0].code, "oracle_differs");
    assert!(split.left_out[0].pool.ends_with("01"));
    assert_eq!(split.legs.len(), 2);
}

#[test]
fn what_cannot_be_filled_names_the_largest_size() {
    // A pair accepts any amount, but pays nothing for an amount worth less than one unit.
    let small = [snapshot("anvil", 1, 3, 100, 0), snapshot("anvil", 2, 4, 100, 0)];
    let refused = best(&small, ZERO, "0.01").unwrap();
    assert_eq!(refused.legs.len(), 1);
    let none = [snapshot("anvil", 1, 1, 100, 0)];
    let refused = best(&none, ZERO, "0.01").unwrap_err();
    assert_eq!(refused.code, ProblemCode::RoundsToNoOutput, "{refused:?}");
}

#[test]
fn what_is_no_single_exit_is_refused() {
    let one = snapshot("anvil", 1, 1_000_000, 100, 0);
    for (other, said) in [
        (snapshot("anvil", 1, 1_000_000, 100, 0), "is given twice"),
        (snapshot("anvil", 2, 1_000_000, 100, 1), "is at another slot"),
        (snapshot("bvil", 2, 1_000_000, 100, 0), "sells a different token"),
    ] {
        let refused = best(&[one.clone(), other], ZERO, "1").unwrap_err();
        assert_eq!(refused.field.as_deref(), Some("snapshots"));
        assert!(refused.detail.contains(said), "{refused:?}");
    }
    assert!(best(&[], ZERO, "1").unwrap_err().detail.contains("no venue"));
}
