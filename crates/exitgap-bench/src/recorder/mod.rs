//! The recorder: 100 v3 pools of about 1,200 ticks on the development chain, in steady state; in `mixed`, pools of
//! every kind that this chain supports; in `proving`, the checks against the chain's state before signing.

mod mixed;
mod proving;

use std::time::{Duration, Instant};

use alloy_primitives::U256;
use exitgap_chain::config::{
    LogsCheck,     BaseToken, ChainConfig, Config, Factory, FactoryKind, OracleConfig, Plan, PoolConfig,
};
use exitgap_chain::{ChainReader, Limits, SlotReading};
use exitgap_core::ids::ChainSlug;
use exitgap_core::pools::PoolState;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{Snapshot, Testimony};
use exitgap_core::tlog::SignerKey;
use exitgap_server::recorder::{Recorder, Source};
use exitgap_store::{Store, Totals};
use exitgap_tests::devchain::{
    DevChain, FIRST_SLOT, MintedPosition, Options, Pool, PoolSpec, PositionSpec, Rng, World,
};

use crate::BenchError;
use crate::clock::median;
use crate::effort::Effort;
use crate::report::Report;

/// Pools recorded.
const POOLS: Effort<usize> = Effort::new(100, 4);

/// The pools' fees and tick spacings, in turn.
const TIERS: [(u32, i32); 4] = [(100, 1), (500, 10), (3_000, 60), (10_000, 200)];

/// Number of positions per pool, half the number of its ticks: each end is a separate tick.
const POSITIONS: Effort<i32> = Effort::new(600, 20);

/// Number of warm-up slots: the first one reads every tick.
const WARMING: u64 = 2;

/// Number of measured slots: one round of the store's record levels.
const SLOTS: Effort<u64> = Effort::new(48, 2);

/// Number of pools per slot from which liquidity is removed.
const BURNS: Effort<usize> = Effort::new(5, 1);

/// The measurements of the slots.
#[derive(Default)]
struct Measured {
    requests: u64,
    cpu: Duration,
    read_cpu: Duration,
    slot_ms: Vec<f64>,
}

/// Whether two independent readers of the same chain agree about the same pools and slots.
#[derive(Default)]
struct Agreed {
    slots: u32,
    differing: u32,
}

impl Agreed {
    /// Compares what was recorded with an independent reading.
    fn take(
        &mut self,
        recorder: &Recorder<ChainReader>,
        read: &SlotReading,
    ) -> Result<(), BenchError> {
        let reader = recorder.store().map_err(failed)?.reader();
        let testimony = |snapshot: &Snapshot| -> Result<Testimony, BenchError> {
            let state = snapshot.observation().state().to_canonical().map_err(failed)?;
            Ok(Testimony::from_snapshot(snapshot, PoolState::hash_of(&state)))
        };
        for (pool, theirs) in &read.pools {
            let theirs = theirs.as_ref().map_err(failed)?;
            let stored = reader.pool(pool).map_err(failed)?;
            let stored = stored.ok_or_else(|| failed(format!("{pool} is not recorded")))?;
            let ours = reader.snapshot_at(&stored, theirs.slot()).map_err(failed)?;
            let ours = ours.ok_or_else(|| failed(format!("{pool} has no snapshot")))?;
            self.slots += 1;
            let differs = testimony(&ours)?.differs_from(&testimony(theirs)?);
            self.differing += u32::from(differs.is_some());
        }
        Ok(())
    }
}

/// Adds `recorder.requests_per_pool`, `recorder.cpu_ms_per_pool`, `recorder.slot_100_pools_ms`,
/// `recorder.read_cpu_ms_per_pool`, `store.bytes_per_snapshot`, `agree.slots` and `agree.differing`; and the numbers of
/// [`mixed::record`] and [`proving::measure`].
pub fn measure(report: &mut Report) -> Result<(), BenchError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| BenchError::Recorder(error.to_string()))?;
    runtime.block_on(async {
        mixed::record(report).await?;
        record(report).await
    })
}

