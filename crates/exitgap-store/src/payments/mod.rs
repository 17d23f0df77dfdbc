//! Payments and the answers given for them: one file, shared by the processes of one machine, or
//! separate tables on a server, shared by the processes of several machines.
//!
//! **In scope**: the states of a payment and the only transitions between them, each written before
//! the action it records; the numbers of the hot key's transactions; who first claimed a
//! transaction's hash; the prices in force; who sweeps. **Out of scope**, with the crate
//! responsible: what is true on a chain (`exitgap-chain::settle`), when to act (`exitgap-server`).
//! Only `db/` knows which database is used.
//!
//! ```text
//!            claim                 sign               receipt           64 blocks later
//! (nothing) ------> claimed ---------------> settling -------> settled ----------------> orphaned
//!                      |                        |   ^             ^                          |
//!            given up, |             provably   |   |             |   found again            |
//!            60 s old  v             uncharged  v   |             +--------------------------+
//!                   (nothing)                 failed: may be claimed anew
//! ```
//!
//! Crash order: the answer is written with the claim, before anything is sent. The signed transaction is
//! written with its number and the state `settling` in one transaction, before it is sent. The outcome is
//! written before it is returned. After any interruption the next process can see what may have happened.

mod model;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use exitgap_core::analytics::accuracy::IssuedReceipts;
use exitgap_core::ids::{Address, BlockHash, PoolId, Word};
use sha2::{Digest, Sha256};

use crate::db::payments::{LeaseRow, NewPaymentRow, PaymentsDb, SettledRow};
use crate::db::sidecar::{FileKind, require_there};
use crate::error::StoreError;

pub use model::{
    Claim, ClaimToken, Counts, Family, HashReservation, NewPayment, Payment, PaymentSettlement,
    Sent, State,
};

/// Why the payments cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum PaymentsError {
    /// The file is something else, or has another version.
    #[error(
        "{path} is not a payment database that this version can read: application id {found:#010x}, version \
         {version}"
    )]
    NotPayments {
        /// The file.
        path: PathBuf,
        /// Its application id.
        found: i32,
        /// Its version.
        version: i32,
    },
    /// The database refused.
    #[error("payments: {0}")]
    Database(Box<StoreError>),
    /// A row has an impossible value.
    #[error("payments: {what} of {key} is damaged")]
    Damaged {
        /// The kind of value.
        what: &'static str,
        /// The key of the row.
        key: String,
    },
    /// The caller no longer holds the claim: another process continues the payment.
    #[error("payments: the claim to {key} was taken over by another process")]
    ClaimLost {
        /// The payment.
        key: String,
    },
}

/// The payments.
#[derive(Debug)]
pub struct Payments(Mutex<PaymentsDb>);

/// The maximum number of stored reservations.
const RESERVATIONS: i64 = 100_000;

/// Seconds after which a claim without progress expires.
pub const CLAIM_S: u64 = 60;

impl From<StoreError> for PaymentsError {
    fn from(error: StoreError) -> Self {
        Self::Database(Box::new(error))
    }
}

