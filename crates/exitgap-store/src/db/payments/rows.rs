//! Rows of payments, by the names of their columns, and the statements on them.

use super::super::DatabaseError;
use super::super::row::Row;
use super::super::statements::statements;
use super::{PaymentsDb, WriteTransaction};
use crate::error::StoreError;

statements! {
    "payment": BEGIN_SETTLING, DELETE_PAYMENT, DELETE_RESERVATIONS, DELETE_STALE, DELETE_UNCOMMITTED, FAIL, INSERT_PAYMENT, INSERT_PRICE, INSERT_RECEIPT, INSERT_RESERVATION, INSERT_SENT, INSERT_UNCOMMITTED, ORPHAN, RECHECKED, RELEASE, SELECT_COUNTS, SELECT_IDENTIFIED, SELECT_NEXT_NONCE, SELECT_OPEN, SELECT_PAYMENT, SELECT_PLACE, SELECT_PRICES, SELECT_RECEIPT, SELECT_SENT, SELECT_UNCHECKED, SELECT_UNCOMMITTED, SELECT_UNFILLED, SETTLE, TAKE_LEASE;
}

/// A payment's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentRow {
    pub key: String,
    pub fingerprint: [u8; 32],
    pub family: String,
    pub signed: bool,
    pub payer: [u8; 20],
    pub amount: String,
    pub identifier: Option<String>,
    pub authorization: Vec<u8>,
    pub valid_before_s: i64,
    pub since_block: i64,
    pub state: String,
    pub claim: [u8; 16],
    pub answer: Vec<u8>,
    pub resource_url: String,
    pub settled: Option<SettledRow>,
    pub claimed_s: i64,
}

/// The settlement of a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettledRow {
    pub settled_by: [u8; 32],
    pub block: i64,
    pub block_hash: [u8; 32],
    pub settled_s: i64,
}

/// A payment to insert, with the hash of its answer.
#[derive(Debug)]
pub struct NewPaymentRow<'a> {
    pub row: &'a PaymentRow,
    pub answer_sha256: [u8; 32],
}

/// A signed transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentRow {
    pub signer: [u8; 20],
    pub nonce: i64,
    pub hash: [u8; 32],
    pub raw: Vec<u8>,
    pub max_fee: String,
    pub tip: String,
    pub key: String,
    pub signed_s: i64,
}

/// The process that has leased a task, and until when.
#[derive(Debug, Clone, Copy)]
pub struct LeaseRow<'a> {
    pub work: &'a str,
    pub holder: &'a [u8; 16],
    pub until_s: i64,
}

fn payment(row: Row) -> Result<PaymentRow, DatabaseError> {
    let settled_by: Option<[u8; 32]> = row.get("settled_by")?;
    let settled = settled_by.map(|settled_by| {
        Ok::<_, DatabaseError>(SettledRow {
            settled_by,
            block: row.get("block")?,
            block_hash: row.get("block_hash")?,
            settled_s: row.get("settled_s")?,
        })
    });
    Ok(PaymentRow {
        key: row.get("key")?,
        fingerprint: row.get("fingerprint")?,
        family: row.get("family")?,
        signed: row.get("signed")?,
        payer: row.get("payer")?,
        amount: row.get("amount")?,
        identifier: row.get("identifier")?,
        authorization: row.get("authorization")?,
        valid_before_s: row.get("valid_before_s")?,
        since_block: row.get("since_block")?,
        state: row.get("state")?,
        claim: row.get("claim")?,
        answer: row.get("answer")?,
        resource_url: row.get("resource_url")?,
        settled: settled.transpose()?,
        claimed_s: row.get("claimed_s")?,
    })
}

fn sent(row: Row) -> Result<SentRow, DatabaseError> {
    Ok(SentRow {
        signer: row.get("signer")?,
        nonce: row.get("nonce")?,
        hash: row.get("hash")?,
        raw: row.get("raw")?,
        max_fee: row.get("max_fee")?,
        tip: row.get("tip")?,
        key: row.get("key")?,
        signed_s: row.get("signed_s")?,
    })
}

impl PaymentsDb {
    /// The payment of this key.
    pub fn payment(&mut self, key: &str) -> Result<Option<PaymentRow>, StoreError> {
        self.0.now()?.row(&SELECT_PAYMENT, &[(":key", key.into())], payment)
    }

    /// The first payment with this identifier of its payer.
    pub fn payment_by_identifier(
        &mut self,
        identifier: &str,
    ) -> Result<Option<PaymentRow>, StoreError> {
        let args = &[(":identifier", identifier.into())];
        self.0.now()?.row(&SELECT_IDENTIFIED, args, payment)
    }

    /// Payments without a final outcome, oldest first.
    pub fn open_payments(&mut self, most: u32) -> Result<Vec<PaymentRow>, StoreError> {
        self.0.now()?.rows(&SELECT_OPEN, &[(":most", most.into())], payment, Ok)
    }

