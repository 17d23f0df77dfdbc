//! Records a mix of all kinds that the development chain supports: twenty pools of each kind that trades without
//! special setup, and one of each kind that needs its own setup; every pool is traded in between two slots.

use std::time::Duration;

use alloy_primitives::U256;
use exitgap_chain::ChainReader;
use exitgap_chain::Limits;
use exitgap_chain::config::{
    BaseToken, Config, Factory, FactoryKind, FeeConfig, Plan, PoolConfig, PoolKey, PoolPlace,
};
use exitgap_core::ids::{Address, Word};
use exitgap_core::series::Slot;
use exitgap_core::tlog::SignerKey;
use exitgap_server::recorder::{Recorder, Source};
use exitgap_store::Store;
use exitgap_tests::devchain::{
    BalancerPool, DevChain, FIRST_SLOT, LinkedPool, Options, PaidPool, Pool, PoolSpec,
    PositionSpec, SolidlyPool, Token, V4, V4Pool, World,
};

use super::{chain_config, failed, oracles, process_cpu, totals};
use crate::BenchError;
use crate::effort::Effort;
use crate::report::Report;

/// Number of pools per kind. Some ten requests per slot are independent of the number of pools: 0.124 per pool with a
/// hundred pools, fewer here.
const OF_A_KIND: Effort<usize> = Effort::new(20, 1);

/// Number of warm-up slots.
const WARMING: u64 = 2;

/// Slots measured.
const SLOTS: Effort<u64> = Effort::new(24, 2);

/// Each pool's reserve of either token, in whole tokens.
const HELD: u64 = 1_000_000;

/// A contract of any kind, and how to sell to it.
enum Venue {
    Router(Pool),
    Managed(V4Pool),
    Solidly(SolidlyPool),
    Balancer(BalancerPool),
    Paid(PaidPool),
    Linked(LinkedPool),
}

/// A pool: the kind under which it is reported, its configuration, its contract.
struct Entry {
    kind: &'static str,
    configured: PoolConfig,
    venue: Venue,
}

/// Everything that was deployed.
struct Bed {
    chain: DevChain,
    v4: V4,
    factories: Vec<Factory>,
    entries: Vec<Entry>,
}

/// A recorder, the name under which it is reported, and its pools.
struct Recording {
    name: &'static str,
    pools: usize,
    recorder: Recorder<ChainReader>,
    bytes_before: u64,
}

/// Adds `recorder.mixed_requests_per_pool`, `recorder.mixed_cpu_ms_per_pool` and
/// `store.bytes_per_slot_pool.<kind>`.
pub async fn record(report: &mut Report) -> Result<(), BenchError> {
    let chain = DevChain::start(Options { prune_history: Some(64), ..Options::default() }).await?;
    let world = World::deploy(&chain).await?;
    let bed = Bed::deploy(chain, &world).await?;
    eprintln!("recorder: {} pools of all kinds that the development chain runs", bed.entries.len());
    let folder = tempfile::tempdir().map_err(failed)?;
    let mut recordings = vec![bed.recording(&world, folder.path(), "mixed", |_| true)?];
    for kind in KINDS {
        recordings.push(bed.recording(&world, folder.path(), kind, |entry| entry.kind == kind)?);
    }
    let (mut requests, mut cpu) = (0, Duration::ZERO);
    for index in 0..WARMING + SLOTS.get() {
        let slot = Slot::new(FIRST_SLOT + index).map_err(failed)?;
        bed.trade(index, slot.unix_s()).await?;
        for recording in &mut recordings {
            if index == WARMING {
                recording.bytes_before = totals(&recording.recorder)?.database_bytes;
            }
            let before = process_cpu()?;
            let done = recording.recorder.record_slot(slot).await.map_err(failed)?;
            if usize::try_from(done.recorded) != Ok(recording.pools) {
                let name = recording.name;
                return Err(BenchError::Recorder(format!(
                    "slot {slot} of {name} is not whole: {done:?}"
                )));
            }
            if recording.name == "mixed" && index >= WARMING {
                requests += done.requests;
                cpu += process_cpu()?.saturating_sub(before);
            }
        }
    }
    add(report, &recordings, requests, cpu)
}

fn add(
    report: &mut Report,
    recordings: &[Recording],
    requests: u64,
    cpu: Duration,
) -> Result<(), BenchError> {
    let float = |number: u64| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    for Recording { name, pools, recorder, bytes_before } in recordings {
        let readings = float(SLOTS.get()) * f64::from(u32::try_from(*pools).unwrap_or(1));
        if *name == "mixed" {
            report.add("recorder.mixed_requests_per_pool", float(requests) / readings);
            report.add("recorder.mixed_cpu_ms_per_pool", cpu.as_secs_f64() * 1e3 / readings);
        }
        let grown = totals(recorder)?.database_bytes - bytes_before;
        report.add(&format!("store.bytes_per_slot_pool.{name}"), float(grown) / readings);
    }
    Ok(())
}

