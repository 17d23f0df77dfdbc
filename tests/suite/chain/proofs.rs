//! State proofs of running contracts from a real node: every storage layout after real trades, and nodes that lie.

use exitgap_chain::config::{Config, Factory, FactoryKind, Plan};
use exitgap_chain::{ProveError, StateProver};
use exitgap_core::U256;
use exitgap_core::evidence::Outcome;
use exitgap_core::ids::{Address, BlockHash};
use exitgap_core::pools::Direction;
use exitgap_core::proof::{
    BlockSource, ClaimedCode, Layout, ProvenWords, StateCheck, StateClaim, StateProof, TickRange,
    check_canonical, check_code, check_state, needed_ticks,
};
use exitgap_core::snapshot::{Observation, Snapshot};
use exitgap_tests::devchain::{DevChain, FIRST_SLOT, Market, World};
use serde_json::Value;

use super::{factories, managed, slipstream, solidly};
use crate::scenes::chain::{
    deadline, pass_slot, read, reader, scene, small_limits, snapshots, world_config,
};
use crate::scenes::proxy::{Lie, Proxy};

const PASS: (Outcome, &str) = (Outcome::Pass, "ok");

fn prover(config: &Config, url: &str) -> StateProver {
    let mut config = config.clone();
    config.chain[0].rpc_urls = vec![url.parse().unwrap()];
    let plan = Plan::new(&config).unwrap();
    StateProver::new(&plan, &"anvil".parse().unwrap(), small_limits()).unwrap().unwrap()
}

fn outcomes(file: &[u8], snapshot: &Snapshot) -> [(Outcome, &'static str); 3] {
    let checks = check_state(&StateProof::from_bytes(file), snapshot, None);
    [0, 1, 2].map(|at| (checks[at].outcome, checks[at].code))
}

/// The same pool's snapshot after a small purchase.
fn after_a_sale(snapshot: &Snapshot) -> Snapshot {
    let of = snapshot.observation();
    let state = of.state();
    let small = |digits| state.fill_once(Direction::ZeroForOne, U256::from(10_u64.pow(digits)));
    let fill = (6..19).find_map(|digits| small(digits).ok()).unwrap();
    let after = state.after(Direction::ZeroForOne, &fill);
    let (tokens, oracles) = (of.contract_tokens().to_vec(), of.oracles().to_vec());
    let (pool, facts) = (of.pool().clone(), of.facts().to_vec());
    let other = Observation::new(pool, of.chain(), of.block(), tokens, after, oracles, facts);
    Snapshot::new(snapshot.slot(), other.unwrap()).unwrap()
}

/// Requires that the chain proves a pool's snapshot, and that it refutes another one.
async fn proven(chain: &DevChain, config: &Config, snapshot: &Snapshot, layout: Option<Layout>) {
    let range = needed_ticks(snapshot, None).unwrap_or(TickRange::ALL);
    let prover = prover(config, &chain.url());
    for range in [range, TickRange::ALL] {
        let file = prover.prove(snapshot, layout, range, deadline()).await.unwrap();
        assert_eq!(outcomes(&file, snapshot), [PASS; 3], "{:?}", snapshot.observation().pool());
        let other = after_a_sale(snapshot);
        assert_eq!(outcomes(&file, &other), [PASS, (Outcome::Fail, "state_differs"), PASS]);
        let proof = StateProof::from_bytes(&file).unwrap();
        assert!(!proof.readings.is_empty() && proof.readings.len() == proof.subject.feeds.len());
        assert!(proof.child.is_some(), "the next block is there");
        if let (ProvenWords::Ranges { ticks, .. }, TickRange::ALL) = (&proof.words, range) {
            assert!(ticks.len() >= 2, "{}", ticks.len());
        }
    }
}

async fn snapshots_of(chain: &DevChain, config: &Config) -> Vec<Snapshot> {
    pass_slot(chain, FIRST_SLOT + 1).await;
    snapshots(read(&mut reader(config, small_limits()), FIRST_SLOT + 1).await)
}

#[tokio::test]
async fn pools_of_the_world_are_proven_after_a_day_of_trades() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 3).await.unwrap();
    for slot in FIRST_SLOT..FIRST_SLOT + 6 {
        market.play_slot(slot).await.unwrap();
    }
    let pools = [0, 1, World::FIRST_V2];
    let config = world_config(&chain, &world, &[chain.url()], pools).await;
    let last = FIRST_SLOT + 5;
    let read = snapshots(read(&mut reader(&config, small_limits()), last).await);
    for (snapshot, index) in read.iter().zip(pools) {
        let layout = if index == World::FIRST_V2 { Layout::UniswapV2 } else { Layout::UniswapV3 };
        proven(&chain, &config, snapshot, Some(layout)).await;
        let none = prover(&config, &chain.url());
        let unknown = none.prove(snapshot, None, TickRange::ALL, deadline()).await;
        assert!(matches!(unknown, Err(ProveError::UnknownLayout)), "{unknown:?}");
        // The storage words of the other layout do not fit this pool.
        let wrong = none.prove(snapshot, Some(Layout::PancakeV3), TickRange::ALL, deadline()).await;
        if let Ok(file) = wrong {
            assert_ne!(outcomes(&file, snapshot)[1], PASS);
        }
    }
}

