//! A chain with the id, the genesis block and the `ArbSys` contract of Arbitrum One, whose block number differs from
//! `block.number`.

use alloy::primitives::{address, hex};
use exitgap_core::ids::Address;
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::ChainKind;
use exitgap_tests::devchain::{DevChain, FIRST_SLOT, Options, World};
use serde_json::json;

use crate::scenes::chain::{pass_slot, read, reader, small_limits, snapshots, world_config};
use crate::scenes::proxy::{Lie, Proxy};

const CHAIN_ID: u64 = 42_161;
const GENESIS: &str = "0x7ee576b35482195fc49205cec9af72ce14f003b9ae69f6ba0faef4514be8b442";
const ARB_SYS: alloy::primitives::Address = address!("0000000000000000000000000000000000000064");
/// Code that answers every call with the correct block number.
const RIGHT: [u8; 9] = hex!("4360005260206000f3");
/// Code that answers with a block number that is too high by one.
const WRONG: [u8; 12] = hex!("4360010160005260206000f3");

#[tokio::test]
async fn on_arbitrum_the_block_is_the_one_that_arb_sys_names() {
    let chain = DevChain::start(Options { chain_id: CHAIN_ID, ..Options::default() });
    let chain = chain.await.unwrap();
    let world = World::deploy(&chain).await.unwrap();
    let feed = chain.create_feeds(&[("L2 Sequencer Uptime", 0, 0)]).await.unwrap().remove(0);
    let proxy = Proxy::start(&chain.url());
    // Enough blocks that the search for a slot's block never reaches the first block, whose hash is not genuine.
    let before = chain.head().await.unwrap().timestamp;
    for later in 1..=300 {
        chain.mine(before + later, &[]).await.unwrap();
    }
    proxy.lie(|request, told| {
        let first = request["method"] == "eth_getBlockByNumber" && request["params"][0] == "0x0";
        first.then(|| {
            let mut block = told["result"].clone();
            block["hash"] = json!(GENESIS);
            Lie::Result(block)
        })
    });
    let mut config = world_config(&chain, &world, &[proxy.url()], [0, 6]).await;
    config.chain[0].chain_id = CHAIN_ID;
    config.chain[0].genesis_hash = None;
    config.chain[0].sequencer_uptime_feed = Some(Address(feed.proxy.into_array()));

    let cases: [(&[u8], bool); 3] = [(&[], false), (&WRONG, false), (&RIGHT, true)];
    for (slot, (code, good)) in (FIRST_SLOT..).zip(cases) {
        chain.set_code(ARB_SYS, code.to_vec().into()).await.unwrap();
        pass_slot(&chain, slot).await;
        let reading = read(&mut reader(&config, small_limits()), slot).await;
        assert!(proxy.fired() > 0, "the first block was asked for");
        if good {
            for snapshot in snapshots(reading) {
                let tag = snapshot.observation().chain();
                assert_eq!((tag.caip2.0, tag.kind), (CHAIN_ID, ChainKind::Live));
            }
        } else {
            for (_, result) in reading.pools {
                let missing = result.unwrap_err();
                assert_eq!(missing.reason, MissingReason::RpcResponseInvalid, "{missing}");
                assert!(missing.detail.contains("number"), "{missing}");
            }
        }
    }
}
