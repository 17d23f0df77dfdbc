//! Rows of payments, by the names of their columns, and the statements on them.

use rusqlite::{OptionalExtension, Params, Row, named_params};

use super::super::DatabaseError;
use super::{PaymentsDb, Write};

macro_rules! sql {
    ($name:literal) => {
        include_str!(concat!("sql/", $name, ".sql"))
    };
}

/// A payment, as it lies in its row.
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

/// What settled a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettledRow {
    pub settled_by: [u8; 32],
    pub block: i64,
    pub block_hash: [u8; 32],
    pub settled_s: i64,
}

/// A payment to be written, with the hash of its answer.
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

/// Who does a work, until when.
#[derive(Debug, Clone, Copy)]
pub struct LeaseRow<'a> {
    pub work: &'a str,
    pub holder: &'a [u8; 16],
    pub until_s: i64,
}

fn payment(row: &Row<'_>) -> rusqlite::Result<PaymentRow> {
    let settled_by: Option<[u8; 32]> = row.get("settled_by")?;
    let settled = settled_by.map(|settled_by| {
        Ok::<_, rusqlite::Error>(SettledRow {
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

fn sent(row: &Row<'_>) -> rusqlite::Result<SentRow> {
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

type Result<T> = std::result::Result<T, DatabaseError>;

impl PaymentsDb {
    fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let rows = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.query_map(params, read)?.collect::<rusqlite::Result<Vec<T>>>()
        };
        rows().map_err(DatabaseError::engine)
    }

    /// The payment of this key.
    pub fn payment(&self, key: &str) -> Result<Option<PaymentRow>> {
        Ok(self.all(sql!("select_payment"), named_params! {":key": key}, payment)?.pop())
    }

    /// The first payment that its payer calls this.
    pub fn identified(&self, identifier: &str) -> Result<Option<PaymentRow>> {
        let params = named_params! {":identifier": identifier};
        Ok(self.all(sql!("select_identified"), params, payment)?.pop())
    }

    /// Payments whose outcome is open, oldest first.
    pub fn open_payments(&self, most: u32) -> Result<Vec<PaymentRow>> {
        self.all(sql!("select_open"), named_params! {":most": most}, payment)
    }

    /// Settled payments up to this block that were not looked at again.
    pub fn unchecked(&self, block: i64, most: u32) -> Result<Vec<PaymentRow>> {
        let params = named_params! {":block": block, ":most": most};
        self.all(sql!("select_unchecked"), params, payment)
    }

    /// The transactions signed for a payment, oldest first.
    pub fn sent_for(&self, key: &str) -> Result<Vec<SentRow>> {
        self.all(sql!("select_sent"), named_params! {":key": key}, sent)
    }

    /// The transactions of this signer from this number on; of one number, the newest first.
    pub fn unfilled(&self, signer: &[u8; 20], nonce: i64) -> Result<Vec<SentRow>> {
        let params = named_params! {":signer": signer, ":nonce": nonce};
        self.all(sql!("select_unfilled"), params, sent)
    }

    /// The receipt that a payment was answered with.
    pub fn receipt(&self, key: &str) -> Result<Option<String>> {
        let params = named_params! {":key": key};
        Ok(self.all(sql!("select_receipt"), params, |row| row.get("signed"))?.pop())
    }

    /// Receipts that no head commits to, in the order in which they were signed: pool and SHA-256.
    pub fn uncommitted(&self, limit: i64) -> Result<Vec<(String, [u8; 32])>> {
        let read = |row: &Row<'_>| Ok((row.get("pool")?, row.get("receipt_sha256")?));
        self.all(sql!("select_uncommitted"), named_params! {":limit": limit}, read)
    }

    /// The prices that were in force, newest first, with the instants they came into force.
    pub fn prices(&self) -> Result<Vec<(String, i64)>> {
        self.all(sql!("select_prices"), (), |row| Ok((row.get("amount")?, row.get("since_s")?)))
    }

    /// How many payments are in which state.
    pub fn counts(&self) -> Result<Vec<(String, i64)>> {
        self.all(sql!("select_counts"), (), |row| Ok((row.get("state")?, row.get("number")?)))
    }
}

impl Write<'_> {
    fn run(&self, sql: &str, params: impl Params) -> Result<usize> {
        let run = || self.0.prepare_cached(sql)?.execute(params);
        run().map_err(DatabaseError::engine)
    }

    /// The payment of this key.
    pub fn payment(&self, key: &str) -> Result<Option<PaymentRow>> {
        let find = || {
            let mut statement = self.0.prepare_cached(sql!("select_payment"))?;
            statement.query_row(named_params! {":key": key}, payment).optional()
        };
        find().map_err(DatabaseError::engine)
    }

    /// Writes a payment in the place of one that has its key.
    pub fn put_payment(&self, new: &NewPaymentRow<'_>) -> Result<()> {
        let row = new.row;
        self.run(sql!("delete_payment"), named_params! {":key": row.key})?;
        let settled = row.settled.as_ref();
        let params = named_params! {
            ":key": row.key,
            ":fingerprint": row.fingerprint,
            ":family": row.family,
            ":signed": row.signed,
            ":payer": row.payer,
            ":amount": row.amount,
            ":identifier": row.identifier,
            ":authorization": row.authorization,
            ":valid_before_s": row.valid_before_s,
            ":since_block": row.since_block,
            ":state": row.state,
            ":claim": row.claim,
            ":answer": row.answer,
            ":answer_sha256": new.answer_sha256,
            ":resource_url": row.resource_url,
            ":settled_by": settled.map(|settled| settled.settled_by),
            ":block": settled.map(|settled| settled.block),
            ":block_hash": settled.map(|settled| settled.block_hash),
            ":claimed_s": row.claimed_s,
            ":settled_s": settled.map(|settled| settled.settled_s),
        };
        self.run(sql!("insert_payment"), params).map(drop)
    }

    /// Gives up a claim; whether it was still this one.
    pub fn release(&self, key: &str, claim: &[u8; 16]) -> Result<bool> {
        let params = named_params! {":key": key, ":claim": claim};
        Ok(self.run(sql!("release"), params)? == 1)
    }

    /// Gives up all claims from before this instant; how many.
    pub fn delete_stale(&self, before_s: i64) -> Result<usize> {
        self.run(sql!("delete_stale"), named_params! {":before_s": before_s})
    }

    /// Notes that no head commits to a receipt yet.
    pub fn put_uncommitted(&self, pool: &str, receipt: &[u8; 32]) -> Result<()> {
        let params = named_params! {":pool": pool, ":receipt_sha256": receipt};
        self.run(sql!("insert_uncommitted"), params).map(drop)
    }

    /// Notes that a head commits to a receipt.
    pub fn delete_uncommitted(&self, receipt: &[u8; 32]) -> Result<()> {
        self.run(sql!("delete_uncommitted"), named_params! {":receipt_sha256": receipt}).map(drop)
    }

    /// Writes down a receipt, unless its payment has one; the one that it has, and whether it is this one, new.
    pub fn keep_receipt(&self, key: &str, signed: &str) -> Result<(String, bool)> {
        let params = named_params! {":key": key, ":signed": signed};
        let new = self.run(sql!("insert_receipt"), params)? == 1;
        let params = named_params! {":key": key};
        let kept = self.0.query_row(sql!("select_receipt"), params, |row| row.get("signed"));
        Ok((kept.map_err(DatabaseError::engine)?, new))
    }

    /// From `claimed` to `settling`; whether the claim was still this one.
    pub fn begin_settling(&self, key: &str, claim: &[u8; 16]) -> Result<bool> {
        let params = named_params! {":key": key, ":claim": claim};
        Ok(self.run(sql!("begin_settling"), params)? == 1)
    }

    /// To `settled`; whether it was open.
    pub fn settle(&self, key: &str, by: &SettledRow) -> Result<bool> {
        let params = named_params! {
            ":key": key,
            ":settled_by": by.settled_by,
            ":block": by.block,
            ":block_hash": by.block_hash,
            ":now_s": by.settled_s,
        };
        Ok(self.run(sql!("settle"), params)? == 1)
    }

    /// To `failed`; whether it was settling.
    pub fn fail(&self, key: &str) -> Result<bool> {
        Ok(self.run(sql!("fail"), named_params! {":key": key})? == 1)
    }

    /// To `orphaned`; whether it was settled.
    pub fn orphan(&self, key: &str) -> Result<bool> {
        Ok(self.run(sql!("orphan"), named_params! {":key": key})? == 1)
    }

    /// Notes that the payment's block was looked at again.
    pub fn rechecked(&self, key: &str) -> Result<()> {
        self.run(sql!("rechecked"), named_params! {":key": key}).map(drop)
    }

    /// Writes down a signed transaction.
    pub fn put_sent(&self, sent: &SentRow) -> Result<()> {
        let params = named_params! {
            ":signer": sent.signer,
            ":nonce": sent.nonce,
            ":hash": sent.hash,
            ":raw": sent.raw,
            ":max_fee": sent.max_fee,
            ":tip": sent.tip,
            ":key": sent.key,
            ":now_s": sent.signed_s,
        };
        self.run(sql!("insert_sent"), params).map(drop)
    }

    /// The number after the last that was given to a transaction of this signer.
    pub fn next_nonce(&self, signer: &[u8; 20]) -> Result<Option<i64>> {
        let params = named_params! {":signer": signer};
        let next = self.0.query_row(sql!("select_next_nonce"), params, |row| row.get("next"));
        next.map_err(DatabaseError::engine)
    }

    /// Notes who came with this hash: how many came before, and when this one first came.
    pub fn reserve(
        &self,
        hash: &[u8; 32],
        fingerprint: &[u8; 32],
        now_s: i64,
    ) -> Result<(i64, i64)> {
        let params = named_params! {":hash": hash, ":fingerprint": fingerprint, ":now_s": now_s};
        self.run(sql!("insert_reservation"), params)?;
        let params = named_params! {":hash": hash, ":fingerprint": fingerprint};
        let read = |row: &Row<'_>| Ok((row.get("place")?, row.get("reserved_s")?));
        let place = self.0.query_row(sql!("select_place"), params, read);
        place.map_err(DatabaseError::engine)
    }

    /// Forgets who came before this instant, and all but the newest `most`.
    pub fn forget_reservations(&self, before_s: i64, most: i64) -> Result<()> {
        let params = named_params! {":before_s": before_s, ":most": most};
        self.run(sql!("delete_reservations"), params).map(drop)
    }

    /// The newest price comes into force.
    pub fn put_price(&self, amount: &str, now_s: i64) -> Result<()> {
        self.run(sql!("insert_price"), named_params! {":amount": amount, ":now_s": now_s}).map(drop)
    }

    /// Takes or keeps a work; whether nobody else has it.
    pub fn take_lease(&self, lease: LeaseRow<'_>, now_s: i64) -> Result<bool> {
        let params = named_params! {
            ":work": lease.work,
            ":holder": lease.holder,
            ":until_s": lease.until_s,
            ":now_s": now_s,
        };
        Ok(self.run(sql!("take_lease"), params)? == 1)
    }
}
