//! Checks whether a figure file proves its result. Pure and total: no I/O, no panic. The caller adds snapshots and
//! documents one at a time. At most one day of snapshots and a bounded number of logs is held.

use std::collections::BTreeMap;

use super::claim::FigureClaim;
use super::file::{FigureFile, FigureFills, FigureUse, MAX_FIGURE_BYTES};
use super::kind::{AnyFigure, AnyPass, NoResult, NotRead, figure_of, is_known};
use super::period::{NotSigned, Period, PeriodError};
use super::report::{FigureCheck, FigureCheckName, FigureReport};
use crate::analytics::FigureError;
use crate::analytics::accuracy::Fills;
use crate::evidence::DocumentError;
use crate::exit::METHOD_VERSION;
use crate::ids::{HeadHash, PoolId, SnapshotHash};
use crate::json::{Part, parse_json};
use crate::series::Slot;
use crate::snapshot::{Snapshot, SnapshotDocuments};
use crate::tlog::{TrustError, VerifierKey};

/// The heads that a log sealed, as a replay of the log found them.
pub type SealedHeads = BTreeMap<(PoolId, Slot), HeadHash>;

/// The next input that a verifier needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureWant<'a> {
    /// The snapshot of a slot: [`FigureVerifier::add_snapshot`].
    Snapshot(&'a FigureUse),
    /// The document of logs that the head of a slot commits to: [`FigureVerifier::take_fills`].
    Fills(&'a FigureFills),
}

/// The verification of a figure file. The caller creates it from the file's bytes, adds what it
/// [wants](Self::next_want) in that order, and can [finish](Self::finish) it at any time.
#[derive(Debug)]
pub struct FigureVerifier {
    claim: Option<FigureClaim>,
    pools: Vec<PoolId>,
    /// The heads of its windows.
    heads: Vec<(PoolId, Slot, HeadHash)>,
    /// The checks that need no snapshot.
    checks: Vec<FigureCheck>,
    uses: Vec<FigureUse>,
    next: usize,
    fills: Vec<FigureFills>,
    next_fills: usize,
    /// `None` if the result cannot be computed, or no longer.
    pass: Option<Box<dyn AnyPass>>,
    result: Part,
    absent: usize,
    snapshots: Option<FigureCheck>,
    refused: Option<NoResult>,
}

impl FigureVerifier {
    /// Parses a file and makes the checks that need no snapshot. `keys` are the trusted keys; the name of each is its
    /// log's origin.
    pub fn new(bytes: &[u8], keys: &[VerifierKey]) -> Self {
        let claim = FigureClaim::from_bytes(bytes);
        let verifier = match open_figure(bytes, claim.as_ref()) {
            Ok((file, figure)) => Self::from_file(file, figure, bytes.len(), keys),
            Err(format) => {
                let needs = "a figure file with a known figure and method";
                let code = format.code;
                let rest = FigureCheckName::ALL.into_iter().skip(1);
                let rest = rest.map(|name| FigureCheck::not_checked(name, code, needs));
                let checks = core::iter::once(format).chain(rest).collect();
                Self::with(checks, None, Part(Vec::new()))
            }
        };
        Self { claim, ..verifier }
    }

    fn from_file(
        file: FigureFile,
        figure: Box<dyn AnyFigure>,
        length: usize,
        keys: &[VerifierKey],
    ) -> Self {
        use FigureCheckName::{Format, SealedLeaves, Signature, Uses, Windows};
        let format = format!("{} of {length} bytes", figure.name());
        let mut checks = vec![FigureCheck::pass(Format, format)];
        let (pools, mut heads) = (figure.pools(), Vec::new());
        let ((from, last_used), to) = (figure.period(), figure.last_head());
        let leaves =
            || FigureCheck::not_checked(SealedLeaves, "no_leaves", "the log's slot leaves");
        match Period::from_windows(&file.windows, &pools, from, to) {
            Ok(period) => {
                checks.push(match (period.newer, period.given_up) {
                    (Some(newer), _) => FigureCheck::newer(Windows, newer),
                    (None, Some(slot)) => {
                        let needs = format!("a depth of slot {slot} that its head states");
                        FigureCheck::not_checked(Windows, "depth_given_up", &needs)
                    }
                    (None, None) => FigureCheck::pass(Windows, format!("{} heads", period.heads)),
                });
                checks.extend([check_signature(&period, keys), leaves()]);
                let used = period.standing.iter().filter(|(slot, ..)| *slot <= last_used);
                let uses = check_uses(&used.copied().collect::<Vec<_>>(), &file.uses, &pools);
                let fills = figure.takes_fills().then(|| check_fills(&period.fills, &file.fills));
                checks.push(fills.flatten().unwrap_or(uses));
                heads = period.hashes;
            }
            Err(error) => {
                let absent = "valid head windows";
                checks.push(match &error {
                    PeriodError::Window { error, .. } if error.newer().is_some() => error
                        .newer()
                        .map_or_else(leaves, |newer| FigureCheck::newer(Windows, newer)),
                    error => FigureCheck::fail(
                        Windows,
                        "windows_invalid",
                        format!("unbroken heads of {from} to {to}"),
                        error.to_string(),
                    ),
                });
                checks.push(FigureCheck::not_checked(Signature, "windows_invalid", absent));
                checks.push(leaves());
                checks.push(FigureCheck::not_checked(Uses, "windows_invalid", absent));
            }
        }
        let FigureFile { uses, fills, result, .. } = file;
        Self { pools, heads, uses, fills, ..Self::with(checks, figure.pass(), result) }
    }

    fn with(checks: Vec<FigureCheck>, pass: Option<Box<dyn AnyPass>>, result: Part) -> Self {
        Self {
            claim: None,
            pools: Vec::new(),
            heads: Vec::new(),
            checks,
            uses: Vec::new(),
            next: 0,
            fills: Vec::new(),
            next_fills: 0,
            pass,
            result,
            absent: 0,
            snapshots: None,
            refused: None,
        }
    }

    /// The figure's pools, whose heads are to be compared with those of the log; none where the file cannot be read.
    pub fn pools(&self) -> &[PoolId] {
        &self.pools
    }

    /// What the file states that it is of.
    pub fn claim(&self) -> Option<&FigureClaim> {
        self.claim.as_ref()
    }

    /// Compares the heads of the windows with those that the log sealed in the slots from one to another. `is_same_log`:
    /// the log has the checkpoints of the windows, as far as it has any of their sizes.
    pub fn check_sealed(
        &mut self,
        sealed: &SealedHeads,
        [first, last]: [Slot; 2],
        is_same_log: bool,
    ) {
        const NAME: FigureCheckName = FigureCheckName::SealedLeaves;
        if self.heads.is_empty() {
            return;
        }
        let text = |slot: &Slot, hash: &HeadHash| format!("slot {}, {hash}", slot.number());
        let differing = self.heads.iter().find_map(|(pool, slot, hash)| {
            let found = sealed.get(&(pool.clone(), *slot));
            (found != Some(hash)).then_some((slot, hash, found))
        });
        let checked = match differing {
            Some((slot, hash, Some(found))) => {
                FigureCheck::fail(NAME, "head_not_sealed", text(slot, found), text(slot, hash))
            }
            _ if !is_same_log => {
                let expected = "the log's own checkpoints";
                FigureCheck::fail(NAME, "history_rewritten", expected, "others of the same sizes")
            }
            // The log has the slot, and no head of the pool in it.
            Some((slot, hash, None)) if (first..=last).contains(slot) => {
                let expected = format!("no head of the pool in slot {}", slot.number());
                FigureCheck::fail(NAME, "head_not_sealed", expected, text(slot, hash))
            }
            Some((slot, ..)) => {
                FigureCheck::not_checked(NAME, "no_leaves", &format!("the log up to slot {slot}"))
            }
            None => FigureCheck::pass(NAME, format!("{} heads", self.heads.len())),
        };
        let check = self.checks.iter_mut().find(|check| check.name == NAME);
        if let Some(check) = check {
            *check = checked;
        }
    }

    /// The next input that is needed, if any.
    pub fn next_want(&self) -> Option<FigureWant<'_>> {
        if self.snapshots.is_some() {
            return None;
        }
        let snapshot = || self.uses.get(self.next).map(FigureWant::Snapshot);
        let fills = self.fills.get(self.next_fills).filter(|_| self.wants_fills());
        fills.map(FigureWant::Fills).or_else(snapshot)
    }

    /// The number of inputs given so far, and the maximum number.
    pub fn progress(&self) -> (usize, usize) {
        let all = self.uses.len() + self.fills.len();
        // Documents for blocks after the last slot's are not needed.
        let given = if self.next_want().is_some() { self.next + self.next_fills } else { all };
        (given, all)
    }

    fn wants_fills(&self) -> bool {
        self.pass.as_ref().is_some_and(|pass| pass.wants_fills())
    }

    /// Adds the wanted snapshot; `None` if the caller does not have it. The checks that depend on it are reported by
    /// [`Self::finish`].
    pub fn add_snapshot(&mut self, documents: Option<&SnapshotDocuments>) {
        let Some(FigureWant::Snapshot(wanted)) = self.next_want() else { return };
        let wanted = wanted.clone();
        self.next += 1;
        let Some(documents) = documents else { return self.lack() };
        match open_snapshot(&wanted, documents) {
            Ok(snapshot) => {
                let observation = snapshot.observation().clone();
                self.go_on(|pass| pass.add_snapshot(&wanted.pool, wanted.slot, observation));
            }
            Err(check) => self.break_off(check),
        }
    }

    /// Adds the wanted document as canonical bytes; `None` if the caller does not have it.
    pub fn take_fills(&mut self, document: Option<&[u8]>) {
        let Some(FigureWant::Fills(wanted)) = self.next_want() else { return };
        let wanted = wanted.clone();
        self.next_fills += 1;
        let Some(document) = document else { return self.lack() };
        match open_fills(&wanted, document) {
            Ok(fills) => self.go_on(|pass| pass.take_fills(Some(fills))),
            Err(check) => self.break_off(check),
        }
    }

    /// Without this input the result cannot be computed.
    fn lack(&mut self) {
        self.absent += 1;
        self.pass = None;
    }

    fn break_off(&mut self, check: FigureCheck) {
        self.snapshots = Some(check);
        self.pass = None;
    }

    fn go_on(&mut self, take: impl FnOnce(&mut dyn AnyPass) -> Result<(), FigureError>) {
        let Some(pass) = self.pass.as_deref_mut() else { return };
        let is_last = self.next_fills == self.fills.len();
        let mut taken = take(pass);
        if taken.is_ok() && is_last && pass.wants_fills() {
            taken = pass.take_fills(None);
        }
        if let Err(error) = taken {
            self.refused = Some(error.into());
            self.pass = None;
        }
    }

    /// The report.
    pub fn finish(self) -> FigureReport {
        use FigureCheckName::{Result as Recomputed, Snapshots};
        let wants_fills = self.wants_fills();
        let Self {
            claim, mut checks, uses, next, pass, result, absent, snapshots, refused, ..
        } = self;
        if checks.len() == FigureCheckName::ALL.len() {
            return FigureReport::new(claim, checks);
        }
        let wanting = uses.len() - next + absent + usize::from(wants_fills);
        checks.push(match snapshots {
            Some(check) => check,
            None if wanting > 0 => {
                let needs = format!("{wanting} more snapshots or documents");
                FigureCheck::not_checked(Snapshots, "snapshots_absent", &needs)
            }
            None => FigureCheck::pass(Snapshots, format!("{} snapshots", uses.len())),
        });
        checks.push(match (refused, pass) {
            (Some(refused), _) => no_figure(&refused),
            (None, Some(pass)) if wanting == 0 => check_result(pass, &result),
            _ => FigureCheck::not_checked(Recomputed, "snapshots_absent", "every snapshot"),
        });
        FigureReport::new(claim, checks)
    }
}