async fn record(report: &mut Report) -> Result<(), BenchError> {
    let started = Instant::now();
    eprintln!("recorder: creating {POOLS} pools of {POSITIONS} positions on the development chain");
    // The node stores a complete state per block, and these are large.
    let options = Options { prune_history: Some(8), ..Options::default() };
    let chain = DevChain::start(options).await?;
    let world = World::deploy(&chain).await?;
    let pools = create_pools(&chain, POSITIONS.get()).await?;
    eprintln!("recorder: created in {:.0} s", started.elapsed().as_secs_f32());
    let folder = tempfile::tempdir().map_err(failed)?;
    let key = SignerKey::from_seed("exitgap.example/bench", [7; 32]).map_err(failed)?;
    let store = Store::create(folder.path().join("series.db"), &key).map_err(failed)?;
    let plan = Plan::new(&config(&chain, &world, &pools)?).map_err(failed)?;
    let sources = Source::of_plan(&plan, &Limits::default());
    // A second reader, which only reads the same slots.
    let mut readers = exitgap_chain::readers(plan, &Limits::default()).map_err(failed)?;
    let mut reader = readers.pop_first().ok_or_else(|| failed("no chain"))?.1;
    let mut recorder = Recorder::new(store, sources, Duration::from_mins(1));
    let mut measured = Measured::default();
    let (mut before, mut agreed) = (None, Agreed::default());
    for index in 0..WARMING + SLOTS.get() {
        let slot = Slot::new(FIRST_SLOT + index).map_err(failed)?;
        trade(&chain, &pools, index, slot.unix_s()).await?;
        if index == WARMING {
            measured = Measured::default();
            before = Some(totals(&recorder)?);
        }
        let cpu = process_cpu()?;
        let done = recorder.record_slot(slot).await.map_err(failed)?;
        measured.cpu += process_cpu()?.saturating_sub(cpu);
        let cpu = process_cpu()?;
        let deadline = tokio::time::Instant::now() + Duration::from_mins(1);
        let reading = reader.read_slot(slot, deadline).await;
        measured.read_cpu += process_cpu()?.saturating_sub(cpu);
        if reading.pools.iter().any(|(_, snapshot)| snapshot.is_err()) {
            return Err(BenchError::Recorder(format!("slot {slot} was not read whole")));
        }
        measured.requests += done.requests;
        measured.slot_ms.push(done.elapsed.as_secs_f64() * 1e3);
        if usize::try_from(done.recorded) != Ok(POOLS.get()) {
            return Err(BenchError::Recorder(format!("slot {slot} is not whole: {done:?}")));
        }
        agreed.take(&recorder, &reading)?;
    }
    report.add("agree.slots", f64::from(agreed.slots));
    report.add("agree.differing", f64::from(agreed.differing));
    let after = totals(&recorder)?;
    add(report, measured, before.as_ref().unwrap_or(&after), &after);
    drop((recorder, reader, chain));
    proving::measure(report).await
}

fn add(report: &mut Report, measured: Measured, before: &Totals, after: &Totals) {
    let readings = f64::from(u32::try_from(SLOTS.get()).unwrap_or(1)) * 100.0;
    let float = |number: u64| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    report.add("recorder.requests_per_pool", float(measured.requests) / readings);
    report.add("recorder.cpu_ms_per_pool", measured.cpu.as_secs_f64() * 1e3 / readings);
    report.add("recorder.read_cpu_ms_per_pool", measured.read_cpu.as_secs_f64() * 1e3 / readings);
    report.add("recorder.slot_100_pools_ms", median(measured.slot_ms));
    let snapshots = float(after.snapshots - before.snapshots);
    let bytes = float(after.database_bytes - before.database_bytes);
    report.add("store.bytes_per_snapshot", bytes / snapshots);
    eprintln!(
        "recorder: {snapshots} snapshots of {:.0} canonical bytes, {:.0} compressed, {:.0} in the file",
        float(after.canonical_bytes - before.canonical_bytes) / snapshots,
        float(after.zstd_bytes - before.zstd_bytes) / snapshots,
        bytes / snapshots,
    );
}

fn totals(recorder: &Recorder<ChainReader>) -> Result<Totals, BenchError> {
    recorder.store().map_err(failed)?.reader().totals().map_err(failed)
}

/// Pools around the price with twice as many initialised ticks as positions, half of them active.
async fn create_pools(
    chain: &DevChain,
    many: i32,
) -> Result<Vec<(Pool, Vec<MintedPosition>)>, BenchError> {
    let pairs = POOLS.get().div_ceil(TIERS.len());
    let names: Vec<String> = (0..pairs).map(|index| format!("T{index}")).collect();
    let mut kinds = vec![("QUOTE", 18)];
    kinds.extend(names.iter().map(|name| (name.as_str(), 18)));
    let tokens = chain.create_tokens(&kinds).await?;
    let mut rng = Rng::new(1);
    let spec = |index: usize| {
        let (fee, spacing) = TIERS[index % TIERS.len()];
        let positions = (0..many).map(|position| {
            let amount = tokens[0].units(rng.between(1, 1_000));
            PositionSpec {
                tick_lower: (position - many) * spacing,
                tick_upper: position * spacing,
                amount0: amount,
                amount1: amount,
            }
        });
        PoolSpec {
            token_a: tokens[0].address,
            token_b: tokens[1 + index / TIERS.len()].address,
            fee,
            sqrt_price_x96: U256::ONE << 96,
            positions: positions.collect(),
        }
    };
    let specs: Vec<PoolSpec> = (0..POOLS.get()).map(spec).collect();
    Ok(chain.create_v3_pools(&specs).await?)
}

