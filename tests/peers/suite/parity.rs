//! Core against the real contracts, on fewer pools than `cargo xtask parity` tries.

use std::time::{SystemTime, UNIX_EPOCH};

use exitgap_peers::balancer::Kind;
use exitgap_peers::{Mismatch, balancer, max_size, record, solidly, v2, v3};
use exitgap_tests::devchain::Rng;
use exitgap_tests::parity::recorded;

/// Pools and sizes that stay the same from run to run.
const FIXED_SEED: u64 = 20_260_822;

/// A seed nobody chose. A failure prints it, and `cargo xtask parity` finds more with it.
fn random_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is past 1970");
    now.as_secs()
}

fn none(seed: u64, mismatches: &[Mismatch]) {
    for Mismatch { reason, vector } in mismatches {
        eprintln!("{reason}\n{}", vector.to_json());
    }
    assert!(mismatches.is_empty(), "{} mismatches with seed {seed}", mismatches.len());
}

#[test]
fn v3_sales_equal_the_contracts() {
    let bed = v3::Bed::deploy().unwrap();
    for seed in [FIXED_SEED, random_seed()] {
        let tally = v3::run(&bed, &mut Rng::new(seed), 300, &mut |_| ()).unwrap();
        assert_eq!(tally.cases, 300);
        none(seed, &tally.mismatches);
    }
}

#[test]
fn v2_sales_equal_the_contracts() {
    let bed = v2::Bed::deploy().unwrap();
    for seed in [FIXED_SEED, random_seed()] {
        let tally = v2::run(&bed, &mut Rng::new(seed), 600, &mut |_| ()).unwrap();
        assert_eq!(tally.cases, 600);
        none(seed, &tally.mismatches);
    }
}

#[test]
fn solidly_sales_equal_the_contracts() {
    let bed = solidly::Bed::deploy().unwrap();
    for seed in [FIXED_SEED, random_seed()] {
        let tally = solidly::run(&bed, &mut Rng::new(seed), 1_200, &mut |_| ()).unwrap();
        assert_eq!(tally.cases, 1_200);
        none(seed, &tally.mismatches);
    }
}

#[test]
fn balancers_weighted_sales_equal_the_contracts() {
    balancers(Kind::Weighted);
}

#[test]
fn balancers_stable_sales_equal_the_contracts() {
    balancers(Kind::Stable);
}

fn balancers(kind: Kind) {
    let bed = balancer::Bed::deploy().unwrap();
    for seed in [FIXED_SEED, random_seed()] {
        let tally = balancer::run(&bed, kind, &mut Rng::new(seed), 400, &mut |_| ()).unwrap();
        assert_eq!(tally.cases, 400);
        none(seed, &tally.mismatches);
    }
}

#[test]
fn the_largest_size_is_the_contracts() {
    let (v3_bed, v2_bed) = (v3::Bed::deploy().unwrap(), v2::Bed::deploy().unwrap());
    for seed in [FIXED_SEED, random_seed()] {
        let beds = (&v3_bed, &v2_bed);
        let tally = max_size::run(beds, &mut Rng::new(seed), 100, &mut |_| ()).unwrap();
        // The fixed seed shows that the comparison compares something.
        if seed == FIXED_SEED {
            assert!(tally.exhaustive > 10, "{tally:?}");
        }
        none(seed, &tally.mismatches);
    }
}

#[test]
fn kept_vectors_are_what_the_contracts_say_today() {
    let mut today = record::record().unwrap();
    today.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(today, recorded::read_all().unwrap());
}