/// Whether bytes are a document in its one spelling, whatever it says: that is true of later versions, too.
fn is_canonical(bytes: &[u8]) -> bool {
    let json = parse_json(bytes).ok().filter(|_| bytes.len() <= MAX_FIGURE_BYTES);
    json.and_then(|json| json.to_canonical().ok()).is_some_and(|canonical| canonical == bytes)
}

/// The parsed file and its figure, or the check that it fails.
fn open_figure(
    bytes: &[u8],
    claim: Option<&FigureClaim>,
) -> Result<(FigureFile, Box<dyn AnyFigure>), FigureCheck> {
    const NAME: FigureCheckName = FigureCheckName::Format;
    let invalid = |found: String| {
        let expected = "canonical JSON of a figure file, version 1";
        FigureCheck::fail(NAME, "format_invalid", expected, found)
    };
    let unknown = |code, what: &str, text: &str| {
        let needs = format!("{what} {:?}", text.chars().take(40).collect::<String>());
        FigureCheck::not_checked(NAME, code, &needs)
    };
    // Of a figure that is not known, not even its fields are: it may have others, and other bounds.
    let later = claim.filter(|claim| !is_known(&claim.figure));
    if let Some(claim) = later.filter(|_| is_canonical(bytes)) {
        return Err(unknown("unsupported_figure", "the rules of", &claim.figure));
    }
    let file = FigureFile::from_canonical(bytes).map_err(|error| match error {
        DocumentError::Newer(newer) => FigureCheck::newer(NAME, newer),
        error => invalid(error.to_string()),
    })?;
    let figure = figure_of(&file);
    if matches!(figure, Err(NotRead::Unknown)) {
        return Err(unknown("unsupported_figure", "the rules of", &file.figure));
    }
    if file.method != METHOD_VERSION {
        return Err(unknown("unsupported_method", "the method", &file.method));
    }
    match figure {
        Ok(figure) => Ok((file, figure)),
        Err(NotRead::Newer(newer)) => Err(FigureCheck::newer(NAME, newer)),
        Err(NotRead::Invalid(why)) => Err(invalid(format!("parameters: {why}"))),
        Err(NotRead::Unknown) => Err(unknown("unsupported_figure", "the rules of", &file.figure)),
    }
}

