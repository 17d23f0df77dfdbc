//! The development chain itself: real contract code, real fills, a reproducible market.

use alloy::eips::{BlockId, BlockNumberOrTag};
use alloy::primitives::{I256, U256};
use exitgap_tests::devchain::{
    DevChain, DevChainError, FIRST_SLOT, MULTICALL3, Market, Options, PoolKind, PoolReading,
    PoolSpec, PositionSpec, SLOT_SECONDS, World, abi, many_v3_pools, sqrt_price_x96,
};
use exitgap_tests::fixtures::Artifact;

use crate::scenes::chain::scene;

#[tokio::test]
async fn a_loaded_chain_is_the_played_one() {
    let played = DevChain::start(Options::default()).await.unwrap();
    let world_played = World::deploy(&played).await.unwrap();
    let (loaded, world_loaded) = scene().await;
    assert_eq!(world_loaded, world_played);
    let newest = played.head().await.unwrap();
    assert_eq!(loaded.head().await.unwrap(), newest);
    let pool = world_played.pools[0].pool;
    for number in 0..=newest.number {
        let [a, b] = [&played, &loaded].map(|chain| async move {
            let block = chain.block(number.into()).await.unwrap();
            let receipts: serde_json::Value = chain
                .rpc("eth_getBlockReceipts", (BlockNumberOrTag::Number(number),))
                .await
                .unwrap();
            let none: [String; 0] = [];
            let proof: serde_json::Value = chain
                .rpc("eth_getProof", (pool.address, none, BlockNumberOrTag::Number(number)))
                .await
                .unwrap();
            (block, receipts, proof)
        });
        assert_eq!(a.await, b.await, "block {number}");
    }
    // Both chains continue identically.
    let [a, b] = [&played, &loaded]
        .map(|chain| async move { chain.mine(newest.timestamp + 7, &[]).await.unwrap().hash });
    assert_eq!(a.await, b.await);
}

#[tokio::test]
async fn contracts_carry_the_published_code() {
    let chain = DevChain::start(Options::default()).await.unwrap();
    assert!(chain.code(MULTICALL3).await.unwrap().len() > 3000);
    let contracts = chain.contracts;
    for (address, artifact) in [
        (contracts.weth, Artifact::Weth9),
        (contracts.v2_factory, Artifact::UniswapV2Factory),
        (contracts.v2_router, Artifact::UniswapV2Router02),
        (contracts.v3_factory, Artifact::UniswapV3Factory),
        (contracts.v3_positions, Artifact::NonfungiblePositionManager),
        (contracts.v3_router, Artifact::SwapRouter),
        (contracts.v3_quoter, Artifact::QuoterV2),
        (contracts.v3_tick_lens, Artifact::TickLens),
    ] {
        let found = chain.code(address).await.unwrap();
        let published = artifact.deployed_code().unwrap();
        assert_eq!(found.len(), published.len(), "{artifact:?}");
        // Immutable values are zero in the published code; nothing else may differ.
        let differs = |(a, b): (&u8, &u8)| a != b && *b != 0;
        let other = found.iter().zip(&published).filter(|pair| differs(*pair));
        assert_eq!(other.count(), 0, "{artifact:?}");
    }
}

#[tokio::test]
async fn multicall_answers_at_block_zero() {
    let chain = DevChain::start(Options::default()).await.unwrap();
    let none = abi::Multicall3::aggregate3Call { calls: Vec::new() };
    let answer = chain.call(MULTICALL3, &none, BlockId::number(0)).await;
    assert!(answer.unwrap().is_empty());
}

#[tokio::test]
async fn every_quote_equals_the_real_fill() {
    let (chain, world) = scene().await;
    for world_pool in &world.pools {
        let pool = world_pool.pool;
        for token_in in [pool.token0, pool.token1] {
            let asset = world.asset(token_in).unwrap();
            for usd in [1, 700, 250_000] {
                let amount_in = asset.worth(usd);
                let at = BlockId::hash(chain.head().await.unwrap().hash);
                let quoted = chain.quote(&pool, token_in, amount_in, at).await.unwrap();
                let before =
                    chain.balance_of(pool.other(token_in), chain.trader, at).await.unwrap();
                let filled = chain.swap_exact_in(&pool, token_in, amount_in).await.unwrap();
                let after = chain
                    .balance_of(pool.other(token_in), chain.trader, BlockId::latest())
                    .await
                    .unwrap();
                let name = &world_pool.name;
                assert_eq!(filled.amount_out, quoted, "{name} {usd}");
                assert_eq!(after - before, quoted, "{name} {usd}");
                let partial = filled.amount_in < amount_in;
                let may_be = pool.kind == PoolKind::V3 && usd == 250_000;
                assert!(!partial || may_be, "{name} {usd}");
            }
        }
    }
}

