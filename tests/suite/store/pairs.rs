//! The series of one contract with three tokens: all of them share one snapshot and one body.

use std::path::Path;

use exitgap_core::U256;
use exitgap_core::evidence::{Base, Policy, Verdict, verify};
use exitgap_core::ids::{Address, BlockHash, PoolId};
use exitgap_core::pools::{DRule, Direction, StableSwap, StableSwapParts};
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::{
    BlockRef, ChainKind, ChainTag, Observation, OracleReading, OracleRole, OracleSource, Snapshot,
    Symbol, Token,
};
use exitgap_store::{LogFolder, NewEntry, Reader, Store, StoreError};
use tempfile::TempDir;

use crate::scenes::store::{BusyPool, key, slot, store_in};
use crate::store::folder::{audit, files};

const CONTRACT: &str = "anvil:0x000000000000000000000000000000000000aa99";

fn name(pair: &str) -> PoolId {
    format!("{CONTRACT}{pair}").parse().unwrap()
}

/// The contract at slot `n`: its balances change in every slot.
fn snapshot(pair: &str, n: u32) -> Snapshot {
    let whole = |decimals: u32| U256::from(10_u128.pow(6 + decimals));
    let parts = StableSwapParts {
        balances: vec![whole(18), whole(6) + U256::from(7_919 * n), whole(6)],
        rates: [18, 30, 30].map(|power| U256::from(10_u128.pow(power))).to_vec(),
        amp: 2_000,
        a_precision: 1,
        d_rule: DRule::EachN,
        less_one: true,
        fee: 3_000_000,
        admin_fee: 0,
        ng: None,
    };
    let token = |last, decimals| Token {
        address: Address([last; 20]),
        decimals,
        symbol: Symbol::clean("USD"),
    };
    let reading = |token| OracleReading {
        role: OracleRole::TokenUsd(token),
        answer: U256::ONE,
        decimals: 0,
        source: OracleSource::Fixed,
    };
    let timestamp = slot(n).unix_s() - 3;
    let observation = Observation::new(
        name(pair),
        ChainTag { caip2: "eip155:31337".parse().unwrap(), kind: ChainKind::Preview },
        BlockRef { hash: BlockHash([7; 32]), number: n.into(), timestamp },
        [token(9, 18), token(5, 6), token(7, 6)],
        StableSwap::new(parts).unwrap().into(),
        [0, 1, 2].map(reading).to_vec(),
        Vec::new(),
    );
    Snapshot::new(slot(n), observation.unwrap()).unwrap()
}

fn recorded(pair: &str, n: u32) -> NewEntry {
    let reading = Ok(snapshot(pair, n));
    NewEntry { pool: name(pair), default_base: Direction::ZeroForOne, reading }
}

fn missing(pair: &str) -> NewEntry {
    NewEntry { reading: Err(MissingReason::OracleInvalid), ..recorded(pair, 0) }
}

/// The entries, including another pool's. The second series begins in slot 4, the third in slot 9 and is listed before
/// both, and in slots 5 to 7 the first is missing.
fn entries(n: u32, beside: &mut BusyPool) -> Vec<NewEntry> {
    let first = if (5..8).contains(&n) { missing(".0-2") } else { recorded(".0-2", n) };
    let mut entries = vec![first, beside.recorded(slot(n))];
    if n >= 4 {
        entries.push(recorded(".1-2", n));
    }
    if n >= 9 {
        entries.push(recorded(".0-1", n));
    }
    entries
}

const SLOTS: u32 = 60;

/// A store of all slots, reopened at every slot for which `reopens` returns true.
fn store_at(path: &Path, reopens: impl Fn(u32) -> bool) -> Store {
    let mut beside = BusyPool::new(1, 3);
    let mut store = Store::create(path, &key()).unwrap();
    for n in 0..SLOTS {
        if reopens(n) {
            drop(store);
            store = Store::open(path, &key()).unwrap();
        }
        store.append_slot(slot(n), &entries(n, &mut beside)).unwrap();
    }
    store
}