    /// Settled payments up to this block that were not rechecked.
    pub fn unchecked_payments(
        &mut self,
        block: i64,
        most: u32,
    ) -> Result<Vec<PaymentRow>, StoreError> {
        let args = &[(":block", block.into()), (":most", most.into())];
        self.0.now()?.rows(&SELECT_UNCHECKED, args, payment, Ok)
    }

    /// The transactions signed for a payment, oldest first.
    pub fn sent_for(&mut self, key: &str) -> Result<Vec<SentRow>, StoreError> {
        self.0.now()?.rows(&SELECT_SENT, &[(":key", key.into())], sent, Ok)
    }

    /// The transactions of this signer from this nonce on; for one nonce, newest first.
    pub fn pending_transactions(
        &mut self,
        signer: &[u8; 20],
        nonce: i64,
    ) -> Result<Vec<SentRow>, StoreError> {
        let args = &[(":signer", signer.into()), (":nonce", nonce.into())];
        self.0.now()?.rows(&SELECT_UNFILLED, args, sent, Ok)
    }

    /// The receipt that a payment was answered with.
    pub fn receipt(&mut self, key: &str) -> Result<Option<String>, StoreError> {
        let args = &[(":key", key.into())];
        self.0.now()?.row(&SELECT_RECEIPT, args, |row| row.get("signed"))
    }

    /// Receipts that no head commits to yet, in the order in which they were signed: pool and SHA-256.
    pub fn uncommitted_receipts(
        &mut self,
        limit: i64,
    ) -> Result<Vec<(String, [u8; 32])>, StoreError> {
        let read = |row: Row| Ok((row.get("pool")?, row.get("receipt_sha256")?));
        self.0.now()?.rows(&SELECT_UNCOMMITTED, &[(":limit", limit.into())], read, Ok)
    }

    /// The prices, newest first, with the times at which they came into force.
    pub fn prices(&mut self) -> Result<Vec<(String, i64)>, StoreError> {
        self.0.now()?.rows(
            &SELECT_PRICES,
            &[],
            |row| Ok((row.get("amount")?, row.get("since_s")?)),
            Ok,
        )
    }

    /// The number of payments in each state.
    pub fn counts(&mut self) -> Result<Vec<(String, i64)>, StoreError> {
        self.0.now()?.rows(
            &SELECT_COUNTS,
            &[],
            |row| Ok((row.get("state")?, row.get("number")?)),
            Ok,
        )
    }
}