/// The kinds with [`OF_A_KIND`] pools each.
const KINDS: [&str; 7] = [
    "v2",
    "v3",
    "v4",
    "aerodrome_volatile",
    "aerodrome_stable",
    "balancer_weighted",
    "balancer_stable",
];

impl Bed {
    async fn deploy(chain: DevChain, world: &World) -> Result<Self, BenchError> {
        let names: Vec<String> = (0..OF_A_KIND.get()).map(|index| format!("T{index}")).collect();
        let mut wanted = vec![("QUOTE", 18)];
        wanted.extend(names.iter().map(|name| (name.as_str(), 18)));
        let tokens = chain.create_tokens(&wanted).await?;
        let (quote, others) = tokens.split_first().ok_or_else(|| failed("no token"))?;
        let addresses: Vec<_> = tokens.iter().map(|token| token.address).collect();
        let v4 = chain.deploy_v4(&addresses).await?;
        let mut bed = Self { chain, v4, factories: Vec::new(), entries: Vec::new() };
        bed.know(bed.v4.manager, FactoryKind::UniswapV4);
        bed.concentrated(quote, others, world).await?;
        bed.of_balances(quote, others, world).await?;
        bed.of_own_set_up(quote, &others[0], world).await?;
        Ok(bed)
    }

    /// v3 and v4: several ranges around the price each.
    async fn concentrated(
        &mut self,
        quote: &Token,
        others: &[Token],
        world: &World,
    ) -> Result<(), BenchError> {
        let amount = quote.units(HELD / 100);
        let position = |half: i32| PositionSpec {
            tick_lower: -half * 60,
            tick_upper: half * 60,
            amount0: amount,
            amount1: amount,
        };
        let specs: Vec<PoolSpec> = others
            .iter()
            .map(|other| PoolSpec {
                token_a: quote.address,
                token_b: other.address,
                fee: 3_000,
                sqrt_price_x96: U256::ONE << 96,
                positions: (1..=30).map(position).collect(),
            })
            .collect();
        for (pool, _) in self.chain.create_v3_pools(&specs).await? {
            self.add("v3", pool.address, Venue::Router(pool), world, |_| ());
        }
        for other in others {
            let pool = V4Pool::of([quote.address, other.address], 500, 10);
            self.chain.initialize_v4(&self.v4, &pool, [0, 0]).await?;
            for half in [10, 50, 100, 500, 2_000] {
                let liquidity = 1_000_000_000_000_000_000_000_000;
                self.chain.modify_v4(&self.v4, &pool, [-half, half], liquidity).await?;
            }
            let own = |address: alloy_primitives::Address| Address(address.into_array());
            let key = PoolKey {
                currency0: own(pool.key.currency0),
                currency1: own(pool.key.currency1),
                fee: 500,
                tick_spacing: 10,
                hooks: Address([0; 20]),
            };
            let place = PoolPlace::Managed(Word(pool.id.0));
            self.add("v4", alloy_primitives::Address::ZERO, Venue::Managed(pool), world, |it| {
                it.address = place;
                it.key = Some(key);
            });
        }
        Ok(())
    }

    /// v2, Aerodrome v2 and Balancer v2.
    async fn of_balances(
        &mut self,
        quote: &Token,
        others: &[Token],
        world: &World,
    ) -> Result<(), BenchError> {
        let held = quote.units(HELD);
        let half = 500_000_000_000_000_000;
        let solidly = self.chain.deploy_solidly().await?;
        self.know(solidly, FactoryKind::AerodromeV2);
        let balancer = self.chain.deploy_balancer().await?;
        self.know(balancer.weighted, FactoryKind::BalancerV2Weighted);
        self.know(balancer.stable, FactoryKind::BalancerV2ComposableStable);
        for other in others {
            let pool = self.chain.create_v2_pair((quote, held), (other, held)).await?;
            let fee = FeeConfig { numerator: 3, denominator: 1_000 };
            self.add("v2", pool.address, Venue::Router(pool), world, |it| it.fee = Some(fee));
            for (kind, stable) in [("aerodrome_volatile", false), ("aerodrome_stable", true)] {
                let pool = self.chain.create_solidly_pool(solidly, [quote, other], stable).await?;
                self.chain.mint_solidly(&pool, [held, held]).await?;
                self.add(kind, pool.address, Venue::Solidly(pool), world, |_| ());
            }
            let holdings = [(quote, half, held), (other, half, held)];
            let fee = 3_000_000_000_000_000;
            let pool = self.chain.create_balancer_weighted(&balancer, &holdings, fee).await?;
            self.add("balancer_weighted", pool.address, Venue::Balancer(pool), world, |_| ());
            let holdings = [(quote, held, None), (other, held, None)];
            let fee = 400_000_000_000_000;
            let pool = self.chain.create_balancer_stable(&balancer, &holdings, 200, fee).await?;
            self.add("balancer_stable", pool.address, Venue::Balancer(pool), world, |_| ());
        }
        Ok(())
    }