#[test]
fn the_series_of_a_contract_share_their_bodies_in_the_store_and_in_the_folder() {
    let home = TempDir::new().unwrap();
    let path = store_in(home.path(), "series.db");
    drop(store_at(&path, |_| false));
    let reader = Reader::open(&path).unwrap();
    let checked = reader.fsck_derived(|_| {}).unwrap();
    // The first series is missing in three slots, in which the second is recorded.
    let of_pools = u64::from(SLOTS - 3) + u64::from(SLOTS - 4) + u64::from(SLOTS - 9);
    let expected = (of_pools + u64::from(SLOTS), 2 * u64::from(SLOTS));
    assert_eq!((checked.snapshots, checked.bodies), expected);
    assert_eq!(reader.totals().unwrap().snapshots, 2 * u64::from(SLOTS));

    let folder = home.path().join("log");
    LogFolder::new(&folder).publish(&reader).unwrap();
    let report = audit(&folder, &path);
    assert_eq!(report["verdict"], "valid", "{report}");
    assert_eq!(report["snapshots"], checked.snapshots);

    // After a restart at any slot, the same files are written and read.
    let again = store_in(home.path(), "again.db");
    drop(store_at(&again, |n| n % 7 == 3 || (4..12).contains(&n)));
    let other = home.path().join("other");
    LogFolder::new(&other).publish(&Reader::open(&again).unwrap()).unwrap();
    assert!(files(&other).into_values().eq(files(&folder).into_values()), "the same files");
    let mut restored = Store::create(store_in(home.path(), "restored.db"), &key()).unwrap();
    let slots = LogFolder::new(&folder).restore(&mut restored, |_, _| {}).unwrap();
    assert_eq!(slots, u64::from(SLOTS));
    drop(restored);
    let restored = Reader::open(store_in(home.path(), "restored.db")).unwrap();
    assert_eq!(restored.fsck(|_| {}).unwrap(), reader.fsck(|_| {}).unwrap());
}

#[test]
fn each_series_answers_for_its_own_pair() {
    let home = TempDir::new().unwrap();
    let path = store_in(home.path(), "series.db");
    drop(store_at(&path, |_| false));
    let reader = Reader::open(&path).unwrap();
    let keys = reader.log().unwrap().unwrap().keys;
    let policy = Policy::with_keys(keys);
    for pair in [".0-1", ".0-2", ".1-2"] {
        let pool = reader.pool(&name(pair)).unwrap().unwrap();
        let read = reader.snapshot_at(&pool, slot(SLOTS - 1)).unwrap();
        assert_eq!(read, Some(snapshot(pair, SLOTS - 1)), "{pair}");
        let size = "1000".parse().unwrap();
        let evidence = reader.evidence(&pool.id, Base::Token0, slot(SLOTS - 1), size).unwrap();
        let report = verify(&evidence, &policy);
        assert_eq!(report.verdict, Verdict::Valid, "{pair}: {report:?}");
        // The same snapshot is false for another pair of the same contract.
        let other = if pair == ".0-1" { ".1-2" } else { ".0-1" };
        let text = String::from_utf8(evidence).unwrap();
        let [ours, theirs] = [pair, other].map(|pair| format!("\"pool\":\"{CONTRACT}{pair}\""));
        let forged = text.replace(&ours, &theirs);
        assert_ne!(forged, text);
        assert_eq!(verify(forged.as_bytes(), &policy).verdict, Verdict::Invalid, "{pair}");
    }
}

#[test]
fn a_contract_has_one_snapshot_in_a_slot() {
    let home = TempDir::new().unwrap();
    let mut store = Store::create(store_in(home.path(), "series.db"), &key()).unwrap();
    let mut other = recorded(".0-1", 1);
    let observation = snapshot(".0-1", 0).observation().clone();
    other.reading = Ok(Snapshot::new(slot(1), observation).unwrap());
    let refused = store.append_slot(slot(1), &[recorded(".0-2", 1), other]).unwrap_err();
    assert!(matches!(refused, StoreError::SnapshotsDiffer { .. }), "{refused}");
    assert!(refused.to_string().contains(CONTRACT), "{refused}");
    assert_eq!(store.reader().slots().unwrap(), None, "nothing was written");
}
