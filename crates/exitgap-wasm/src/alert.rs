//! A rule about a pool over slot after slot.

use exitgap_api::{Problem, ProblemCode};
use exitgap_core::alerts::{AlertCheckpoint, AlertRule, AlertRun, SealedSlot};
use exitgap_core::evidence::{Head, HeadEntry};
use exitgap_core::ids::{HeadHash, SnapshotHash};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{Snapshot, SnapshotFile};
use exitgap_core::tlog::Hash;
use serde::Serialize;

/// An event, and the bytes that a service sends of it.
#[derive(Debug, Serialize)]
pub struct SaidEvent {
    /// Its name: the same from every evaluator.
    pub id: String,
    /// What kind, as documents spell it.
    pub r#type: &'static str,
    /// Its place among the alert's events, from 1.
    pub seq: u32,
    /// The number of the slot that made it.
    pub slot: u32,
    /// The canonical document.
    pub document: String,
}

/// Where a rule stands.
#[derive(Debug, Serialize)]
pub struct StandingNow {
    /// As documents spell it.
    pub standing: &'static str,
    /// The number of the slot that is to come; absent after the pool's last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_slot: Option<u32>,
    /// How many events there were.
    pub seq: u32,
    /// The rule, every word of it, as its hash is taken.
    pub rule: String,
    /// That hash.
    pub rule_hash: String,
}

/// A rule being evaluated: see [`AlertRun`].
#[derive(Debug)]
pub struct RunningAlert {
    run: AlertRun,
    /// The head that was taken last, and its hash; what was kept of a run does not say it.
    last: Option<(Head, HeadHash)>,
}

impl RunningAlert {
    /// Reads a rule; goes on from what was kept of its run, where something was.
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

    /// Takes the next slot: the pool's head, the snapshot file that it names, where it names one, and the first
    /// checkpoint over it. A head must follow the one before it, and the snapshot be the one that the head names.
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

    /// Where it stands.
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

    /// What is to be kept of it, to go on later.
    pub fn keep(&self) -> Vec<u8> {
        self.run.keep()
    }
}

/// The checkpoint of texts and a number.
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

/// The snapshot of a file, which must be the one that a head names.
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
