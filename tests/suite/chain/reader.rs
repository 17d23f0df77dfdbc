//! The chain reader with real contracts: its snapshots equal the contracts' answers.

use alloy::eips::{BlockId, BlockNumberOrTag};
use alloy::primitives::{B256, Bytes, U256};
use exitgap_chain::config::LogsCheck;
use exitgap_chain::{Event, FullReadCause, Limits, Severity};
use exitgap_core::ids::Address;
use exitgap_core::pools::PoolState;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::{ChainKind, OracleSource, Snapshot};
use exitgap_tests::devchain::{FIRST_SLOT, Market, PoolReading, PositionSpec, SLOT_SECONDS, World};

use crate::scenes::chain::{
    assert_fills_equal, deadline, pool_config, read, reader, scene, small_limits, snapshots,
    world_config,
};
use crate::scenes::proxy::{Lie, Proxy};

#[tokio::test]
async fn snapshots_are_the_contracts_own_answers() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 11).await.unwrap();
    for slot in FIRST_SLOT..FIRST_SLOT + 2 {
        market.play_slot(slot).await.unwrap();
    }
    let slot = FIRST_SLOT + 2;
    let played = market.play_slot(slot).await.unwrap();
    let config = world_config(&chain, &world, &[chain.url()], 0..world.pools.len()).await;
    let mut reader = reader(&config, small_limits());
    let reading = read(&mut reader, slot).await;
    assert!(reading.events.is_empty(), "{:?}", reading.events);
    let snapshots = snapshots(reading);

    let at = BlockId::hash(played.last_block.hash);
    let readings = chain.read_pools(&world.handles(), at).await.unwrap();
    for ((pool, answer), snapshot) in world.pools.iter().zip(readings).zip(&snapshots) {
        let observation = snapshot.observation();
        let block = observation.block();
        assert_eq!(block.hash.0, played.last_block.hash.0);
        assert_eq!(block.number, played.last_block.number);
        assert_eq!(observation.chain().kind, ChainKind::Preview);
        match (observation.state(), answer) {
            (PoolState::ConstantProduct(state), PoolReading::V2 { reserve0, reserve1 }) => {
                assert_eq!(state.reserves().map(U256::from), [reserve0, reserve1]);
            }
            (
                PoolState::Concentrated(state),
                PoolReading::V3 { sqrt_price_x96, tick, liquidity },
            ) => {
                assert_eq!(state.sqrt_price_x96(), sqrt_price_x96);
                assert_eq!((state.tick(), state.liquidity()), (tick, liquidity));
                assert_eq!(state.fee_pips(), pool.pool.fee);
            }
            (state, answer) => panic!("{}: {state:?} {answer:?}", pool.name),
        }
        for (token, address) in
            observation.tokens().iter().zip([pool.pool.token0, pool.pool.token1])
        {
            let asset = world.asset(address).unwrap();
            assert_eq!(token.symbol.as_str(), asset.token.symbol);
            assert_eq!(token.decimals, asset.token.decimals);
        }
        for (reading, token) in
            observation.oracles().iter().zip([pool.pool.token0, pool.pool.token1])
        {
            let feed = &world.asset(token).unwrap().feed;
            let said = chain.latest_round_data(feed, at).await.unwrap();
            let OracleSource::Chainlink(round) = &reading.source else { panic!("fixed") };
            assert_eq!(round.feed.0, feed.proxy.into_array());
            assert_eq!(U256::from(round.updated_at), said.updatedAt);
            assert_eq!(reading.answer, said.answer.into_raw());
            assert_eq!((reading.decimals, round.round), (8, said.roundId.to::<u128>()));
        }
        assert_fills_equal(&chain, &pool.pool, observation).await;
    }
    // The stored snapshots can be read back.
    for snapshot in &snapshots {
        let documents = snapshot.to_canonical().unwrap();
        let read = Snapshot::from_canonical(&documents.snapshot, &documents.state);
        assert_eq!(read.as_ref(), Ok(snapshot));
    }
}

#[tokio::test]
async fn following_the_logs_equals_reading_everything() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 5).await.unwrap();
    let pools = [0, 1, 2, 5, 6, 7];
    let mut config = world_config(&chain, &world, &[chain.url()], pools).await;
    // Blooms name some of these few pools by chance.
    config.chain[0].check_logs_by = LogsCheck::Receipts;
    // The reader only reads again what the logs name.
    let limits = Limits { full_read_slots: 288, full_read_slots_most: 289, ..small_limits() };
    let mut following = reader(&config, limits);
    for slot in FIRST_SLOT..FIRST_SLOT + 24 {
        market.play_slot(slot).await.unwrap();
        let reading = read(&mut following, slot).await;
        assert!(reading.events.is_empty(), "{slot}: {:?}", reading.events);
        if slot > FIRST_SLOT + 1 {
            // With those that check the logs: a header and receipts of each block.
            assert!(reading.requests <= 16, "{slot}: {} requests", reading.requests);
        }
        if slot % 6 == 0 {
            let fresh = read(&mut reader(&config, small_limits()), slot).await;
            assert_eq!(snapshots(reading), snapshots(fresh), "{slot}");
        }
    }
}

