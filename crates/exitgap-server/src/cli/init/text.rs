//! Renders the configuration file.

use std::collections::BTreeMap;
use std::fmt::Write;

use exitgap_core::snapshot::Token;

use super::ConfigInputs;
use super::describe::DescribedPool;
use super::price_sources::{Feed, Prices};

/// The file's text.
pub fn configuration(wanted: &ConfigInputs, found: &[DescribedPool], prices: &Prices) -> String {
    let mut text = format!(
        "# Written by `exitgap-server init` from data of the nodes of chain {}. Without options, it writes an\n\
         # example that explains every key.\n\n\
         [store]\npath = \"exitgap.db\"\n\n\
         [evidence]\nkey_file = \"exitgap.key\"\nfolder = \"exitgap-log\"\n",
        wanted.chain
    );
    let nodes: Vec<String> = wanted.rpc.iter().map(|node| quote_toml(&node.text)).collect();
    table(
        &mut text,
        &[
            "[[chain]]".to_owned(),
            format!("slug = \"{}\"", wanted.chain),
            format!("chain_id = {}", wanted.chain_id),
            format!("rpc_urls = [{}]", nodes.join(", ")),
        ],
    );
    let feeds: BTreeMap<&str, &Feed> =
        prices.values().flatten().map(|feed| (feed.name.as_str(), feed)).collect();
    for (name, feed) in feeds {
        table(
            &mut text,
            &[
                "[[oracle]]".to_owned(),
                format!("name = {}", quote_toml(name)),
                format!("chain = \"{}\"", wanted.chain),
                "source = \"chainlink\"".to_owned(),
                format!("feed = \"{}\"", feed.proxy),
                "# Compare this with the feed's page.".to_owned(),
                format!("heartbeat_s = {}", feed.heartbeat_s),
            ],
        );
    }
    for pool in found {
        table(&mut text, &pool_table(wanted, pool, prices));
    }
    text
}

fn pool_table(wanted: &ConfigInputs, pool: &DescribedPool, prices: &Prices) -> Vec<String> {
    let [token0, token1] = &pool.info.tokens;
    let mut lines = vec![
        format!("# {}/{}, {}.", token0.symbol, token1.symbol, pool.info.kind),
        "[[pool]]".to_owned(),
        format!("chain = \"{}\"", wanted.chain),
        format!("address = \"{}\"", pool.given.address),
    ];
    if let Some([low, high]) = pool.given.pair {
        lines.push(format!("pair = [{low}, {high}]"));
    }
    if let Some(fee) = pool.fee {
        lines.push(
            "# Uniswap's fee; pairs do not publish their fee, so `check` tests it.".to_owned(),
        );
        lines.push(format!(
            "fee = {{ numerator = {}, denominator = {} }}",
            fee.numerator, fee.denominator
        ));
    }
    lines.push("# The token sold by default.".to_owned());
    lines.push(format!("base = \"token{}\"", u8::from(is_dollar(token0) && !is_dollar(token1))));
    for (side, token) in [token0, token1].into_iter().enumerate() {
        let names = prices.get(&token.address).into_iter().flatten();
        let names: Vec<String> = names.map(|feed| quote_toml(&feed.name)).collect();
        lines.push(format!("token{side}_usd = [{}]", names.join(", ")));
    }
    lines
}

/// Whether a token's symbol suggests a dollar: then the pool's other token is the one that is sold.
fn is_dollar(token: &Token) -> bool {
    token.symbol.as_str().to_ascii_uppercase().contains("USD") || token.symbol.as_str() == "DAI"
}

fn table(text: &mut String, lines: &[String]) {
    // Writing to a String cannot fail.
    let _ = write!(text, "\n{}\n", lines.join("\n"));
}

/// Quotes a text for TOML.
fn quote_toml(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
