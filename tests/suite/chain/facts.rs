//! Facts: answers of contracts other than the pools, read at the same block.

use alloy::eips::BlockId;
use alloy::primitives::{Address as ChainAddress, U256, hex};
use alloy::sol_types::SolCall;
use exitgap_chain::Event;
use exitgap_chain::config::{Config, FactConfig};
use exitgap_core::ids::Address;
use exitgap_core::snapshot::Snapshot;
use exitgap_tests::devchain::{FIRST_SLOT, SLOT_SECONDS, Tx, World, abi};

use crate::scenes::chain::{
    deadline, pass_slot, read, reader, scene, small_limits, snapshots, world_config,
};

const DESK: ChainAddress = ChainAddress::repeat_byte(0x77);

fn fact(world: &World, name: &str, contract: ChainAddress, call: &impl SolCall) -> FactConfig {
    FactConfig {
        chain: "anvil".parse().unwrap(),
        token: Address(world.assets[World::WETH].token.address.into_array()),
        name: name.to_owned(),
        contract: Address(contract.into_array()),
        call: format!("0x{}", hex::encode(call.abi_encode())),
    }
}

/// The words of a fact; `None` if the snapshot has no fact of that name.
fn words(snapshot: &Snapshot, name: &str) -> Option<Vec<U256>> {
    let facts = snapshot.observation().facts();
    let found = facts.iter().find(|fact| fact.name.as_str() == name)?;
    Some(found.words.iter().map(|word| U256::from_be_bytes(word.0)).collect())
}

#[tokio::test]
async fn a_fact_is_what_the_contract_says_at_the_snapshots_block() {
    let (chain, world) = scene().await;
    let weth = world.assets[World::WETH].token.address;
    let mut config: Config = world_config(&chain, &world, &[chain.url()], [0, 1]).await;
    let held = abi::Token::balanceOfCall { owner: DESK };
    config.fact.push(fact(&world, "desk_holds", weth, &held));
    config.fact.push(fact(&world, "desk_paused", DESK, &abi::Desk::pausedCall {}));
    config.fact.push(fact(&world, "desk_queue", DESK, &abi::Desk::unfinalizedStETHCall {}));
    config.fact.push(fact(&world, "nobody", ChainAddress::repeat_byte(0x78), &held));
    let desk = chain.stand_in(DESK).await.unwrap();
    chain.answer(desk, &abi::Desk::pausedCall {}, &true).await.unwrap();
    let mut reader = reader(&config, small_limits());

    pass_slot(&chain, FIRST_SLOT).await;
    let reading = read(&mut reader, FIRST_SLOT).await;
    // A call that reverts, or of an address without a contract, does not count as zero: the snapshot has no such fact,
    // and the reader reports why.
    let untold: Vec<String> = reading
        .events
        .iter()
        .filter(|event| matches!(event, Event::FactNotRead { .. }))
        .map(ToString::to_string)
        .collect();
    assert_eq!(untold.len(), 2, "{untold:?}");
    assert!(untold[0].contains("desk_queue") && untold[0].contains("reverted"), "{untold:?}");
    assert!(untold[1].contains("nobody") && untold[1].contains("returned no data"), "{untold:?}");
    let first = snapshots(reading);
    for snapshot in &first {
        let tokens = snapshot.observation().tokens();
        let is_its = tokens.iter().any(|token| token.address.0 == weth.into_array());
        let expected = is_its.then(|| vec![U256::ZERO]);
        assert_eq!(words(snapshot, "desk_holds"), expected);
        assert_eq!(words(snapshot, "desk_paused"), is_its.then(|| vec![U256::ONE]));
        assert_eq!((words(snapshot, "desk_queue"), words(snapshot, "nobody")), (None, None));
        let documents = snapshot.to_canonical().unwrap();
        let again = Snapshot::from_canonical(&documents.snapshot, &documents.state);
        assert_eq!(again.as_ref(), Ok(snapshot));
    }

    // Values are read at the slot's block, not at a later one.
    let give = abi::Token::transferCall { to: DESK, amount: U256::from(5_000) };
    chain.answer(desk, &abi::Desk::unfinalizedStETHCall {}, &U256::from(42)).await.unwrap();
    let at = (FIRST_SLOT + 1) * SLOT_SECONDS;
    chain.mine(at - 5, &[Tx::call(chain.operator, weth, &give)]).await.unwrap();
    chain.mine(at + 5, &[Tx::call(chain.operator, weth, &give)]).await.unwrap();
    let second = snapshots(read(&mut reader, FIRST_SLOT + 1).await);
    let snapshot = second.iter().find(|one| words(one, "desk_holds").is_some()).unwrap();
    let block = BlockId::hash(snapshot.observation().block().hash.0.into());
    let balance = chain.balance_of(weth, DESK, block).await.unwrap();
    assert_eq!(balance, U256::from(5_000));
    assert_eq!(words(snapshot, "desk_holds"), Some(vec![balance]));
    assert_eq!(words(snapshot, "desk_queue"), Some(vec![U256::from(42)]));

    // The configuration check reports the same for each fact.
    let findings: Vec<String> =
        reader.check(deadline()).await.iter().map(ToString::to_string).collect();
    let of = |name: &str| {
        let found = findings.iter().find(|line| line.contains(&format!("fact {name} of token")));
        found.unwrap_or_else(|| panic!("{findings:?}"))
    };
    assert!(of("desk_paused").starts_with("ok: "), "{}", of("desk_paused"));
    assert!(of("nobody").starts_with("warning: "), "{}", of("nobody"));
    assert!(of("nobody").contains("check contract 0x7878"), "{}", of("nobody"));
}
