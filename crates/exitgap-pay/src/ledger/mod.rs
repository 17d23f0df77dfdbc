//! The record of spending: an append-only file that processes share without a lock.
//!
//! A payment is *reserved* before it is signed. Its line is appended and made durable. Then the
//! file is read again: the payment is valid if all payments before it in the file, except those
//! withdrawn or released, leave room for it. The order of the file is the same for every reader, so
//! two processes cannot both use the last of a budget, and a crash cannot leave a lock behind.
//! Anything interrupted in between stays counted.

mod book;
mod file;
mod record;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::{SystemTime, UNIX_EPOCH};

use exitgap_api::x402::Terms;
use exitgap_core::ids::{Address, Word};

pub use book::{BudgetUsage, Entry, State};
pub(crate) use record::hex;
pub use record::{Record, ReservationRecord, Sent};

use crate::chain::{Chain, Reconciliation};
use crate::{Budget, PayError, Payees, Usdc};
use file::Open;
use record::{
    MAX_HOST_BYTES, MAX_PATH_BYTES, Plain, ReleaseReason, ReleaseRecord, SettlementRecord, is_plain,
};

/// An open ledger file. Processes and threads may open it any number of times; the file must be on a local disk.
pub struct Ledger {
    open: Mutex<Open>,
    path: PathBuf,
    clock: Box<dyn Fn() -> u64 + Send + Sync>,
}

/// The purpose of a payment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PaymentIntent<'a> {
    pub host: &'a str,
    pub path: &'a str,
    pub terms: &'a Terms,
    pub valid_before_s: u64,
}

/// Whether a reserved payment may be made.
#[derive(Debug)]
pub(crate) enum Admission {
    /// It may be made.
    Holds,
    /// It must wait: there is no room if the undecided payments before it are made, for this reason.
    Waits(PayError),
    /// It may not be made.
    Refused(PayError),
}

/// How long others wait for an undecided reservation.
const UNDECIDED_MS: u64 = 5_000;

