//! What clients signed and received, compared with what was paid according to the chain. This is independent of the
//! service: the events are read from the node and distinguished by their topics.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use alloy::primitives::{Address, B256, keccak256};
use serde_json::{Value, json};

use super::payments_scene::Scene;
use super::{Part, Result};

/// The answer to an authorization, by the requested size.
type Answers = BTreeMap<u64, B256>;

/// What the clients know.
#[derive(Default)]
pub struct Books {
    /// Number of requests with a payment that got any answer.
    pub attempts: AtomicU64,
    notes: Mutex<Notes>,
}

#[derive(Default)]
struct Notes {
    /// The nonces signed for each wish, in order.
    signed: BTreeMap<u64, Vec<B256>>,
    answers: BTreeMap<B256, Answers>,
    /// Authorizations with more than one answer.
    unequal: BTreeSet<B256>,
}

/// The number of errors of each kind.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Wrongs {
    /// Transfers beyond the one that a wish needs.
    pub double_settled: u64,
    /// Answers without a payment.
    pub answered_unpaid: u64,
    /// Paid wishes without an answer.
    pub paid_unanswered: u64,
    /// Payments whose second answer had other bytes.
    pub unequal: u64,
}

impl Wrongs {
    /// Whether there is any error.
    pub fn any(self) -> bool {
        self != Self::default()
    }
}

impl Books {
    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a signed payment for this wish.
    pub fn sign(&self, wish: u64, nonce: B256) {
        self.notes().signed.entry(wish).or_default().push(nonce);
    }

    /// Records an answered request.
    pub fn attempt(&self) {
        self.attempts.fetch_add(1, Ordering::Relaxed);
    }

    /// Records an answer to an authorization for this size.
    pub fn answer(&self, nonce: B256, size: u64, body: &[u8]) {
        let body = keccak256(body);
        let mut notes = self.notes();
        let first = *notes.answers.entry(nonce).or_default().entry(size).or_insert(body);
        if first != body {
            notes.unequal.insert(nonce);
        }
    }

    /// Number of wishes with a payment.
    pub fn wishes(&self) -> usize {
        self.notes().signed.len()
    }

    /// Number of signed authorizations.
    pub fn authorizations(&self) -> usize {
        self.notes().signed.values().map(Vec::len).sum()
    }

    /// Paid authorizations without an answer.
    pub fn unanswered(&self, paid: &BTreeMap<B256, u64>) -> Vec<B256> {
        let notes = self.notes();
        let own = notes.signed.values().flatten();
        own.filter(|nonce| paid.contains_key(*nonce) && !notes.answers.contains_key(*nonce))
            .copied()
            .collect()
    }

    /// Compares with the payments.
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

/// Every transfer to the payee by an authorization, keyed by its nonce; an error if the payee was paid in another way,
/// or the sum does not match its balance.
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

/// Records the errors as figures and problems.
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
