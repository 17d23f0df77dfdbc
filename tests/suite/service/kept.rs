//! The service's caches, its report about its own state, and its answers when it has no data.

use std::fs;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::Duration;

use exitgap_core::U256;
use exitgap_core::exit::Exits;
use exitgap_core::ids::{Address, BlockHash, PoolId};
use exitgap_core::pools::{Concentrated, Direction, PoolState, Tick, tick_at_sqrt_ratio};
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::{
    BlockRef, ChainKind, ChainTag, Observation, OracleReading, OracleRole, OracleSource, Snapshot,
    Symbol, Token,
};
use exitgap_server::http::Limits;
use exitgap_server::ops::Bounds;
use exitgap_store::{Changes, NewEntry, Reader, Store};
use exitgap_tests::faults::scene::slot;
use serde_json::Value;

use crate::scenes::here::{Here, With, stored};
use crate::scenes::service::rest_of;
use crate::scenes::store::{BusyPool, key};

/// The resident memory of this process in bytes.
fn rss_bytes() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<usize>().unwrap() * 1_024
}

#[test]
fn a_curve_weighs_what_it_holds() {
    // Other tests in the same process would affect the measurement.
    if !alone("service::kept::a_curve_weighs_what_it_holds") {
        return;
    }
    let mut pool = BusyPool::full_range(1);
    let snapshots: Vec<_> = (0..60).map(|n| pool.snapshot(slot(n))).collect();
    let before = rss_bytes();
    let mut weight = 0;
    let kept: Vec<Exits> = snapshots
        .iter()
        .map(|snapshot| {
            let exits = Exits::default();
            let stops: usize = Direction::BOTH
                .into_iter()
                .map(|side| {
                    exits.get_or_prepare(snapshot.observation(), side).curve().segment_count()
                })
                .sum();
            assert!((6_900..6_960).contains(&stops), "{stops}");
            // Each stop has at least two sums, two prices, two amounts, a fee, and the liquidity.
            assert!(exits.held_bytes() > stops * 7 * 32);
            weight += exits.held_bytes();
            exits
        })
        .collect();
    let held = rss_bytes() - before;
    // The memory of the process confirms it, within 1/20 plus the allocator's own overhead.
    assert!(held.abs_diff(weight) < weight / 20 + (4 << 20), "{held} held, {weight} weighed");
    drop(kept);
}

