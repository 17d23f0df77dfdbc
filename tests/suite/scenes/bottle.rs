//! The bottle: accounts of Ethereum after a real block on a node of our own, so that what followed can happen again.
//!
//! The words of the pools and of one price feed are the chain's, each proven. Words that the record lacks are ours:
//! ticks without words, two that close each book, names of tokens, what factories answer, two feeds. Pools, pairs and
//! factories have their published code. Tokens whose code no package has are plain ones: their balances and names are
//! ours, and they take no fee.

use alloy::primitives::{Address, B256, Bytes, I256, U256, address, b256, keccak256};
use alloy::sol_types::{SolConstructor, SolValue};
use exitgap_core::ids;
use exitgap_core::proof::V3Immutables;
use exitgap_tests::devchain::{DevChain, OCR_AGGREGATOR, Options, PoolKind, Tx, abi};
use exitgap_tests::fixtures::Artifact;
use serde_json::{Value, json};

use super::facts;
use super::proxy::{Lie, Proxy};
use super::real_swap::{RealSwap, log_of};

const USDC: Address = address!("a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48");
pub const WETH: Address = address!("c02aaa39b223fe8d0a0e5c4f27ead9083c756cc2");
pub const V2_FACTORY: Address = address!("5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f");
const V3_FACTORY: Address = address!("1f98431c8ad98523631ae4a59f267346ea31f984");

/// The symbols and decimals of two tokens whose code no package has. Those of the others are not recorded.
const OTHER_TOKENS: [(Address, &str, u8); 2] = [
    (address!("514910771af9ca656af840dff83e8264ecf986ca"), "LINK", 18),
    (address!("dac17f958d2ee523a2206206994597c13d831ec7"), "USDT", 6),
];

/// The price feed of ours for LINK, which prices every token that has none.
pub const LINK_FEED: Address = address!("2c1d072e956affc0d435cb7ac38ef18d24d9127c");

/// Hashes of code that no package has: that of Chainlink's proxies, and of the aggregators behind them.
const FEED_CODE: B256 = b256!("4b79b5c8aee6da0f7b393e8b53e6265ef7320a1d16184c65bd3841b5aa3d700d");
const AGGREGATOR_CODE: B256 =
    b256!("bb2d1c5819544ff9d57480a59270ece03719625702c5b30c9c512d94d62661ee");

/// Seconds from block to block.
const BLOCK_S: u64 = 12;

/// What the trader has of each token: more than any swap takes.
const PLENTY: u128 = 1 << 120;

pub struct Bottle {
    pub chain: DevChain,
    /// The swaps of the block that followed, in their order.
    pub swaps: Vec<RealSwap>,
    genesis: Value,
}

impl Bottle {
    pub async fn fill() -> Self {
        Self::fill_with(|_| ()).await
    }

    /// The same with other facts.
    pub async fn fill_with(change: impl FnOnce(&mut Value)) -> Self {
        let mut facts = facts::file("bottle");
        change(&mut facts);
        let swaps = RealSwap::of_block(facts["block"].as_u64().unwrap() + 1);
        let chain_id = facts["chain"].as_u64().unwrap();
        let chain = DevChain::bare(Options { chain_id, ..Options::default() }).await.unwrap();
        let mut bottle = Self { chain, swaps, genesis: facts["genesis"].clone() };
        for (address, account) in facts["accounts"].as_object().unwrap() {
            bottle.place(address.parse().unwrap(), account).await;
        }
        bottle.deploy_router().await;
        bottle.give_balances().await;
        bottle
    }

    /// A node in front of it whose block 0 has the hash of Ethereum's, so that the chain is Ethereum.
    pub fn as_ethereum(&self) -> Proxy {
        let (proxy, genesis) = (Proxy::start(&self.chain.url()), self.genesis.clone());
        proxy.lie(move |request, told| {
            let is_first =
                request["method"] == "eth_getBlockByNumber" && request["params"][0] == "0x0";
            is_first.then(|| {
                let mut block = told["result"].clone();
                block["hash"] = genesis.clone();
                Lie::Result(block)
            })
        });
        proxy
    }

    /// Mines blocks without transactions up to a time, one every twelve seconds.
    pub async fn pass(&self, until: u64) {
        loop {
            let next = self.chain.head().await.unwrap().timestamp + BLOCK_S;
            if next > until {
                return;
            }
            self.chain.mine(next, &[]).await.unwrap();
        }
    }

