//! Payments as typed values, checked when rows are read.

use exitgap_core::ids::{Address, BlockHash, Word};

use super::{PaymentsError, Result, whole};
use crate::db::payments::{PaymentRow, SentRow};

/// How a payment was presented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// x402, version 1.
    X402V1,
    /// x402, version 2.
    X402V2,
    /// A transfer that the payer made.
    Transfer,
}

/// The state of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Its answer is stored; no transaction was sent.
    Claimed,
    /// A transaction may have been sent.
    Settling,
    /// Its receipt was seen.
    Settled,
    /// The payer was provably not charged.
    Failed,
    /// It was settled, and a reorganisation undid the settlement.
    Orphaned,
}

/// 16 random bytes. The process that has them may continue the claimed payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimToken(pub [u8; 16]);

/// The result of claiming a payment.
#[derive(Debug)]
pub enum Claim {
    /// The caller now holds the claim.
    Taken,
    /// The payment already has a claim.
    Held(Box<Payment>),
}

/// A payment to claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPayment {
    /// The payment's one key.
    pub key: String,
    /// SHA-256 of the request that it pays for.
    pub fingerprint: [u8; 32],
    /// How it was presented.
    pub family: Family,
    /// Whether the payer signed for this request.
    pub signed: bool,
    /// The payer.
    pub payer: Address,
    /// The amount in units of the token.
    pub amount: u128,
    /// The payer's own identifier for the request.
    pub identifier: Option<String>,
    /// The authorization, needed to settle the payment again; empty for a transfer.
    pub authorization: Vec<u8>,
    /// The Unix time in seconds until which it can be settled.
    pub valid_before_s: u64,
    /// The block at which it is claimed.
    pub since_block: u64,
    /// The answer's bytes.
    pub answer: Vec<u8>,
    /// The URL of the resource that is paid for.
    pub resource_url: String,
    /// The settlement, if it happened before the payment was presented.
    pub settled: Option<PaymentSettlement>,
}

/// A claimed payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// The payment's one key.
    pub key: String,
    /// SHA-256 of the request that it pays for.
    pub fingerprint: [u8; 32],
    /// How it was presented.
    pub family: Family,
    /// Whether the payer signed for this request.
    pub signed: bool,
    /// The payer.
    pub payer: Address,
    /// The amount in units of the token.
    pub amount: u128,
    /// The authorization; empty for a transfer.
    pub authorization: Vec<u8>,
    /// The Unix time in seconds until which it can be settled.
    pub valid_before_s: u64,
    /// The block at which it was claimed.
    pub since_block: u64,
    /// The state of the payment.
    pub state: State,
    /// The answer's bytes.
    pub answer: Vec<u8>,
    /// The URL of the resource that is paid for.
    pub resource_url: String,
    /// The settlement.
    pub settled: Option<PaymentSettlement>,
    /// When it was claimed, Unix seconds.
    pub claimed_s: u64,
}

/// The settlement of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaymentSettlement {
    /// The transaction.
    pub transaction: Word,
    /// Its block's number.
    pub block: u64,
    /// Its block's hash.
    pub block_hash: BlockHash,
    /// When the settlement was observed, Unix seconds.
    pub settled_s: u64,
}

/// A request's reservation of a transaction's hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HashReservation {
    /// The number of earlier reservations of the hash.
    pub place: u64,
    /// When this request first presented it, Unix seconds.
    pub since_s: u64,
}

/// A signed transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// Its number.
    pub nonce: u64,
    /// Its hash.
    pub hash: Word,
    /// Its bytes.
    pub raw: Vec<u8>,
    /// The maximum fee per unit of gas, in wei.
    pub max_fee: u128,
    /// The part of it that goes to the block's producer.
    pub tip: u128,
    /// When it was signed, Unix seconds.
    pub signed_s: u64,
}

/// The number of payments in each state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Claimed.
    pub claimed: u64,
    /// Settling.
    pub settling: u64,
    /// Settled.
    pub settled: u64,
    /// Failed.
    pub failed: u64,
    /// Orphaned.
    pub orphaned: u64,
}

