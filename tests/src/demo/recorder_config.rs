//! The recorder's configuration for the development chain's scene.

use std::fmt::Write;
use std::path::Path;

use alloy::primitives::Address;

use crate::devchain::{DevChain, PoolKind, World};

/// The file's text: the store in the same folder, one chain `anvil`, every pool and feed of the scene.
pub fn recorder_config(chain: &DevChain, world: &World) -> String {
    let mut text = format!(
        "# Written by the demonstration.\n\
         [store]\npath = \"exitgap.db\"\n\n\
         [log]\nlevel = \"warn\"\n\n\
         [[chain]]\nslug = \"anvil\"\nchain_id = 31337\nrpc_urls = [\"{}\"]\n",
        chain.url()
    );
    let mut table = |lines: &[String]| {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n{}\n", lines.join("\n"));
    };
    for (factory, kind) in
        [(chain.contracts.v2_factory, "uniswap_v2"), (chain.contracts.v3_factory, "uniswap_v3")]
    {
        table(&[
            "[[chain.factory]]".to_owned(),
            format!("address = \"{factory:#x}\""),
            format!("kind = \"{kind}\""),
        ]);
    }
    for asset in &world.assets {
        table(&[
            "[[oracle]]".to_owned(),
            format!("name = \"{}\"", oracle_name(&asset.token.symbol)),
            "chain = \"anvil\"".to_owned(),
            "source = \"chainlink\"".to_owned(),
            format!("feed = \"{:#x}\"", asset.feed.proxy),
            format!("heartbeat_s = {}", asset.heartbeat),
            // The market renews each answer before its heartbeat ends.
            "heartbeat_grace_s = 0".to_owned(),
        ]);
    }
    for entry in &world.pools {
        let pool = &entry.pool;
        let base = &world.assets[entry.base].token;
        let base_is_0 = base.address == pool.token0;
        let oracles =
            [entry.base, entry.quote].map(|asset| oracle_name(&world.assets[asset].token.symbol));
        let [token0, token1] = if base_is_0 { [0, 1] } else { [1, 0] }.map(|side| &oracles[side]);
        let mut lines = vec![
            format!("# {}", entry.name),
            "[[pool]]".to_owned(),
            "chain = \"anvil\"".to_owned(),
            format!("address = \"{:#x}\"", pool.address),
            format!("base = \"token{}\"", u8::from(!base_is_0)),
            format!("token0_usd = [\"{token0}\"]"),
            format!("token1_usd = [\"{token1}\"]"),
        ];
        if pool.kind == PoolKind::V2 {
            lines.push("fee = { numerator = 3, denominator = 1000 }".to_owned());
        }
        table(&lines);
    }
    text
}

/// The quote groups of the scene's dollar tokens.
pub fn dollars_config(world: &World) -> String {
    let tokens = world.assets.iter().map(|asset| &asset.token);
    let dollars = tokens.filter(|token| ["USDC", "USDT", "DAI"].contains(&token.symbol.as_str()));
    let dollars: Vec<String> = dollars.map(|token| format!("\"{:#x}\"", token.address)).collect();
    let group = |name: &str| {
        let dollars = dollars.join(", ");
        format!("\n[[quote_group]]\nchain = \"anvil\"\nname = \"{name}\"\ntokens = [{dollars}]\n")
    };
    // The second is what an exit ends in by default.
    group("dollars") + &group("cash")
}

/// The payment settings.
#[derive(Debug)]
pub struct PaidTo<'a> {
    /// The slug of the chain.
    pub chain: &'a str,
    /// The token.
    pub asset: Address,
    /// The payee.
    pub pay_to: Address,
    /// The key that pays fees.
    pub hot_key_file: &'a Path,
}

/// The table that enables payments of 0.01 per answer.
pub fn payments_config(paid: &PaidTo<'_>) -> String {
    format!(
        "\n[payments]\nenabled = true\nprice_usdc = \"0.01\"\nchain = \"{}\"\npay_to = \"{:#x}\"\n\
         asset = \"{:#x}\"\nhot_key_file = \"{}\"\nmax_fee_gwei = 100\n",
        paid.chain,
        paid.pay_to,
        paid.asset,
        paid.hot_key_file.display()
    )
}

/// The name of a token's feed.
pub fn oracle_name(symbol: &str) -> String {
    format!("{}-usd", symbol.to_lowercase())
}