type Result<T> = std::result::Result<T, PaymentsError>;

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl Payments {
    /// Opens the file and creates it if it does not exist, or opens the tables on a server by its URL.
    pub fn open(path: &Path) -> Result<Self> {
        Self::from_opened(path, PaymentsDb::open(path)?)
    }

    /// Same as [`Self::open`], but connects to a server only at the first request.
    pub fn open_later(path: &Path) -> Result<Self> {
        Self::from_opened(path, PaymentsDb::open_later(path)?)
    }

    fn from_opened(path: &Path, opened: std::result::Result<PaymentsDb, FileKind>) -> Result<Self> {
        match opened {
            Ok(db) => Ok(Self(Mutex::new(db))),
            Err(FileKind { application_id, version }) => Err(PaymentsError::NotPayments {
                path: path.to_owned(),
                found: application_id,
                version,
            }),
        }
    }

    /// Copies all rows of the file into this database, which must be empty, and returns their number. No process may
    /// write to the file meanwhile.
    pub fn copy_from(&self, file: &Path) -> Result<u64> {
        require_there(file)?;
        let other = Self::open(file)?;
        let rows = self.db().copy_from(&mut other.db());
        Ok(rows?)
    }

    /// Locks the database. Ignores a panic of another thread, because its transaction was rolled back.
    fn db(&self) -> MutexGuard<'_, PaymentsDb> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Claims a payment for a request, with its answer. A failed payment, for which the payer was not charged, can be
    /// claimed again. A payment that its payer did not sign is replaced by one that the payer did sign.
    pub fn claim(&self, new: &NewPayment, token: ClaimToken, now_s: u64) -> Result<Claim> {
        let mut row = new.to_row(token, now_s);
        self.db().write_transaction(|write| {
            if let Some(found) = write.payment(&row.key)? {
                let found = Payment::from_row(found)?;
                let outranked = new.signed && !found.signed && found.fingerprint != new.fingerprint;
                if found.state != State::Failed && !outranked {
                    return Ok(Claim::Held(Box::new(found)));
                }
                if let Some(settled) = found.settled.filter(|_| outranked) {
                    // The transfer is the same, but it pays for another request.
                    row.settled = Some(settled.to_row());
                }
            }
            let answer_sha256 = Sha256::digest(&row.answer).into();
            write.put_payment(&NewPaymentRow { row: &row, answer_sha256 })?;
            Ok(Claim::Taken)
        })
    }

    /// Releases a claim for which no transaction was sent.
    pub fn release(&self, key: &str, token: ClaimToken) -> Result<()> {
        self.db().write_transaction(|write| Ok(write.release(key, &token.0).map(drop)?))
    }

    /// Signs the transaction that settles a payment and stores it with its number: `count`, or the number after the
    /// last one used. Calls `sign` with the number.
    pub fn begin_settling<E: From<PaymentsError>>(
        &self,
        (key, token): (&str, ClaimToken),
        (signer, count): (Address, u64),
        now_s: u64,
        sign: impl FnOnce(u64) -> std::result::Result<Sent, E>,
    ) -> std::result::Result<Sent, E> {
        let mut db = self.db();
        let work = |write: &crate::db::payments::WriteTransaction<'_>| {
            if !write.begin_settling(key, &token.0).map_err(Broken::from_store_error)? {
                return Err(Broken::Store(PaymentsError::ClaimLost { key: key.to_owned() }));
            }
            let given = write.next_nonce(&signer.0).map_err(Broken::from_store_error)?.unwrap_or(0);
            let nonce = count.max(u64::try_from(given).unwrap_or(0));
            let sent = sign(nonce).map_err(Broken::Caller)?;
            write.put_sent(&sent.to_row(key, signer, now_s)).map_err(Broken::from_store_error)?;
            Ok(sent)
        };
        db.write_transaction(work).map_err(|broken| match broken {
            Broken::Store(error) => error.into(),
            Broken::Caller(error) => error,
        })
    }

    /// Stores that another party is about to be asked to settle a payment. From then on only the chain determines its
    /// outcome.
    pub fn hand_over(&self, key: &str, token: ClaimToken) -> Result<()> {
        let ours = self.db().write_transaction(|write| {
            Ok::<_, PaymentsError>(write.begin_settling(key, &token.0)?)
        })?;
        if ours { Ok(()) } else { Err(PaymentsError::ClaimLost { key: key.to_owned() }) }
    }

    /// Stores a transaction that replaces another of the same number, before it is sent.
    pub fn replace(&self, key: &str, signer: Address, sent: &Sent, now_s: u64) -> Result<()> {
        self.db().write_transaction(|write| Ok(write.put_sent(&sent.to_row(key, signer, now_s))?))
    }

    /// Marks a payment as settled and returns whether it was open until now.
    pub fn settle(&self, key: &str, settled: PaymentSettlement) -> Result<bool> {
        self.db().write_transaction(|write| Ok(write.settle(key, &settled.to_row())?))
    }

    /// Marks a payment as provably not charged and returns whether it was open until now.
    pub fn fail(&self, key: &str) -> Result<bool> {
        self.db().write_transaction(|write| Ok(write.fail(key)?))
    }

    /// Marks a payment whose settlement is no longer on the chain and returns whether that is new.
    pub fn orphan(&self, key: &str) -> Result<bool> {
        self.db().write_transaction(|write| Ok(write.orphan(key)?))
    }

    /// Marks a settled payment as checked again and still on the chain.
    pub fn mark_rechecked(&self, key: &str) -> Result<()> {
        self.db().write_transaction(|write| Ok(write.mark_rechecked(key)?))
    }

    /// The payment of this key.
    pub fn payment(&self, key: &str) -> Result<Option<Payment>> {
        let found = self.db().payment(key)?;
        found.map(Payment::from_row).transpose()
    }

    /// The first payment with this identifier from its payer.
    pub fn payment_by_identifier(&self, identifier: &str) -> Result<Option<Payment>> {
        let found = self.db().payment_by_identifier(identifier)?;
        found.map(Payment::from_row).transpose()
    }

    /// Payments that may or may not be settled, oldest first; at most 256.
    pub fn open_payments(&self) -> Result<Vec<Payment>> {
        self.db().open_payments(256)?.into_iter().map(Payment::from_row).collect()
    }

    /// Payments settled up to this block that were not checked again; at most 256.
    pub fn unchecked_payments(&self, block: u64) -> Result<Vec<Payment>> {
        self.db()
            .unchecked_payments(whole(block), 256)?
            .into_iter()
            .map(Payment::from_row)
            .collect()
    }

    /// The receipt that a payment was answered with.
    pub fn receipt(&self, key: &str) -> Result<Option<String>> {
        Ok(self.db().receipt(key)?)
    }

    /// Stores the receipt of a payment before it is sent. If there are several, the first is kept. Returns the stored
    /// receipt. Also stores that no head of the answer's pool commits to it yet.
    pub fn keep_receipt(&self, key: &str, signed: &str, pool: &PoolId) -> Result<String> {
        self.db().write_transaction(|write| {
            let (kept, new) = write.keep_receipt(key, signed)?;
            if new {
                write.put_uncommitted(&pool.to_string(), &IssuedReceipts::receipt_of(&kept).0)?;
            }
            Ok(kept)
        })
    }

    /// Receipts that no head commits to yet, with their pools, in the order in which they were signed; up to a limit.
    pub fn uncommitted_receipts(&self, limit: usize) -> Result<Vec<(PoolId, Word)>> {
        let rows = self.db().uncommitted_receipts(i64::try_from(limit).unwrap_or(i64::MAX))?;
        let read = |(pool, receipt): (String, _)| {
            let pool = pool.parse().map_err(|_| PaymentsError::Damaged {
                what: "the pool",
                key: "a receipt".to_owned(),
            })?;
            Ok((pool, Word(receipt)))
        };
        rows.into_iter().map(read).collect()
    }

    /// Marks these receipts as committed to by heads.
    pub fn mark_committed(&self, receipts: &[Word]) -> Result<()> {
        self.db().write_transaction(|write| {
            for receipt in receipts {
                write.delete_uncommitted(&receipt.0)?;
            }
            Ok(())
        })
    }

    /// The transactions signed for a payment, oldest first.
    pub fn sent_for(&self, key: &str) -> Result<Vec<Sent>> {
        self.db().sent_for(key)?.into_iter().map(Sent::from_row).collect()
    }

    /// The signer's transactions whose numbers, from `count` on, are not mined: the newest of each number, with its
    /// payment.
    pub fn pending_transactions(&self, signer: Address, count: u64) -> Result<Vec<(String, Sent)>> {
        let rows = self.db().pending_transactions(&signer.0, whole(count))?;
        let mut unfilled: Vec<(String, Sent)> = Vec::new();
        for row in rows {
            let key = row.key.clone();
            let sent = Sent::from_row(row)?;
            if unfilled.last().is_none_or(|(_, last)| last.nonce != sent.nonce) {
                unfilled.push((key, sent));
            }
        }
        Ok(unfilled)
    }

    /// Stores that a request presented this transaction's hash, and returns how many other requests presented it
    /// earlier.
    pub fn reserve(
        &self,
        hash: Word,
        fingerprint: [u8; 32],
        now_s: u64,
    ) -> Result<HashReservation> {
        let (place, since_s) = self.db().write_transaction(|write| {
            Ok::<_, PaymentsError>(write.reserve(&hash.0, &fingerprint, whole(now_s))?)
        })?;
        let [place, since_s] = [place, since_s].map(|number| u64::try_from(number).unwrap_or(0));
        Ok(HashReservation { place, since_s })
    }

    /// Releases expired claims and reservations.
    pub fn tidy(&self, now_s: u64, reserved_for_s: u64) -> Result<usize> {
        self.db().write_transaction(|write| {
            let before = whole(now_s.saturating_sub(reserved_for_s));
            write.forget_reservations(before, RESERVATIONS)?;
            Ok(write.delete_stale(whole(now_s.saturating_sub(CLAIM_S)))?)
        })
    }

    /// Sets the current price, which comes into force unless it is already in force.
    pub fn set_price(&self, amount: u128, now_s: u64) -> Result<()> {
        let text = amount.to_string();
        let mut db = self.db();
        if db.prices()?.first().is_some_and(|(newest, _)| *newest == text) {
            return Ok(());
        }
        db.write_transaction(|write| Ok(write.put_price(&text, whole(now_s))?))
    }

    /// The prices that were in force at or after this instant, newest first.
    pub fn prices_since(&self, instant_s: u64) -> Result<Vec<u128>> {
        let mut prices = Vec::new();
        for (amount, since_s) in self.db().prices()? {
            let damaged = || PaymentsError::Damaged { what: "the price", key: amount.clone() };
            prices.push(amount.parse().map_err(|_| damaged())?);
            if since_s <= whole(instant_s) {
                break;
            }
        }
        Ok(prices)
    }

    /// Takes or renews a lease on a job for this many seconds, and returns whether no other process holds it.
    pub fn lease(&self, work: &str, holder: ClaimToken, for_s: u64, now_s: u64) -> Result<bool> {
        let until_s = whole(now_s.saturating_add(for_s));
        let lease = LeaseRow { work, holder: &holder.0, until_s };
        self.db().write_transaction(|write| Ok(write.take_lease(lease, whole(now_s))?))
    }

    /// The number of payments in each state.
    pub fn counts(&self) -> Result<Counts> {
        let mut counts = Counts::default();
        for (state, number) in self.db().counts()? {
            let number = u64::try_from(number).unwrap_or(0);
            match State::from_text(&state) {
                Some(State::Claimed) => counts.claimed = number,
                Some(State::Settling) => counts.settling = number,
                Some(State::Settled) => counts.settled = number,
                Some(State::Failed) => counts.failed = number,
                Some(State::Orphaned) => counts.orphaned = number,
                None => return Err(PaymentsError::Damaged { what: "the state", key: state }),
            }
        }
        Ok(counts)
    }
}

/// Why a transaction was interrupted: an error here, or an error of the caller's code inside it.
enum Broken<E> {
    Store(PaymentsError),
    Caller(E),
}

impl<E> Broken<E> {
    fn from_store_error(error: StoreError) -> Self {
        Self::Store(error.into())
    }
}

impl<E> From<StoreError> for Broken<E> {
    fn from(error: StoreError) -> Self {
        Self::from_store_error(error)
    }
}

impl PaymentSettlement {
    fn to_row(self) -> SettledRow {
        SettledRow {
            settled_by: self.transaction.0,
            block: whole(self.block),
            block_hash: self.block_hash.0,
            settled_s: whole(self.settled_s),
        }
    }

    fn from_row(row: &SettledRow) -> Option<Self> {
        Some(Self {
            transaction: Word(row.settled_by),
            block: row.block.try_into().ok()?,
            block_hash: BlockHash(row.block_hash),
            settled_s: row.settled_s.try_into().ok()?,
        })
    }
}

#[cfg(test)]
mod tests;