const FAMILIES: [(Family, &str); 3] =
    [(Family::X402V1, "x402_v1"), (Family::X402V2, "x402_v2"), (Family::Transfer, "transfer")];

const STATES: [(State, &str); 5] = [
    (State::Claimed, "claimed"),
    (State::Settling, "settling"),
    (State::Settled, "settled"),
    (State::Failed, "failed"),
    (State::Orphaned, "orphaned"),
];

fn word_of<T: Copy + PartialEq>(words: &[(T, &'static str)], value: T) -> String {
    let found = words.iter().find(|(other, _)| *other == value);
    found.map_or("", |(_, word)| word).to_owned()
}

fn of_word<T: Copy>(words: &[(T, &'static str)], text: &str) -> Option<T> {
    words.iter().find(|(_, word)| *word == text).map(|(value, _)| *value)
}

impl State {
    pub(super) fn from_text(text: &str) -> Option<Self> {
        of_word(&STATES, text)
    }
}

impl NewPayment {
    pub(super) fn to_row(&self, claim: ClaimToken, now_s: u64) -> PaymentRow {
        let state = if self.settled.is_some() { State::Settled } else { State::Claimed };
        PaymentRow {
            key: self.key.clone(),
            fingerprint: self.fingerprint,
            family: word_of(&FAMILIES, self.family),
            signed: self.signed,
            payer: self.payer.0,
            amount: self.amount.to_string(),
            identifier: self.identifier.clone(),
            authorization: self.authorization.clone(),
            valid_before_s: whole(self.valid_before_s),
            since_block: whole(self.since_block),
            state: word_of(&STATES, state),
            claim: claim.0,
            answer: self.answer.clone(),
            resource_url: self.resource_url.clone(),
            settled: self.settled.map(PaymentSettlement::to_row),
            claimed_s: whole(now_s),
        }
    }
}

impl Payment {
    pub(super) fn from_row(row: PaymentRow) -> Result<Self> {
        let damaged = |what| PaymentsError::Damaged { what, key: row.key.clone() };
        let instant = |what, seconds: i64| u64::try_from(seconds).map_err(|_| damaged(what));
        let settled = match &row.settled {
            Some(settled) => Some(
                PaymentSettlement::from_row(settled).ok_or_else(|| damaged("the settlement"))?,
            ),
            None => None,
        };
        Ok(Self {
            fingerprint: row.fingerprint,
            family: of_word(&FAMILIES, &row.family).ok_or_else(|| damaged("the family"))?,
            signed: row.signed,
            payer: Address(row.payer),
            amount: row.amount.parse().map_err(|_| damaged("the amount"))?,
            valid_before_s: instant("the end of validity", row.valid_before_s)?,
            since_block: instant("the block of the claim", row.since_block)?,
            state: State::from_text(&row.state).ok_or_else(|| damaged("the state"))?,
            settled,
            claimed_s: instant("the instant of the claim", row.claimed_s)?,
            authorization: row.authorization,
            answer: row.answer,
            resource_url: row.resource_url,
            key: row.key,
        })
    }
}

impl Sent {
    pub(super) fn to_row(&self, key: &str, signer: Address, now_s: u64) -> SentRow {
        SentRow {
            signer: signer.0,
            nonce: whole(self.nonce),
            hash: self.hash.0,
            raw: self.raw.clone(),
            max_fee: self.max_fee.to_string(),
            tip: self.tip.to_string(),
            key: key.to_owned(),
            signed_s: whole(now_s),
        }
    }

    pub(super) fn from_row(row: SentRow) -> Result<Self> {
        let damaged = |what| PaymentsError::Damaged { what, key: row.key.clone() };
        Ok(Self {
            nonce: row.nonce.try_into().map_err(|_| damaged("a transaction's number"))?,
            hash: Word(row.hash),
            max_fee: row.max_fee.parse().map_err(|_| damaged("a transaction's fee"))?,
            tip: row.tip.parse().map_err(|_| damaged("a transaction's tip"))?,
            signed_s: row.signed_s.try_into().map_err(|_| damaged("a transaction's instant"))?,
            raw: row.raw,
        })
    }
}
