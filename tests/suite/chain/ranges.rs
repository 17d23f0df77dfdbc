//! Nodes that return logs only for a few blocks per request.

use exitgap_chain::{Event, FullReadCause, Limits};
use exitgap_tests::devchain::{DevChain, FIRST_SLOT, SLOT_SECONDS};
use serde_json::Value;

use crate::scenes::chain::{pass_slot, read, reader, scene, small_limits, snapshots, world_config};
use crate::scenes::proxy::{Lie, Proxy};

/// Number of blocks between two slots.
const BLOCKS: u64 = 12;

/// Mines the blocks of a slot and the block after it.
async fn pass_long_slot(chain: &DevChain, slot: u64) {
    for ago in (1..BLOCKS).rev() {
        chain.mine(slot * SLOT_SECONDS - 10 * ago, &[]).await.unwrap();
    }
    chain.mine(slot * SLOT_SECONDS + 5, &[]).await.unwrap();
}

/// Number of blocks that a log request covers.
fn blocks_of(request: &Value) -> Option<u64> {
    if request["method"] != "eth_getLogs" {
        return None;
    }
    let number = |key: &str| {
        let text = request["params"][0][key].as_str()?.strip_prefix("0x")?;
        u64::from_str_radix(text, 16).ok()
    };
    Some(number("toBlock")? - number("fromBlock")? + 1)
}

/// Makes the node reject requests for more than `most` blocks, with the error message of a public node.
fn refuse_beyond(proxy: &Proxy, most: u64) {
    const WORDS: &str = "ranges over 10000 blocks are not supported on freetier";
    proxy.lie(move |request, _| {
        blocks_of(request).filter(|blocks| *blocks > most).map(|_| Lie::Error(-32_000, WORDS))
    });
}

#[tokio::test]
async fn a_refused_range_is_split_and_its_size_remembered() {
    let (chain, world) = scene().await;
    let proxy = Proxy::start(&chain.url());
    refuse_beyond(&proxy, 3);
    let config = world_config(&chain, &world, &[proxy.url()], [1]).await;
    let honest = world_config(&chain, &world, &[chain.url()], [1]).await;
    let mut limited = reader(&config, small_limits());
    pass_slot(&chain, FIRST_SLOT).await;
    snapshots(read(&mut limited, FIRST_SLOT).await);
    let position = world.pools[1].positions[7];
    let mut refused = Vec::new();
    for slot in FIRST_SLOT + 1..FIRST_SLOT + 6 {
        chain.burn_position(&position, position.liquidity / 8).await.unwrap();
        pass_long_slot(&chain, slot).await;
        let before = proxy.fired();
        let reading = read(&mut limited, slot).await;
        assert!(reading.events.is_empty(), "it is followed by logs: {:?}", reading.events);
        refused.push(proxy.fired() - before);
        let fresh = read(&mut reader(&honest, small_limits()), slot).await;
        assert_eq!(snapshots(reading), snapshots(fresh));
    }
    assert!(refused[0] > 0, "{refused:?}");
    let later = &refused[1..];
    let is_remembered = later.iter().all(|again| *again < refused[0]) && later.contains(&0);
    assert!(is_remembered, "what was refused is tried again, and ever more rarely: {refused:?}");
}

#[tokio::test]
async fn where_more_requests_would_be_needed_than_allowed_ticks_are_read_in_full() {
    let (chain, world) = scene().await;
    let proxy = Proxy::start(&chain.url());
    refuse_beyond(&proxy, 1);
    let config = world_config(&chain, &world, &[proxy.url()], [1]).await;
    let limits = Limits { log_requests: 4, ..small_limits() };
    let mut limited = reader(&config, limits);
    pass_slot(&chain, FIRST_SLOT).await;
    snapshots(read(&mut limited, FIRST_SLOT).await);
    let mut asked = proxy.asked("eth_getLogs").len();
    let mut last = Vec::new();
    for slot in FIRST_SLOT + 1..FIRST_SLOT + 5 {
        pass_long_slot(&chain, slot).await;
        let reading = read(&mut limited, slot).await;
        let now = proxy.asked("eth_getLogs").len();
        assert!(now - asked <= 4, "{}", now - asked);
        asked = now;
        last = reading.events.clone();
        snapshots(reading);
    }
    let no_logs =
        |event: &Event| matches!(event, Event::ReadInFull { cause: FullReadCause::NoLogs(_), .. });
    assert!(proxy.fired() > 0 && last.iter().any(no_logs), "{last:?}");
}
