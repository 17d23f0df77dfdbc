//! One recorder with four chains: a lying node, a stalling node and an unreachable node cost only the slots of their
//! own chains.

use std::net::TcpListener;
use std::time::Duration;

use exitgap_chain::Limits;
use exitgap_chain::config::{Config, OracleConfig, Plan};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_server::recorder::{Recorder, Source};
use exitgap_store::{Outcome, Reader, Store};
use exitgap_tests::devchain::{DevChain, FIRST_SLOT, Market, Options};
use tempfile::TempDir;
use tokio::time::Instant;

use crate::scenes::chain::{read, reader, scene, small_limits, snapshots, world_config};
use crate::scenes::proxy::{Lie, Proxy};
use crate::scenes::store::{key, store_in};

/// The time per slot, which a chain with a stalling node uses up.
const BUDGET: Duration = Duration::from_secs(20);

/// Adds the first chain's pools and oracles again, on another chain with another node.
fn add_chain(config: &mut Config, slug: &str, chain_id: u64, url: &str) {
    let own: exitgap_core::ids::ChainSlug = slug.parse().unwrap();
    let first = config.chain[0].slug.clone();
    let mut chain = config.chain[0].clone();
    (chain.slug, chain.chain_id, chain.genesis_hash) = (own.clone(), chain_id, None);
    chain.rpc_urls = vec![url.parse().unwrap()];
    config.chain.push(chain);
    let renamed = |name: &str| format!("{slug} {name}");
    for oracle in config.oracle.clone() {
        if let OracleConfig::Chainlink { name, chain, feed, heartbeat_s, heartbeat_grace_s } =
            oracle
            && chain == first
        {
            let (name, chain) = (renamed(&name), own.clone());
            config.oracle.push(OracleConfig::Chainlink {
                name,
                chain,
                feed,
                heartbeat_s,
                heartbeat_grace_s,
            });
        }
    }
    for mut pool in config.pool.clone() {
        if pool.chain == first {
            pool.chain = own.clone();
            for name in pool.token0_usd.iter_mut().chain(&mut pool.token1_usd) {
                *name = renamed(name);
            }
            config.pool.push(pool);
        }
    }
}

/// An address without a listener.
fn dead_url() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

#[tokio::test]
async fn a_liar_a_stalled_and_a_dead_node_leave_the_fourth_chain_untouched() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 5).await.unwrap();
    // The node claims to be OP Mainnet, but its genesis block differs.
    let pretender = Options { chain_id: 10, ..Options::default() };
    let pretender = DevChain::start(pretender).await.unwrap();
    let liar = Proxy::start(&pretender.url());
    let stalled = Proxy::start(&chain.url());
    stalled.lie(|_, _| Some(Lie::Hang));

    let good = world_config(&chain, &world, &[chain.url()], [0, 6]).await;
    let mut config = good.clone();
    add_chain(&mut config, "optimism", 10, &liar.url());
    add_chain(&mut config, "arbitrum", 42_161, &stalled.url());
    add_chain(&mut config, "base", 8_453, &dead_url());
    let plan = Plan::new(&config).unwrap();
    let limits = Limits { request_timeout: Duration::from_mins(5), ..small_limits() };
    let folder = TempDir::new().unwrap();
    let path = store_in(folder.path(), "series.db");
    let store = Store::create(&path, &key()).unwrap();
    let mut recorder = Recorder::new(store, Source::of_plan(&plan, &limits), BUDGET);

    let slots = FIRST_SLOT..FIRST_SLOT + 2;
    for slot in slots.clone() {
        market.play_slot(slot).await.unwrap();
        let (asked, hung, began) = (liar.served(), stalled.fired(), Instant::now());
        let report = recorder.record_slot(Slot::new(slot).unwrap()).await.unwrap();
        assert_eq!(report.recorded, 2, "{report:?}");
        assert_eq!(report.missing.values().sum::<u32>(), 6, "{report:?}");
        assert!(liar.served() > asked && stalled.fired() > hung, "both were asked");
        assert!(began.elapsed() < BUDGET + Duration::from_secs(20), "the slot ends in time");
    }

    let store = Reader::open(&path).unwrap();
    for slot in slots.clone() {
        for snapshot in snapshots(read(&mut reader(&good, small_limits()), slot).await) {
            let pool = store.pool(snapshot.observation().pool()).unwrap().unwrap();
            assert_eq!(store.snapshot_at(&pool, snapshot.slot()).unwrap(), Some(snapshot));
        }
    }
    for chain in &plan.chains()[1..] {
        let expected = match chain.slug().as_str() {
            "optimism" => MissingReason::WrongChain,
            "arbitrum" => MissingReason::DeadlineExceeded,
            _ => MissingReason::RpcUnavailable,
        };
        assert_eq!(chain.pools().len(), 2);
        for pool in chain.pools() {
            let pool = store.pool(&pool.id).unwrap().unwrap();
            let entries = store.entries(&pool, Slot::FIRST, Slot::LAST, 10).unwrap().entries;
            let outcomes: Vec<_> = entries.iter().map(|entry| entry.outcome).collect();
            assert_eq!(outcomes, [Outcome::Missing(expected); 2], "{}", chain.slug());
        }
    }
}