fn no_figure(refused: &NoResult) -> FigureCheck {
    let found = format!("a figure, but none can be computed: {}", refused.why);
    FigureCheck::fail(FigureCheckName::Result, refused.code, "no figure", found)
}

fn check_signature(period: &Period, keys: &[VerifierKey]) -> FigureCheck {
    const NAME: FigureCheckName = FigureCheckName::Signature;
    if keys.is_empty() {
        return FigureCheck::not_checked(NAME, "no_trusted_key", "a trusted key");
    }
    match period.signers(keys) {
        Ok(signers) => FigureCheck::pass(NAME, signers.join(", ")),
        Err(NotSigned::Unread(error)) => FigureCheck::fail(
            NAME,
            "checkpoint_invalid",
            "a signed checkpoint with each window",
            error.to_string(),
        ),
        Err(NotSigned::OtherLog { expected, found }) => {
            FigureCheck::fail(NAME, "windows_of_two_logs", expected, found)
        }
        Err(NotSigned::By(unsigned)) => match *unsigned {
            TrustError::Forged { signer } => FigureCheck::fail(
                NAME,
                "signature_forged",
                "a signature made by the key with this name",
                format!("a forged signature named {signer}"),
            ),
            TrustError::NotTrusted { origin, found } => FigureCheck::fail(
                NAME,
                "signature_not_trusted",
                format!("a signature of {origin} made with a trusted key"),
                found.join(", "),
            ),
        },
    }
}