    /// One pool each of `PancakeSwap` v3, Slipstream and Algebra Integral.
    async fn of_own_set_up(
        &mut self,
        quote: &Token,
        other: &Token,
        world: &World,
    ) -> Result<(), BenchError> {
        let liquidity = 1_000_000_000_000_000_000_000_000;
        let pool = self.chain.create_pancake_pool([quote, other], 500).await?;
        self.chain.mint_paid(&pool, [-1_000, 1_000], liquidity).await?;
        self.know(pool.factory, FactoryKind::PancakeV3);
        self.add("pancake_v3", pool.address, Venue::Paid(pool), world, |_| ());
        let pool = self.chain.create_slipstream_pool([quote, other], 50).await?;
        self.chain.mint_paid(&pool, [-1_000, 1_000], liquidity).await?;
        self.know(pool.factory, FactoryKind::Slipstream);
        self.add("slipstream", pool.address, Venue::Paid(pool), world, |_| ());
        let pool = self.chain.create_linked_pool([quote, other], 500, 10).await?;
        self.chain.mint_linked(&pool, [-1_000, 1_000], liquidity).await?;
        self.know(pool.factory, FactoryKind::AlgebraIntegral);
        self.add("algebra_integral", pool.address, Venue::Linked(pool), world, |_| ());
        Ok(())
    }

    fn know(&mut self, address: alloy_primitives::Address, kind: FactoryKind) {
        let address = Address(address.into_array());
        self.factories.push(Factory { address, kind, fee_modules: Vec::new() });
    }

    fn add(
        &mut self,
        kind: &'static str,
        address: alloy_primitives::Address,
        venue: Venue,
        world: &World,
        more: impl FnOnce(&mut PoolConfig),
    ) {
        // Every pool starts at the price 1, and these two assets are worth about a dollar each.
        let dollar = |asset: usize| vec![world.assets[asset].token.symbol.clone()];
        let mut configured = PoolConfig {
            chain: super::slug(),
            address: Address(address.into_array()).into(),
            pair: None,
            key: None,
            base: BaseToken::Token0,
            fee: None,
            token0_usd: dollar(World::USDC),
            token1_usd: dollar(World::USDT),
        };
        more(&mut configured);
        self.entries.push(Entry { kind, configured, venue });
    }

    /// A recorder of the selected pools.
    fn recording(
        &self,
        world: &World,
        folder: &std::path::Path,
        name: &'static str,
        wanted: impl Fn(&Entry) -> bool,
    ) -> Result<Recording, BenchError> {
        let mut chain = chain_config(&self.chain)?;
        chain.factory.clone_from(&self.factories);
        let pool: Vec<PoolConfig> = self
            .entries
            .iter()
            .filter(|entry| wanted(entry))
            .map(|it| it.configured.clone())
            .collect();
        let pools = pool.len();
        let oracle = oracles(world, &[World::USDC, World::USDT]);
        let plan = Plan::new(&Config {
            chain: vec![chain],
            oracle,
            pool,
            token: Vec::new(),
            fact: Vec::new(),
            equity: Vec::new(),
        })
        .map_err(failed)?;
        let sources = Source::of_plan(&plan, &Limits::default());
        let key = SignerKey::from_seed("exitgap.example/bench", [7; 32]).map_err(failed)?;
        let store = Store::create(folder.join(format!("{name}.db")), &key).map_err(failed)?;
        let recorder = Recorder::new(store, sources, Duration::from_mins(1));
        Ok(Recording { name, pools, recorder, bytes_before: 0 })
    }

    /// A sale in every pool before the slot's instant, in alternating directions; then a block after it.
    async fn trade(&self, index: u64, instant: u64) -> Result<(), BenchError> {
        let forth = index.is_multiple_of(2);
        let chain = &self.chain;
        let amount = U256::from(100 + 7 * (index % 5)) * U256::from(10_u64.pow(18));
        let mut txs = Vec::new();
        // Pools that need the bought amount as input are swapped in separate blocks.
        for entry in &self.entries {
            match &entry.venue {
                Venue::Router(pool) => {
                    let sold = if forth { pool.token0 } else { pool.token1 };
                    txs.push(chain.swap_tx(pool, sold, amount));
                }
                Venue::Managed(pool) => {
                    txs.push(chain.v4_swap_tx(&self.v4, pool, forth, amount));
                }
                Venue::Solidly(pool) => {
                    txs.extend(chain.solidly_swap_txs(pool, forth, amount).await?);
                }
                Venue::Balancer(pool) => {
                    let places = if forth { [0, 1] } else { [1, 0] };
                    chain.swap_balancer(pool, places, amount).await?;
                }
                Venue::Paid(pool) => {
                    chain.swap_paid(pool, forth, amount).await?;
                }
                Venue::Linked(pool) => {
                    chain.swap_linked(pool, forth, amount).await?;
                }
            }
        }
        chain.mine(instant - 30, &txs).await?;
        chain.mine(instant + 1, &[]).await?;
        Ok(())
    }
}
