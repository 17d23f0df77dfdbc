//! Anchors from a running node: headers prove older blocks from a newer one, across several days.

use exitgap_chain::config::Plan;
use exitgap_chain::{AnchoringError, StateProver};
use exitgap_core::ids::{BlockHash, Caip2};
use exitgap_core::proof::{AnchorChain, Anchors};
use exitgap_tests::devchain::{FIRST_SLOT, Market};

use crate::scenes::chain::{deadline, scene, small_limits, world_config};
use crate::scenes::proxy::{Lie, Proxy};

const CHAIN: Caip2 = Caip2(31_337);

#[tokio::test]
async fn every_slots_block_follows_from_one_that_is_trusted() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 3).await.unwrap();
    let proxy = Proxy::start(&chain.url());
    let config = world_config(&chain, &world, &[proxy.url()], [0]).await;
    let plan = Plan::new(&config).unwrap();
    let prover = StateProver::new(&plan, &"anvil".parse().unwrap(), small_limits());
    let prover = prover.unwrap().unwrap();
    let first = chain.head().await.unwrap().number;
    let mut ends = Vec::new();
    for slot in FIRST_SLOT..FIRST_SLOT + 6 {
        market.play_slot(slot).await.unwrap();
        ends.push(chain.head().await.unwrap().number);
    }
    // Two days; the chain of the second ends where the first begins.
    let [early, late] = [ends[2], ends[5]];
    let day = |from: u64, blocks: Vec<u64>| prover.anchors(CHAIN, 20_800, from, blocks, deadline());
    let one = day(early, (first..early).collect()).await.unwrap();
    let two = day(late, (early..late).collect()).await.unwrap();
    let days = [one, two].map(|file| Anchors::from_bytes(&file).unwrap());
    let trusted = prover.canonical(late, deadline()).await.unwrap();
    let followed = AnchorChain::follow(CHAIN, trusted, days.to_vec()).unwrap();
    for number in first..=late {
        let told = prover.canonical(number, deadline()).await.unwrap();
        assert_eq!(followed.hash(number), Some(told), "block {number}");
    }
    // After the node has left these blocks, the trusted hash is not in its chain, and it reports another history.
    chain.reorg(late - early + 1).await.unwrap();
    let other = prover.canonical(late, deadline()).await.unwrap();
    assert_ne!(other, trusted);
    assert!(AnchorChain::follow(CHAIN, other, days.to_vec()).is_err());
    assert_eq!(followed.hash(late), Some(trusted));
    // The prover rejects an invalid proof of a block's hash, and does not request a block that is not older.
    proxy.lie(|request, told| {
        let mut told = told["result"].clone();
        (request["method"] == "eth_getProof").then(|| {
            told["storageProof"][0]["proof"].as_array_mut().unwrap().pop();
            Lie::Result(told)
        })
    });
    let cut = prover.anchors(CHAIN, 20_800, late, [first + 1, first + 2], deadline()).await;
    assert!(matches!(cut, Err(AnchoringError::Anchors(_))), "{cut:?}");
    assert!(proxy.fired() > 0);
    let none = prover.anchors(CHAIN, 20_800, late, [late], deadline()).await;
    assert!(matches!(none, Err(AnchoringError::Unreachable { .. })), "{none:?}");
    let none = prover.anchors(CHAIN, 20_800, late + 9, [late], deadline()).await;
    assert!(matches!(none, Err(AnchoringError::NoBlock { .. })), "{none:?}");
    assert_ne!(followed.hash(first), Some(BlockHash([0; 32])));
}
