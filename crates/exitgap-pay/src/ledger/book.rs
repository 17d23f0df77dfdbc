//! The state that follows from the lines of a ledger. It depends only on their order in the file.

use std::collections::HashMap;

use exitgap_core::ids::{Address, Caip2, Word};

use super::record::{Record, ReleaseReason, ReservationRecord, Sent};
use crate::{Budget, Usdc, Window};

/// A payment according to the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its reservation.
    pub reserved: ReservationRecord,
    /// Its sending, if it was sent.
    pub sent: Option<Sent>,
    /// Its current state.
    pub state: State,
}

/// Where a payment stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// In progress: it counts.
    Reserved,
    /// The budget had no room for it.
    Withdrawn,
    /// Sent, with unknown outcome: it counts.
    Sent,
    /// Made, according to the service or the chain: it counts.
    Settled,
    /// It can never be made.
    Released,
}

/// All payments, in the order of their reservations.
#[derive(Debug, Default)]
pub struct Book {
    entries: Vec<Entry>,
    by_id: HashMap<String, usize>,
    newest_ms: u64,
}

/// What counts against a budget, from the payments before a given one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BudgetUsage {
    /// Sent payments, except those known to be void.
    pub spent: Usdc,
    /// Reserved payments that are neither sent nor withdrawn.
    pub reserved: Usdc,
}

impl BudgetUsage {
    /// The sum of both.
    pub fn total(self) -> Usdc {
        self.spent.plus(self.reserved)
    }
}

impl Entry {
    /// Whether a payment counts against a budget at `now_ms`.
    fn counts(&self, budget: &Budget, now_ms: u64) -> bool {
        let ReservationRecord { host, path, network, .. } = &self.reserved;
        let alive = matches!(self.state, State::Reserved | State::Sent | State::Settled);
        alive
            && budget.covers(host, path, *network)
            && self.counts_until(budget.window).is_none_or(|until| now_ms < until)
    }

    /// When it stops counting; `None` if it never does.
    fn counts_until(&self, window: Window) -> Option<u64> {
        let Window::Sliding(time) = window else { return None };
        // It may be made as long as its authorization is valid.
        let last = self.reserved.at_ms.max(self.reserved.valid_before_s.saturating_mul(1000));
        Some(last.saturating_add(u64::try_from(time.as_millis()).unwrap_or(u64::MAX)))
    }

    fn units(&self) -> Usdc {
        self.reserved.units.into()
    }
}

impl Book {
    /// Applies the next record. Its effect depends on the records before it: a release does not undo an earlier `sent`,
    /// and a `sent` does not undo an earlier release.
    pub fn apply(&mut self, record: Record) -> Result<(), String> {
        self.newest_ms = self.newest_ms.max(record.at_ms());
        let reserved = match record {
            Record::Reserved(reserved) => reserved,
            other => return self.change(&other),
        };
        if self.by_id.insert(reserved.id.clone(), self.entries.len()).is_some() {
            return Err(format!("payment {} is reserved twice", reserved.id));
        }
        self.entries.push(Entry { reserved, sent: None, state: State::Reserved });
        Ok(())
    }

    fn change(&mut self, record: &Record) -> Result<(), String> {
        let place = self.by_id.get(record.id());
        let entry = place.and_then(|place| self.entries.get_mut(*place));
        let unknown = || format!("payment {} was never reserved", record.id());
        let entry = entry.ok_or_else(unknown)?;
        entry.state = match (record, entry.state) {
            (Record::Withdrawn(_), State::Reserved) => State::Withdrawn,
            (Record::Sent(sent), State::Reserved) => {
                entry.sent = Some(sent.clone());
                State::Sent
            }
            (Record::Settled(_), State::Sent) => State::Settled,
            (Record::Released(of), State::Reserved) if of.why == ReleaseReason::NeverSent => {
                State::Released
            }
            (Record::Released(of), State::Sent) if of.why == ReleaseReason::ExpiredUnused => {
                State::Released
            }
            (_, unchanged) => unchanged,
        };
        Ok(())
    }

    /// The newest time in a record, Unix milliseconds.
    pub fn newest_ms(&self) -> u64 {
        self.newest_ms
    }

    /// The state of a payment.
    pub fn state(&self, id: &str) -> Option<State> {
        self.entry(id).map(|entry| entry.state)
    }

    /// The payment with this id.
    pub fn entry(&self, id: &str) -> Option<&Entry> {
        self.entries.get(self.place(id)?)
    }

    /// All payments.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn place(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// The payments before a given one.
    fn before(&self, id: &str) -> &[Entry] {
        &self.entries[..self.place(id).unwrap_or(self.entries.len())]
    }

    /// What counts before the payment with this id, or after all payments if there is none.
    pub fn budget_usage(&self, budget: &Budget, id: &str, now_ms: u64) -> BudgetUsage {
        let mut standing = BudgetUsage::default();
        for entry in self.before(id).iter().filter(|entry| entry.counts(budget, now_ms)) {
            let part = match entry.state {
                State::Reserved => &mut standing.reserved,
                _ => &mut standing.spent,
            };
            *part = part.plus(entry.units());
        }
        standing
    }

    /// When `asked` will fit if nothing more is spent, Unix seconds; `None` for never.
    pub fn fits_at(&self, budget: &Budget, id: &str, asked: Usdc, now_ms: u64) -> Option<u64> {
        let mut counted = self.budget_usage(budget, id, now_ms).total();
        let counting = self.before(id).iter().filter(|entry| entry.counts(budget, now_ms));
        let mut ends: Vec<(u64, Usdc)> = counting
            .filter_map(|entry| Some((entry.counts_until(budget.window)?, entry.units())))
            .collect();
        ends.sort_unstable();
        for (until_ms, units) in ends {
            counted = Usdc(counted.0.saturating_sub(units.0));
            if counted.plus(asked) <= budget.limit {
                return Some(until_ms.div_ceil(1000));
            }
        }
        None
    }

    /// Earlier payments that are neither sent nor withdrawn, and may still be.
    pub fn undecided_before(&self, id: &str) -> impl Iterator<Item = &ReservationRecord> {
        let undecided = self.before(id).iter().filter(|entry| entry.state == State::Reserved);
        undecided.map(|entry| &entry.reserved)
    }

    /// The first payee that a host named on a chain, before the payment with this id.
    pub fn first_payee(&self, host: &str, network: Caip2, id: &str) -> Option<Address> {
        let of_host = |entry: &&Entry| {
            let Entry { reserved, sent, state } = entry;
            let stands = sent.is_some() || *state == State::Reserved;
            reserved.host == host && reserved.network == network && stands
        };
        self.before(id).iter().find(of_host).map(|entry| entry.reserved.payee)
    }

    /// Sent payments with an unknown outcome, each with the payer and nonce that identify it on the chain.
    pub fn unsettled_payments(&self) -> impl Iterator<Item = (&ReservationRecord, Address, Word)> {
        let sent = self.entries.iter().filter(|entry| entry.state == State::Sent);
        sent.filter_map(|entry| {
            let sent = entry.sent.as_ref()?;
            Some((&entry.reserved, sent.payer, sent.nonce))
        })
    }
}
