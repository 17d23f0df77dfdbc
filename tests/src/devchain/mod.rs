//! The development chain: a private node with the real contracts on it.
//!
//! Three layers, each usable without the next:
//!
//! 1. [`DevChain`] is a node (separate process, free port, no automatic mining) with the protocols' contracts deployed:
//!    Multicall3, WETH9, Uniswap v2 and v3 (and, on request, Uniswap v4, `PancakeSwap` v3, Slipstream, Algebra
//!    Integral, Aerodrome v2 and Balancer v2). Its primitive is [`DevChain::mine`]: these transactions, in this order,
//!    in one block with this timestamp. Nothing is mined otherwise, and real time is never used: the caller sets the
//!    time.
//! 2. [`World`] is a fixed scene on it: tokens of 6, 8 and 18 decimals, Chainlink feeds, v3 pools of every fee with
//!    overlapping positions, two v2 pairs, one very thin pool. Tests with special needs create their own pools with
//!    [`DevChain::create_v3_pools`]. [`Venues`] are pools of other venues with its tokens.
//! 3. [`Market`] simulates five-minute slots on a [`World`] from a seed: trades, changing liquidity, feeds that follow
//!    the price, one sharp fall a day.
//!
//! ```no_run
//! # async fn example() -> exitgap_tests::devchain::Result<()> {
//! use exitgap_tests::devchain::{DevChain, FIRST_SLOT, Market};
//!
//! let (chain, world) = DevChain::standard().await?;
//! let mut market = Market::new(&chain, &world, 7).await?;
//! for slot in FIRST_SLOT..FIRST_SLOT + 12 {
//!     let played = market.play_slot(slot).await?;
//!     // `played.last_block` is the block a recorder must choose; a later one exists already.
//! }
//! # Ok(())
//! # }
//! ```
//!
//! [`DevChain::standard`] is the first two layers, created once per build and then loaded.
//!
//! A dropped [`DevChain`] ends its node, also after a panic; if the whole process is killed, a watcher ends it.

pub mod abi;
mod algebra;
mod anvil;
pub mod balancer;
mod chain;
mod contracts;
mod error;
mod feed;
mod many;
mod market;
mod pancake;
mod payer;
mod placed;
mod pool;
mod rng;
mod root;
mod rpc;
mod signer;
mod slipstream;
mod solidly;
mod stand_in;
mod standard;
mod sushi;
mod taxed;
mod token;
mod tx;
mod usdc;
mod v2;
mod v3;
mod v4;
mod vault;
mod venues;
mod world;

pub use algebra::LinkedPool;
pub use balancer::{Balancer, BalancerAct, BalancerPool};
pub use chain::{DevChain, Head, Options};
pub use contracts::{Contracts, MULTICALL3};
pub use error::{DevChainError, Result};
pub use feed::Feed;
pub use many::many_v3_pools;
pub use market::{Market, PlayedSlot};
pub use payer::PaidPool;
pub use placed::OCR_AGGREGATOR;
pub use pool::{Pool, PoolKind, PoolReading, Swap};
pub use rng::Rng;
pub use signer::PrivateKeySigner;
pub use solidly::SolidlyPool;
pub use stand_in::StandIn;
pub use token::Token;
pub use tx::{Mined, Tx};
pub use usdc::{Authorized, Usdc};
pub use v3::{MintedPosition, PoolSpec, PositionSpec, sqrt_price_x96};
pub use v4::{V4, V4Pool};
pub use venues::{Venues, Visits};
pub use world::{Asset, FEED_DECIMALS, World, WorldPool};

/// The first slot of the recorded series: 2026-08-22T00:00:00Z, as `unix seconds ÷ 300`.
pub const FIRST_SLOT: u64 = 1_787_356_800 / SLOT_SECONDS;

/// Length of a slot in seconds; slot `n` is the instant `n × 300` s UTC.
pub const SLOT_SECONDS: u64 = 300;

/// Slots in a day.
pub const SLOTS_PER_DAY: u64 = 86_400 / SLOT_SECONDS;
