//! The interactive prompts, used if no options were given.

use std::fmt::Display;
use std::io::{BufRead, Write};
use std::str::FromStr;

use exitgap_core::ids::ChainSlug;
use exitgap_core::snapshot::Token;

use super::price_sources::Known;
use super::{FeedGiven, InitError, NodeGiven, PoolGiven};

/// The answers.
#[derive(Debug, PartialEq, Eq)]
pub struct PromptAnswers {
    pub chain: ChainSlug,
    pub chain_id: Option<u64>,
    pub rpc: Vec<NodeGiven>,
    pub pools: Vec<PoolGiven>,
}

/// Prompts for a chain, a node and pools; `None` if the user wants the commented example.
pub fn prompt_setup(
    input: &mut impl BufRead,
    out: &mut impl Write,
) -> Result<Option<PromptAnswers>, InitError> {
    let chain = "Chain (ethereum, base, arbitrum, optimism or your own name; empty for the commented example): ";
    let Some(chain) = prompt_optional::<ChainSlug>(input, out, chain)? else { return Ok(None) };
    let chain_id = if Known::of_slug(&chain).is_some() {
        None
    } else {
        Some(prompt_required(input, out, "Its EIP-155 chain id: ")?)
    };
    let mut rpc = vec![prompt_required(input, out, "Node URL (http or https): ")?];
    rpc.extend(prompt_optional(input, out, "Second node, from another operator (or empty): ")?);
    let mut pools = vec![prompt_required(input, out, "Pool address: ")?];
    while let Some(pool) = prompt_optional(input, out, "Another pool address (or empty): ")? {
        pools.push(pool);
    }
    Ok(Some(PromptAnswers { chain, chain_id, rpc, pools }))
}

/// Prompts for the source of a token's price.
pub fn prompt_feed(
    input: &mut impl BufRead,
    out: &mut impl Write,
    token: &Token,
) -> Result<Option<FeedGiven>, InitError> {
    let (symbol, address) = (token.symbol.as_str(), token.address);
    let what =
        format!("Chainlink USD feed of {symbol} ({address}), as 0x…@<heartbeat in seconds>: ");
    loop {
        let line = line(input, out, &what)?;
        match format!("{address}={line}").parse() {
            Ok(given) => return Ok(Some(given)),
            Err(error) => print_error(out, &error)?,
        }
    }
}

/// Prompts until the answer is valid; `None` if it is empty.
fn prompt_optional<T: FromStr<Err: Display>>(
    input: &mut impl BufRead,
    out: &mut impl Write,
    what: &str,
) -> Result<Option<T>, InitError> {
    loop {
        let line = line(input, out, what)?;
        if line.is_empty() {
            return Ok(None);
        }
        match line.parse() {
            Ok(read) => return Ok(Some(read)),
            Err(error) => print_error(out, &error)?,
        }
    }
}

/// Prompts until the answer is valid and not empty.
fn prompt_required<T: FromStr<Err: Display>>(
    input: &mut impl BufRead,
    out: &mut impl Write,
    what: &str,
) -> Result<T, InitError> {
    loop {
        if let Some(read) = prompt_optional(input, out, what)? {
            return Ok(read);
        }
    }
}

fn line(input: &mut impl BufRead, out: &mut impl Write, what: &str) -> Result<String, InitError> {
    write!(out, "{what}").and_then(|()| out.flush()).map_err(InitError::Terminal)?;
    let mut line = String::new();
    match input.read_line(&mut line).map_err(InitError::Terminal)? {
        0 => Err(InitError::InputEnded),
        _ => Ok(line.trim().to_owned()),
    }
}

fn print_error(out: &mut impl Write, error: &impl Display) -> Result<(), InitError> {
    writeln!(out, "  {error}").map_err(InitError::Terminal)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POOL: &str = "0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640";

    fn typed(lines: &str) -> (Result<Option<PromptAnswers>, InitError>, String) {
        let mut out = Vec::new();
        let asked = prompt_setup(&mut lines.as_bytes(), &mut out);
        (asked, String::from_utf8(out).unwrap())
    }

    #[test]
    fn what_cannot_be_read_is_asked_again_with_why() {
        let lines =
            format!("Ether\nbase\n\nno url\nhttp://127.0.0.1:1\n\n0x12\n{POOL}\n{POOL}.0-2\n\n");
        let (asked, out) = typed(&lines);
        let asked = asked.unwrap().unwrap();
        assert_eq!((asked.chain.as_str(), asked.chain_id), ("base", None));
        assert_eq!(asked.rpc.len(), 1);
        let pools: Vec<String> = asked.pools.iter().map(ToString::to_string).collect();
        assert_eq!(pools, [POOL.to_owned(), format!("{POOL}.0-2")]);
        for why in ["\"Ether\"", "not a URL", "\"0x12\" is not an address"] {
            assert!(out.contains(why), "{why}: {out}");
        }
    }

    #[test]
    fn a_chain_of_another_name_is_asked_for_its_id_and_nothing_is_the_example() {
        let (asked, _) = typed(&format!("mine\nten\n77\nhttp://127.0.0.1:1\n\n{POOL}\n\n"));
        assert_eq!(asked.unwrap().unwrap().chain_id, Some(77));
        assert_eq!(typed("\n").0.unwrap(), None);
        for ended in ["", "base\n", "base\nhttp://127.0.0.1:1\n\n", "mine\n"] {
            assert!(matches!(typed(ended).0, Err(InitError::InputEnded)), "{ended:?}");
        }
    }
}