fn check_uses(
    standing: &[(Slot, usize, SnapshotHash)],
    uses: &[FigureUse],
    pools: &[PoolId],
) -> FigureCheck {
    const NAME: FigureCheckName = FigureCheckName::Uses;
    let text = |slot: Slot, hash: SnapshotHash| format!("{} {hash}", slot.number());
    for index in 0..standing.len().max(uses.len()) {
        let (expected, found) = (standing.get(index), uses.get(index));
        let same = expected.zip(found).is_some_and(|((slot, place, hash), found)| {
            found.pool == pools[*place] && found.slot == *slot && found.snapshot == *hash
        });
        if !same {
            let expected = expected
                .map_or("no further snapshot".to_owned(), |(slot, place, hash)| {
                    format!("{} {}", pools[*place], text(*slot, *hash))
                });
            let found = found.map_or("none".to_owned(), |found| {
                format!("{} {}", found.pool, text(found.slot, found.snapshot))
            });
            return FigureCheck::fail(NAME, "uses_mismatch", expected, found);
        }
    }
    FigureCheck::pass(NAME, format!("all {} recorded slots that were not retracted", uses.len()))
}

/// The failed check if the documents in the file are not exactly those that its heads commit to.
fn check_fills(committed: &[FigureFills], fills: &[FigureFills]) -> Option<FigureCheck> {
    let text = |of: Option<&FigureFills>, none: &str| {
        let found = |of: &FigureFills| format!("{} {} {}", of.pool, of.slot.number(), of.document);
        of.map_or(none.to_owned(), found)
    };
    (0..committed.len().max(fills.len())).find_map(|index| {
        let (expected, found) = (committed.get(index), fills.get(index));
        let differ = || {
            let (expected, found) = (text(expected, "no further document"), text(found, "none"));
            FigureCheck::fail(FigureCheckName::Uses, "fills_mismatch", expected, found)
        };
        (expected != found).then(differ)
    })
}

