//! What an alert says: canonical documents, the same from whoever evaluates it.

use sha2::{Digest as _, Sha256};

use super::ALERTS;
use super::run::Seen;
use crate::evidence::EvidenceRequest;
use crate::ids::{Code, DocumentHash};
use crate::json::{Part, to_canonical, wire_struct};
use crate::series::Slot;
use crate::tlog::Hash;

/// What kind of event it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlertEventType {
    /// It fired.
    Firing,
    /// It is over.
    Resolved,
    /// Nothing is known.
    NoData,
    /// Something is known again.
    Data,
    /// It still lasts.
    Reminder,
    /// A slot on which an event rested was taken back.
    Corrected,
    /// The pool retired.
    Ended,
}

impl AlertEventType {
    /// As documents spell it.
    pub fn code(self) -> &'static str {
        match self {
            Self::Firing => "alert.firing",
            Self::Resolved => "alert.resolved",
            Self::NoData => "alert.no_data",
            Self::Data => "alert.data",
            Self::Reminder => "alert.reminder",
            Self::Corrected => "alert.corrected",
            Self::Ended => "alert.ended",
        }
    }
}

/// The first checkpoint that covers a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertCheckpoint {
    /// The log.
    pub origin: String,
    /// Its slots.
    pub size: u64,
    /// Their root.
    pub root: Hash,
}

/// An event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertEvent {
    /// Its name: the same from every evaluator.
    pub id: String,
    /// What kind.
    pub event: AlertEventType,
    /// Its place among the alert's events, from 1.
    pub seq: u32,
    /// The slot that made it.
    pub slot: Slot,
    /// The canonical bytes.
    pub canonical: Vec<u8>,
}

/// What an event is made of.
pub(super) struct Parts<'a> {
    pub event: AlertEventType,
    pub alert: &'a Code,
    pub rule: &'a [u8],
    pub rule_hash: DocumentHash,
    pub seq: u32,
    pub slot: Slot,
    /// Where it stood before, and where it stands.
    pub standing: [&'static str; 2],
    pub threshold: String,
    pub samples: Vec<(Seen, String)>,
    pub checkpoint: &'a AlertCheckpoint,
    pub method_version: &'a str,
    pub live: bool,
    /// Of a correction: the event that it corrects, and the slot that was taken back.
    pub corrects: Option<(u32, Slot)>,
}

struct Document {
    r#type: String,
    timestamp: String,
    data: Data,
}

impl crate::json::Wire for Document {
    fn from_json(_: &crate::json::Json<'_>) -> Result<Self, String> {
        Err("events can only be written, not read".to_owned())
    }

    fn to_json(&self) -> crate::json::Json<'_> {
        crate::json::Json::Object(vec![
            ("type".into(), self.r#type.to_json()),
            ("timestamp".into(), self.timestamp.to_json()),
            ("data".into(), self.data.to_json()),
        ])
    }
}

struct Data {
    alert: Code,
    alerts_version: String,
    checkpoint: Checkpoint,
    from: String,
    to: String,
    method_version: String,
    rule: Part,
    rule_hash: DocumentHash,
    samples: Vec<SampleLine>,
    seq: u32,
    slot: Slot,
    status: String,
    threshold: String,
    corrects_seq: Option<u32>,
    retracted_slot: Option<Slot>,
}

wire_struct!(Data {
    alert, alerts_version, checkpoint, from, to, method_version, rule, rule_hash, samples, seq, slot, status, threshold;
    optional corrects_seq, retracted_slot
});

struct Checkpoint {
    origin: String,
    size: u64,
    root: String,
}

wire_struct!(Checkpoint { origin, size, root });

struct SampleLine {
    slot: Slot,
    value: String,
    evidence_url: String,
}

wire_struct!(SampleLine { slot, value, evidence_url });

impl AlertEvent {
    pub(super) fn from_parts(parts: Parts<'_>) -> Self {
        let Parts { event, alert, rule, rule_hash, seq, slot, checkpoint, .. } = parts;
        let id = id_of(alert, rule_hash, seq, slot);
        let [from, to] = parts.standing.map(str::to_owned);
        let samples = parts.samples.into_iter().map(|(seen, evidence_url)| SampleLine {
            slot: seen.slot,
            value: seen.value,
            evidence_url,
        });
        let AlertCheckpoint { origin, size, root } = checkpoint.clone();
        let document = Document {
            r#type: event.code().to_owned(),
            timestamp: slot.to_string(),
            data: Data {
                alert: *alert,
                alerts_version: ALERTS.to_owned(),
                checkpoint: Checkpoint { origin, size, root: root.to_string() },
                from,
                to,
                method_version: parts.method_version.to_owned(),
                rule: Part(rule.to_vec()),
                rule_hash,
                samples: samples.collect(),
                seq,
                slot,
                status: if parts.live { "live" } else { "preview" }.to_owned(),
                threshold: parts.threshold,
                corrects_seq: parts.corrects.map(|(seq, _)| seq),
                retracted_slot: parts.corrects.map(|(_, slot)| slot),
            },
        };
        // Texts and small numbers: nothing that has no canonical form.
        let canonical = to_canonical(&document).unwrap_or_default();
        Self { id, event, seq, slot, canonical }
    }
}

/// `evt_` and the base32 of a hash over what an event is determined by.
fn id_of(alert: &Code, rule_hash: DocumentHash, seq: u32, slot: Slot) -> String {
    let of =
        format!("exitgap alert event\n{}\n{rule_hash}\n{seq}\n{}\n", alert.as_str(), slot.number());
    let digest = Sha256::digest(of.as_bytes());
    let mut id = "evt_".to_owned();
    let (mut bits, mut count) = (0_u32, 0);
    for byte in digest {
        (bits, count) = (bits << 8 | u32::from(byte), count + 8);
        while count >= 5 {
            count -= 5;
            let digit = usize::try_from(bits >> count & 31).unwrap_or(0);
            id.push(char::from(BASE32[digit]));
            bits &= (1 << count) - 1;
        }
    }
    id.push(char::from(BASE32[usize::try_from(bits << (5 - count) & 31).unwrap_or(0)]));
    id
}

/// RFC 4648, in small letters, without padding.
const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// Where the evidence of a sample is.
pub(super) fn evidence_url(rule: &super::AlertRule, slot: Slot, is_recorded: bool) -> String {
    let (web, pool) = (&rule.web_url, &rule.pool);
    match &rule.kind {
        super::AlertKind::GapAbove { size, .. } if is_recorded => {
            let request = EvidenceRequest {
                base: rule.base,
                method_version: crate::exit::METHOD_VERSION.to_owned(),
                pool: pool.clone(),
                size_usd: size.to_string(),
                slot: slot.number().into(),
            };
            let EvidenceRequest { base, method_version, size_usd, slot, .. } = request;
            let base = base.code();
            format!(
                "{web}/api/v1/exit/{pool}?base={base}&slot={slot}&size_usd={size_usd}&method_version={method_version}"
            )
        }
        // Heads say depths, lowest depths and what is missing; they name the snapshot that says the rest.
        _ => format!("{web}/api/v1/window/{pool}?slot={}", slot.number()),
    }
}