    /// Sends a real swap to its pool, in the next block; returns the numbers of the pool's log.
    pub async fn replay(&self, swap: &RealSwap) -> Vec<I256> {
        let (chain, pool, token_in) = (&self.chain, &swap.pool, swap.token_in());
        let txs = match pool.kind {
            PoolKind::V3 if swap.is_exact_output => {
                vec![chain.v3_buy_tx(pool, token_in, swap.amount_out)]
            }
            PoolKind::V3 => vec![chain.v3_swap_tx(pool, token_in, swap.amount_in, U256::ZERO)],
            PoolKind::V2 => self.pair_txs(swap),
        };
        let next = chain.head().await.unwrap().timestamp + BLOCK_S;
        log_of(pool, &chain.mine(next, &txs).await.unwrap())
    }

    /// A payment to a pair, and what is then taken from it.
    fn pair_txs(&self, swap: &RealSwap) -> Vec<Tx> {
        let (trader, pair) = (self.chain.trader, swap.pool.address);
        let [out0, out1] = swap.outs();
        let pay = abi::Token::transferCall { to: pair, amount: swap.amount_in };
        let take = abi::V2Pair::swapCall {
            amount0Out: out0,
            amount1Out: out1,
            to: trader,
            data: Bytes::new(),
        };
        vec![Tx::call(trader, swap.token_in(), &pay), Tx::call(trader, pair, &take)]
    }

    /// Puts an account in place: its code, and the words that belong to that code.
    async fn place(&self, account: Address, facts: &Value) {
        let wanted: B256 = facts::text(&facts["code_hash"]).parse().unwrap();
        let is_published = facts["code"] != "bottle-code.json";
        let code = if is_published {
            let code = self.published(account);
            assert_eq!(keccak256(&code), wanted, "the code of {account}");
            Some(code)
        } else {
            stand_in(account, wanted)
        };
        if let Some(code) = code {
            self.chain.set_code(account, code).await.unwrap();
            let words = ["words", "words_ours"].map(|kind| facts[kind].as_object().unwrap());
            let words: Vec<(B256, B256)> = words
                .into_iter()
                .flatten()
                .map(|(slot, word)| {
                    (B256::from(slot.parse::<U256>().unwrap()), facts::number(word).into())
                })
                .collect();
            self.chain.set_words(account, &words).await.unwrap();
        } else if self.tokens().contains(&account) {
            self.place_token(account).await;
        }
    }

    /// The published code of a factory, a pair, or a pool with its own numbers.
    fn published(&self, account: Address) -> Bytes {
        let code = |artifact: Artifact| artifact.deployed_code().unwrap();
        match self.swaps.iter().find(|swap| swap.pool.address == account) {
            Some(swap) if swap.pool.kind == PoolKind::V3 => {
                let pool = &swap.pool;
                let immutables = V3Immutables {
                    pool: own(account),
                    factory: own(V3_FACTORY),
                    tokens: [own(pool.token0), own(pool.token1)],
                    fee_pips: pool.fee,
                    tick_spacing: swap.tick_spacing.unwrap(),
                };
                immutables.code(&code(Artifact::UniswapV3Pool)).unwrap().into()
            }
            Some(_) => code(Artifact::UniswapV2Pair),
            None if account == V3_FACTORY => code(Artifact::UniswapV3Factory),
            None if account == V2_FACTORY => code(Artifact::UniswapV2Factory),
            None => panic!("{account} has published code that is not known here"),
        }
    }

    /// Puts a plain token in place, with a name of ours.
    pub async fn place_token(&self, account: Address) {
        let code = Artifact::MintableErc20.deployed_code().unwrap();
        self.chain.set_code(account, code).await.unwrap();
        let known = OTHER_TOKENS.iter().find(|(token, ..)| *token == account);
        let (symbol, decimals) = match known {
            Some((_, symbol, decimals)) => ((*symbol).to_owned(), *decimals),
            None => (format!("{account:#x}")[..6].replacen("0x", "T", 1), 18),
        };
        let name = short_text(&symbol);
        let words = [(3, name), (4, name), (5, U256::from(decimals).into())];
        let words = words.map(|(slot, word)| (U256::from(slot).into(), word));
        self.chain.set_words(account, &words).await.unwrap();
    }

    /// The tokens of the pools.
    fn tokens(&self) -> Vec<Address> {
        let pools = self.swaps.iter().map(|swap| swap.pool);
        let mut tokens: Vec<_> = pools.flat_map(|pool| [pool.token0, pool.token1]).collect();
        tokens.sort_unstable();
        tokens.dedup();
        tokens
    }