/// A sale in every pool, and liquidity removed from some, all before the slot's instant; then a block after it.
async fn trade(
    chain: &DevChain,
    pools: &[(Pool, Vec<MintedPosition>)],
    index: u64,
    instant: u64,
) -> Result<(), BenchError> {
    let mut txs = Vec::new();
    for (number, (pool, _)) in (0_u64..).zip(pools) {
        let sells_token0 = (number + index).is_multiple_of(2);
        let token_in = if sells_token0 { pool.token0 } else { pool.token1 };
        let amount = U256::from(1 + (number + index) % 7) * U256::from(10_u64.pow(18));
        txs.push(chain.swap_tx(pool, token_in, amount));
    }
    let first = usize::try_from(index).unwrap_or(0) * BURNS.get();
    for (_, positions) in pools.iter().cycle().skip(first % pools.len()).take(BURNS.get()) {
        let position = &positions[first % positions.len()];
        txs.push(chain.burn_tx(position, position.liquidity / 50));
    }
    // Few blocks, because the node copies its whole state for each.
    chain.mine(instant - 30, &txs).await?;
    chain.mine(instant + 1, &[]).await?;
    Ok(())
}

/// The chain with its factory, two of the scene's feeds, and every pool.
fn config(
    chain: &DevChain,
    world: &World,
    pools: &[(Pool, Vec<MintedPosition>)],
) -> Result<Config, BenchError> {
    let factory = Factory {
        address: exitgap_core::ids::Address(chain.contracts.v3_factory.into_array()),
        kind: FactoryKind::UniswapV3,
        fee_modules: Vec::new(),
    };
    let chains = vec![ChainConfig { factory: vec![factory], ..chain_config(chain)? }];
    let oracle = oracles(world, &[0, 1]);
    let pool = pools.iter().map(|(pool, _)| PoolConfig {
        chain: slug(),
        address: exitgap_core::ids::Address(pool.address.into_array()).into(),
        pair: None,
        key: None,
        base: BaseToken::Token0,
        fee: None,
        token0_usd: vec![world.assets[0].token.symbol.clone()],
        token1_usd: vec![world.assets[1].token.symbol.clone()],
    });
    Ok(Config { chain: chains, oracle, pool: pool.collect(), ..Config::default() })
}

/// The development chain, without factories.
fn chain_config(chain: &DevChain) -> Result<ChainConfig, BenchError> {
    Ok(ChainConfig {
        slug: slug(),
        chain_id: 31_337,
        rpc_urls: vec![chain.url().parse().map_err(failed)?],
        genesis_hash: None,
        known_block: None,
        number_source: None,
        check_logs_by: LogsCheck::Auto,
        second_rpc_url: None,
        sequencer_uptime_feed: None,
        sequencer_grace_s: None,
        multicall3: None,
        confirmations: None,
        factory: Vec::new(),
    })
}

/// The feeds of some of the scene's assets.
fn oracles(world: &World, assets: &[usize]) -> Vec<OracleConfig> {
    assets
        .iter()
        .map(|asset| &world.assets[*asset])
        .map(|asset| OracleConfig::Chainlink {
            name: asset.token.symbol.clone(),
            chain: slug(),
            feed: exitgap_core::ids::Address(asset.feed.proxy.into_array()),
            heartbeat_s: 86_400,
            heartbeat_grace_s: 0,
        })
        .collect()
}

/// The chain's short name.
fn slug() -> ChainSlug {
    "anvil".parse().unwrap_or_else(|_| unreachable!("a word of lower-case letters is a slug"))
}

/// CPU time of this process so far, without the node's: user and system, in steps of ten milliseconds.
fn process_cpu() -> Result<Duration, BenchError> {
    let unknown = || {
        let reason = "processor time is read from /proc/self/stat, which is not there";
        BenchError::Recorder(reason.to_owned())
    };
    let text = std::fs::read_to_string("/proc/self/stat").map_err(|_| unknown())?;
    // The second field, a name in brackets, may contain spaces; user and system time are the 14th and 15th.
    let (_, rest) = text.rsplit_once(')').ok_or_else(unknown)?;
    let ticks = rest.split_whitespace().skip(11).take(2).map(|field| field.parse::<u64>().ok());
    let ticks = ticks.sum::<Option<u64>>().ok_or_else(unknown)?;
    Ok(Duration::from_millis(ticks * 10))
}

fn failed(error: impl std::fmt::Display) -> BenchError {
    BenchError::Recorder(error.to_string())
}
