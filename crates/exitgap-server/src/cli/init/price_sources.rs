//! Price sources of tokens: those given, else those of well-known tokens in the examples of the known chains.

use std::collections::BTreeMap;

use exitgap_chain::config::OracleConfig;
use exitgap_core::ids::{Address, ChainSlug};
use exitgap_core::snapshot::Token;
use serde::Deserialize;

use super::describe::DescribedPool;
use super::{ConfigInputs, FeedGiven, InitError};

/// A chain with built-in examples.
pub struct Known {
    slug: &'static str,
    chain_id: u64,
    /// The example with its feeds.
    example: &'static str,
    /// Tokens, in lower case, and the example's oracles whose product is the token's price.
    tokens: &'static [(&'static str, &'static [&'static str])],
}

/// Address of the chain's native coin.
const COIN: &str = "0x0000000000000000000000000000000000000000";

const KNOWN: [Known; 4] = [
    Known {
        slug: "ethereum",
        chain_id: 1,
        example: crate::config::EXAMPLE,
        tokens: &[
            (COIN, &["eth-usd"]),
            ("0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2", &["eth-usd"]),
            ("0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", &["usdc-usd"]),
            ("0xdac17f958d2ee523a2206206994597c13d831ec7", &["usdt-usd"]),
            ("0x6b175474e89094c44da98b954eedeac495271d0f", &["dai-usd"]),
            ("0x2260fac5e5542a773aa44fbcfedf7c193bc2c599", &["wbtc-btc", "btc-usd"]),
        ],
    },
    Known {
        slug: "base",
        chain_id: 8_453,
        example: include_str!("../../../../../examples/base.toml"),
        tokens: &[
            (COIN, &["eth-usd"]),
            ("0x4200000000000000000000000000000000000006", &["eth-usd"]),
            ("0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", &["usdc-usd"]),
        ],
    },
    Known {
        slug: "arbitrum",
        chain_id: 42_161,
        example: include_str!("../../../../../examples/arbitrum.toml"),
        tokens: &[
            (COIN, &["eth-usd"]),
            ("0x82af49447d8a07e3bd95bd0d56f35241523fbab1", &["eth-usd"]),
            ("0xaf88d065e77c8cc2239327c5edb3a432268e5831", &["usdc-usd"]),
        ],
    },
    Known {
        slug: "optimism",
        chain_id: 10,
        example: include_str!("../../../../../examples/optimism.toml"),
        tokens: &[
            (COIN, &["eth-usd"]),
            ("0x4200000000000000000000000000000000000006", &["eth-usd"]),
            ("0x0b2c639c533813f4aa9d7837caf62653d097ff85", &["usdc-usd"]),
        ],
    },
];

/// The part of an example that defines price sources.
#[derive(Deserialize)]
struct Feeds {
    oracle: Vec<OracleConfig>,
}

impl Known {
    /// The built-in chain of this name.
    pub fn of_slug(slug: &ChainSlug) -> Option<&'static Self> {
        KNOWN.iter().find(|known| known.slug == slug.as_str())
    }

    /// The names of all known chains, for people.
    pub fn slugs() -> String {
        KNOWN.map(|known| known.slug).join(", ")
    }

    /// The id of a chain: the known one for its name, else the given one.
    pub fn id_of(slug: &ChainSlug, named: Option<u64>) -> Result<u64, InitError> {
        let chain = slug.clone();
        match (Self::of_slug(slug), named) {
            (None, None) => Err(InitError::UnknownChain { chain }),
            (None, Some(id)) => Ok(id),
            (Some(known), Some(found)) if found != known.chain_id => {
                Err(InitError::OtherId { chain, known: known.chain_id, found })
            }
            (Some(known), _) => Ok(known.chain_id),
        }
    }

    /// The feeds whose product is a token's price, as in the example.
    fn feeds_of(&self, token: Address) -> Option<Vec<Feed>> {
        let address = token.to_string();
        let (_, names) = self.tokens.iter().find(|(known, _)| *known == address)?;
        let feeds: Feeds = toml::from_str(self.example).ok()?;
        let of_name = |wanted: &&str| {
            feeds.oracle.iter().find_map(|oracle| match oracle {
                OracleConfig::Chainlink { name, feed, heartbeat_s, .. } if name == *wanted => {
                    Some(Feed { name: name.clone(), proxy: *feed, heartbeat_s: *heartbeat_s })
                }
                _ => None,
            })
        };
        names.iter().map(of_name).collect()
    }
}

/// A Chainlink feed with a name of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feed {
    pub name: String,
    /// The address of its proxy.
    pub proxy: Address,
    pub heartbeat_s: u32,
}

/// The one or two feeds of each token, whose product is the token's price.
pub type Prices = BTreeMap<Address, Vec<Feed>>;

/// Why a token has no price.
#[derive(Debug, thiserror::Error)]
pub enum PriceError {
    /// No price source is known for it.
    #[error(
        "no price source is known for {symbol} ({address}) in pool {pool}; give its Chainlink USD feed and the feed's heartbeat: --feed {address}=0x…@3600"
    )]
    Unknown {
        /// The token's own symbol.
        symbol: String,
        /// The token.
        address: Address,
        /// The pool.
        pool: String,
    },
    /// A feed was given for a token that is in no pool.
    #[error("--feed {token}=…: not a token of these pools; their tokens are {tokens}")]
    NoToken {
        /// The token as given.
        token: String,
        /// The pools' tokens.
        tokens: String,
    },
    /// Two tokens have this symbol.
    #[error("two tokens of the pools have the symbol {token}; use their addresses: {tokens}")]
    TwoTokens {
        /// The symbol.
        token: String,
        /// The pools' tokens.
        tokens: String,
    },
}

