//! Contracts that look like a supported kind but have other pricing rules.

use alloy::primitives::{Address, Bytes, hex, keccak256};
use exitgap_chain::config::{Config, FeeConfig};
use exitgap_chain::{Event, Severity};
use exitgap_core::series::MissingReason;
use exitgap_tests::devchain::{DevChain, FIRST_SLOT, Market, World};

use crate::scenes::chain::{deadline, read, reader, scene, small_limits, snapshots, world_config};
use crate::scenes::proxy::{Lie, Proxy};

/// Runtime code that forwards every call to `pair`, except that it answers this function with `words` words: one, then
/// zeros.
fn pair_but_for(pair: Address, function: &str, words: u8) -> Bytes {
    let selector = &keccak256(function)[..4];
    let mut code = hex!("36600060003760003560e01c8063").to_vec();
    code.extend(selector);
    code.extend(hex!("14604857")); // answers by itself
    code.extend(hex!("600060003660006000"));
    code.push(0x73);
    code.extend(pair);
    code.extend(hex!("5af13d600060003e6043573d6000fd5b3d6000f3"));
    code.extend(hex!("5b600160005260"));
    code.push(32 * words);
    code.extend(hex!("6000f3"));
    code.into()
}

/// Addresses that forward to the world's first pair, each with one function that differs.
async fn imitations(chain: &DevChain, world: &World) -> Vec<(Address, &'static str)> {
    let pair = world.pools[World::FIRST_V2].pool.address;
    let kinds: [(&str, u8, &str); 4] = [
        ("stable()", 1, "Solidly-type"),
        ("metadata()", 7, "Solidly-type"),
        ("swap(uint256,uint256,address,bytes)", 1, "pays more"),
        ("decimals()", 1, ""),
    ];
    let mut made = Vec::new();
    for (number, (function, words, refusal)) in (1_u8..).zip(kinds) {
        let address = Address::repeat_byte(0x50 + number);
        chain.set_code(address, pair_but_for(pair, function, words)).await.unwrap();
        made.push((address, refusal));
    }
    made
}

fn with_fee(config: &Config, numerator: u32, denominator: u32) -> Config {
    let mut config = config.clone();
    config.pool[0].fee = Some(FeeConfig { numerator, denominator });
    config
}

#[tokio::test]
async fn pairs_that_fill_by_other_rules_are_refused_by_name() {
    let (chain, world) = scene().await;
    let made = imitations(&chain, &world).await;
    Market::new(&chain, &world, 3).await.unwrap().play_slot(FIRST_SLOT).await.unwrap();
    let mut config = world_config(&chain, &world, &[chain.url()], [World::FIRST_V2]).await;
    for (address, _) in &made {
        let mut pool = config.pool[0].clone();
        pool.address = exitgap_core::ids::Address(address.into_array()).into();
        config.pool.push(pool);
    }
    let mut reader = reader(&config, small_limits());
    let reading = read(&mut reader, FIRST_SLOT).await;
    assert!(reading.pools[0].1.is_ok() && reading.events.is_empty(), "{:?}", reading.events);
    for ((pool, result), (_, refusal)) in reading.pools[1..].iter().zip(&made) {
        if refusal.is_empty() {
            // Control: a contract that forwards everything is accepted.
            assert!(result.is_ok(), "{result:?}");
            continue;
        }
        let missing = result.as_ref().expect_err(refusal);
        assert_eq!(missing.reason, MissingReason::PoolUnsupported, "{pool}: {missing}");
        assert!(missing.detail.contains(refusal), "{missing}");
    }
    let findings = reader.check(deadline()).await;
    for (address, refusal) in made.iter().filter(|(_, refusal)| !refusal.is_empty()) {
        let subject = format!("pool anvil:{address:#x}");
        let found = findings.iter().find(|finding| finding.subject == subject).unwrap();
        assert_eq!(found.severity, Severity::Error, "{found}");
        assert!(found.message.contains(refusal), "{found}");
    }
    assert!(
        findings.iter().any(|finding| finding.message.contains("pays exactly the computed amount"))
    );
}