impl core::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Ledger").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Ledger {
    /// Opens the ledger at this path, or creates an empty one: then all budgets start from zero.
    pub fn open(path: &Path) -> Result<Self, PayError> {
        Self::open_by(path, || {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
        })
    }

    /// The same with another clock: Unix milliseconds.
    pub fn open_by(
        path: &Path,
        clock: impl Fn() -> u64 + Send + Sync + 'static,
    ) -> Result<Self, PayError> {
        let open = Open::at(path)?;
        let path = path.to_owned();
        Ok(Self { open: Mutex::new(open), path, clock: Box::new(clock) })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn now_ms(&self) -> u64 {
        (self.clock)()
    }

    /// What currently counts against a budget.
    pub fn budget_usage(&self, budget: &Budget) -> Result<BudgetUsage, PayError> {
        let mut open = self.lock()?;
        open.read_on()?;
        Ok(open.book().budget_usage(budget, "", self.now_ms()))
    }

    /// All payments, in the file's order.
    pub fn entries(&self) -> Result<Vec<Entry>, PayError> {
        let mut open = self.lock()?;
        open.read_on()?;
        Ok(open.book().entries().to_vec())
    }

    /// The payment with this id.
    pub(crate) fn entry(&self, id: &str) -> Result<Option<Entry>, PayError> {
        let mut open = self.lock()?;
        open.read_on()?;
        Ok(open.book().entry(id).cloned())
    }

    /// Reserves a payment, and returns its id. It counts immediately; [`Self::admission`] then decides whether it may
    /// be made.
    pub(crate) fn reserve(&self, wanted: &PaymentIntent<'_>) -> Result<String, PayError> {
        let PaymentIntent { host, path, terms, valid_before_s } = wanted;
        if !(is_plain(host, MAX_HOST_BYTES) && is_plain(path, MAX_PATH_BYTES)) {
            let why =
                "its host or path is too long or has characters that are not allowed in an address";
            return Err(PayError::AddressNotPaid { url: format!("{host}{path}"), why });
        }
        let Terms { network, asset, pay_to, amount, .. } = *terms;
        let id = random_id().map_err(|why| self.wrong(&why))?;
        let reserved = |at_ms| {
            Record::Reserved(ReservationRecord {
                id: id.clone(),
                at_ms,
                host: (*host).to_owned(),
                path: (*path).to_owned(),
                network: *network,
                asset: *asset,
                payee: *pay_to,
                units: *amount,
                valid_before_s: *valid_before_s,
            })
        };
        let open = self.append(reserved)?;
        match open.book().state(&id) {
            Some(_) => Ok(id),
            None => Err(open.wrong("the written record is missing from it")),
        }
    }

    /// Whether a reserved payment may be made, according to the current file.
    pub(crate) fn admission(
        &self,
        id: &str,
        wanted: &PaymentIntent<'_>,
        budgets: &[&Budget],
        payees: &Payees,
    ) -> Result<Admission, PayError> {
        let mut open = self.lock()?;
        open.read_on()?;
        let now_ms = self.now_ms();
        open.check_clock(now_ms)?;
        self.release_stale(&mut open, id, now_ms)?;
        let book = open.book();
        if book.state(id) != Some(State::Reserved) {
            return Err(
                open.wrong("a payment that was about to be made was released by another process")
            );
        }
        let (host, now) = (wanted.host, wanted.terms.pay_to);
        let first = book.first_payee(host, wanted.terms.network, id).filter(|first| *first != now);
        if let (Payees::FirstUse, Some(first)) = (payees, first) {
            let host = host.to_owned();
            return Ok(Admission::Refused(PayError::PayeeChanged { host, first, now }));
        }
        let asked = Usdc::from(wanted.terms.amount);
        for budget in budgets {
            let standing = book.budget_usage(budget, id, now_ms);
            if standing.total().plus(asked) <= budget.limit {
                continue;
            }
            let young = |of: &ReservationRecord| now_ms.saturating_sub(of.at_ms) < UNDECIDED_MS;
            let may_fit = standing.spent.plus(asked) <= budget.limit;
            let waits = may_fit && book.undecided_before(id).any(young);
            let error = PayError::BudgetExceeded {
                asked,
                scope: budget.to_string(),
                limit: budget.limit,
                spent: standing.spent,
                reserved: standing.reserved,
                resets_at: book.fits_at(budget, id, asked, now_ms),
            };
            return Ok(if waits { Admission::Waits(error) } else { Admission::Refused(error) });
        }
        Ok(Admission::Holds)
    }

    /// Releases reservations of crashed processes that were not sent until their authorization would have expired. If
    /// the process still existed, its later `sent` would have no effect.
    fn release_stale(&self, open: &mut Open, id: &str, now_ms: u64) -> Result<(), PayError> {
        let stale = |of: &&ReservationRecord| of.valid_before_s.saturating_mul(1000) < now_ms;
        let stale: Vec<String> =
            open.book().undecided_before(id).filter(stale).map(|of| of.id.clone()).collect();
        for id in stale {
            open.append(&release_record(id, ReleaseReason::NeverSent, self.now_ms()))?;
        }
        Ok(())
    }

    /// Withdraws a reserved payment because there was no room for it.
    pub(crate) fn withdraw(&self, id: &str) -> Result<(), PayError> {
        self.append(|at_ms| Record::Withdrawn(Plain { id: id.to_owned(), at_ms })).map(drop)
    }

    /// Releases a payment that its own process did not send and never will.
    pub(crate) fn never_sent(&self, id: &str) -> Result<(), PayError> {
        self.append(|at_ms| release_record(id.to_owned(), ReleaseReason::NeverSent, at_ms))
            .map(drop)
    }

    /// Records that a payment is being sent. The record must be durable before the payment is sent; if this fails
    /// because the payment was released meanwhile, it must not be sent.
    pub(crate) fn sent(&self, id: &str, payer: Address, nonce: Word) -> Result<(), PayError> {
        let open =
            self.append(|at_ms| Record::Sent(Sent { id: id.to_owned(), at_ms, payer, nonce }))?;
        if open.book().state(id) == Some(State::Sent) {
            return Ok(());
        }
        Err(open.wrong("a payment that was about to be sent was released by another process"))
    }

    /// Records that a payment was made, according to the service.
    pub(crate) fn mark_settled(&self, id: &str, transaction: Option<Word>) -> Result<(), PayError> {
        let id = id.to_owned();
        self.append(|at_ms| Record::Settled(SettlementRecord { id, at_ms, transaction })).map(drop)
    }

    /// Asks the chain about every payment on it that was sent without a known outcome. Payments that were not made and
    /// can no longer be made are released; if the chain does not answer, a payment stays counted.
    pub async fn reconcile(&self, chain: &impl Chain) -> Result<Reconciliation, PayError> {
        let unsettled: Vec<(ReservationRecord, Address, Word)> = {
            let mut open = self.lock()?;
            open.read_on()?;
            let here =
                open.book().unsettled_payments().filter(|(of, ..)| of.network == chain.network());
            here.map(|(of, payer, nonce)| (of.clone(), payer, nonce)).collect()
        };
        let mut reconciled = Reconciliation::default();
        for (of, payer, nonce) in unsettled {
            let sum = match chain.authorization(of.asset, payer, nonce).await {
                Ok(told) if told.used => {
                    self.mark_settled(&of.id, None)?;
                    &mut reconciled.settled
                }
                Ok(told) if told.block_time_s >= of.valid_before_s => {
                    drop(self.append(|at_ms| {
                        release_record(of.id.clone(), ReleaseReason::ExpiredUnused, at_ms)
                    })?);
                    &mut reconciled.released
                }
                Ok(_) => &mut reconciled.left,
                Err(why) => {
                    reconciled.unanswered.get_or_insert(why);
                    &mut reconciled.left
                }
            };
            *sum = sum.plus(of.units.into());
        }
        Ok(reconciled)
    }

    fn append(&self, record: impl FnOnce(u64) -> Record) -> Result<MutexGuard<'_, Open>, PayError> {
        let mut open = self.lock()?;
        open.read_on()?;
        let now_ms = self.now_ms();
        open.check_clock(now_ms)?;
        open.append(&record(now_ms))?;
        Ok(open)
    }

    /// A thread that panicked may have applied only a part of what it read.
    fn lock(&self) -> Result<MutexGuard<'_, Open>, PayError> {
        self.open.lock().map_err(|_| self.wrong("a thread that used it panicked"))
    }

    fn wrong(&self, why: &str) -> PayError {
        PayError::LedgerUnreadable { path: self.path.clone(), why: why.to_owned() }
    }
}

fn release_record(id: String, why: ReleaseReason, at_ms: u64) -> Record {
    Record::Released(ReleaseRecord { id, at_ms, why })
}

fn random_id() -> Result<String, String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| format!("no random numbers are available: {error}"))?;
    Ok(hex(&bytes))
}
