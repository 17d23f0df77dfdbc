//! What clients signed and were answered, and what of it the chain says was paid. Nothing here is the
//! service's: the events are read from the node and told apart by their topics.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use alloy::primitives::{Address, B256, keccak256};
use serde_json::{Value, json};

use super::payments_scene::Scene;
use super::{Part, Result};

/// What an authorization was answered with, by the size asked for.
type Answers = BTreeMap<u64, B256>;

/// What clients know.
#[derive(Default)]
pub struct Books {
    /// Requests that carried a payment and were answered, however.
    pub attempts: AtomicU64,
    notes: Mutex<Notes>,
}

#[derive(Default)]
struct Notes {
    /// The nonces signed for each wish, in their order.
    signed: BTreeMap<u64, Vec<B256>>,
    answers: BTreeMap<B256, Answers>,
    /// Authorizations that were answered in more than one way.
    unequal: BTreeSet<B256>,
}

/// What is wrong, by kind.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Wrongs {
    /// Transfers beyond the one that a wish needs.
    pub double_settled: u64,
    /// Answers that nothing paid for.
    pub answered_unpaid: u64,
    /// Wishes that were paid for and not answered.
    pub paid_unanswered: u64,
    /// Payments that were answered with other bytes the second time.
    pub unequal: u64,
}

impl Wrongs {
    /// Whether anything is.
    pub fn any(self) -> bool {
        self != Self::default()
    }
}

impl Books {
    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A payment for this wish was signed.
    pub fn sign(&self, wish: u64, nonce: B256) {
        self.notes().signed.entry(wish).or_default().push(nonce);
    }

    /// A request was answered.
    pub fn attempt(&self) {
        self.attempts.fetch_add(1, Ordering::Relaxed);
    }

    /// An authorization was answered for this size.
    pub fn answer(&self, nonce: B256, size: u64, body: &[u8]) {
        let body = keccak256(body);
        let mut notes = self.notes();
        let first = *notes.answers.entry(nonce).or_default().entry(size).or_insert(body);
        if first != body {
            notes.unequal.insert(nonce);
        }
    }

    /// How many wishes have a payment.
    pub fn wishes(&self) -> usize {
        self.notes().signed.len()
    }

    /// How many authorizations were signed.
    pub fn authorizations(&self) -> usize {
        self.notes().signed.values().map(Vec::len).sum()
    }

    /// What was paid and not answered.
    pub fn unanswered(&self, paid: &BTreeMap<B256, u64>) -> Vec<B256> {
        let notes = self.notes();
        let own = notes.signed.values().flatten();
        own.filter(|nonce| paid.contains_key(*nonce) && !notes.answers.contains_key(*nonce))
            .copied()
            .collect()
    }

    /// Compares with what was paid.
    pub fn compare(&self, paid: &BTreeMap<B256, u64>) -> Wrongs {
        let notes = self.notes();
        let mut wrongs = Wrongs { unequal: notes.unequal.len() as u64, ..Wrongs::default() };
        for nonces in notes.signed.values() {
            let transfers: u64 = nonces.iter().filter_map(|nonce| paid.get(nonce)).sum();
            wrongs.double_settled += transfers.saturating_sub(1);
            let answers = |nonce: &B256| {
                notes.answers.get(nonce).map_or(0, |answers: &Answers| answers.len() as u64)
            };
            let of_paid = nonces.iter().filter(|nonce| paid.contains_key(*nonce));
            wrongs.paid_unanswered += of_paid.filter(|nonce| answers(nonce) == 0).count() as u64;
            let unpaid =
                |nonce: &B256| answers(nonce).saturating_sub(paid.get(nonce).copied().unwrap_or(0));
            wrongs.answered_unpaid += nonces.iter().map(unpaid).sum::<u64>();
        }
        wrongs
    }
}

/// Every transfer to the payee by an authorization, by the authorization's nonce; an error where the
/// payee was paid in another way, or another amount than these sum up to.
pub async fn paid(scene: &Scene, price: u64) -> Result<BTreeMap<B256, u64>> {
    let filter = json!([{"address": scene.usdc.address, "fromBlock": "0x0", "toBlock": "latest"}]);
    let logs: Vec<Value> = scene.chain.rpc("eth_getLogs", filter).await?;
    let [used, transfer] =
        ["AuthorizationUsed(address,bytes32)", "Transfer(address,address,uint256)"]
            .map(|event| keccak256(event.as_bytes()));
    let topic = |log: &Value, at: usize| log["topics"][at].as_str()?.parse::<B256>().ok();
    let payee = Some(scene.pay_to.into_word());
    let mut paid = BTreeMap::new();
    let mut before: Option<&Value> = None;
    for log in &logs {
        let of_token = |log: &Value| {
            log["address"].as_str().and_then(|text| text.parse().ok())
                == Some::<Address>(scene.usdc.address)
        };
        if of_token(log) && topic(log, 0) == Some(transfer) && topic(log, 2) == payee {
            let authorized = before.filter(|before| {
                topic(before, 0) == Some(used)
                    && topic(before, 1) == topic(log, 1)
                    && before["transactionHash"] == log["transactionHash"]
            });
            let nonce = authorized.and_then(|log| topic(log, 2));
            *paid.entry(nonce.ok_or("a transfer without an authorization")?).or_default() += 1;
        }
        before = Some(log);
    }
    let balance = scene.usdc.balance(&scene.chain, scene.pay_to).await?;
    let transfers: u64 = paid.values().sum();
    if balance.to::<u64>() != transfers * price {
        return Err(format!("{transfers} transfers of {price} make no {balance} units").into());
    }
    Ok(paid)
}

/// Sets the figures of what is wrong, and says it.
pub fn tell(part: &mut Part, wrongs: Wrongs) {
    for (key, number) in [
        ("payments.double_settled", wrongs.double_settled),
        ("payments.answered_unpaid", wrongs.answered_unpaid),
        ("payments.paid_unanswered", wrongs.paid_unanswered),
        ("payments.answered_otherwise", wrongs.unequal),
    ] {
        part.set(key, number);
        if number > 0 {
            part.problems.push(format!("{key}: {number}"));
        }
    }
}