/// The document that a head commits to, or the check that it fails.
fn open_fills(wanted: &FigureFills, document: &[u8]) -> Result<Fills, FigureCheck> {
    const NAME: FigureCheckName = FigureCheckName::Snapshots;
    let hash = Fills::hash_of(document);
    if hash != wanted.document {
        let expected = format!("{} of slot {}", wanted.document, wanted.slot);
        return Err(FigureCheck::fail(NAME, "fills_hash_mismatch", expected, hash.to_string()));
    }
    Fills::from_canonical(document).map_err(|error| match error.newer() {
        Some(newer) => FigureCheck::newer(NAME, newer),
        None => FigureCheck::fail(NAME, "fills_invalid", "a fills document", error.to_string()),
    })
}

/// The snapshot that the figure uses, or the check that it fails.
fn open_snapshot(
    wanted: &FigureUse,
    documents: &SnapshotDocuments,
) -> Result<Snapshot, FigureCheck> {
    const NAME: FigureCheckName = FigureCheckName::Snapshots;
    let hash = documents.hash();
    if hash != wanted.snapshot {
        let expected = format!("{} of slot {}", wanted.snapshot, wanted.slot);
        return Err(FigureCheck::fail(NAME, "snapshot_hash_mismatch", expected, hash.to_string()));
    }
    let SnapshotDocuments { snapshot, state } = documents;
    let read = Snapshot::of_pool(&wanted.pool, snapshot, state);
    let snapshot = read.map_err(|error| match error.newer() {
        Some(newer) => FigureCheck::newer(NAME, newer),
        None => FigureCheck::fail(NAME, "snapshot_invalid", "a snapshot", error.to_string()),
    })?;
    if snapshot.slot() != wanted.slot {
        let (expected, found) = (wanted.slot.to_string(), snapshot.slot().to_string());
        return Err(FigureCheck::fail(NAME, "snapshot_slot_mismatch", expected, found));
    }
    Ok(snapshot)
}

fn check_result(pass: Box<dyn AnyPass>, published: &Part) -> FigureCheck {
    const NAME: FigureCheckName = FigureCheckName::Result;
    let result = match pass.result() {
        Ok(result) => result,
        Err(refused) => return no_figure(&refused),
    };
    if result == *published {
        return FigureCheck::pass(NAME, format!("{} bytes", result.0.len()));
    }
    let differs = result.0.iter().zip(&published.0).take_while(|(a, b)| a == b).count();
    let around = |bytes: &[u8]| {
        let near = bytes.get(differs.saturating_sub(60)..).unwrap_or_default();
        String::from_utf8_lossy(near.get(..120).unwrap_or(near)).into_owned()
    };
    FigureCheck::fail(NAME, "result_mismatch", around(&result.0), around(&published.0))
}