/// A pair has no fee getter, but its behavior shows whether the configured fee is correct.
#[tokio::test]
async fn a_pair_shows_that_its_configured_fee_is_wrong() {
    let (chain, world) = scene().await;
    Market::new(&chain, &world, 3).await.unwrap().play_slot(FIRST_SLOT).await.unwrap();
    let config = world_config(&chain, &world, &[chain.url()], [World::FIRST_V2]).await;
    let right = with_fee(&config, 3, 1_000);
    assert_eq!(snapshots(read(&mut reader(&right, small_limits()), FIRST_SLOT).await).len(), 1);
    for (numerator, denominator, words) in
        [(25, 10_000, "does not pay"), (31, 10_000, "pays more"), (0, 1, "does not pay")]
    {
        let wrong = with_fee(&config, numerator, denominator);
        let reading = read(&mut reader(&wrong, small_limits()), FIRST_SLOT).await;
        let missing = reading.pools[0].1.as_ref().unwrap_err();
        assert_eq!(missing.reason, MissingReason::PoolUnsupported, "{missing}");
        assert!(missing.detail.contains(words), "{numerator}/{denominator}: {missing}");
    }
}

/// An invented fee is consistent with the node's other answers, but the pool's actual payment reveals it.
#[tokio::test]
async fn a_made_up_fee_is_found_by_what_the_pool_pays() {
    let (chain, world) = scene().await;
    Market::new(&chain, &world, 3).await.unwrap().play_slot(FIRST_SLOT).await.unwrap();
    let pool = world.pools[1].pool;
    let proxy = Proxy::start(&chain.url());
    let word = |number: u32| format!("{number:064x}");
    proxy.lie(move |request, told| {
        let text = told["result"].as_str()?;
        let plain = request["params"].as_array().is_some_and(|params| params.len() == 2);
        (request["method"] == "eth_call" && plain && text.contains(&word(pool.fee)))
            .then(|| Lie::Result(text.replace(&word(pool.fee), &word(pool.fee - 1)).into()))
    });
    let config = world_config(&chain, &world, &[proxy.url()], [1]).await;
    let reading = read(&mut reader(&config, small_limits()), FIRST_SLOT).await;
    assert!(proxy.fired() > 0);
    let missing = reading.pools[0].1.as_ref().unwrap_err();
    assert_eq!(missing.reason, MissingReason::PoolUnsupported, "{missing}");
    assert!(missing.detail.contains("its ticks and fee give"), "{missing}");
}

/// With a node that does not support state overrides, the pool cannot be probed; the reader reports this.
#[tokio::test]
async fn what_cannot_be_tried_is_said_and_recorded() {
    let (chain, world) = scene().await;
    Market::new(&chain, &world, 3).await.unwrap().play_slot(FIRST_SLOT).await.unwrap();
    let proxy = Proxy::start(&chain.url());
    proxy.lie(|request, _| {
        let overrides = request["params"].as_array().is_some_and(|params| params.len() == 3);
        (request["method"] == "eth_call" && overrides)
            .then_some(Lie::Error(-32_602, "too many arguments, want at most 2"))
    });
    let config = world_config(&chain, &world, &[proxy.url()], [1, World::FIRST_V2]).await;
    let mut reader = reader(&config, small_limits());
    let reading = read(&mut reader, FIRST_SLOT).await;
    assert!(proxy.fired() > 0);
    let untried = |event: &Event| matches!(event, Event::NotTried { detail, .. } if detail.contains("too many arguments"));
    assert_eq!(reading.events.iter().filter(|event| untried(event)).count(), 2);
    assert_eq!(snapshots(reading).len(), 2);
    let findings = reader.check(deadline()).await;
    let warned = findings.iter().filter(|finding| {
        finding.severity == Severity::Warning
            && finding.message.contains("a trial swap was not possible")
    });
    assert_eq!(warned.count(), 2);
}
