//! A token of the development chain that serves as a tokenized stock, and the contract with its status.

use alloy::primitives::{Address as ChainAddress, U256, hex};
use alloy::sol_types::SolCall;
use exitgap_chain::config::{EquityConfig, FactConfig, TokenConfig};
use exitgap_core::ids::{Address, ChainSlug};
use exitgap_tests::devchain::{DevChain, StandIn, World, abi};

/// The contract that returns the stock's status.
pub const SAYS: ChainAddress = ChainAddress::repeat_byte(0x79);

/// The status of a tokenized stock.
#[derive(Debug, Clone, Copy)]
pub struct Stands {
    pub now: u64,
    pub next: u64,
    pub since: u64,
    pub paused: bool,
}

/// The token that serves as the stock: bitcoin, which has a concentrated-liquidity pool and a pair.
pub fn share(world: &World) -> ChainAddress {
    world.assets[World::WBTC].token.address
}

/// Sets the status that the stock's contract returns, in millionths.
pub async fn say(chain: &DevChain, stands: Stands) -> StandIn {
    let desk = chain.stand_in(SAYS).await.unwrap();
    let Stands { now, next, since, paused } = stands;
    let millionths = |number: u64| U256::from(number);
    chain.answer(desk, &abi::Share::uiMultiplierCall {}, &millionths(now)).await.unwrap();
    chain.answer(desk, &abi::Share::newUIMultiplierCall {}, &millionths(next)).await.unwrap();
    chain.answer(desk, &abi::Share::effectiveAtCall {}, &U256::from(since)).await.unwrap();
    chain.answer(desk, &abi::Share::pausedCall {}, &paused).await.unwrap();
    desk
}

/// The stock's configuration: its calendar, its facts, the balance of `pool`, and its kind.
pub fn configured(
    world: &World,
    kind: &str,
    feed_prices: &str,
    pool: ChainAddress,
) -> (TokenConfig, Vec<FactConfig>, EquityConfig) {
    let (chain, token) =
        ("anvil".parse::<ChainSlug>().unwrap(), Address(share(world).into_array()));
    let fact = |name: &str, contract: ChainAddress, call: Vec<u8>| FactConfig {
        chain: chain.clone(),
        token,
        name: name.to_owned(),
        contract: Address(contract.into_array()),
        call: format!("0x{}", hex::encode(call)),
    };
    let facts = vec![
        fact("now", SAYS, abi::Share::uiMultiplierCall {}.abi_encode()),
        fact("next", SAYS, abi::Share::newUIMultiplierCall {}.abi_encode()),
        fact("since", SAYS, abi::Share::effectiveAtCall {}.abi_encode()),
        fact("paused", SAYS, abi::Share::pausedCall {}.abi_encode()),
        fact("held", share(world), abi::Token::balanceOfCall { owner: pool }.abi_encode()),
    ];
    let calendar = TokenConfig {
        chain: chain.clone(),
        address: token,
        calendar: "XNYS".to_owned(),
        hours: "regular".to_owned(),
    };
    let named = |name: &str| Some(name.to_owned());
    let equity = EquityConfig {
        chain,
        token,
        kind: kind.to_owned(),
        feed_prices: feed_prices.to_owned(),
        multiplier_fact: named("now"),
        pending_multiplier_fact: named("next"),
        effective_at_fact: named("since"),
        paused_fact: named("paused"),
        multiplier_decimals: 6,
    };
    (calendar, facts, equity)
}

/// The same as tables of a configuration file.
pub fn tables(world: &World, kind: &str, feed_prices: &str, pool: ChainAddress) -> String {
    let (calendar, facts, equity) = configured(world, kind, feed_prices, pool);
    let token = equity.token;
    let fact = |fact: &FactConfig| {
        let FactConfig { name, contract, call, .. } = fact;
        format!(
            "\n[[fact]]\nchain = \"anvil\"\ntoken = \"{token}\"\nname = \"{name}\"\ncontract = \"{contract}\"\ncall = \"{call}\"\n"
        )
    };
    let facts: String = facts.iter().map(fact).collect();
    let calendar = calendar.calendar;
    format!(
        "\n[[token]]\nchain = \"anvil\"\naddress = \"{token}\"\ncalendar = \"{calendar}\"\n{facts}\n[[equity]]\nchain = \"anvil\"\ntoken = \"{token}\"\nkind = \"{kind}\"\nfeed_prices = \"{feed_prices}\"\nmultiplier_fact = \"now\"\npending_multiplier_fact = \"next\"\neffective_at_fact = \"since\"\npaused_fact = \"paused\"\nmultiplier_decimals = 6\n"
    )
}
