//! Alert events: canonical documents that are identical for every evaluator.

use sha2::{Digest as _, Sha256};

use super::ALERTS;
use super::run::Seen;
use crate::evidence::EvidenceRequest;
use crate::ids::{Code, DocumentHash};
use crate::json::{Part, to_canonical, wire_struct};
use crate::series::Slot;
use crate::tlog::Hash;

/// The type of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlertEventType {
    /// The alert fired.
    Firing,
    /// The alert cleared.
    Resolved,
    /// No data has arrived for `no_data_slots` slots.
    NoData,
    /// Data is available again.
    Data,
    /// A reminder that the alert is still firing.
    Reminder,
    /// A slot that an earlier event was based on was retracted.
    Corrected,
    /// The pool was retired.
    Ended,
}

impl AlertEventType {
    /// The code used in documents.
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
    /// The number of slots in the log.
    pub size: u64,
    /// The root over them.
    pub root: Hash,
}

/// An event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertEvent {
    /// The event's id, identical for every evaluator.
    pub id: String,
    /// The type of event.
    pub event: AlertEventType,
    /// Its sequence number among the alert's events, from 1.
    pub seq: u32,
    /// The slot that caused it.
    pub slot: Slot,
    /// The canonical bytes.
    pub canonical: Vec<u8>,
}

/// The inputs of an event.
pub(super) struct Parts<'a> {
    pub event: AlertEventType,
    pub alert: &'a Code,
    pub rule: &'a [u8],
    pub rule_hash: DocumentHash,
    pub seq: u32,
    pub slot: Slot,
    /// The alert's status before and after the event.
    pub standing: [&'static str; 2],
    pub threshold: String,
    pub samples: Vec<(Seen, String)>,
    pub checkpoint: &'a AlertCheckpoint,
    pub method_version: &'a str,
    pub live: bool,
    /// For a correction: the sequence number of the corrected event, and the retracted slot.
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
        // The document contains only strings and small integers, which always have a canonical form.
        let canonical = to_canonical(&document).unwrap_or_default();
        Self { id, event, seq, slot, canonical }
    }
}

/// `evt_` and the base32 of a hash over the inputs that determine the event.
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

/// RFC 4648 alphabet in lower case, used without padding.
const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// The URL of a sample's evidence.
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
        // A head contains depths, lowest depths and the missing reason. It names the snapshot, which contains
        // everything else.
        _ => format!("{web}/api/v1/window/{pool}?slot={}", slot.number()),
    }
}
