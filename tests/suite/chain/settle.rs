//! Settlement with Circle's own token: its answers, its rejections, and lies of nodes about it.

use alloy::primitives::{Address, B256, Bytes, U256};
use exitgap_chain::settle::{Authorization, SettleError, SignedTransaction, TokenNode, Verdict};
use exitgap_core::ids::{Caip2, Word};
use exitgap_tests::devchain::PrivateKeySigner;
use exitgap_tests::devchain::abi::{FiatToken, TransferWithAuthorization};
use exitgap_tests::devchain::{Authorized, DevChain, Tx, Usdc};
use serde_json::json;

use crate::scenes::proxy::{Lie, Proxy};
use crate::scenes::usdc::{CHAIN_ID, PRICE, Scene, now_s, own, settled_as, soon, with_high_s};

/// Maximum fee of twenty gwei: the chain starts with a base fee of one gwei, plus a tip of one gwei.
const MOST: u128 = 20_000_000_000;

async fn verdict(scene: &Scene, authorized: &Authorized) -> Verdict {
    let authorization = settled_as(authorized);
    scene.node().verify(&authorization, scene.key.address(), soon()).await.unwrap()
}

async fn sign(scene: &Scene, authorization: &Authorization) -> SignedTransaction {
    let node = scene.node();
    let nonce = node.count(scene.key.address(), soon()).await.unwrap();
    let fees = node.fees(MOST, soon()).await.unwrap();
    authorization.sign(&scene.key, (CHAIN_ID, own(scene.usdc.address)), nonce, fees).unwrap()
}

#[tokio::test]
async fn the_token_is_what_its_contract_says_or_is_refused_by_name() {
    let scene = Scene::new().await;
    let token = scene.node().describe(6, soon()).await.unwrap();
    assert_eq!((token.name.as_str(), token.version.as_str()), ("USDC", "2"));
    assert_eq!(token.network, Caip2(CHAIN_ID));
    assert_eq!(token.domain_separator.0, scene.usdc.domain.separator().0);

    let wrong = scene.node().describe(18, soon()).await.unwrap_err();
    assert!(matches!(wrong, SettleError::Token { what: "decimals", .. }), "{wrong}");
    // The token's name determines its signing domain: a node that reports another name is detected.
    let proxy = Proxy::start(&scene.chain.url());
    let renamed = json!(
        "0x0000000000000000000000000000000000000000000000000000000000000020\
        0000000000000000000000000000000000000000000000000000000000000004\
        5553444300000000000000000000000000000000000000000000000000000000"
    );
    let other = json!(renamed.as_str().unwrap().replace("55534443", "55534444"));
    proxy.lie(move |_, told| (told["result"] == renamed).then(|| Lie::Result(other.clone())));
    let wrong = scene.node_behind(&[proxy.url()]).describe(6, soon()).await.unwrap_err();
    assert!(matches!(wrong, SettleError::Token { what: "DOMAIN_SEPARATOR", .. }), "{wrong}");
    assert!(proxy.fired() > 0);

    scene.chain.set_code(scene.usdc.address, Bytes::new()).await.unwrap();
    let wrong = scene.node().describe(6, soon()).await.unwrap_err();
    assert!(matches!(wrong, SettleError::Token { what: "decimals", .. }), "{wrong}");
}