#[tokio::test]
async fn a_reorganised_block_is_noticed_and_read_again() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 9).await.unwrap();
    let config = world_config(&chain, &world, &[chain.url()], [1, 6]).await;
    let mut reader = reader(&config, small_limits());
    market.play_slot(FIRST_SLOT).await.unwrap();
    let first = snapshots(read(&mut reader, FIRST_SLOT).await);
    // Empty blocks replace the slot's block and the one after it.
    chain.reorg(2).await.unwrap();
    let end = (FIRST_SLOT + 1) * SLOT_SECONDS + 1;
    chain.mine(end, &[]).await.unwrap();
    let reading = read(&mut reader, FIRST_SLOT + 1).await;
    let reorganised = |event: &Event| {
        matches!(event, Event::ReadInFull { cause: FullReadCause::Reorganised, .. })
    };
    assert_eq!(reading.events.iter().filter(|event| reorganised(event)).count(), 1);
    let second = snapshots(reading);
    assert_ne!(first[0].observation().block().hash, second[0].observation().block().hash);
    for (place, pool) in [1, 6].into_iter().enumerate() {
        assert_fills_equal(&chain, &world.pools[pool].pool, second[place].observation()).await;
    }
    // The block number now has another hash, which later rechecks detect.
    let block = first[0].observation().block();
    let now = reader.canonical_hash(block.number, deadline()).await.unwrap();
    assert_ne!(now, block.hash);
}

/// A node hides logs. Nothing near the price changes, so only the regular full reading can detect it.
#[tokio::test]
async fn the_full_reading_in_turn_finds_what_logs_hid() {
    let (chain, world) = scene().await;
    let proxy = Proxy::start(&chain.url());
    proxy.lie(|request, _| {
        (request["method"] == "eth_getLogs").then(|| Lie::Result(serde_json::json!([])))
    });
    let mut config = world_config(&chain, &world, &[proxy.url()], [1]).await;
    config.chain[0].check_logs_by = LogsCheck::Nothing;
    let limits = Limits { full_read_slots: 3, full_read_slots_most: 4, ..small_limits() };
    let mut deceived = reader(&config, limits);
    let pool = world.pools[1].pool;
    let mut slot = FIRST_SLOT;
    chain.mine(slot * SLOT_SECONDS - 5, &[]).await.unwrap();
    chain.mine(slot * SLOT_SECONDS + 5, &[]).await.unwrap();
    let before = snapshots(read(&mut deceived, slot).await);
    let PoolState::Concentrated(state) = before[0].observation().state() else { panic!("v3") };
    let far = (state.tick() / 60 + 2_000) * 60;
    let position = PositionSpec {
        tick_lower: far,
        tick_upper: far + 60,
        amount0: U256::from(10).pow(U256::from(12)),
        amount1: U256::from(10).pow(U256::from(12)),
    };
    chain.mint_positions(&[(pool, position)]).await.unwrap();
    let mut differing = Vec::new();
    let last = loop {
        slot += 1;
        chain.mine(slot * SLOT_SECONDS - 5, &[]).await.unwrap();
        chain.mine(slot * SLOT_SECONDS + 5, &[]).await.unwrap();
        let reading = read(&mut deceived, slot).await;
        differing.extend(reading.events.clone());
        if !differing.is_empty() {
            break snapshots(reading);
        }
        assert!(slot < FIRST_SLOT + 3, "a full reading was due");
        let PoolState::Concentrated(kept) = last_state(&reading) else { panic!("v3") };
        assert!(kept.ticks().iter().all(|tick| tick.tick != far));
    };
    let id = last[0].observation().pool().clone();
    let block = last[0].observation().block().number;
    let good_until = Slot::new(FIRST_SLOT).ok();
    assert_eq!(
        differing,
        [Event::TicksDiffer { pool: id, block, differing: 2, first_tick: far, good_until }]
    );
    let honest = world_config(&chain, &world, &[chain.url()], [1]).await;
    assert_eq!(last, snapshots(read(&mut reader(&honest, small_limits()), slot).await));
    assert!(proxy.fired() > 0);
}

