//! Trading sessions of a token whose market closes, read from real blocks.

use exitgap_chain::config::TokenConfig;
use exitgap_core::ids::Address;
use exitgap_core::snapshot::{OracleState, Session, Snapshot};
use exitgap_tests::devchain::{DevChain, SLOT_SECONDS, World};

use crate::scenes::chain::{read, reader, scene, small_limits, snapshots, world_config};

/// Monday, 2026-08-24, 13:30 UTC: the first opening after the chain began.
const OPEN: u64 = 1_787_578_200;
const CLOSE: u64 = OPEN + 6 * 3_600 + 1_800;

async fn mine(chain: &DevChain, timestamps: &[u64]) {
    for at in timestamps {
        chain.mine(*at, &[]).await.unwrap();
    }
}

#[tokio::test]
async fn a_session_is_that_of_the_block_to_the_second() {
    let (chain, world) = scene().await;
    let mut config = world_config(&chain, &world, &[chain.url()], [0]).await;
    // Of the pool's two feeds, this one has a heartbeat of an hour instead of a day.
    let share = &world.assets[World::WETH];
    config.token.push(TokenConfig {
        chain: "anvil".parse().unwrap(),
        address: Address(share.token.address.into_array()),
        calendar: "XNYS".to_owned(),
        hours: "regular".to_owned(),
    });
    let mut reader = reader(&config, small_limits());
    let mut at = async |instant: u64| -> Snapshot {
        snapshots(read(&mut reader, instant / SLOT_SECONDS).await).remove(0)
    };
    let session =
        |market_open, state: &str| Session { market_open, note: format!("XNYS@1/{state}") };

    // The block of the opening's slot is one second older than the opening.
    mine(&chain, &[OPEN - 1, OPEN + 1]).await;
    let before = at(OPEN).await;
    assert_eq!(before.observation().block().timestamp, OPEN - 1);
    assert_eq!(before.observation().session(), session(false, "pre"));
    mine(&chain, &[OPEN + 301]).await;
    assert_eq!(at(OPEN + 300).await.observation().session(), session(true, "regular"));

    // The feeds update shortly before the close, and the close's slot has a block of that second.
    mine(&chain, &[CLOSE - 400]).await;
    for asset in &world.assets {
        let answer = chain.latest_round_data(&asset.feed, alloy::eips::BlockId::latest()).await;
        chain.set_answer(&asset.feed, answer.unwrap().answer.try_into().unwrap()).await.unwrap();
    }
    mine(&chain, &[CLOSE - 300, CLOSE - 299]).await;
    assert_eq!(at(CLOSE - 300).await.observation().session(), session(true, "regular"));
    mine(&chain, &[CLOSE, CLOSE + 1]).await;
    let closed = at(CLOSE).await;
    assert_eq!(closed.observation().session(), session(false, "after"));
    assert_eq!(closed.observation().oracle_state(), OracleState::Fresh);

    // During the close, the stock's answer is kept beyond its heartbeat; the answers of other feeds are not.
    let later = (CLOSE + share.heartbeat + SLOT_SECONDS) / SLOT_SECONDS * SLOT_SECONDS;
    mine(&chain, &[later, later + 1]).await;
    let held = at(later).await;
    let observation = held.observation();
    assert!(observation.oracle_stale());
    assert_eq!(observation.oracle_state(), OracleState::HeldOverClose);

    // The snapshot survives its serialization unchanged.
    let documents = held.to_canonical().unwrap();
    let again = Snapshot::from_canonical(&documents.snapshot, &documents.state);
    assert_eq!(again.as_ref(), Ok(&held));
}