/// The price sources of all tokens of these pools. `ask` is called for tokens without a known one.
pub fn prices(
    wanted: &ConfigInputs,
    found: &[DescribedPool],
    mut ask: impl FnMut(&Token) -> Result<Option<FeedGiven>, InitError>,
) -> Result<Prices, InitError> {
    let mut tokens: BTreeMap<Address, (&Token, String)> = BTreeMap::new();
    for pool in found {
        for token in &pool.info.tokens {
            tokens.entry(token.address).or_insert_with(|| (token, pool.given.to_string()));
        }
    }
    let mut given: BTreeMap<Address, &FeedGiven> = BTreeMap::new();
    for feed in &wanted.feeds {
        given.insert(token_of(feed, &tokens)?, feed);
    }
    let known = Known::of_slug(&wanted.chain);
    let mut prices = Prices::new();
    for (address, (token, pool)) in &tokens {
        let named = |given: &FeedGiven| {
            vec![Feed {
                name: name_of(token, &tokens),
                proxy: given.feed,
                heartbeat_s: given.heartbeat_s,
            }]
        };
        let feeds = match given.get(address) {
            Some(given) => Some(named(given)),
            None => known.and_then(|known| known.feeds_of(*address)),
        };
        let feeds = match feeds {
            Some(feeds) => feeds,
            None => ask(token)?.as_ref().map(named).ok_or_else(|| PriceError::Unknown {
                symbol: token.symbol.to_string(),
                address: *address,
                pool: pool.clone(),
            })?,
        };
        prices.insert(*address, feeds);
    }
    Ok(prices)
}

/// The token that a feed was given for.
fn token_of(
    feed: &FeedGiven,
    tokens: &BTreeMap<Address, (&Token, String)>,
) -> Result<Address, PriceError> {
    let is_named = |token: &Token| {
        let named = &feed.token;
        named.eq_ignore_ascii_case(token.symbol.as_str())
            || named.eq_ignore_ascii_case(&token.address.to_string())
    };
    let mut named = tokens.values().map(|(token, _)| *token).filter(|token| is_named(token));
    let listed = || {
        let words = tokens.values().map(|(token, _)| format!("{} {}", token.symbol, token.address));
        words.collect::<Vec<_>>().join(", ")
    };
    let token = || feed.token.clone();
    match (named.next(), named.next()) {
        (None, _) => Err(PriceError::NoToken { token: token(), tokens: listed() }),
        (Some(_), Some(_)) => Err(PriceError::TwoTokens { token: token(), tokens: listed() }),
        (Some(one), None) => Ok(one.address),
    }
}

/// A unique name for a token's feed: from its symbol, or from its address if two tokens share a symbol.
fn name_of(token: &Token, tokens: &BTreeMap<Address, (&Token, String)>) -> String {
    let plain = |token: &Token| {
        let kept = token.symbol.as_str().chars().filter(char::is_ascii_alphanumeric);
        kept.collect::<String>().to_ascii_lowercase()
    };
    let symbol = plain(token);
    let alike = tokens.values().filter(|(other, _)| plain(other) == symbol).count();
    if alike == 1 && !symbol.is_empty() {
        format!("{symbol}-feed")
    } else {
        format!("{}-feed", token.address)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use exitgap_chain::config::{Config, FeedPlan, parse_address};
    use exitgap_core::snapshot::OracleRole;

    use super::*;
    use crate::config::CheckedConfig;

    /// Every known token has its feeds, and they match how the example prices the pools that hold the token.
    #[test]
    fn every_known_token_is_priced_as_the_examples_pools_are() {
        let mut pools = 0;
        for known in &KNOWN {
            let checked = CheckedConfig::parse(known.example, Path::new(known.slug)).unwrap();
            let chain = &checked.plan.chains()[0];
            assert_eq!((chain.slug().as_str(), chain.chain_id()), (known.slug, known.chain_id));
            for (token, names) in known.tokens {
                let feeds = known.feeds_of(parse_address(token).unwrap()).unwrap();
                assert_eq!(feeds.iter().map(|feed| feed.name.as_str()).collect::<Vec<_>>(), *names);
            }
            // A Uniswap v4 pool states its tokens in its key.
            for pool in &checked.config.pool {
                let Some(key) = &pool.key else { continue };
                let planned = checked.plan.pool(&pool.address.on(pool.chain.clone())).unwrap();
                for (side, token) in [key.currency0, key.currency1].into_iter().enumerate() {
                    let role = OracleRole::TokenUsd(u8::try_from(side).unwrap());
                    let configured = planned.oracles.iter().filter(|oracle| oracle.role == role);
                    let configured: Vec<FeedPlan> = configured.map(|oracle| oracle.feed).collect();
                    let feeds = known.feeds_of(token).expect("a known token");
                    let told = feeds.iter().map(|&Feed { proxy: feed, heartbeat_s, .. }| {
                        let heartbeat_s = heartbeat_s + Config::HEARTBEAT_GRACE_S;
                        FeedPlan::Chainlink { feed, heartbeat_s }
                    });
                    assert_eq!(told.collect::<Vec<_>>(), configured);
                    pools += 1;
                }
            }
        }
        assert_eq!(pools, 8, "two tokens of a pool on each chain");
    }
}