fn last_state(reading: &exitgap_chain::SlotReading) -> PoolState {
    reading.pools[0].1.as_ref().unwrap().observation().state().clone()
}

/// Hidden logs that change the active liquidity are detected in the same slot.
#[tokio::test]
async fn ticks_that_do_not_sum_to_the_liquidity_are_read_in_full() {
    let (chain, world) = scene().await;
    let proxy = Proxy::start(&chain.url());
    proxy.lie(|request, _| {
        (request["method"] == "eth_getLogs").then(|| Lie::Result(serde_json::json!([])))
    });
    let mut config = world_config(&chain, &world, &[proxy.url()], [1]).await;
    config.chain[0].check_logs_by = LogsCheck::Nothing;
    let mut deceived = reader(&config, small_limits());
    chain.mine(FIRST_SLOT * SLOT_SECONDS, &[]).await.unwrap();
    chain.mine_next(&[]).await.unwrap();
    snapshots(read(&mut deceived, FIRST_SLOT).await);
    let position = world.pools[1].positions[7];
    chain.burn_position(&position, position.liquidity / 2).await.unwrap();
    chain.mine((FIRST_SLOT + 1) * SLOT_SECONDS + 1, &[]).await.unwrap();
    let reading = read(&mut deceived, FIRST_SLOT + 1).await;
    assert!(
        matches!(
            &reading.events[..],
            [
                Event::ReadInFull { cause: FullReadCause::Unbalanced(_), .. },
                Event::TicksDiffer { differing: 2, .. }
            ]
        ),
        "{:?}",
        reading.events
    );
    let snapshot = snapshots(reading).remove(0);
    assert_fills_equal(&chain, &world.pools[1].pool, snapshot.observation()).await;
    assert!(proxy.fired() > 0);
}

/// Runtime code that answers `symbol()` with a `bytes32` value and everything else with `decimals`.
fn bytes32_token(symbol: &[u8], decimals: u8) -> Bytes {
    let mut code = alloy::primitives::hex!(
        "60003560e01c" // the selector
        "806395d89b4114601a57" // symbol() jumps
        "60" "00" "60005260206000f3" // returns decimals
        "5b" "7f" // here it jumps to: pushes the symbol
    )
    .to_vec();
    code[17] = decimals;
    code.extend(B256::right_padding_from(symbol));
    code.extend(alloy::primitives::hex!("60005260206000f3"));
    code.into()
}

#[tokio::test]
async fn contracts_are_taken_for_what_they_are() {
    let (chain, world) = scene().await;
    let kinds = [("U\u{202e}SD\u{0}T", 6), ("OLD", 18), ("MANY", 18)];
    let tokens = chain.create_tokens(&kinds).await.unwrap();
    let (hostile, old, many) = (&tokens[0], &tokens[1], &tokens[2]);
    let amount = |token: &exitgap_tests::devchain::Token| token.units(1_000);
    let pair = chain.create_v2_pair((hostile, amount(hostile)), (old, amount(old))).await.unwrap();
    let refused = chain.create_v2_pair((hostile, amount(hostile)), (many, amount(many)));
    let refused = refused.await.unwrap();
    chain.set_code(old.address, bytes32_token(b"MKR", 18)).await.unwrap();
    chain.set_code(many.address, bytes32_token(b"MANY", 37)).await.unwrap();
    chain.mine(FIRST_SLOT * SLOT_SECONDS, &[]).await.unwrap();
    chain.mine_next(&[]).await.unwrap();

    let mut config = world_config(&chain, &world, &[chain.url()], [0]).await;
    let mut add = |address: alloy::primitives::Address, fee: bool| {
        let mut pool = pool_config(&pair, ["USDC", "USDC"]);
        pool.address = Address(address.into_array()).into();
        pool.fee = pool.fee.filter(|_| fee);
        config.pool.push(pool);
    };
    add(pair.address, true);
    add(refused.address, true);
    add(hostile.address, true); // A contract that is no pool.
    add(chain.trader, true); // No contract.
    add(world.pools[1].pool.address, true); // A v3 pool with a configured fee.
    add(world.pools[7].pool.address, false); // A v2 pair without one.
    let mut reader = reader(&config, small_limits());
    let reading = read(&mut reader, FIRST_SLOT).await;
    assert!(reading.pools[0].1.is_ok(), "the others do not touch a good pool");
    let observation = reading.pools[1].1.as_ref().unwrap().observation();
    let symbols: Vec<(&str, u8)> =
        observation.tokens().iter().map(|token| (token.symbol.as_str(), token.decimals)).collect();
    assert!(symbols.contains(&("U?SD?T", 6)) && symbols.contains(&("MKR", 18)), "{symbols:?}");
    let words = [
        "are 37",
        "not a supported kind",
        "no contract responds",
        "remove `fee`",
        "configure `fee`",
    ];
    for (words, (pool, result)) in words.into_iter().zip(&reading.pools[2..]) {
        let missing = result.as_ref().unwrap_err();
        assert_eq!(missing.reason, MissingReason::PoolUnsupported, "{pool}");
        assert!(missing.detail.contains(words), "{missing}");
    }

    let infos = reader.describe(deadline()).await;
    assert_eq!(infos[0].1.as_ref().unwrap().kind, "concentrated_liquidity");
    assert_eq!(infos[1].1.as_ref().unwrap().kind, "constant_product");
    assert!(infos[2].1.is_err());
    let findings = reader.check(deadline()).await;
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    assert_eq!(errors, 5, "{findings:#?}");
    assert!(findings[0].message.contains("chain id and genesis match"), "{}", findings[0]);
    assert!(findings.iter().any(|finding| finding.subject == "oracle USDC"));
}

