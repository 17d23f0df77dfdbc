//! A token of the development chain that stands for a share, and what says where it stands.

use alloy::primitives::{Address as ChainAddress, U256, hex};
use alloy::sol_types::SolCall;
use exitgap_tests::devchain::{DevChain, StandIn, World, abi};

/// The contract that says where the share stands.
pub const SAYS: ChainAddress = ChainAddress::repeat_byte(0x79);

/// Where a share stands.
#[derive(Debug, Clone, Copy)]
pub struct Stands {
    pub now: u64,
    pub next: u64,
    pub since: u64,
    pub paused: bool,
}

/// The share: bitcoin, of which there is a pool of ranges and a pair.
pub fn share(world: &World) -> ChainAddress {
    world.assets[World::WBTC].token.address
}

/// Lets the share's contract say so, in millionths.
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

/// The tables of a configuration that name its calendar, its facts, what `pool` holds of it, and its kind.
pub fn tables(world: &World, kind: &str, feed_prices: &str, pool: ChainAddress) -> String {
    let token = format!("{:#x}", share(world));
    let fact = |name: &str, contract: String, call: Vec<u8>| {
        let call = hex::encode(call);
        format!(
            "\n[[fact]]\nchain = \"anvil\"\ntoken = \"{token}\"\nname = \"{name}\"\ncontract = \"{contract}\"\ncall = \"0x{call}\"\n"
        )
    };
    let says = || format!("{SAYS:#x}");
    let held = abi::Token::balanceOfCall { owner: pool }.abi_encode();
    [
        format!("\n[[token]]\nchain = \"anvil\"\naddress = \"{token}\"\ncalendar = \"XNYS\"\n"),
        fact("now", says(), abi::Share::uiMultiplierCall {}.abi_encode()),
        fact("next", says(), abi::Share::newUIMultiplierCall {}.abi_encode()),
        fact("since", says(), abi::Share::effectiveAtCall {}.abi_encode()),
        fact("paused", says(), abi::Share::pausedCall {}.abi_encode()),
        fact("held", token.clone(), held),
        format!(
            "\n[[equity]]\nchain = \"anvil\"\ntoken = \"{token}\"\nkind = \"{kind}\"\nfeed_prices = \"{feed_prices}\"\nmultiplier_fact = \"now\"\npending_multiplier_fact = \"next\"\neffective_at_fact = \"since\"\npaused_fact = \"paused\"\nmultiplier_decimals = 6\n"
        ),
    ]
    .concat()
}
