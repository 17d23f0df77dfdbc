//! The parameters of alert operations.

use exitgap_core::ids::{Code, PoolId};
use exitgap_core::series::Slot;
use exitgap_core::units::{GapLimit, SizeUsd};
use serde_json::{Map, Value, json};

use super::figures::period;
use super::parameters::{
    AFTER_SEQ, ALERT_IN_PATH, ALERT_KIND, ALERT_NAME, ALERT_PCT, ALERT_REASON, ALERT_SIZE,
    ALERT_USD, AT_PCT, BASE, CLEAR_FOR_SLOTS, CLEAR_PCT, CLEAR_USD, FOR_SLOTS, FROM_SEQ, LIMIT,
    NO_DATA_SLOTS, ON_MISSING, POOL, REFIRE_SLOTS, REMIND_SLOTS, WEBHOOK_URL,
};
use super::{Given, Kind, Parameter, Question, values};
use crate::parameters::shown;
use crate::{Guards, Problem, parse_pool};

/// The parameters of a rule's events over a period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertAsked {
    /// The pool.
    pub pool: PoolId,
    /// The token sold, as the caller named it; default: the pool's default base.
    pub base: Option<String>,
    /// The first slot; default: 30 days before the last.
    pub from: Option<Slot>,
    /// The last slot; default: the newest.
    pub to: Option<Slot>,
    /// The rule's fields that the caller set, as in the rule document.
    pub rule: Map<String, Value>,
    /// The requirements for the series.
    pub guards: Guards,
}

/// The maximum length of a webhook URL, in bytes.
pub const MAX_WEBHOOK_URL_BYTES: usize = 2_048;

/// A rule to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeepAsked {
    /// The rule.
    pub rule: AlertAsked,
    /// The URL that its events are sent to.
    pub webhook_url: Option<String>,
}

/// A stored rule, by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedAlert(pub Code);

/// The parameters of a stored rule's events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventsAsked {
    /// The rule.
    pub alert: NamedAlert,
    /// Only events after this one.
    pub after_seq: u32,
    /// The maximum number of events.
    pub limit: u32,
}

/// The parameters for sending events again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendAgainAsked {
    /// The rule.
    pub alert: NamedAlert,
    /// The first event to send.
    pub from_seq: u32,
}

impl Question for KeepAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let webhook_url = given.parse_optional(&WEBHOOK_URL, |text| {
            let plain = text.bytes().all(|c| c.is_ascii_graphic());
            if !plain || text.is_empty() || text.len() > MAX_WEBHOOK_URL_BYTES {
                let detail = format!("webhook_url: {:?} is not a valid URL", shown(text));
                return Err(values::refusal(&WEBHOOK_URL, &detail));
            }
            Ok(text.to_owned())
        })?;
        Ok(Self { rule: AlertAsked::from_parameters(given)?, webhook_url })
    }
}

impl Question for NamedAlert {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let no_name = |text: &str| {
            let detail = format!("alert: {:?} is not a valid rule name", shown(text));
            values::refusal(&ALERT_IN_PATH, &detail)
        };
        given
            .parse_required(&ALERT_IN_PATH, |text| text.parse().map_err(|_| no_name(text)))
            .map(Self)
    }
}

impl Question for EventsAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        Ok(Self {
            alert: NamedAlert::from_parameters(given)?,
            after_seq: given.parse_required(&AFTER_SEQ, |text| values::whole(&AFTER_SEQ, text))?,
            limit: given.parse_required(&LIMIT, |text| values::whole(&LIMIT, text))?,
        })
    }
}

impl Question for SendAgainAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        Ok(Self {
            alert: NamedAlert::from_parameters(given)?,
            from_seq: given.parse_required(&FROM_SEQ, |text| values::whole(&FROM_SEQ, text))?,
        })
    }
}

/// Parameters that the rule document contains as text, under the same name.
const TEXTS: [&Parameter; 9] = [
    &ALERT_NAME,
    &ALERT_KIND,
    &ALERT_SIZE,
    &ALERT_PCT,
    &CLEAR_PCT,
    &ALERT_USD,
    &CLEAR_USD,
    &AT_PCT,
    &ON_MISSING,
];

/// Parameters that are numbers of slots.
const SLOTS: [&Parameter; 5] =
    [&FOR_SLOTS, &CLEAR_FOR_SLOTS, &NO_DATA_SLOTS, &REFIRE_SLOTS, &REMIND_SLOTS];

impl Question for AlertAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let (from, to) = period(given)?;
        let mut rule = Map::new();
        for parameter in TEXTS {
            let text = |text: &str| check_value(parameter, text);
            let found = if parameter.is_required() {
                Some(given.parse_required(parameter, text)?)
            } else {
                given.parse_optional(parameter, text)?
            };
            if let Some(text) = found {
                rule.insert(parameter.name.to_owned(), json!(text));
            }
        }
        for parameter in SLOTS {
            let slots = given.parse_optional(parameter, |text| values::whole(parameter, text))?;
            if let Some(slots) = slots {
                rule.insert(parameter.name.to_owned(), json!(slots));
            }
        }
        let reasons = given.all_values(&ALERT_REASON).map(|text| check_value(&ALERT_REASON, text));
        let reasons = reasons.collect::<Result<Vec<String>, Problem>>()?;
        if !reasons.is_empty() {
            rule.insert("reasons".to_owned(), json!(reasons));
        }
        Ok(Self {
            pool: given.parse_required(&POOL, parse_pool)?,
            base: given.parse_optional(&BASE, values::token_name)?,
            from,
            to,
            rule,
            guards: Guards::from_parameters(given)?,
        })
    }
}

/// The value as written in a rule document, if it is valid for the parameter's kind.
fn check_value(parameter: &Parameter, text: &str) -> Result<String, Problem> {
    let wrong = |why: &dyn std::fmt::Display| {
        values::refusal(parameter, &format!("{}: {why}", parameter.name))
    };
    match parameter.kind {
        Kind::OneOf(words) => {
            let known = |word: &str| words.contains(&word).then(|| word.to_owned());
            return values::word(parameter, text, known);
        }
        Kind::Size => text.parse::<SizeUsd>().map(drop).map_err(|error| wrong(&error))?,
        Kind::Gap => text.parse::<GapLimit>().map(drop).map_err(|error| wrong(&error))?,
        _ => text.parse::<Code>().map(drop).map_err(|error| wrong(&error))?,
    }
    Ok(text.to_owned())
}