#[tokio::test]
async fn every_way_not_to_be_settled_has_its_name() {
    let scene = Scene::new().await;
    let Scene { chain, usdc, payer, .. } = &scene;
    assert_eq!(verdict(&scene, &scene.authorized(1)).await, Verdict::Good);
    let with = |change: &dyn Fn(&mut TransferWithAuthorization)| {
        let mut message = scene.message(1);
        change(&mut message);
        usdc.authorize(payer, message)
    };
    let mut other_value = scene.authorized(1);
    other_value.message.value += U256::from(1);
    let mut truncated = scene.authorized(1);
    truncated.signature = truncated.signature.slice(..64);
    let mut high_s = scene.authorized(1);
    high_s.signature = with_high_s(&high_s.signature);
    let mut undeployed = scene.authorized(1);
    undeployed.signature = [vec![1; 96], [0x64, 0x92].repeat(16)].concat().into();
    let stranger = PrivateKeySigner::from_slice(&[0x33; 32]).unwrap();
    for (authorized, expected) in [
        (other_value, Verdict::Signature),
        (truncated, Verdict::Signature),
        (high_s, Verdict::Signature),
        (usdc.authorize(&stranger, scene.message(1)), Verdict::Signature),
        (undeployed, Verdict::Undeployed),
        (with(&|message| message.validAfter = U256::from(now_s() + 3_600)), Verdict::NotYet),
        (with(&|message| message.validBefore = U256::from(now_s() - 300)), Verdict::Expired),
        (with(&|message| message.value = U256::from(u64::MAX)), Verdict::Funds),
    ] {
        assert_eq!(verdict(&scene, &authorized).await, expected);
    }
    let send = async |tx: Tx| chain.mine_next(&[tx]).await.unwrap();
    send(Tx::call(chain.operator, usdc.address, &usdc.cancel(payer, B256::repeat_byte(2)))).await;
    assert_eq!(verdict(&scene, &scene.authorized(2)).await, Verdict::Used);
    send(Tx::call(chain.operator, usdc.address, &FiatToken::pauseCall {})).await;
    assert_eq!(verdict(&scene, &scene.authorized(3)).await, Verdict::Refused);
    send(Tx::call(chain.operator, usdc.address, &FiatToken::unpauseCall {})).await;
    let barred = FiatToken::blacklistCall { account: payer.address() };
    send(Tx::call(chain.operator, usdc.address, &barred)).await;
    assert_eq!(verdict(&scene, &scene.authorized(3)).await, Verdict::Refused);
}

#[tokio::test]
async fn a_contracts_own_signature_is_settled() {
    let scene = Scene::new().await;
    // A contract that answers every call with EIP-1271's magic value.
    let wallet = Address::repeat_byte(0x12);
    let code: Bytes = "0x631626ba7e60e01b60005260206000f3".parse().unwrap();
    scene.chain.set_code(wallet, code).await.unwrap();
    let Scene { chain, usdc, .. } = &scene;
    chain.mine_next(&[usdc.fund(chain, wallet, PRICE)]).await.unwrap();
    let mut message = scene.message(1);
    message.from = wallet;
    let authorized = Authorized { message, signature: vec![1, 2, 3].into() };
    assert_eq!(verdict(&scene, &authorized).await, Verdict::Good);
    let signed = sign(&scene, &settled_as(&authorized)).await;
    scene.node().broadcast(&signed, soon()).await.unwrap();
    scene.mine_pending().await;
    assert_eq!(scene.paid().await, PRICE);
}

#[tokio::test]
async fn what_is_sent_twice_is_settled_once_and_found_by_receipt_and_by_event() {
    let scene = Scene::new().await;
    let node = scene.node();
    let authorization = settled_as(&scene.authorized(1));
    let of = (authorization.from, authorization.nonce);
    let since = node.head(soon()).await.unwrap().number;
    let signed = sign(&scene, &authorization).await;
    assert_eq!(node.receipt(signed.hash, soon()).await, Ok(None));
    for _ in 0..2 {
        node.broadcast(&signed, soon()).await.unwrap();
    }
    assert_eq!(node.receipt(signed.hash, soon()).await, Ok(None), "it is not mined");
    assert_eq!(node.used_since(of, since, soon()).await, Ok(None));
    scene.mine_pending().await;
    let receipt = node.receipt(signed.hash, soon()).await.unwrap().unwrap();
    assert!(receipt.succeeded);
    let transfers = receipt.transfers(node.network(), node.asset(), own(scene.pay_to));
    let [transfer] = &transfers[..] else { panic!("{transfers:?}") };
    assert_eq!((transfer.from, transfer.value), (authorization.from, u128::from(PRICE)));
    let key = format!(
        "3009:eip155:{CHAIN_ID}:{}:{}:{}",
        node.asset(),
        authorization.from,
        authorization.nonce
    );
    assert_eq!(transfer.key.to_string(), key);
    assert_eq!(node.is_used(of.0, of.1, soon()).await, Ok(true));
    let used = node.used_since(of, since, soon()).await.unwrap().unwrap();
    assert_eq!(used.transaction, signed.hash);
    let time = node.block_time(receipt.block, receipt.block_hash, soon()).await.unwrap();
    assert!(time.is_some_and(|time| time.abs_diff(now_s()) < 600), "{time:?}");
    // A second use reverts, consumes its own transaction nonce, and moves nothing.
    let again = sign(&scene, &authorization).await;
    assert_eq!(verdict(&scene, &scene.authorized(1)).await, Verdict::Used);
    node.broadcast(&again, soon()).await.unwrap();
    scene.mine_pending().await;
    let reverted = node.receipt(again.hash, soon()).await.unwrap().unwrap();
    assert!(!reverted.succeeded);
    assert_eq!(scene.paid().await, PRICE);
}