#[tokio::test]
async fn every_other_layout_is_that_of_its_contracts() {
    let (chain, pool, config) = factories::pancake().await;
    pass_slot(&chain, FIRST_SLOT).await;
    chain.swap_paid(&pool, true, alloy::primitives::U256::from(10_u128.pow(17))).await.unwrap();
    for snapshot in snapshots_of(&chain, &config).await {
        proven(&chain, &config, &snapshot, None).await;
    }
    let (chain, pool, config) = slipstream::slipstream().await;
    pass_slot(&chain, FIRST_SLOT).await;
    chain.swap_paid(&pool, false, alloy::primitives::U256::from(10_u128.pow(17))).await.unwrap();
    for snapshot in snapshots_of(&chain, &config).await {
        proven(&chain, &config, &snapshot, None).await;
    }
    let (chain, pools, config) = solidly::solidly().await;
    pass_slot(&chain, FIRST_SLOT).await;
    let states = solidly::recorded(&config, FIRST_SLOT).await;
    for (pool, state) in pools.iter().zip(&states) {
        solidly::sell(&chain, pool, state, 3).await;
    }
    for snapshot in snapshots_of(&chain, &config).await {
        proven(&chain, &config, &snapshot, None).await;
    }
    let (chain, _, pools, config) = managed::managed().await;
    let found = snapshots_of(&chain, &config).await;
    assert_eq!(found.len(), pools.len());
    for snapshot in found {
        proven(&chain, &config, &snapshot, None).await;
    }
}

/// A pair, a pool of ranges and another one, all of published code, and each is known to run it.
#[tokio::test]
async fn what_runs_published_code_is_known_by_its_accounts_hash() {
    let (chain, world) = scene().await;
    let mut config = world_config(&chain, &world, &[chain.url()], [0, 1, World::FIRST_V2]).await;
    for (address, kind) in [
        (chain.contracts.v2_factory, FactoryKind::UniswapV2),
        (chain.contracts.v3_factory, FactoryKind::UniswapV3),
    ] {
        let address = Address(address.0.0);
        config.chain[0].factory.push(Factory { address, kind, fee_modules: Vec::new() });
    }
    pass_slot(&chain, FIRST_SLOT).await;
    let read = snapshots(read(&mut reader(&config, small_limits()), FIRST_SLOT).await);
    let prover = prover(&config, &chain.url());
    let mut all = Vec::new();
    for snapshot in &read {
        let range = needed_ticks(snapshot, None).unwrap_or(TickRange::ALL);
        let file = prover.prove(snapshot, None, range, deadline()).await.unwrap();
        let proof = StateProof::from_bytes(&file).unwrap();
        let code = prover.code(proof.subject.address, deadline()).await.unwrap();
        all.push((proof, StateClaim::from_snapshot(snapshot, None), code));
    }
    let check = |at: usize, code: Option<usize>, change: fn(&mut StateClaim)| {
        let (proof, claim, _) = &all[at];
        let mut claim = claim.clone();
        change(&mut claim);
        let code = code.map(|other| all[other].2.as_slice());
        check_code(&Ok(proof.clone()), &claim, code)
    };
    let codes = |check: Option<StateCheck>| check.map(|check| (check.outcome, check.code));
    let (differs, unusable) =
        ((Outcome::Fail, "code_differs"), (Outcome::NotChecked, "code_unusable"));
    let pair =
        all.iter().position(|(proof, ..)| proof.subject.layout == Layout::UniswapV2).unwrap();
    let pools: Vec<usize> = (0..all.len()).filter(|at| *at != pair).collect();
    assert_eq!(codes(check(pair, None, |_| {})), Some(PASS));
    let other_fee = check(pair, None, |claim| {
        let Some(ClaimedCode::UniswapV2 { fee, .. }) = &mut claim.code else { panic!() };
        fee[0] += 1;
    });
    assert_eq!(codes(other_fee), Some(differs));
    assert_eq!(codes(check(pair, None, |claim| claim.code = None)), None);
    for at in pools.clone() {
        assert_eq!(codes(check(at, Some(at), |_| {})), Some(PASS));
        assert_eq!(codes(check(at, None, |_| {})), None);
        let other = pools.iter().copied().find(|other| *other != at);
        assert_eq!(codes(check(at, other, |_| {})), Some(unusable));
        let lies: [fn(&mut StateClaim); 4] = [
            |claim| lie(claim, |[factory, ..], _, _| factory.0[0] ^= 1),
            |claim| lie(claim, |[_, tokens @ ..], _, _| tokens.reverse()),
            |claim| lie(claim, |_, fee, _| *fee += 1),
            |claim| lie(claim, |_, _, spacing| *spacing += 1),
        ];
        for lie in lies {
            assert_eq!(codes(check(at, Some(at), lie)), Some(differs));
        }
        // Of another block's state nothing is said.
        let other_block = check(at, Some(at), |claim| claim.block.hash = BlockHash([1; 32]));
        assert_eq!(codes(other_block), None);
    }
}

