//! The reader's own rules: the token that this browser stores, and the service's data about the rules.

use exitgap_api::Number;
use exitgap_api::operations::{Operation, Target};
use exitgap_client::{Browser, Client, ClientError, Storage};
use leptos::prelude::window;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::browser::LocalStorage;

/// The storage name of the token.
const KEPT: &str = "exitgap alerts token";

/// A rule, limited to the displayed fields.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Rule {
    pub kind: String,
    pub base: String,
    #[serde(default)]
    pub size_usd: Option<String>,
    #[serde(default)]
    pub pct: Option<String>,
    #[serde(default)]
    pub usd: Option<String>,
}

/// The state of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RuleStanding {
    pub standing: String,
}

/// The address to which its events are sent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Webhook {
    pub url: String,
    pub state: String,
    pub pending: u32,
    #[serde(default)]
    pub last_failure: Option<String>,
}

/// A stored rule.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct KeptRule {
    pub alert: String,
    pub pool: String,
    pub rule: Rule,
    pub expires: String,
    #[serde(default)]
    pub ended: Option<String>,
    pub state: RuleStanding,
    pub last_seq: u32,
    #[serde(default)]
    pub webhook: Option<Webhook>,
}

/// All rules of an owner.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct KeptRules {
    pub alerts: Vec<KeptRule>,
}

/// A newly created rule.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Made {
    pub alert: KeptRule,
    #[serde(default)]
    pub token: Option<String>,
    #[serde(default)]
    pub webhook_secret: Option<String>,
}

/// A slot on which an event is based.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Sample {
    pub slot: u32,
    pub value: String,
    pub evidence_url: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct EventData {
    pub samples: Vec<Sample>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct EventDocument {
    pub timestamp: String,
    pub data: EventData,
}

/// An event of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Event {
    pub r#type: String,
    pub slot: u32,
    pub document: EventDocument,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct KeptEvent {
    pub event: Event,
    #[serde(default)]
    pub delivery: Option<String>,
}

/// The events of a stored rule.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct KeptEvents {
    pub events: Vec<KeptEvent>,
}

/// The slots at which a rule would have triggered.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Backtest {
    pub from: String,
    pub to: String,
    pub days_observed: Number,
    pub state: RuleStanding,
    pub events: Vec<Event>,
}

/// The token from the page's address, which is then stored, or the one stored in this browser.
pub fn token() -> Option<String> {
    let fragment = window().location().hash().unwrap_or_default();
    let brought = fragment.strip_prefix('#').filter(|text| text.starts_with("exa_"));
    if let Some(token) = brought {
        LocalStorage.put(KEPT, token);
        return Some(token.to_owned());
    }
    LocalStorage.get(KEPT).filter(|token| !token.is_empty())
}

/// Stores a token; an empty one removes the stored token.
pub fn keep_token(token: &str) {
    LocalStorage.put(KEPT, token);
}

/// Sends a request that needs the owner's token.
pub async fn request_owned<D: DeserializeOwned>(
    client: Client<Browser>,
    target: Target,
    token: Option<String>,
    body: Option<String>,
) -> Result<D, ClientError> {
    client.send_authorized(&target, token.as_deref(), body).await
}

/// The reader's rules; none without a token.
pub async fn list(
    client: Client<Browser>,
    token: Option<String>,
) -> Result<Vec<KeptRule>, ClientError> {
    if token.is_none() {
        return Ok(Vec::new());
    }
    let mut kept: KeptRules =
        request_owned(client, Operation::Alerts.target(), token, None).await?;
    for rule in &mut kept.alerts {
        // Each request extends the expiry, so compare only its date: the rules then stay equal on days without other
        // changes.
        rule.expires.truncate("2026-08-22".len());
    }
    Ok(kept.alerts)
}

/// The ticket for a stream of the reader's rules; `None` without a token, or if the service issues none.
pub async fn ticket(client: Client<Browser>, token: Option<String>) -> Option<String> {
    token.as_ref()?;
    let body = Some("{}".to_owned());
    let ticket: Ticket =
        request_owned(client, Operation::StreamTicket.target(), token, body).await.ok()?;
    Some(ticket.ticket)
}

#[derive(Deserialize)]
struct Ticket {
    ticket: String,
}

/// A description of a rule.
pub fn in_words(rule: &Rule) -> String {
    let usd = |text: &Option<String>| crate::text::usd(text.as_deref().unwrap_or_default());
    match rule.kind.as_str() {
        "gap_above" => {
            let pct = crate::text::percent(rule.pct.as_deref().unwrap_or_default());
            format!("Gap for selling {} of {} is above {pct}", usd(&rule.size_usd), rule.base)
        }
        "depth_below" => {
            format!("Depth at 2% for {} is below {}", rule.base, usd(&rule.usd))
        }
        "lowest_depth_below" => {
            format!("Lowest depth in 7 days is below {}", usd(&rule.usd))
        }
        "oracle_stale" => "An oracle price is older than its heartbeat".to_owned(),
        "market_closed" => "The market of a token is closed".to_owned(),
        "missing" => "Slots are missing".to_owned(),
        other => other.to_owned(),
    }
}