/// Whether this process runs only the test with this name. If not, it starts a process that does, which must succeed.
fn alone(test: &str) -> bool {
    const VARIABLE: &str = "EXITGAP_TEST_ALONE";
    if std::env::var_os(VARIABLE).is_some() {
        return true;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.args(["--exact", test]).env(VARIABLE, "1").output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
    false
}

/// A pool whose curves are cached; the curve of the last pool is too long for the cache.
fn kept_pool(number: u8, n: u32) -> BusyPool {
    let pool =
        if number == LONG { BusyPool::full_range(number) } else { BusyPool::new(number, 200) };
    pool.at(slot(n))
}

const LONG: u8 = 5;

#[test]
fn what_is_kept_stays_within_its_bytes_and_earlier_slots_are_not_kept() {
    let entries = |n| {
        (0..=LONG).map(|number| kept_pool(number, n).recorded(slot(n))).collect::<Vec<NewEntry>>()
    };
    let folder = stored(&[entries(0), entries(1), entries(2)]);
    let ask = |cache_bytes| {
        let bounds = Bounds { cache_bytes, ..Bounds::default() };
        let here = Here::start(folder.path(), With { bounds, ..With::default() });
        here.refresh();
        here
    };
    let exit = |here: &Here, number, n: u32, base: &str| {
        let id = kept_pool(number, 0).id;
        let at = if n == 2 { String::new() } else { format!("&at={}", slot(n)) };
        let answer = here.get(&format!("/v1/exit/{id}?size_usd=0.02&base={base}{at}")).found();
        // The answer equals that of a newly prepared curve.
        let snapshot = kept_pool(number, n).snapshot(slot(n));
        let direction = snapshot.observation().direction_of(base).unwrap();
        let exits = Exits::default();
        let exit = exits.get_or_prepare(snapshot.observation(), direction);
        let estimate = exit.estimate("0.02".parse().unwrap()).unwrap();
        let expected: f64 = estimate.gap.to_string().parse().unwrap();
        assert_eq!(answer["exit_gap_pct"].as_f64(), Some(expected));
        exit.curve().segment_count()
    };
    let roomy = ask(1 << 30);
    let kept = || usize::try_from(roomy.app.service.kept_bytes()).unwrap();
    assert_eq!(kept(), 0);
    for number in 0..LONG {
        for base in ["token0", "token1"] {
            let before = kept();
            let stops = exit(&roomy, number, 2, base);
            // Each stop has at least two sums, two prices, two amounts, and a fee.
            assert!(kept() - before > stops * 7 * 32, "{base}: {stops} stops, {}", kept() - before);
        }
    }
    let before = kept();
    for base in ["token0", "token1"] {
        assert!(exit(&roomy, LONG, 2, base) > 3_400);
    }
    assert!(kept() - before < 64 << 10, "{} of a long curve", kept() - before);

    // Answers about earlier slots are not cached, neither exits nor ladders.
    let before = kept();
    for number in 0..=LONG {
        for n in 0..2 {
            for base in ["token0", "token1"] {
                exit(&roomy, number, n, base);
            }
        }
        let ladder = format!("/v1/ladder/{}?at={}", kept_pool(number, 0).id, slot(1));
        roomy.get(&ladder).found();
    }
    assert_eq!(kept(), before);
    let metrics = String::from_utf8(roomy.get("/metrics").body).unwrap();
    assert!(metrics.contains(&format!("exitgap_kept_bytes {before}")), "{metrics}");

    // With a smaller cache, the answers are the same.
    let most = 512 << 10;
    assert!(before > most);
    let bounded = ask(most as u64);
    for number in 0..=LONG {
        for base in ["token0", "token1"] {
            exit(&bounded, number, 2, base);
        }
        assert!(bounded.app.service.kept_bytes() <= most as u64);
    }
}

#[test]
fn ready_is_up_to_three_slots_and_no_longer() {
    let folder = stored(&[vec![BusyPool::new(1, 4).recorded(slot(0))]]);
    let here = Here::start(folder.path(), With::default());
    let ready = |age_s| {
        here.now.store(slot(0).unix_s() + age_s, Ordering::SeqCst);
        let answer = here.get("/readyz");
        let document = answer.json();
        assert_eq!(document["ready"], answer.status == 200, "{document}");
        (answer.status, document["chains"][0]["age_s"].clone())
    };
    // Before the service has read the store, it knows no data.
    assert_eq!(ready(0), (503, Value::Null));
    here.refresh();
    assert_eq!(ready(0), (200, 0.into()));
    assert_eq!(ready(900), (200, 900.into()));
    assert_eq!(ready(901), (503, 901.into()));
    assert_eq!(ready(900), (200, 900.into()));
}

#[test]
fn a_chain_whose_pools_retired_is_ready_again() {
    let of_other = |n: u32| {
        let mut pool = BusyPool::new(2, 4).at(slot(n));
        pool.id = "other:0x00000000000000000000000000000000000000bb".parse().unwrap();
        pool
    };
    let entries = |n: u32| {
        vec![BusyPool::new(1, 4).at(slot(n)).recorded(slot(n)), of_other(n).recorded(slot(n))]
    };
    let folder = stored(&[entries(0)]);
    let here = Here::start(folder.path(), With::default());
    // From here on, the other chain fails.
    let mut store = Store::open(folder.path().join("series.db"), &key()).unwrap();
    for n in 1..6 {
        let [one, _] = &entries(n)[..] else { unreachable!() };
        let other = of_other(n).missing(MissingReason::RpcUnavailable);
        store.append_slot(slot(n), &[one.clone(), other]).unwrap();
    }
    here.refresh();
    let ready = |n: u32| {
        here.now.store(slot(n).unix_s() + 20, Ordering::SeqCst);
        here.get("/readyz")
    };
    let stale = ready(5);
    assert_eq!(stale.status, 503);
    assert_eq!(stale.json()["chains"][1]["ready"], false);
    let metrics = || String::from_utf8(here.get("/metrics").body).unwrap();
    assert!(metrics().contains("chain=\"other\""));

    let retire = |pool| Changes { retirements: vec![pool], ..Changes::default() };
    let [one, _] = &entries(6)[..] else { unreachable!() };
    store.append_slot_with(slot(6), std::slice::from_ref(one), &retire(of_other(6).id)).unwrap();
    here.refresh();
    let again = ready(6);
    assert_eq!((again.status, again.json()["chains"].as_array().unwrap().len()), (200, 1));
    assert!(!metrics().contains("chain=\"other\""));
    // The service still answers from the chain's recorded slots and lists the chain as known.
    assert_eq!(here.get("/v1/pools?chain=other").found()["pools"].as_array().unwrap().len(), 1);
}

/// A pool for which the search for the largest size at a gap of 0.5% fails: the gap of an infinitely small sale is only
/// a few parts in 10^12 smaller, so that millions of consecutive sizes fail by a fraction of a unit, and the oracle
/// prices have too many digits to narrow down the candidates.
fn unsearchable() -> NewEntry {
    let sqrt_price_x96 = U256::from(792_281_625_142_643_375_935_439_503_u128);
    let (tick, liquidity) = (tick_at_sqrt_ratio(sqrt_price_x96), 3 * 10_u128.pow(28));
    let ticks = [(-116_100, liquidity.cast_signed()), (-68_100, -liquidity.cast_signed())]
        .map(|(tick, liquidity_net)| Tick::new(tick, liquidity_net));
    let state = Concentrated::new(sqrt_price_x96, tick, liquidity, 3_000, 60, ticks.into());
    let reading = |role, answer: u128| OracleReading {
        role,
        answer: U256::from(answer),
        decimals: 36,
        source: OracleSource::Fixed,
    };
    let oracles = [
        reading(OracleRole::TokenUsd(0), 936_882_708_389_247_151_130_000_000_000_000_001),
        reading(OracleRole::TokenUsd(0), 965_845_388_369_116_903_370_000_000_000_000_001),
        reading(OracleRole::TokenUsd(1), 968_613_619_944_364_971_570_000_000_000_000_001),
        reading(OracleRole::TokenUsd(1), 932_331_129_174_556_284_484_558_252_267_159_037),
    ];
    let token = |last, decimals| Token {
        address: Address([last; 20]),
        decimals,
        symbol: Symbol::clean("T"),
    };
    let pool: PoolId = "anvil:0x00000000000000000000000000000000000000cc".parse().unwrap();
    let observation = Observation::new(
        pool.clone(),
        ChainTag { caip2: "eip155:31337".parse().unwrap(), kind: ChainKind::Preview },
        BlockRef { hash: BlockHash([7; 32]), number: 1, timestamp: slot(0).unix_s() - 3 },
        [token(1, 11), token(2, 7)],
        PoolState::Concentrated(state.unwrap()),
        oracles.into(),
        Vec::new(),
    );
    let reading = Ok(Snapshot::new(slot(0), observation.unwrap()).unwrap());
    NewEntry { pool, default_base: Direction::ZeroForOne, reading }
}

#[test]
fn a_search_that_is_given_up_is_said_and_never_a_number() {
    let entry = unsearchable();
    let pool = entry.pool.clone();
    let target = format!("/v1/ladder/{pool}");
    let other = BusyPool::new(1, 4).recorded(slot(0));
    let of_other = format!("/v1/ladder/{}?at={}", other.pool, slot(0));
    let folder = stored(&[vec![entry, other]]);
    let limits = Limits { answer_within: Duration::from_mins(4), ..Limits::default() };
    let bounds = Bounds { readers: 1, ..Bounds::default() };
    let here = Here::start(folder.path(), With { bounds, limits, ..With::default() });
    here.refresh();
    let ladder = rest_of(here.asked(&target)).found();
    let rungs = ladder["by_gap"].as_array().unwrap();
    for rung in rungs {
        if rung["gap_limit_pct"] == 0.5 {
            assert_eq!(rung["problem"]["code"], "search_exhausted", "{rung}");
            assert!(rung["problem"]["hint"].as_str().is_some());
            assert!(rung["exit"].is_null() && rung["max_size_usd"].is_null(), "{rung}");
        } else {
            assert!(rung["problem"].is_null(), "{rung}");
        }
    }
    assert!(rungs.iter().any(|rung| rung["exit"].is_object()));
    // The question for this gap alone is rejected with the name of its parameter.
    let size = |gap: &str| here.get(&format!("/v1/size/{pool}?gap_pct={gap}"));
    let expected = (422, "search_exhausted".to_owned(), Some("gap_pct".to_owned()));
    // Other requests are answered meanwhile, although this service has only few threads.
    let searching = here.asked(&format!("/v1/size/{pool}?gap_pct=0.5"));
    for _ in 0..5 {
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(here.get(&of_other).status, 200);
    }
    searching.set_nonblocking(true).unwrap();
    let unanswered = searching.peek(&mut [0]).unwrap_err();
    assert_eq!(unanswered.kind(), std::io::ErrorKind::WouldBlock);
    searching.set_nonblocking(false).unwrap();
    assert_eq!(rest_of(searching).problem(), expected);
    assert_eq!(size("0.5").problem(), expected);
    assert_eq!(size("0.25").found()["gap_limit_pct"], 0.25);
}

#[test]
fn a_service_without_a_store_or_with_a_broken_one_says_which() {
    let pool = BusyPool::new(1, 4).id;
    let questions = [
        format!("/v1/exit/{pool}?size_usd=1"),
        format!("/v1/ladder/{pool}"),
        format!("/v1/history/{pool}?size_usd=1000"),
        format!("/v1/portfolio?position={pool}:1"),
        format!("/api/v1/exit/{pool}?size_usd=1"),
        format!("/api/v1/window/{pool}?slot={}", slot(0).number()),
    ];
    let folder = tempfile::TempDir::new().unwrap();
    let here = Here::start(folder.path(), With::default());
    for question in &questions {
        let answer = here.get(question);
        assert_eq!(answer.problem().1, "no_snapshot_yet", "{question}");
        assert_eq!((answer.status, answer.header("retry-after")), (503, Some("300")));
    }
    // A pool that was never read has no snapshot either, but its series has begun.
    let unread = BusyPool::new(1, 4).missing(MissingReason::RpcUnavailable);
    let folder = stored(&[vec![unread, BusyPool::new(2, 4).recorded(slot(0))]]);
    let here = Here::start(folder.path(), With::default());
    here.refresh();
    assert_eq!(here.get(&questions[0]).problem().1, "no_snapshot_yet");

    // Data that exists but cannot be read is not reported as missing.
    let store = folder.path().join("series.db");
    let mut bytes = fs::read(&store).unwrap();
    bytes[..16].fill(b'x');
    fs::write(&store, bytes).unwrap();
    assert!(Reader::open(&store).is_err());
    let here = Here::start(folder.path(), With::default());
    for question in &questions {
        assert_eq!(here.get(question).problem(), (500, "source_unreadable".into(), None));
    }
    let checkpoint = folder.path().join("log/checkpoint");
    fs::remove_file(&checkpoint).unwrap();
    assert_eq!(here.get("/log/checkpoint").problem().1, "not_found");
    fs::create_dir(&checkpoint).unwrap();
    assert_eq!(here.get("/log/checkpoint").problem(), (500, "source_unreadable".into(), None));
}
