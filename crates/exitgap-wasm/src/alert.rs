//! Evaluates a rule about a pool, slot after slot.

use exitgap_api::{Problem, ProblemCode};
use exitgap_core::alerts::{AlertCheckpoint, AlertRule, AlertRun, SealedSlot};
use exitgap_core::evidence::{Head, HeadEntry};
use exitgap_core::ids::{HeadHash, SnapshotHash};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{Snapshot, SnapshotFile};
use exitgap_core::tlog::Hash;
use serde::Serialize;

/// An event, with the bytes that a service sends for it.
#[derive(Debug, Serialize)]
pub struct SaidEvent {
    /// Its id: the same for every evaluator.
    pub id: String,
    /// Its type, as documents spell it.
    pub r#type: &'static str,
    /// Its position among the alert's events, from 1.
    pub seq: u32,
    /// The number of the slot that caused it.
    pub slot: u32,
    /// The canonical document.
    pub document: String,
}

/// The state of a rule.
#[derive(Debug, Serialize)]
pub struct StandingNow {
    /// The state, as documents spell it.
    pub standing: &'static str,
    /// The number of the next slot; absent after the pool's last slot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_slot: Option<u32>,
    /// The number of events so far.
    pub seq: u32,
    /// The canonical rule, as it is hashed.
    pub rule: String,
    /// The rule's hash.
    pub rule_hash: String,
}

/// A rule being evaluated: see [`AlertRun`].
#[derive(Debug)]
pub struct RunningAlert {
    run: AlertRun,
    /// The last processed head and its hash; a stored run does not contain them.
    last: Option<(Head, HeadHash)>,
}

impl RunningAlert {
    /// Parses a rule; continues a stored run if one is given.
    pub fn new(rule: &[u8], kept: Option<&[u8]>) -> Result<Self, Problem> {
        let rule = AlertRule::from_json(rule).map_err(|error| {
            Problem::new(ProblemCode::InvalidParameter, error.to_string()).field(error.field)
        })?;
        let run = match kept {
            Some(kept) => {
                AlertRun::from_kept(rule, kept).map_err(|error| unreadable("kept", &error))?
            }
            None => AlertRun::new(rule),
        };
        Ok(Self { run, last: None })
    }

    /// Processes the next slot: the pool's head, the snapshot file if the head names a snapshot, and the first
    /// checkpoint that covers the slot. A head must follow the previous one, and the snapshot must match the head.
    pub fn process_slot(
        &mut self,
        head: &[u8],
        snapshot: Option<&[u8]>,
        checkpoint: &AlertCheckpoint,
    ) -> Result<Vec<SaidEvent>, Problem> {
        let hash = Head::hash_of(head);
        let head = Head::from_canonical(head).map_err(|error| unreadable("head", &error))?;
        if let Some((before, before_hash)) = &self.last {
            head.check_follows(before, *before_hash).map_err(|error| unreadable("head", &error))?;
        }
        let snapshot = snapshot.map(|file| snapshot_of(file, &head)).transpose()?;
        if snapshot.is_none() && named_by(&head).is_some() {
            return Err(unreadable("snapshot", &"the head names one, but none was given"));
        }
        let sealed = SealedSlot { head: &head, snapshot: snapshot.as_ref(), checkpoint };
        let events = self.run.process_slot(sealed).map_err(|error| unreadable("head", &error))?;
        self.last = Some((head, hash));
        events
            .into_iter()
            .map(|event| {
                let document = String::from_utf8(event.canonical)
                    .map_err(|error| unreadable("rule", &error))?;
                let (r#type, slot) = (event.event.code(), event.slot.number());
                Ok(SaidEvent { id: event.id, r#type, seq: event.seq, slot, document })
            })
            .collect()
    }

    /// The current state.
    pub fn current_standing(&self) -> StandingNow {
        let rule = self.run.rule();
        StandingNow {
            standing: self.run.state().standing.code(),
            next_slot: self.run.next().map(Slot::number),
            seq: self.run.seq(),
            rule: String::from_utf8_lossy(&rule.to_canonical()).into_owned(),
            rule_hash: rule.hash().to_string(),
        }
    }

    /// The bytes to store, for continuing later.
    pub fn keep(&self) -> Vec<u8> {
        self.run.keep()
    }
}

/// A checkpoint from its texts and its size.
pub fn checkpoint_of(origin: &str, size: u64, root: &str) -> Result<AlertCheckpoint, Problem> {
    let root = Hash::from_base64(root)
        .ok_or_else(|| unreadable("checkpoint", &"its root is not base64 of 32 bytes"))?;
    Ok(AlertCheckpoint { origin: origin.to_owned(), size, root })
}

/// The snapshot that a head names.
fn named_by(head: &Head) -> Option<SnapshotHash> {
    match &head.entry {
        HeadEntry::Recorded { snapshot, .. } => Some(*snapshot),
        HeadEntry::Missing(_) | HeadEntry::Retired => None,
    }
}

/// The snapshot in a file, which must be the one that a head names.
fn snapshot_of(file: &[u8], head: &Head) -> Result<Snapshot, Problem> {
    let file = SnapshotFile::from_json(file).map_err(|error| unreadable("snapshot", &error))?;
    let found = file.documents.hash();
    if named_by(head) != Some(found) {
        let why = format!("it is {found}, but the head names a different one or none");
        return Err(unreadable("snapshot", &why));
    }
    file.open().map_err(|error| unreadable("snapshot", &error))
}

fn unreadable(field: &'static str, why: &dyn std::fmt::Display) -> Problem {
    Problem::new(ProblemCode::SourceUnreadable, format!("{field}: {why}")).field(field)
}