impl WriteTransaction<'_> {
    /// The payment of this key.
    pub fn payment(&self, key: &str) -> Result<Option<PaymentRow>, StoreError> {
        self.0.row(&SELECT_PAYMENT, &[(":key", key.into())], payment)
    }

    /// Writes a payment, replacing one with the same key.
    pub fn put_payment(&self, new: &NewPaymentRow<'_>) -> Result<(), StoreError> {
        let row = new.row;
        self.0.execute(&DELETE_PAYMENT, &[(":key", (&row.key).into())])?;
        let settled = row.settled.as_ref();
        let args = &[
            (":key", (&row.key).into()),
            (":fingerprint", (&row.fingerprint).into()),
            (":family", (&row.family).into()),
            (":signed", row.signed.into()),
            (":payer", (&row.payer).into()),
            (":amount", (&row.amount).into()),
            (":identifier", row.identifier.as_ref().into()),
            (":authorization", (&row.authorization).into()),
            (":valid_before_s", row.valid_before_s.into()),
            (":since_block", row.since_block.into()),
            (":state", (&row.state).into()),
            (":claim", (&row.claim).into()),
            (":answer", (&row.answer).into()),
            (":answer_sha256", (&new.answer_sha256).into()),
            (":resource_url", (&row.resource_url).into()),
            (":settled_by", settled.map(|settled| &settled.settled_by).into()),
            (":block", settled.map(|settled| settled.block).into()),
            (":block_hash", settled.map(|settled| &settled.block_hash).into()),
            (":claimed_s", row.claimed_s.into()),
            (":settled_s", settled.map(|settled| settled.settled_s).into()),
        ];
        self.0.execute(&INSERT_PAYMENT, args).map(drop)
    }

    /// Gives up a claim. Returns whether it was still this one.
    pub fn release(&self, key: &str, claim: &[u8; 16]) -> Result<bool, StoreError> {
        let args = &[(":key", key.into()), (":claim", claim.into())];
        Ok(self.0.execute(&RELEASE, args)? == 1)
    }

    /// Gives up all claims from before this instant. Returns their number.
    pub fn delete_stale(&self, before_s: i64) -> Result<usize, StoreError> {
        self.0.execute(&DELETE_STALE, &[(":before_s", before_s.into())])
    }

    /// Notes a receipt that no head commits to yet.
    pub fn put_uncommitted(&self, pool: &str, receipt: &[u8; 32]) -> Result<(), StoreError> {
        let args = &[(":pool", pool.into()), (":receipt_sha256", receipt.into())];
        self.0.execute(&INSERT_UNCOMMITTED, args).map(drop)
    }

    /// Notes that a head now commits to a receipt.
    pub fn delete_uncommitted(&self, receipt: &[u8; 32]) -> Result<(), StoreError> {
        self.0.execute(&DELETE_UNCOMMITTED, &[(":receipt_sha256", receipt.into())]).map(drop)
    }

    /// Stores a receipt, unless its payment already has one. Returns the stored receipt, and whether it is new.
    pub fn keep_receipt(&self, key: &str, signed: &str) -> Result<(String, bool), StoreError> {
        let args = &[(":key", key.into()), (":signed", signed.into())];
        let new = self.0.execute(&INSERT_RECEIPT, args)? == 1;
        let args = &[(":key", key.into())];
        Ok((self.0.require_row(&SELECT_RECEIPT, args, |row| row.get("signed"))?, new))
    }

    /// Changes the state from `claimed` to `settling`. Returns whether the claim was still this one.
    pub fn begin_settling(&self, key: &str, claim: &[u8; 16]) -> Result<bool, StoreError> {
        let args = &[(":key", key.into()), (":claim", claim.into())];
        Ok(self.0.execute(&BEGIN_SETTLING, args)? == 1)
    }

    /// Changes the state to `settled`. Returns whether the payment was open.
    pub fn settle(&self, key: &str, by: &SettledRow) -> Result<bool, StoreError> {
        let args = &[
            (":key", key.into()),
            (":settled_by", (&by.settled_by).into()),
            (":block", by.block.into()),
            (":block_hash", (&by.block_hash).into()),
            (":now_s", by.settled_s.into()),
        ];
        Ok(self.0.execute(&SETTLE, args)? == 1)
    }

    /// Changes the state to `failed`. Returns whether it was `settling`.
    pub fn fail(&self, key: &str) -> Result<bool, StoreError> {
        Ok(self.0.execute(&FAIL, &[(":key", key.into())])? == 1)
    }

    /// Changes the state to `orphaned`. Returns whether it was `settled`.
    pub fn orphan(&self, key: &str) -> Result<bool, StoreError> {
        Ok(self.0.execute(&ORPHAN, &[(":key", key.into())])? == 1)
    }

    /// Notes that the payment's block was rechecked.
    pub fn mark_rechecked(&self, key: &str) -> Result<(), StoreError> {
        self.0.execute(&RECHECKED, &[(":key", key.into())]).map(drop)
    }

    /// Stores a signed transaction.
    pub fn put_sent(&self, sent: &SentRow) -> Result<(), StoreError> {
        let args = &[
            (":signer", (&sent.signer).into()),
            (":nonce", sent.nonce.into()),
            (":hash", (&sent.hash).into()),
            (":raw", (&sent.raw).into()),
            (":max_fee", (&sent.max_fee).into()),
            (":tip", (&sent.tip).into()),
            (":key", (&sent.key).into()),
            (":now_s", sent.signed_s.into()),
        ];
        self.0.execute(&INSERT_SENT, args).map(drop)
    }

    /// The next nonce after the last one given to a transaction of this signer.
    pub fn next_nonce(&self, signer: &[u8; 20]) -> Result<Option<i64>, StoreError> {
        let args = &[(":signer", signer.into())];
        self.0.require_row(&SELECT_NEXT_NONCE, args, |row| row.get("next"))
    }

    /// Notes a request with this hash. Returns how many came before, and when this one first came.
    pub fn reserve(
        &self,
        hash: &[u8; 32],
        fingerprint: &[u8; 32],
        now_s: i64,
    ) -> Result<(i64, i64), StoreError> {
        let args = &[
            (":hash", hash.into()),
            (":fingerprint", fingerprint.into()),
            (":now_s", now_s.into()),
        ];
        self.0.execute(&INSERT_RESERVATION, args)?;
        let args = &[(":hash", hash.into()), (":fingerprint", fingerprint.into())];
        let read = |row: Row| Ok((row.get("place")?, row.get("reserved_s")?));
        self.0.require_row(&SELECT_PLACE, args, read)
    }

    /// Deletes reservations from before this instant, and all except the newest `most`.
    pub fn forget_reservations(&self, before_s: i64, most: i64) -> Result<(), StoreError> {
        let args = &[(":before_s", before_s.into()), (":most", most.into())];
        self.0.execute(&DELETE_RESERVATIONS, args).map(drop)
    }

    /// Puts the newest price into force.
    pub fn put_price(&self, amount: &str, now_s: i64) -> Result<(), StoreError> {
        self.0
            .execute(&INSERT_PRICE, &[(":amount", amount.into()), (":now_s", now_s.into())])
            .map(drop)
    }

    /// Takes or renews a lease. Returns whether no other process has it.
    pub fn take_lease(&self, lease: LeaseRow<'_>, now_s: i64) -> Result<bool, StoreError> {
        let args = &[
            (":work", lease.work.into()),
            (":holder", lease.holder.into()),
            (":until_s", lease.until_s.into()),
            (":now_s", now_s.into()),
        ];
        Ok(self.0.execute(&TAKE_LEASE, args)? == 1)
    }
}
