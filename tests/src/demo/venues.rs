//! The demonstration's venues other than Uniswap v2 and v3: their configuration, and a sale at each.

use std::error::Error;
use std::fmt::Write;

use alloy::primitives::U256;

use super::play::Day;
use super::recorder_config::oracle_name;
use super::show::{estimate, evidence, finish, raw};
use super::{Demo, step};
use crate::devchain::{DevChain, SolidlyPool, Venues, World};

/// The size that is sold at each venue, in USD.
const SOLD_USD: &str = "12345.67";

/// One of the pools.
struct Entry {
    name: &'static str,
    id: String,
    base: usize,
    zero_is_base: bool,
    /// Configuration lines specific to its kind.
    more: Vec<String>,
}

fn entries(venues: &Venues) -> [Entry; 3] {
    let key = &venues.v4_pool.key;
    let of_solidly = |name, base, pool: &SolidlyPool| Entry {
        name,
        id: format!("{:#x}", pool.address),
        base,
        zero_is_base: venues.sells_zero(pool.token0, true),
        more: Vec::new(),
    };
    [
        Entry {
            name: "USDT/USDC 0.008% v4",
            id: format!("{:#x}", venues.v4_pool.id),
            base: World::USDT,
            zero_is_base: venues.sells_zero(key.currency0, true),
            more: vec![format!(
                "key = {{ currency0 = \"{:#x}\", currency1 = \"{:#x}\", fee = {}, tick_spacing = {} }}",
                key.currency0,
                key.currency1,
                Venues::V4_FEE,
                Venues::V4_SPACING
            )],
        },
        of_solidly("DAI/USDC Aerodrome, stable", World::DAI, &venues.stable),
        of_solidly("WETH/USDC Aerodrome, volatile", World::WETH, &venues.volatile),
    ]
}

/// The end of the recorder's file: the venues' contract addresses, and their pools.
pub fn venues_config(venues: &Venues, world: &World) -> String {
    let mut text = String::new();
    for (kind, address) in
        [("uniswap_v4", venues.v4.manager), ("aerodrome_v2", venues.stable.factory)]
    {
        // Writing to a String cannot fail.
        let _ =
            write!(text, "\n[[chain.factory]]\naddress = \"{address:#x}\"\nkind = \"{kind}\"\n");
    }
    for Entry { name, id, base, zero_is_base, more } in entries(venues) {
        let oracle = |asset: usize| oracle_name(&world.assets[asset].token.symbol);
        let mut oracles = [oracle(base), oracle(World::USDC)];
        if !zero_is_base {
            oracles.reverse();
        }
        let lines = [
            format!("# {name}"),
            "[[pool]]".to_owned(),
            "chain = \"anvil\"".to_owned(),
            format!("address = \"{id}\""),
            format!("base = \"token{}\"", u8::from(!zero_is_base)),
            format!("token0_usd = [\"{}\"]", oracles[0]),
            format!("token1_usd = [\"{}\"]", oracles[1]),
        ];
        let _ = write!(text, "\n{}\n", [&lines[..], &more].concat().join("\n"));
    }
    text
}

/// Sells one estimate in a pool of each other kind, and verifies the evidence of each.
pub async fn sell_at_each(
    demo: &Demo,
    chain: &DevChain,
    world: &World,
    venues: &Venues,
    day: &Day,
) -> Result<(), Box<dyn Error>> {
    step(&format!("the same of {SOLD_USD} USD in a pool of every other kind"));
    let pair = &world.pools[World::FIRST_V2];
    let base = world.assets[pair.base].token.address;
    let pool = format!("anvil:{:#x}", pair.pool.address);
    let swap = async |amount| Ok(chain.swap_exact_in(&pair.pool, base, amount).await?.amount_out);
    sell(demo, day, &pair.name, &pool, swap).await?;
    let [v4, stable, volatile] = entries(venues);
    let pool_of = |entry: &Entry| format!("anvil:{}", entry.id);
    sell(demo, day, v4.name, &pool_of(&v4), async |amount| {
        let [_, paid] = chain.swap_v4(&venues.v4, &venues.v4_pool, v4.zero_is_base, amount).await?;
        Ok(paid)
    })
    .await?;
    for (entry, pool) in [(stable, &venues.stable), (volatile, &venues.volatile)] {
        sell(demo, day, entry.name, &pool_of(&entry), async |amount| {
            Ok(chain.swap_solidly(pool, entry.zero_is_base, amount).await?)
        })
        .await?;
    }
    Ok(())
}

/// Estimates, sells, compares, and verifies the evidence of the estimate.
async fn sell(
    demo: &Demo,
    day: &Day,
    name: &str,
    pool: &str,
    swap: impl AsyncFn(U256) -> Result<U256, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let told = estimate(demo, day, pool, SOLD_USD)?;
    let expected = raw(&told.figures.amount_out_raw)?;
    let received = swap(raw(&told.figures.amount_in_raw)?).await?;
    let gap = &told.figures.exit_gap_pct;
    println!("\n{name}: exit_gap_pct {gap}%, estimated {expected}, received {received} units");
    if received != expected {
        return Err(format!("the estimate in {pool} is not what the contract paid").into());
    }
    let file = day.db.with_file_name("sold.json");
    finish(&mut evidence(demo, day, pool, SOLD_USD, &file))?;
    let mut verify = std::process::Command::new(&demo.cli);
    verify.arg("verify").arg(&file).arg("--trust").arg(day.log.join("verifier-key"));
    let output = verify.output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    println!(
        "$ exitgap verify sold.json --trust <key>\n{}",
        said.lines().next().unwrap_or_default()
    );
    if output.status.success() {
        return Ok(());
    }
    Err(format!("the evidence of {pool} was not found valid: {}", output.status).into())
}