#[tokio::test]
async fn what_a_third_party_settles_first_is_found_and_what_was_cancelled_is_not() {
    let scene = Scene::new().await;
    let Scene { chain, usdc, payer, .. } = &scene;
    let node = scene.node();
    let authorized = scene.authorized(1);
    let authorization = settled_as(&authorized);
    let signed = sign(&scene, &authorization).await;
    let front_run = Tx::call(chain.trader, usdc.address, &authorized.call());
    let mined = chain.mine_next(&[front_run]).await.unwrap();
    let of = (authorization.from, authorization.nonce);
    let used = node.used_since(of, 0, soon()).await.unwrap().unwrap();
    assert_eq!(used.transaction.0, mined.receipts[0].transaction_hash.0);
    node.broadcast(&signed, soon()).await.unwrap();
    scene.mine_pending().await;
    assert!(!node.receipt(signed.hash, soon()).await.unwrap().unwrap().succeeded);
    assert_eq!(scene.paid().await, PRICE, "once");

    let nonce = B256::repeat_byte(2);
    let cancel = Tx::call(chain.operator, usdc.address, &usdc.cancel(payer, nonce));
    chain.mine_next(&[cancel]).await.unwrap();
    let of = (authorization.from, Word(nonce.0));
    assert_eq!(node.is_used(of.0, of.1, soon()).await, Ok(true));
    assert_eq!(node.used_since(of, 0, soon()).await, Ok(None));
}

#[tokio::test]
async fn a_rise_of_fees_is_met_with_the_same_number_up_to_the_bound() {
    let scene = Scene::new().await;
    let node = scene.node();
    let authorization = settled_as(&scene.authorized(1));
    let target = (CHAIN_ID, own(scene.usdc.address));
    let nonce = node.count(scene.key.address(), soon()).await.unwrap();
    let first = node.fees(MOST, soon()).await.unwrap();
    let cheap = authorization.sign(&scene.key, target, nonce, first).unwrap();
    node.broadcast(&cheap, soon()).await.unwrap();
    raise_base_fee(&scene.chain, MOST * 4).await;
    let too_dear = node.fees(MOST, soon()).await.unwrap_err();
    assert!(matches!(too_dear, SettleError::TooDear { most: MOST, .. }), "{too_dear}");
    let now = node.fees(MOST * 16, soon()).await.unwrap();
    assert_eq!(first.bump(now, MOST), None);
    let bumped = first.bump(now, MOST * 16).unwrap();
    let dear = authorization.sign(&scene.key, target, nonce, bumped).unwrap();
    node.broadcast(&dear, soon()).await.unwrap();
    scene.mine_pending().await;
    assert!(node.receipt(dear.hash, soon()).await.unwrap().unwrap().succeeded);
    assert_eq!(node.receipt(cheap.hash, soon()).await, Ok(None));
    assert_eq!(node.count(scene.key.address(), soon()).await, Ok(nonce + 1));
    assert_eq!(scene.paid().await, PRICE);
}

async fn raise_base_fee(chain: &DevChain, wei: u128) {
    let _: serde_json::Value =
        chain.rpc("anvil_setNextBlockBaseFeePerGas", (U256::from(wei),)).await.unwrap();
    let _: serde_json::Value = chain.rpc("evm_mine", ()).await.unwrap();
}