#[tokio::test]
async fn feeds_are_read_through_their_proxies() {
    let (chain, world) = scene().await;
    let feed = &world.assets[World::WETH].feed;
    let first = chain.latest_round_data(feed, BlockId::latest()).await;
    assert_eq!(first.unwrap().answer, I256::try_from(250_123_000_000_i128).unwrap());
    for answer in [260_000_000_000, 0, -5] {
        let mined = chain.set_answer(feed, answer).await.unwrap();
        let read = chain.latest_round_data(feed, BlockId::latest()).await.unwrap();
        assert_eq!(read.answer, I256::try_from(answer).unwrap());
        assert_eq!(read.updatedAt, U256::from(mined.timestamp));
        assert_eq!(read.roundId, read.answeredInRound);
    }
    let description = abi::FeedProxy::descriptionCall {};
    let text = chain.call(feed.proxy, &description, BlockId::latest()).await;
    assert_eq!(text.unwrap(), "ETH / USD");
}

#[tokio::test]
async fn a_seed_plays_the_same_twice_and_another_seed_does_not() {
    let mut ends = Vec::new();
    for seed in [7, 7, 8] {
        let (chain, world) = scene().await;
        let mut market = Market::new(&chain, &world, seed).await.unwrap();
        for slot in FIRST_SLOT..FIRST_SLOT + 20 {
            market.play_slot(slot).await.unwrap();
        }
        let at = BlockId::latest();
        ends.push(chain.read_pools(&world.handles(), at).await.unwrap());
    }
    assert_eq!(ends[0], ends[1]);
    assert_ne!(ends[0], ends[2]);
}

#[tokio::test]
async fn a_played_slot_has_its_last_block_and_a_later_one() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 3).await.unwrap();
    for slot in FIRST_SLOT..FIRST_SLOT + 20 {
        let played = market.play_slot(slot).await.unwrap();
        let instant = slot * SLOT_SECONDS;
        let (last, later) = (played.last_block, played.later_block);
        assert!(last.timestamp <= instant && instant - last.timestamp < 12);
        assert!(later.timestamp > instant);
        assert_eq!(later.number, last.number + 1);
        assert_eq!(chain.head().await.unwrap(), later);
        let pools = world.handles();
        let [recorded, moved] = [last, later].map(|head| {
            let pools = pools.clone();
            let chain = &chain;
            async move { chain.read_pools(&pools, BlockId::hash(head.hash)).await }
        });
        assert_ne!(recorded.await.unwrap(), moved.await.unwrap());
        for asset in &world.assets {
            let read = chain.latest_round_data(&asset.feed, BlockId::latest()).await;
            let age = instant - read.unwrap().updatedAt.to::<u64>();
            assert!(age <= asset.heartbeat, "{} {age}", asset.feed.description);
        }
    }
    let error = market.play_slot(FIRST_SLOT).await.unwrap_err();
    assert!(matches!(error, DevChainError::Unexpected { .. }), "{error}");
}

#[tokio::test]
async fn prices_fall_sharply_once_a_day_and_liquidity_leaves() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 11).await.unwrap();
    let mut in_range = Vec::new();
    let mut prices = Vec::new();
    for slot in FIRST_SLOT + 184..FIRST_SLOT + 212 {
        let played = market.play_slot(slot).await.unwrap();
        let at = BlockId::hash(played.last_block.hash);
        let reading = chain.read_pools(&[world.pools[0].pool], at).await.unwrap()[0];
        let PoolReading::V3 { liquidity, .. } = reading else { panic!("{reading:?}") };
        in_range.push(liquidity);
        prices.push(market.hidden_answer(World::WETH));
    }
    let largest_move = |range: std::ops::Range<usize>| {
        let moves = prices[range].windows(2).map(|two| two[0].abs_diff(two[1]) * 1000 / two[0]);
        moves.max().unwrap()
    };
    assert!(largest_move(0..8) < 10, "{prices:?}");
    assert!(largest_move(7..11) > 50, "{prices:?}");
    assert!(largest_move(11..28) < 10, "{prices:?}");
    assert!(in_range[27] * 2 < in_range[0], "{in_range:?}");
    let feed = &world.assets[World::WETH].feed;
    let told = chain.latest_round_data(feed, BlockId::latest()).await.unwrap().answer;
    let told: u128 = told.unsigned_abs().to();
    assert!(told.abs_diff(prices[27]) * 100 < prices[27], "the feed followed: {told}");
}

#[tokio::test]
async fn beyond_its_liquidity_a_pool_takes_less_than_offered() {
    let (chain, world) = scene().await;
    let pool = world.pools[World::THIN].pool;
    let alt = &world.assets[World::ALT];
    let offered = alt.worth(1_000_000);
    let at = BlockId::latest();
    let quoted = chain.quote(&pool, alt.token.address, offered, at).await.unwrap();
    let filled = chain.swap_exact_in(&pool, alt.token.address, offered).await.unwrap();
    assert!(filled.amount_in < offered);
    assert_eq!(filled.amount_out, quoted);
}

#[tokio::test]
async fn the_chain_can_be_used_from_other_threads() {
    let chain = std::sync::Arc::new(DevChain::start(Options::default()).await.unwrap());
    let other = std::sync::Arc::clone(&chain);
    let mined = tokio::spawn(async move { other.mine_next(&[]).await.unwrap() }).await.unwrap();
    assert_eq!(chain.head().await.unwrap().number, mined.number);
}

