//! The identity of a node's chain, the purpose of a second node, and how long the reader tolerates an outage.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use alloy::primitives::U256;
use exitgap_chain::config::{Config, LogsCheck, Plan};
use exitgap_chain::{Event, Limits, LogsChecked};
use exitgap_core::ids::Address;
use exitgap_core::pools::PoolState;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::OracleRole;
use exitgap_server::recorder::{Recorder, RecorderError, Source};
use exitgap_store::{Outcome, Reader, Store};
use exitgap_tests::demo::recorder_config;
use exitgap_tests::devchain::{
    DevChain, FIRST_SLOT, Market, Options, PositionSpec, SLOT_SECONDS, World,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scenes::chain::{deadline, read, reader, scene, small_limits, snapshots, world_config};
use crate::scenes::proxy::{Lie, Proxy};
use crate::scenes::service::Service;
use crate::scenes::store::key;

const SEAL_AFTER: Duration = Duration::from_mins(1);
const OTHER_HASH: &str = "0x1111111111111111111111111111111111111111111111111111111111111111";

fn at(n: u64) -> Slot {
    Slot::new(FIRST_SLOT + n).unwrap()
}

fn recorder(config: &Config, store: Store) -> Recorder<exitgap_chain::ChainReader> {
    let sources = Source::of_plan(&Plan::new(config).unwrap(), &small_limits());
    Recorder::new(store, sources, SEAL_AFTER)
}

/// Mines one block just before the slot's instant and one just after it.
async fn mine_slot(chain: &DevChain, slot: u64) {
    chain.mine(slot * SLOT_SECONDS - 5, &[]).await.unwrap();
    chain.mine(slot * SLOT_SECONDS + 5, &[]).await.unwrap();
}

#[tokio::test]
async fn a_chain_that_takes_the_place_of_another_is_not_recorded() {
    let (chain, world) = scene().await;
    // The same scene with the same genesis and chain id, but with other trades.
    let (other, other_world) = scene().await;
    let mut market = Market::new(&chain, &world, 3).await.unwrap();
    let mut other_market = Market::new(&other, &other_world, 4).await.unwrap();
    let proxy = Proxy::start(&chain.url());
    let mut config = world_config(&chain, &world, &[proxy.url()], [1, 6]).await;
    config.chain[0].confirmations = Some(4);
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("series.db");
    let mut running = recorder(&config, Store::create(&path, &key()).unwrap());
    let unlinked = [(MissingReason::ChainUnlinked, 2)].into();
    for n in 0..8 {
        market.play_slot(FIRST_SLOT + n).await.unwrap();
        other_market.play_slot(FIRST_SLOT + n).await.unwrap();
        let swapped = (3..6).contains(&n);
        proxy.point_to(&if swapped { other.url() } else { chain.url() });
        if n == 5 {
            // After a restart, the recorder still knows the blocks of the series.
            drop(running);
            running = recorder(&config, Store::open(&path, &key()).unwrap());
        }
        let report = running.record_slot(at(n)).await.unwrap();
        assert_eq!(report.retracted, 0, "{report:?}");
        if swapped {
            assert_eq!(report.missing, unlinked, "{n}");
            // Control: a reader that does not know the series accepts the other chain.
            let fresh = read(&mut reader(&config, small_limits()), FIRST_SLOT + n).await;
            assert_eq!(snapshots(fresh).len(), 2);
        } else {
            assert_eq!(report.recorded, 2, "{n}: {report:?}");
        }
    }
    assert!(Reader::open(&path).unwrap().suspicions().unwrap().is_empty());
}

#[tokio::test]
async fn another_chains_id_in_the_very_call_that_reads_is_noticed() {
    let (chain, world) = scene().await;
    Market::new(&chain, &world, 3).await.unwrap().play_slot(FIRST_SLOT).await.unwrap();
    let proxy = Proxy::start(&chain.url());
    let word = |number: u64| format!("{number:064x}");
    proxy.lie(move |request, told| {
        let text = told["result"].as_str()?;
        (request["method"] == "eth_call" && text.contains(&word(31_337)))
            .then(|| Lie::Result(text.replace(&word(31_337), &word(8_453)).into()))
    });
    let config = world_config(&chain, &world, &[proxy.url()], [6]).await;
    let reading = read(&mut reader(&config, small_limits()), FIRST_SLOT).await;
    let missing = reading.pools[0].1.as_ref().unwrap_err();
    assert_eq!(missing.reason, MissingReason::WrongChain, "{missing}");
    assert!(missing.detail.contains("chain id 8453") && proxy.fired() > 0, "{missing}");
}

#[tokio::test]
async fn nodes_that_disagree_on_genesis_stop_the_start_and_a_bad_first_one_does_not() {
    let (chain, world) = scene().await;
    Market::new(&chain, &world, 3).await.unwrap().play_slot(FIRST_SLOT).await.unwrap();
    let other = Options { genesis_timestamp: 1_000_000_000, ..Options::default() };
    let other = DevChain::start(other).await.unwrap();
    let proxy = Proxy::start(&other.url());
    let mut config = world_config(&chain, &world, &[proxy.url(), chain.url()], [6]).await;
    let genesis = chain.block(0.into()).await.unwrap().unwrap().hash;
    config.chain[0].genesis_hash = Some(exitgap_core::ids::BlockHash(genesis.0));
    let folder = TempDir::new().unwrap();
    let store = |name: &str| Store::create(folder.path().join(name), &key()).unwrap();
    // If the genesis hash is configured, the other node is skipped.
    let mut known = recorder(&config, store("known.db"));
    known.check_nodes().await.unwrap();
    assert_eq!(known.record_slot(at(0)).await.unwrap().recorded, 1);

    config.chain[0].genesis_hash = None;
    let refused = recorder(&config, store("unknown.db")).check_nodes().await.unwrap_err();
    let words = refused.to_string();
    assert!(matches!(refused, RecorderError::NodesDisagree(_)), "{words}");
    assert!(words.contains(&proxy.url()) && words.contains("genesis_hash"), "{words}");
    // The recorder does not start its loop.
    let (_sender, stop) = tokio::sync::watch::channel(exitgap_server::recorder::Stop::No);
    let clock = exitgap_server::recorder::ManualClock::new(Duration::from_secs(at(0).unix_s()));
    let mut stopped = recorder(&config, store("stopped.db"));
    let ended = stopped.run(&clock, stop, Some(at(0))).await;
    assert!(matches!(ended, Err(RecorderError::NodesDisagree(_))));
    assert_eq!(stopped.last_slot().unwrap(), None);
    // A first node that is down or has another chain id does not determine the genesis.
    for lie in [|| Lie::Status(503), || Lie::Result(json!("0x1"))] {
        proxy.lie(move |_, _| Some(lie()));
        let mut failing_over = recorder(&config, store(&format!("{}.db", proxy.served())));
        failing_over.check_nodes().await.unwrap();
        assert_eq!(failing_over.record_slot(at(0)).await.unwrap().recorded, 1);
        assert!(proxy.fired() > 0);
    }
}

/// Adds a position far from the price, so that hiding it does not change the active liquidity.
async fn mint_far(chain: &DevChain, world: &World, state: &PoolState) -> i32 {
    let PoolState::Concentrated(state) = state else { panic!("v3") };
    let far = (state.tick() / 60 + 2_000) * 60;
    let amount = U256::from(10).pow(U256::from(12));
    let position =
        PositionSpec { tick_lower: far, tick_upper: far + 60, amount0: amount, amount1: amount };
    chain.mint_positions(&[(world.pools[1].pool, position)]).await.unwrap();
    far
}

fn hide_logs(request: &Value, _: &Value) -> Option<Lie> {
    (request["method"] == "eth_getLogs").then(|| Lie::Result(json!([])))
}

#[tokio::test]
async fn logs_that_a_second_node_does_not_confirm_leave_the_pool_missing() {
    let (chain, world) = scene().await;
    let (proxy, second) = (Proxy::start(&chain.url()), Proxy::start(&chain.url()));
    let mut config = world_config(&chain, &world, &[proxy.url()], [1, 2]).await;
    config.chain[0].second_rpc_url = Some(second.url().parse().unwrap());
    let limits = Limits { full_read_slots: 288, full_read_slots_most: 289, ..small_limits() };
    let mut compared = reader(&config, limits);
    mine_slot(&chain, FIRST_SLOT).await;
    let before = snapshots(read(&mut compared, FIRST_SLOT).await);
    let far = mint_far(&chain, &world, before[0].observation().state()).await;
    for (slot, liar) in [(FIRST_SLOT + 1, &proxy), (FIRST_SLOT + 2, &second)] {
        liar.lie(hide_logs);
        mine_slot(&chain, slot).await;
        let served = second.served();
        let reading = read(&mut compared, slot).await;
        let missing = reading.pools[0].1.as_ref().unwrap_err();
        assert_eq!(missing.reason, MissingReason::NodesDisagree, "{missing}");
        assert!(missing.detail.contains(&far.to_string()), "{missing}");
        assert!(reading.pools[1].1.is_ok(), "what both tell alike is read");
        assert_eq!(second.served() - served, 4, "what the example of a configuration says");
        assert!(liar.fired() > 0);
        liar.be_honest();
    }
    // An unreachable second node causes a warning.
    second.lie(|_, _| Some(Lie::Status(503)));
    mine_slot(&chain, FIRST_SLOT + 3).await;
    let reading = read(&mut compared, FIRST_SLOT + 3).await;
    let warned = |what| {
        let same =
            |event: &&Event| matches!(event, Event::NotCompared { what: of, .. } if *of == what);
        reading.events.iter().filter(same).count()
    };
    assert_eq!((warned("headers"), warned("logs")), (1, 1), "{:?}", reading.events);
    let honest = world_config(&chain, &world, &[chain.url()], [1, 2]).await;
    let truth = snapshots(read(&mut reader(&honest, small_limits()), FIRST_SLOT + 3).await);
    assert_eq!(snapshots(reading), truth);
}

#[tokio::test]
async fn a_header_that_a_second_node_does_not_have_leaves_the_slot_missing() {
    let (chain, world) = scene().await;
    Market::new(&chain, &world, 3).await.unwrap().play_slot(FIRST_SLOT).await.unwrap();
    let second = Proxy::start(&chain.url());
    let mut config = world_config(&chain, &world, &[chain.url()], [6]).await;
    config.chain[0].second_rpc_url = Some(second.url().parse().unwrap());
    second.lie(|request, truth| {
        let block = request["method"] == "eth_getBlockByNumber" && request["params"][0] != "0x0";
        block.then(|| {
            let mut block = truth["result"].clone();
            // An unknown header field: the hash cannot be checked against the header.
            block["futureRoot"] = "0x00".into();
            block["hash"] = OTHER_HASH.into();
            Lie::Result(block)
        })
    });
    let mut compared = reader(&config, small_limits());
    let reading = read(&mut compared, FIRST_SLOT).await;
    let missing = reading.pools[0].1.as_ref().unwrap_err();
    assert_eq!(missing.reason, MissingReason::NodesDisagree, "{missing}");
    assert!(missing.detail.contains(OTHER_HASH) && second.fired() > 0, "{missing}");
    second.be_honest();
    assert_eq!(snapshots(read(&mut compared, FIRST_SLOT).await).len(), 1);

    // The first node is trusted despite such a header, and the reader reports it.
    let proxy = Proxy::start(&chain.url());
    proxy.lie(|request, truth| {
        (request["method"] == "eth_getBlockByNumber").then(|| {
            let mut block = truth["result"].clone();
            block["futureRoot"] = "0x00".into();
            block["stateRoot"] = OTHER_HASH.into();
            Lie::Result(block)
        })
    });
    let config = world_config(&chain, &world, &[proxy.url()], [6]).await;
    let reading = read(&mut reader(&config, small_limits()), FIRST_SLOT).await;
    let block = reading.block.unwrap().number;
    assert_eq!(reading.events, [Event::HashNotRecomputed { block }]);
    assert_eq!(snapshots(reading).len(), 1);
}

/// A pool's contract and tokens are read once and kept, so a second node is asked as well.
#[tokio::test]
async fn tokens_that_a_second_node_describes_otherwise_leave_the_pool_missing() {
    let (chain, world) = scene().await;
    mine_slot(&chain, FIRST_SLOT).await;
    let (proxy, second) = (Proxy::start(&chain.url()), Proxy::start(&chain.url()));
    // "USDC", and answers of one word: six decimals.
    let (symbol, word) = ("55534443", |decimals: u8| format!("{:064x}{decimals:064x}", 32));
    proxy.lie(move |request, told| {
        let text = told["result"].as_str()?;
        (request["method"] == "eth_call" && text.contains(symbol))
            .then(|| Lie::Result(text.replace(&word(6), &word(8)).into()))
    });
    let mut config = world_config(&chain, &world, &[proxy.url()], [1, 5, 6]).await;
    let missing = |reading: &exitgap_chain::SlotReading| {
        let reason = |result: &Result<_, exitgap_chain::ReadFailure>| match result {
            Ok(_) => None,
            Err(missing) => Some(missing.reason),
        };
        reading.pools.iter().map(|(_, result)| reason(result)).collect::<Vec<_>>()
    };
    // The control: alone, the node is believed.
    let alone = read(&mut reader(&config, small_limits()), FIRST_SLOT).await;
    assert!(proxy.fired() > 0 && missing(&alone).iter().all(Option::is_none), "{:?}", alone.pools);
    config.chain[0].second_rpc_url = Some(second.url().parse().unwrap());
    let mut compared = reader(&config, small_limits());
    let reading = read(&mut compared, FIRST_SLOT).await;
    let has_six_decimals = |at: usize| {
        let tokens = [world.pools[at].pool.token0, world.pools[at].pool.token1];
        tokens.iter().any(|token| world.asset(*token).unwrap().token.decimals == 6)
    };
    let expected: Vec<_> =
        [1, 5, 6].map(|at| has_six_decimals(at).then_some(MissingReason::NodesDisagree)).into();
    assert_eq!(missing(&reading), expected, "{:?}", reading.pools);
    assert!(expected.iter().any(Option::is_some));
    // A second node that does not answer is warned of.
    second.lie(|request, _| (request["method"] == "eth_call").then_some(Lie::Status(503)));
    let reading = read(&mut reader(&config, small_limits()), FIRST_SLOT).await;
    let is_warned =
        |event: &Event| matches!(event, Event::NotCompared { what, .. } if what.contains("tokens"));
    assert!(reading.events.iter().any(is_warned), "{:?}", reading.events);
    // Once the node is right, so are the pools.
    proxy.be_honest();
    second.be_honest();
    let reading = read(&mut compared, FIRST_SLOT).await;
    assert!(missing(&reading).iter().all(Option::is_none), "{:?}", reading.pools);
}

/// A node that leaves out the log of minted liquidity is found out in the same slot, whichever check there is.
#[tokio::test]
async fn a_log_that_a_node_leaves_out_is_not_missed() {
    let (chain, world) = scene().await;
    let never = Limits { full_read_slots: 288, full_read_slots_most: 289, ..small_limits() };
    let mut slot = FIRST_SLOT;
    for by in [LogsCheck::Auto, LogsCheck::Blooms, LogsCheck::Receipts, LogsCheck::Nothing] {
        let proxy = Proxy::start(&chain.url());
        let mut config = world_config(&chain, &world, &[proxy.url()], [1, 2]).await;
        config.chain[0].check_logs_by = by;
        let mut deceived = reader(&config, never.clone());
        mine_slot(&chain, slot).await;
        let before = snapshots(read(&mut deceived, slot).await);
        proxy.lie(hide_logs);
        mint_far(&chain, &world, before[0].observation().state()).await;
        mine_slot(&chain, slot + 1).await;
        let reading = read(&mut deceived, slot + 1).await;
        assert!(proxy.fired() > 0);
        let events = reading.events.clone();
        let honest = world_config(&chain, &world, &[chain.url()], [1, 2]).await;
        let truth = snapshots(read(&mut reader(&honest, small_limits()), slot + 1).await);
        let is_true = snapshots(reading)[0] == truth[0];
        let found = |check: &dyn Fn(&Event) -> bool| events.iter().any(check);
        match by {
            LogsCheck::Auto | LogsCheck::Blooms => {
                assert!(
                    is_true && found(&|event| matches!(event, Event::ReadInFull { .. })),
                    "{events:?}"
                );
                assert_eq!(deceived.logs_checked(), Some(&LogsChecked::Blooms));
            }
            LogsCheck::Receipts => {
                assert!(
                    is_true && found(&|event| matches!(event, Event::LogOmitted { .. })),
                    "{events:?}"
                );
                assert_eq!(deceived.logs_checked(), Some(&LogsChecked::Receipts));
            }
            LogsCheck::Nothing => {
                assert!(!is_true, "the control: without a check it is missed");
                assert!(matches!(deceived.logs_checked(), Some(LogsChecked::Unproven(_))));
            }
        }
        slot += 2;
    }
}

/// A node hid ticks until the next full reading: the service reports the slots in between as doubtful, also after a
/// restart; the later slots are true.
#[tokio::test]
async fn a_full_reading_that_differs_puts_the_slots_before_it_in_doubt() {
    let (chain, world) = scene().await;
    let proxy = Proxy::start(&chain.url());
    let folder = TempDir::new().unwrap();
    let text = recorder_config(&chain, &world).replace(&chain.url(), &proxy.url());
    std::fs::write(folder.path().join("exitgap.toml"), text).unwrap();
    let mut config = world_config(&chain, &world, &[proxy.url()], [1, 2]).await;
    config.chain[0].check_logs_by = LogsCheck::Nothing;
    let limits = Limits { full_read_slots: 3, full_read_slots_most: 4, ..small_limits() };
    let sources = Source::of_plan(&Plan::new(&config).unwrap(), &limits);
    let path = folder.path().join("exitgap.db");
    let mut recorder = Recorder::new(Store::create(&path, &key()).unwrap(), sources, SEAL_AFTER);
    mine_slot(&chain, FIRST_SLOT).await;
    recorder.record_slot(at(0)).await.unwrap();
    let pool_of = |reader: &Reader, index: usize| {
        let id = Plan::new(&config).unwrap().chains()[0].pools()[index].id.clone();
        reader.pool(&id).unwrap().unwrap()
    };
    let state_at = |n: u64| {
        let reader = Reader::open(&path).unwrap();
        let snapshot = reader.snapshot_at(&pool_of(&reader, 0), at(n)).unwrap().unwrap();
        snapshot.observation().state().clone()
    };
    let has_tick = |n: u64, tick: i32| match state_at(n) {
        PoolState::Concentrated(state) => state.ticks().iter().any(|at| at.tick == tick),
        _ => panic!("v3"),
    };
    let far = mint_far(&chain, &world, &state_at(0)).await;
    proxy.lie(hide_logs);
    let mut found = None;
    for n in 1..6 {
        mine_slot(&chain, FIRST_SLOT + n).await;
        let report = recorder.record_slot(at(n)).await.unwrap();
        assert_eq!(report.recorded, 2, "{report:?}");
        if report.doubts > 0 {
            assert!(found.is_none(), "once");
            found = Some(n);
        }
    }
    assert!(proxy.fired() > 0);
    let found = found.expect("a full reading is due within three slots");
    assert!(found > 1 && found <= 4, "{found}");
    drop(recorder);
    for n in 1..6 {
        assert_eq!(has_tick(n, far), n >= found, "{n}");
    }
    let reader = Reader::open(&path).unwrap();
    let doubt = |index: usize, n: u64| reader.doubt_about(&pool_of(&reader, index), at(n)).unwrap();
    for n in 0..6 {
        let doubtful = (1..found).contains(&n);
        assert_eq!(doubt(0, n), doubtful.then(|| at(found)), "{n}");
        assert_eq!(doubt(1, n), None, "the other pool is not in doubt");
        assert!(matches!(
            reader.entry(&pool_of(&reader, 0), at(n)).unwrap().unwrap().outcome,
            Outcome::Recorded(_)
        ));
    }
    assert_eq!(reader.doubted_slots().unwrap(), found - 1);
    let service = Service::start(folder.path(), &["--no-record"], &[]);
    let pool = &pool_of(&reader, 0).id;
    let status =
        |n: u64| service.get(&format!("/api/v1/status/{pool}?slot={}", FIRST_SLOT + n)).found();
    assert_eq!(status(1)["doubted_by_slot"], FIRST_SLOT + found);
    assert!(status(found).get("doubted_by_slot").is_none());
    let metrics = service.get("/metrics").body;
    let expected = format!("exitgap_doubtful_slots {}", found - 1);
    assert!(String::from_utf8(metrics).unwrap().contains(&expected));
}

/// The next process knows the ticks in the store and finds what a node hid from the previous process.
#[tokio::test]
async fn a_new_recorder_compares_with_what_the_last_one_recorded() {
    let (chain, world) = scene().await;
    let proxy = Proxy::start(&chain.url());
    let mut config = world_config(&chain, &world, &[proxy.url()], [1, 2]).await;
    config.chain[0].check_logs_by = LogsCheck::Nothing;
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("series.db");
    let mut deceived = recorder(&config, Store::create(&path, &key()).unwrap());
    mine_slot(&chain, FIRST_SLOT).await;
    deceived.record_slot(at(0)).await.unwrap();
    let ids: Vec<_> = Plan::new(&config).unwrap().chains()[0]
        .pools()
        .iter()
        .map(|pool| pool.id.clone())
        .collect();
    let pool_of = |reader: &Reader, index: usize| reader.pool(&ids[index]).unwrap().unwrap();
    let state = {
        let reader = Reader::open(&path).unwrap();
        let snapshot = reader.snapshot_at(&pool_of(&reader, 0), at(0)).unwrap().unwrap();
        snapshot.observation().state().clone()
    };
    mint_far(&chain, &world, &state).await;
    proxy.lie(hide_logs);
    mine_slot(&chain, FIRST_SLOT + 1).await;
    assert_eq!(deceived.record_slot(at(1)).await.unwrap().doubts, 0);
    assert!(proxy.fired() > 0);
    drop(deceived);
    proxy.be_honest();
    let mut next = recorder(&config, Store::open(&path, &key()).unwrap());
    mine_slot(&chain, FIRST_SLOT + 2).await;
    let report = next.record_slot(at(2)).await.unwrap();
    assert_eq!((report.recorded, report.doubts), (2, 1), "{report:?}");
    let reader = Reader::open(&path).unwrap();
    let doubt = |index: usize, n: u64| reader.doubt_about(&pool_of(&reader, index), at(n)).unwrap();
    // The time of the previous process's last full reading is unknown, so an hour is doubtful.
    assert_eq!([0, 1, 2].map(|n| doubt(0, n)), [Some(at(2)), Some(at(2)), None]);
    assert_eq!([0, 1, 2].map(|n| doubt(1, n)), [None; 3]);
}

/// If a node keeps delaying the comparison, the pool becomes missing.
#[tokio::test]
async fn ticks_that_were_not_read_in_full_for_too_long_are_not_believed() {
    let (chain, world) = scene().await;
    let proxy = Proxy::start(&chain.url());
    let config = world_config(&chain, &world, &[proxy.url()], [1]).await;
    let limits = Limits { full_read_slots: 2, full_read_slots_most: 4, ..small_limits() };
    let mut starved = reader(&config, limits);
    mine_slot(&chain, FIRST_SLOT).await;
    snapshots(read(&mut starved, FIRST_SLOT).await);
    // Only a full reading has requests of this size.
    proxy.lie(|request, _| {
        let large = request["params"][0]["data"].as_str().is_some_and(|data| data.len() > 10_000);
        (request["method"] == "eth_call" && large).then_some(Lie::Status(503))
    });
    let mut outcomes = Vec::new();
    for slot in FIRST_SLOT + 1..FIRST_SLOT + 6 {
        mine_slot(&chain, slot).await;
        let reading = read(&mut starved, slot).await;
        outcomes.push(reading.pools[0].1.as_ref().map(|_| ()).map_err(|missing| missing.reason));
    }
    assert!(proxy.fired() > 0);
    let late = Err(MissingReason::RpcUnavailable);
    assert_eq!(outcomes, [Ok(()), Ok(()), Ok(()), late, late]);
    proxy.be_honest();
    mine_slot(&chain, FIRST_SLOT + 6).await;
    assert_eq!(snapshots(read(&mut starved, FIRST_SLOT + 6).await).len(), 1);
}

#[tokio::test]
async fn an_outage_is_borne_as_long_as_the_slot_has_time() {
    let (chain, world) = scene().await;
    Market::new(&chain, &world, 3).await.unwrap().play_slot(FIRST_SLOT).await.unwrap();
    let proxy = Proxy::start(&chain.url());
    let config = world_config(&chain, &world, &[proxy.url()], [6]).await;
    // The node rejects more requests than the reader's limit of retries for wrong answers.
    let refusals = |lie: fn() -> Lie, times: usize| {
        let left = AtomicUsize::new(times);
        proxy.lie(move |request, _| {
            let refused = request["method"] == "eth_call"
                && left
                    .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
                    .is_ok();
            refused.then(lie)
        });
    };
    let patient = || Limits {
        outage_rounds: Limits::default().outage_rounds,
        backoff_most: Duration::from_millis(4),
        ..small_limits()
    };
    assert!(Limits::default().outage_rounds > 12, "twelve refusals are not too many");
    for lie in [|| Lie::Status(429), || Lie::Status(503), || Lie::Error(-32_005, "slow down")] {
        refusals(lie, 12);
        let reading = read(&mut reader(&config, patient()), FIRST_SLOT).await;
        assert_eq!(snapshots(reading).len(), 1);
        assert_eq!(proxy.fired(), 12);
    }
    // Wrong answers exhaust the retries.
    refusals(|| Lie::Result(json!("0x")), 12);
    let reading = read(&mut reader(&config, patient()), FIRST_SLOT).await;
    assert_eq!(reading.pools[0].1.as_ref().unwrap_err().reason, MissingReason::RpcResponseInvalid);
    // The reader waits as long as a node requests, but not without limit.
    refusals(|| Lie::Busy("1"), 1);
    let before = proxy.asked("eth_call").len();
    let reading = read(&mut reader(&config, patient()), FIRST_SLOT).await;
    assert_eq!(snapshots(reading).len(), 1);
    let asked = proxy.asked("eth_call");
    let waited = asked[before + 1].duration_since(asked[before]);
    assert!(waited >= Duration::from_millis(900), "{waited:?}");
    refusals(|| Lie::Busy("86400"), 1);
    let bounded = Limits { retry_after_most: Duration::from_millis(5), ..patient() };
    let reading = read(&mut reader(&config, bounded), FIRST_SLOT).await;
    assert_eq!(snapshots(reading).len(), 1);
    assert_eq!(proxy.fired(), 1);
    // The reader does not start a wait that ends after the slot.
    refusals(|| Lie::Busy("86400"), 1);
    let mut late = reader(&config, Limits { retry_after_most: Duration::MAX, ..patient() });
    let until = tokio::time::Instant::now() + Duration::from_secs(20);
    let reading = late.read_slot(at(0), until).await;
    assert!(tokio::time::Instant::now() < until);
    let missing = reading.pools[0].1.as_ref().unwrap_err();
    assert_eq!(missing.reason, MissingReason::RpcRateLimited, "{missing}");
}

#[tokio::test]
async fn a_sequencer_that_is_down_or_was_until_just_now_marks_every_pool() {
    let (chain, world) = scene().await;
    let feed = chain.create_feeds(&[("L2 Sequencer Uptime", 0, 0)]).await.unwrap().remove(0);
    let mut config = world_config(&chain, &world, &[chain.url()], [1, 6]).await;
    config.chain[0].sequencer_uptime_feed = Some(Address(feed.proxy.into_array()));
    config.chain[0].sequencer_grace_s = Some(700);
    // The prices themselves never become stale.
    for oracle in &mut config.oracle {
        if let exitgap_chain::config::OracleConfig::Chainlink { heartbeat_s, .. } = oracle {
            *heartbeat_s = 1_000_000;
        }
    }
    let mut reader = reader(&config, small_limits());
    let mut says = Vec::new();
    for n in 0..9 {
        match n {
            2 => drop(chain.set_answer(&feed, 1).await.unwrap()),
            4 => drop(chain.set_answer(&feed, 0).await.unwrap()),
            8 => drop(chain.set_answer(&feed, 7).await.unwrap()),
            _ => {}
        }
        mine_slot(&chain, FIRST_SLOT + n).await;
        let reading = read(&mut reader, FIRST_SLOT + n).await;
        if n == 8 {
            for (_, result) in &reading.pools {
                let missing = result.as_ref().unwrap_err();
                assert_eq!(missing.reason, MissingReason::OracleInvalid, "{missing}");
                assert!(missing.detail.contains("sequencer uptime"), "{missing}");
            }
            break;
        }
        let [v3, v2] = &snapshots(reading)[..] else { panic!("two pools") };
        assert_eq!(v3.observation().oracle_stale(), v2.observation().oracle_stale());
        let of_sequencer = |oracle: &&exitgap_core::snapshot::OracleReading| {
            oracle.role == OracleRole::SequencerUptime
        };
        assert_eq!(v3.observation().oracles().iter().filter(of_sequencer).count(), 1);
        says.push(v3.observation().oracle_stale());
    }
    // The sequencer runs for an hour, is down from slot 2, runs again from slot 4, and counts as unreliable for 700
    // seconds after that.
    assert_eq!(says, [false, false, true, true, true, true, false, false]);
    let findings = reader.check(deadline()).await;
    assert!(findings.iter().any(|finding| finding.subject == "oracle sequencer uptime"));
}