/// Changes what a claim says of a pool of ranges: its factory and tokens, its fee, its spacing.
fn lie(claim: &mut StateClaim, change: impl FnOnce(&mut [Address; 3], &mut u32, &mut i32)) {
    let Some(ClaimedCode::UniswapV3 { factory, tokens, fee_pips, tick_spacing }) = &mut claim.code
    else {
        panic!("{:?}", claim.code);
    };
    let mut addresses = [*factory, tokens[0], tokens[1]];
    change(&mut addresses, fee_pips, tick_spacing);
    [*factory, tokens[0], tokens[1]] = addresses;
}

/// A modification of an answer.
type Change = fn(&mut Value);

/// If a node omits, changes or swaps its answers, the prover either fails or still proves the truth.
#[tokio::test]
async fn a_node_that_lies_about_state_is_refused_or_gives_itself_away() {
    let (chain, world) = scene().await;
    Market::new(&chain, &world, 3).await.unwrap().play_slot(FIRST_SLOT).await.unwrap();
    let config = world_config(&chain, &world, &[chain.url()], [1]).await;
    let snapshot =
        snapshots(read(&mut reader(&config, small_limits()), FIRST_SLOT).await).remove(0);
    let range = needed_ticks(&snapshot, None).unwrap();
    let proxy = Proxy::start(&chain.url());
    let lies: [(&str, Change); 6] = [
        ("a value", |told| told["storageProof"][0]["value"] = "0x1".into()),
        ("a node is gone", |told| {
            told["storageProof"][0]["proof"].as_array_mut().unwrap().pop();
        }),
        ("a node is another", |told| {
            let node = told["storageProof"][0]["proof"][0].as_str().unwrap();
            let last = if node.ends_with('0') { "1" } else { "0" };
            let other = format!("{}{last}", &node[..node.len() - 1]);
            for entry in told["storageProof"].as_array_mut().unwrap() {
                entry["proof"][0] = other.clone().into();
            }
        }),
        ("a word less", |told| {
            told["storageProof"].as_array_mut().unwrap().pop();
        }),
        ("no account", |told| told["accountProof"] = Value::Array(Vec::new())),
        ("the words in another order", |told| {
            told["storageProof"].as_array_mut().unwrap().reverse();
        }),
    ];
    let honest = prover(&config, &chain.url());
    let layout = Some(Layout::UniswapV3);
    let control = honest.prove(&snapshot, layout, range, deadline()).await.unwrap();
    assert_eq!(outcomes(&control, &snapshot), [PASS; 3]);
    for (what, lie) in lies {
        proxy.lie(move |request, told| {
            let mut told = told["result"].clone();
            (request["method"] == "eth_getProof").then(|| {
                lie(&mut told);
                Lie::Result(told)
            })
        });
        let proven =
            prover(&config, &proxy.url()).prove(&snapshot, layout, range, deadline()).await;
        assert!(proxy.fired() > 0, "{what}");
        match proven {
            Err(ProveError::Contradiction(_) | ProveError::Proof(_)) => {}
            // Answers other than the nodes of the trie do not matter; at most, a feed is not found.
            Ok(file) => {
                let [header, pool, oracle] = outcomes(&file, &snapshot);
                assert_eq!([header, pool], [PASS; 2], "{what}");
                let absent = (Outcome::NotChecked, "reading_unproven");
                assert!(oracle == PASS || oracle == absent, "{what}: {oracle:?}");
            }
            other => panic!("{what}: {other:?}"),
        }
    }
    // The header of another block, and another block at that height.
    proxy.lie(|request, told| {
        let mut told = told["result"].clone();
        (request["method"] == "eth_getBlockByNumber").then(|| {
            told["stateRoot"] = told["parentHash"].clone();
            Lie::Result(told)
        })
    });
    let forged = prover(&config, &proxy.url()).prove(&snapshot, layout, range, deadline()).await;
    assert!(matches!(forged, Err(ProveError::Contradiction(_))), "{forged:?}");
    let block = snapshot.observation().block();
    let told = honest.canonical(block.number, deadline()).await.unwrap();
    let asked =
        |hash| check_canonical(block, None, &[BlockSource::from_answer("mine", hash)], None);
    assert_eq!(asked(Some(told)).outcome, Outcome::Pass);
    assert_eq!(asked(Some(BlockHash([1; 32]))).code, "other_block");
    assert_eq!(asked(None).code, "not_answered");
}