#[tokio::test]
async fn a_batch_pays_each_under_its_own_key_and_a_reorganisation_keeps_the_keys() {
    let scene = Scene::new().await;
    let Scene { chain, usdc, .. } = &scene;
    let node = scene.node();
    let (asset, pay_to) = (own(usdc.address), own(scene.pay_to));
    let transfer = FiatToken::transferCall { to: scene.pay_to, value: U256::from(PRICE) };
    let mined =
        chain.mine_next(&[Tx::call(chain.operator, usdc.address, &transfer)]).await.unwrap();
    let hash = Word(mined.receipts[0].transaction_hash.0);
    let receipt = node.receipt(hash, soon()).await.unwrap().unwrap();
    let transfers = receipt.transfers(node.network(), asset, pay_to);
    assert_eq!(transfers[0].key.to_string(), format!("tx:eip155:{CHAIN_ID}:{hash}:0"));
    chain.reorg(1).await.unwrap();
    assert_eq!(node.receipt(hash, soon()).await, Ok(None));
    let gone = node.block_time(receipt.block, receipt.block_hash, soon()).await.unwrap();
    assert_eq!(gone, None);
}

#[tokio::test]
async fn what_nodes_tell_of_something_else_is_never_an_outcome() {
    let scene = Scene::new().await;
    let authorization = settled_as(&scene.authorized(1));
    let signed = sign(&scene, &authorization).await;
    let proxy = Proxy::start(&scene.chain.url());
    let node = scene.node_behind(&[proxy.url()]);
    assert_eq!(node.knows_transaction(signed.hash, soon()).await, Ok(false));
    node.broadcast(&signed, soon()).await.unwrap();
    assert_eq!(node.knows_transaction(signed.hash, soon()).await, Ok(true), "not mined yet");
    scene.mine_pending().await;
    assert_eq!(node.knows_transaction(signed.hash, soon()).await, Ok(true));
    let instead = |method: &'static str, change: fn(&mut serde_json::Value)| {
        proxy.lie(move |asked, told| {
            (asked["method"] == method).then(|| {
                let mut told = told["result"].clone();
                change(&mut told);
                Lie::Result(told)
            })
        });
    };
    let of = (authorization.from, authorization.nonce);
    let failed = |outcome: Option<SettleError>| {
        assert!(matches!(outcome, Some(SettleError::Unavailable(_))), "{outcome:?}");
        assert!(proxy.fired() > 0);
    };
    let receipt = async |node: &TokenNode| node.receipt(signed.hash, soon()).await.err();
    let other_hash = |told: &mut serde_json::Value| {
        told["transactionHash"] = json!(B256::repeat_byte(1));
    };
    instead("eth_getTransactionReceipt", other_hash);
    failed(receipt(&node).await);
    instead("eth_getTransactionReceipt", |told| told["status"] = json!("0x7"));
    failed(receipt(&node).await);
    instead("eth_getTransactionByHash", |told| told["hash"] = json!(B256::repeat_byte(1)));
    failed(node.knows_transaction(signed.hash, soon()).await.err());
    instead("eth_getLogs", |told| told[0]["topics"][2] = json!(B256::repeat_byte(9)));
    failed(node.used_since(of, 0, soon()).await.err());
    instead("eth_call", |told| *told = json!("0x02"));
    failed(node.is_used(of.0, of.1, soon()).await.err());
    instead("eth_sendRawTransaction", |told| *told = json!(B256::repeat_byte(1)));
    failed(node.broadcast(&signed, soon()).await.err());
    proxy.lie(|_, _| Some(Lie::Flood(64 << 20)));
    failed(receipt(&node).await);
    proxy.be_honest();
    assert!(node.receipt(signed.hash, soon()).await.unwrap().unwrap().succeeded);
}

#[tokio::test]
async fn a_node_of_another_chain_is_not_asked_about_payments() {
    let scene = Scene::new().await;
    let other = DevChain::start(exitgap_tests::devchain::Options::default()).await.unwrap();
    let node = scene.node_behind(&[other.url()]);
    let wrong = node.describe(6, soon()).await.unwrap_err();
    assert!(wrong.to_string().contains("chain id 31337, expected 84532"), "{wrong}");
    let _: &Usdc = &scene.usdc;
}