    /// Deploys the router of v3's pools, which finds them as on the chain, by factory and tokens.
    async fn deploy_router(&mut self) {
        let operator = self.chain.operator;
        let router = operator.create(self.chain.nonce(operator).await.unwrap());
        let arguments = abi::Periphery::constructorCall { factory: V3_FACTORY, weth: WETH };
        let code = Artifact::SwapRouter.creation_code().unwrap();
        let create = Tx::create(operator, &code, &arguments.abi_encode());
        self.chain.mine_next(&[create]).await.unwrap();
        let contracts = &mut self.chain.contracts;
        (contracts.weth, contracts.v2_factory) = (WETH, V2_FACTORY);
        (contracts.v3_factory, contracts.v3_router) = (V3_FACTORY, router);
    }

    /// Gives pairs their reserves, pools and the trader plenty. The router may take the trader's tokens.
    async fn give_balances(&self) {
        let mut seen = Vec::new();
        for swap in &self.swaps {
            let pool = &swap.pool;
            if !seen.contains(&pool.address) {
                seen.push(pool.address);
                let balances = swap.reserves.unwrap_or([U256::from(PLENTY); 2]);
                self.give(pool.token0, pool.address, balances[0]).await;
                self.give(pool.token1, pool.address, balances[1]).await;
            }
        }
        let (trader, spender) = (self.chain.trader, self.chain.contracts.v3_router);
        let approve = abi::Token::approveCall { spender, amount: U256::MAX };
        for token in self.tokens() {
            self.give(token, trader, U256::from(PLENTY)).await;
            self.chain.mine_next(&[Tx::call(trader, token, &approve)]).await.unwrap();
        }
    }

    /// Sets an account's balance of a token.
    pub async fn give(&self, token: Address, owner: Address, amount: U256) {
        let balances = match token {
            USDC => 9,
            WETH => 3,
            _ => 0,
        };
        let slot = keccak256((owner, U256::from(balances)).abi_encode());
        self.chain.set_words(token, &[(slot, amount.into())]).await.unwrap();
    }
}

/// Code with the same words in place of code that no package has; `None`: there is none, or it is not needed.
fn stand_in(account: Address, code_hash: B256) -> Option<Bytes> {
    match (account, code_hash) {
        // Without the proxy in front of it, whose words are others.
        (USDC, _) => Some(Artifact::FiatTokenV2_2.deployed_code_with(Address::ZERO).unwrap()),
        (WETH, _) => Some(Artifact::Weth9.deployed_code().unwrap()),
        (_, FEED_CODE) => Some(Artifact::EacAggregatorProxy.deployed_code().unwrap()),
        (_, AGGREGATOR_CODE) => Some(Bytes::from_static(&OCR_AGGREGATOR)),
        _ => None,
    }
}

/// An address as the core has it.
fn own(address: Address) -> ids::Address {
    ids::Address(address.into_array())
}

/// A text of at most 31 bytes, as a contract keeps it in one word.
fn short_text(text: &str) -> B256 {
    let mut word = B256::right_padding_from(text.as_bytes());
    word[31] = u8::try_from(2 * text.len()).unwrap();
    word
}

/// The tables of a configuration for a pool of it. Tokens without a feed of their own have that of LINK.
pub fn pool_table(swap: &RealSwap) -> String {
    let pool = &swap.pool;
    let feed = |token: Address| match token {
        WETH => "eth-usd",
        USDC => "usdc-usd",
        _ => "link-usd",
    };
    let fee = match pool.kind {
        PoolKind::V2 => "fee = { numerator = 3, denominator = 1000 }\n",
        PoolKind::V3 => "",
    };
    format!(
        "\n[[pool]]\nchain = \"ethereum\"\naddress = \"{:#x}\"\nbase = \"token1\"\n\
         token0_usd = [\"{}\"]\ntoken1_usd = [\"{}\"]\n{fee}",
        pool.address,
        feed(pool.token0),
        feed(pool.token1)
    )
}

/// The table of the feed of LINK.
pub fn link_oracle() -> String {
    format!(
        "\n[[oracle]]\nname = \"link-usd\"\nchain = \"ethereum\"\nsource = \"chainlink\"\n\
         feed = \"{LINK_FEED:#x}\"\nheartbeat_s = 3600\n"
    )
}

/// A word of an account in the facts, to be changed.
pub fn word_of<'a>(facts: &'a mut Value, account: Address, slot: &str) -> &'a mut Value {
    let word = &mut facts["accounts"][format!("{account:#x}")]["words"][slot];
    assert_ne!(*word, json!(null), "{account} has no word {slot}");
    word
}