#[tokio::test]
async fn a_pool_of_ones_own_has_the_positions_asked_for() {
    let chain = DevChain::start(Options::default()).await.unwrap();
    let tokens = chain.create_tokens(&[("A", 6), ("B", 18)]).await.unwrap();
    let million = U256::from(1_000_000);
    let position = |tick_lower, tick_upper| PositionSpec {
        tick_lower,
        tick_upper,
        amount0: million,
        amount1: million,
    };
    let spec = PoolSpec {
        token_a: tokens[1].address,
        token_b: tokens[0].address,
        fee: 3000,
        sqrt_price_x96: sqrt_price_x96(million, million),
        positions: vec![position(-60, 60), position(-120, 60), position(120, 240)],
    };
    let (pool, minted) = chain.create_v3_pool(spec).await.unwrap();
    let at = BlockId::latest();
    let reading = chain.read_pools(&[pool], at).await.unwrap()[0];
    let in_range = minted[0].liquidity + minted[1].liquidity;
    assert_eq!(
        reading,
        PoolReading::V3 { sqrt_price_x96: U256::from(1) << 96, tick: 0, liquidity: in_range }
    );
    chain.burn_position(&minted[0], minted[0].liquidity).await.unwrap();
    let reading = chain.read_pools(&[pool], at).await.unwrap()[0];
    let PoolReading::V3 { liquidity, .. } = reading else {
        panic!("{reading:?}");
    };
    assert_eq!(liquidity, minted[1].liquidity);
}

#[tokio::test]
async fn many_pools_are_distinct_and_funded() {
    let chain = DevChain::start(Options::default()).await.unwrap();
    let created = many_v3_pools(&chain, 10, 20, 5).await.unwrap();
    assert_eq!(created.len(), 10);
    for (pool, positions) in &created {
        assert_eq!(positions.len(), 20);
        assert!(chain.code(pool.address).await.unwrap().len() > 20_000);
        assert!(positions.iter().all(|position| position.liquidity > 0));
    }
}

#[tokio::test]
async fn snapshot_revert_and_reorg_undo_a_swap() {
    let (chain, world) = scene().await;
    let pool = world.pools[0].pool;
    let amount = world.assets[World::WETH].worth(10_000);
    let weth = world.assets[World::WETH].token.address;
    let before = chain.read_pools(&[pool], BlockId::latest()).await.unwrap();
    let snapshot = chain.snapshot().await.unwrap();
    chain.swap_exact_in(&pool, weth, amount).await.unwrap();
    chain.revert(snapshot).await.unwrap();
    let reverted = chain.read_pools(&[pool], BlockId::latest()).await.unwrap();
    assert_eq!(reverted, before);

    let swap = chain.swap_exact_in(&pool, weth, amount).await.unwrap();
    let at = BlockNumberOrTag::Number(swap.block);
    let orphan = chain.block(at).await.unwrap().unwrap();
    chain.reorg(1).await.unwrap();
    let canonical = chain.block(at).await.unwrap().unwrap();
    assert_ne!(canonical.hash, orphan.hash);
    let undone = chain.read_pools(&[pool], BlockId::latest()).await.unwrap();
    assert_eq!(undone, before);
}

#[tokio::test]
async fn a_reverted_transaction_tells_the_contracts_reason() {
    let chain = DevChain::start(Options::default()).await.unwrap();
    let tokens = chain.create_tokens(&[("A", 6)]).await.unwrap();
    let transfer = abi::Token::transferCall { to: chain.operator, amount: U256::MAX };
    let tx = exitgap_tests::devchain::Tx::call(chain.trader, tokens[0].address, &transfer);
    let error = chain.mine_next(&[tx]).await.unwrap_err();
    let DevChainError::Reverted { index: 0, reason, .. } = error else {
        panic!("{error}");
    };
    assert!(reason.contains("transfer amount exceeds balance"), "{reason}");
}

#[tokio::test]
async fn a_pruned_node_refuses_old_state() {
    let chain =
        DevChain::start(Options { prune_history: Some(8), ..Options::default() }).await.unwrap();
    for _ in 0..40 {
        chain.mine_next(&[]).await.unwrap();
    }
    let balance_at = async |number| {
        let at = (chain.operator, BlockNumberOrTag::Number(number));
        chain.rpc::<_, U256>("eth_getBalance", at).await
    };
    let old = balance_at(1).await;
    assert!(old.is_err(), "{old:?}");
    let recent = chain.head().await.unwrap().number - 3;
    assert!(balance_at(recent).await.is_ok());
}

#[tokio::test]
async fn a_dropped_chain_leaves_no_process() {
    let chain = DevChain::start(Options::default()).await.unwrap();
    let process = std::path::PathBuf::from(format!("/proc/{}", chain.process_id()));
    if !std::path::Path::new("/proc").exists() {
        return;
    }
    assert!(process.exists());
    drop(chain);
    assert!(!process.exists());
}
