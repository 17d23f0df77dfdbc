//! Checks a receipt against its service's log: the head that commits to it, and its estimate quoted again at later
//! slots.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use exitgap_api::operations::EvidenceOf;
use exitgap_api::receipt::Receipt;
use exitgap_core::analytics::accuracy::{IssuedReceipts, LATER_SLOTS, requote};
use exitgap_core::evidence::Outcome;
use exitgap_core::exit::Exit;
use exitgap_core::ids::Word;
use exitgap_core::pools::Direction;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::Snapshot;
use exitgap_core::units::Percent;
use serde::Serialize;

use super::audit;
use super::verify_receipt::Check;
use crate::arguments::VerifyReceiptArgs;
use crate::failure::Failure;
use crate::log::{Against, FolderReader, WatchedPools, WatchedSlot, replay};
use crate::log_source::{LogAt, LogSource};
use crate::trust;

/// Number of slots after which a head must commit to a receipt: it may be issued up to a day after the payment, plus an
/// hour for the recorder.
const MUST_BE_THERE: u32 = Slot::PER_DAY + 12;

/// Why the log check is incomplete although the log is valid.
const NOT_TRUSTED: &str = "it was verified only with its own keys; give the log's key from a trusted place with --trust KEY";

/// What a log shows about a receipt.
#[derive(Serialize)]
pub struct OfLog {
    /// The slot whose head commits to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    committed_in: Option<u32>,
    /// The estimate at later slots.
    requotes: Vec<LaterQuote>,
}

/// The estimate at a later slot.
#[derive(Serialize)]
struct LaterQuote {
    slots_later: u32,
    slot: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    amount_out_raw: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_pct: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_gap_pct: Option<String>,
    /// Why there is no estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    why_not: Option<String>,
}

/// The pool's data collected while the log is replayed.
#[derive(Default)]
struct PoolTrace {
    committed_in: Option<Slot>,
    /// The snapshots of the receipt's slot and of the slots at which it is quoted again.
    snapshots: BTreeMap<u32, Snapshot>,
    retracted: BTreeSet<u32>,
    newest: Option<Slot>,
}

/// Audits the log, and searches it for the receipt. The evidence URL gives the answer's pool, slot and size.
pub fn look(
    args: &VerifyReceiptArgs,
    log: &LogAt,
    (receipt, text): (&Receipt, &str),
) -> Result<(Vec<Check>, Option<OfLog>), Failure> {
    let Some(of) = receipt.evidence_url.as_deref().and_then(EvidenceOf::from_url) else {
        let why = "the receipt has no evidence link, so its pool and slot are unknown";
        let check = Check::new("committed", Outcome::NotChecked, "no_evidence_url", why.to_owned());
        return Ok((vec![check], None));
    };
    let trusted = trust::keys(&args.trust.trust)?;
    let source = LogSource::for_reading(log, args.copy.as_deref(), &trusted)?;
    let folder = FolderReader::new(source.path());
    let (held, keys) = if trusted.is_empty() {
        let why = NOT_TRUSTED.to_owned();
        let held = Check::new("log", Outcome::NotChecked, "log_keys_not_trusted", why);
        (held, audit::own_keys(&folder)?)
    } else {
        (Check::with_pass("log"), trusted)
    };
    let newest = audit::newest(&folder)?;
    let against = Against {
        folder: &folder,
        newest: &newest,
        keys: &keys,
        since: None,
        watched: WatchedPools::Of(std::slice::from_ref(&of.pool)),
    };
    let bar = audit::progress(newest.checkpoint.size);
    let (name, mut gathered) = (IssuedReceipts::receipt_of(text), PoolTrace::default());
    let mut tell = |slot: WatchedSlot| gathered.add_slot(of.slot, &name, slot);
    let (_, broken) = replay(&against, |counts| bar.set_position(counts.slots), &mut tell);
    bar.finish_and_clear();
    if let Some((fault, _)) = broken {
        let fault = audit::readable(fault)?;
        let said = fault.document();
        let at = said.slot_time.map_or_else(String::new, |slot| format!("slot {slot}: "));
        let detail = format!("{at}{}; run `exitgap audit` for details", said.detail);
        return Ok((vec![Check::new("log", Outcome::Fail, said.code, detail)], None));
    }
    let checks = vec![held, gathered.check_commitment(receipt)];
    let committed_in = gathered.committed_in.map(Slot::number);
    let requotes = gathered.requotes(&of);
    Ok((checks, Some(OfLog { committed_in, requotes })))
}

impl PoolTrace {
    fn add_slot(&mut self, from: Slot, receipt: &Word, told: WatchedSlot) {
        let slot = told.head.slot;
        self.newest = Some(slot);
        self.retracted.extend(told.head.retracts.iter().map(|taken| taken.slot.number()));
        if told.issued.is_some_and(|issued| issued.has(receipt)) {
            self.committed_in.get_or_insert(slot);
        }
        let later = slot.number().checked_sub(from.number());
        let wanted = later.is_some_and(|later| later == 0 || LATER_SLOTS.contains(&later));
        if let Some((snapshot, _)) = told.snapshot.filter(|_| wanted) {
            self.snapshots.insert(slot.number(), snapshot);
        }
    }