#[tokio::test]
async fn the_newest_block_can_be_read_without_a_slot() {
    let (chain, world) = scene().await;
    let config = world_config(&chain, &world, &[chain.url()], [0, 6]).await;
    let mut reader = reader(&config, small_limits());
    for (place, index) in [0, World::FIRST_V2].into_iter().enumerate() {
        let id = reader.plan().pools()[place].id.clone();
        let observation = reader.read_latest(&id, deadline()).await.unwrap();
        let head = chain.block(BlockNumberOrTag::Latest).await.unwrap().unwrap();
        assert_eq!(observation.block().hash.0, head.hash.0);
        assert_fills_equal(&chain, &world.pools[index].pool, &observation).await;
    }
    let other = "anvil:0x0000000000000000000000000000000000000001".parse().unwrap();
    let missing = reader.read_latest(&other, deadline()).await.unwrap_err();
    assert_eq!(missing.reason, MissingReason::PoolUnsupported);
}

#[tokio::test]
async fn a_feed_that_cannot_be_believed_is_the_slots_reason() {
    let (chain, world) = scene().await;
    let config = world_config(&chain, &world, &[chain.url()], [0]).await;
    let mut reader = reader(&config, small_limits());
    let weth = &world.assets[World::WETH].feed;
    chain.set_answer(weth, 0).await.unwrap();
    chain.mine(FIRST_SLOT * SLOT_SECONDS, &[]).await.unwrap();
    chain.mine_next(&[]).await.unwrap();
    let reading = read(&mut reader, FIRST_SLOT).await;
    let missing = reading.pools[0].1.as_ref().unwrap_err();
    assert_eq!(missing.reason, MissingReason::OracleInvalid, "{missing}");
    assert!(missing.detail.contains("WETH"), "{missing}");

    // The reader uses an answer that is older than its heartbeat, and marks it as stale.
    chain.set_answer(weth, 250_000_000_000).await.unwrap();
    let later = FIRST_SLOT + 13;
    chain.mine(later * SLOT_SECONDS, &[]).await.unwrap();
    chain.mine_next(&[]).await.unwrap();
    let snapshot = snapshots(read(&mut reader, later).await).remove(0);
    assert!(snapshot.observation().oracle_stale());
}

#[tokio::test]
async fn a_slot_without_its_blocks_is_missing() {
    let (chain, world) = scene().await;
    let config = world_config(&chain, &world, &[chain.url()], [6]).await;
    let mut reader = reader(&config, small_limits());
    chain.mine(FIRST_SLOT * SLOT_SECONDS, &[]).await.unwrap();
    // The slot's block alone does not prove that it is the last one before the instant.
    let reason = |reading: exitgap_chain::SlotReading| {
        reading.pools[0].1.as_ref().map(|_| ()).map_err(|missing| missing.reason)
    };
    assert_eq!(reason(read(&mut reader, FIRST_SLOT).await), Err(MissingReason::ChainLagging));
    chain.mine((FIRST_SLOT + 4) * SLOT_SECONDS + 1, &[]).await.unwrap();
    assert_eq!(reason(read(&mut reader, FIRST_SLOT).await), Ok(()));
    assert_eq!(reason(read(&mut reader, FIRST_SLOT + 2).await), Ok(()), "600 s old");
    assert_eq!(reason(read(&mut reader, FIRST_SLOT + 3).await), Err(MissingReason::ChainStalled));
    // The deadline has already passed.
    let slot = Slot::new(FIRST_SLOT).unwrap();
    let late = reader.read_slot(slot, tokio::time::Instant::now()).await;
    assert_eq!(reason(late), Err(MissingReason::DeadlineExceeded));
}