    /// Whether a head commits to the receipt, as far as the log goes.
    fn check_commitment(&self, receipt: &Receipt) -> Check {
        if self.committed_in.is_some() {
            return Check::with_pass("committed");
        }
        let Some(newest) = self.newest else {
            let why = "the log does not contain this pool".to_owned();
            return Check::new("committed", Outcome::Fail, "receipt_not_committed", why);
        };
        let issued = receipt.issued_at / Slot::SECONDS;
        let due = issued.saturating_add(MUST_BE_THERE.into());
        let (outcome, code, until) = if u64::from(newest.number()) >= due {
            (Outcome::Fail, "receipt_not_committed", "more than a day after the payment")
        } else {
            (Outcome::NotChecked, "receipt_not_committed_yet", "a later head may still commit")
        };
        let detail = format!(
            "no head up to {newest}, the log's newest slot, commits to the receipt: {until}"
        );
        Check::new("committed", outcome, code, detail)
    }

    /// The estimate at the later slots in the log.
    fn requotes(&self, of: &EvidenceOf) -> Vec<LaterQuote> {
        let from = of.slot.number();
        let Some(estimated) = self.snapshots.get(&from).map(Snapshot::observation) else {
            return Vec::new();
        };
        let direction = Direction::from(of.base);
        let Ok(estimate) = Exit::from_pool(estimated, direction).estimate(of.size) else {
            return Vec::new();
        };
        let amounts = [estimate.amount_in, estimate.amount_out];
        let reached = self.newest.map_or(0, Slot::number);
        let later = LATER_SLOTS.iter().filter(|later| from.saturating_add(**later) <= reached);
        let at = later.map(|slots_later| {
            let slot = from.saturating_add(*slots_later);
            let nothing = LaterQuote {
                slots_later: *slots_later,
                slot,
                amount_out_raw: None,
                error_pct: None,
                exit_gap_pct: None,
                why_not: None,
            };
            let why_not = |why: &str| Some(why.to_owned());
            if self.retracted.contains(&slot) {
                return LaterQuote { why_not: why_not("retracted"), ..nothing };
            }
            let Some(snapshot) = self.snapshots.get(&slot) else {
                return LaterQuote { why_not: why_not("missing"), ..nothing };
            };
            match requote(estimated, direction, amounts, snapshot.observation()) {
                Ok(again) => LaterQuote {
                    amount_out_raw: Some(again.amount_out.to_string()),
                    error_pct: again.error.map(Percent::to_fixed),
                    exit_gap_pct: again.gap.map(Percent::to_fixed),
                    ..nothing
                },
                Err(error) => LaterQuote { why_not: Some(error.to_string()), ..nothing },
            }
        });
        at.collect()
    }
}

/// Prints the estimate at later slots.
pub fn print(out: &mut impl Write, of: &OfLog) -> Result<(), Failure> {
    if let Some(slot) = of.committed_in.and_then(|slot| Slot::new(slot.into()).ok()) {
        writeln!(out, "\nThe pool's head in slot {slot} commits to the receipt.")?;
    }
    if of.requotes.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nThe same sale later (a positive error means a worse fill than estimated):")?;
    for later in &of.requotes {
        let LaterQuote { slots_later, error_pct, exit_gap_pct, why_not, .. } = later;
        let minutes = u64::from(*slots_later) * Slot::SECONDS / 60;
        let said = match (error_pct, exit_gap_pct, why_not) {
            (_, _, Some(why)) => why.clone(),
            (Some(error), Some(gap), None) => format!("error {error}%, gap then {gap}%"),
            _ => "outside the range of a percentage".to_owned(),
        };
        writeln!(out, "  +{minutes:>2} min  {said}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use exitgap_api::receipt::Receipt;
    use serde_json::json;

    use super::*;

    fn receipt(issued_at: u64) -> Receipt {
        let hash = format!("0x{}", "11".repeat(32));
        let address = format!("0x{}", "22".repeat(20));
        let fields = json!({
            "v": 1, "network": "eip155:8453", "transaction": hash, "payer": address, "amount": "10000",
            "asset": address, "resourceUrl": "https://example.org/v1/exit/x", "issuedAt": issued_at,
            "answer_sha256": hash, "snapshot_hash": hash, "method_version": "1.0.0",
        });
        serde_json::from_value(fields).unwrap()
    }

    #[test]
    fn a_receipt_is_missed_once_the_log_is_a_day_and_an_hour_past_it_and_not_before() {
        let paid = Slot::new(5_990_000).unwrap();
        let said = |newest: Option<u32>, committed: bool| {
            let newest = newest.map(|later| Slot::new(u64::from(paid.number() + later)).unwrap());
            let committed_in = newest.filter(|_| committed);
            let gathered = PoolTrace { committed_in, newest, ..PoolTrace::default() };
            let Check { outcome, code, .. } =
                gathered.check_commitment(&receipt(paid.unix_s() + 299));
            (outcome, code)
        };
        let yet = (Outcome::NotChecked, Some("receipt_not_committed_yet"));
        assert_eq!(said(Some(0), false), yet);
        assert_eq!(said(Some(299), false), yet);
        assert_eq!(said(Some(300), false), (Outcome::Fail, Some("receipt_not_committed")));
        assert_eq!(said(None, false), (Outcome::Fail, Some("receipt_not_committed")));
        assert_eq!(said(Some(300), true), (Outcome::Pass, None));
    }
}
