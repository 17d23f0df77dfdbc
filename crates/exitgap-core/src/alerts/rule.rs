//! An alert rule: what it watches in a pool, from which slot on, and how often it may fire.

use sha2::{Digest as _, Sha256};

use crate::evidence::Base;
use crate::ids::{Code, DocumentHash, PoolId};
use crate::json::{VERSION, Wire as _, parse_json, to_canonical, wire_code, wire_struct};
use crate::series::Slot;
use crate::units::{GapLimit, Percent, SizeUsd, UsdMicros, parse_scaled};

/// The maximum size of a rule, in bytes.
pub const MAX_RULE_BYTES: usize = 4 << 10;

/// The longest run of slots that a rule can require.
const MOST_RUN: u32 = Slot::PER_DAY;

/// The longest interval, in slots, before a rule fires again or reminds.
const MOST_PAUSE: u32 = 7 * Slot::PER_DAY;

/// The most reasons that a rule can name.
const MOST_REASONS: usize = 16;

/// The maximum length of a URL, in characters.
const MOST_URL: usize = 200;

/// What a rule watches. Every threshold has a second value at which the alert clears.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AlertKind {
    /// The gap of a sale is above a percentage. A sale that cannot be filled counts as worse than any gap.
    GapAbove {
        /// The size sold.
        size: SizeUsd,
        /// The alert fires above this.
        pct: Percent,
        /// The alert clears at or below this.
        clear_pct: Percent,
    },
    /// The depth at a gap is below an amount.
    DepthBelow {
        /// The alert fires below this.
        usd: UsdMicros,
        /// The alert clears at or above this.
        clear_usd: UsdMicros,
        /// The gap.
        at: GapLimit,
    },
    /// The lowest depth at 2 % within seven days is below an amount.
    LowestDepthBelow {
        /// The alert fires below this.
        usd: UsdMicros,
        /// The alert clears at or above this.
        clear_usd: UsdMicros,
    },
    /// An oracle's answer is older than its heartbeat.
    OracleStale,
    /// The market of one of the tokens is closed.
    MarketClosed,
    /// The slot is missing.
    Missing {
        /// The missing reasons that count. Empty: any reason counts.
        reasons: Vec<Code>,
    },
}

/// How a slot without a value is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnMissing {
    /// It is ignored.
    Hold,
    /// It counts as a breach.
    Breach,
    /// It counts as clear.
    Clear,
}

impl OnMissing {
    const ALL: [Self; 3] = [Self::Hold, Self::Breach, Self::Clear];

    /// The code used in documents.
    pub fn code(self) -> &'static str {
        match self {
            Self::Hold => "hold",
            Self::Breach => "breach",
            Self::Clear => "clear",
        }
    }
}

wire_code!(OnMissing, OnMissing::ALL);

/// The numbers of consecutive slots that change an alert's status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlertTimes {
    /// Consecutive breaches after which the alert fires.
    pub for_slots: u32,
    /// Consecutive clear slots after which it clears.
    pub clear_for_slots: u32,
    /// Consecutive slots without a value after which it reports missing data; 0: never.
    pub no_data_slots: u32,
    /// Slots after it fired during which it does not fire again.
    pub refire_slots: u32,
    /// Slots after which it sends a reminder while it is firing; 0: never.
    pub remind_slots: u32,
}

impl Default for AlertTimes {
    fn default() -> Self {
        Self {
            for_slots: 2,
            clear_for_slots: 3,
            no_data_slots: 3,
            refire_slots: 12,
            remind_slots: 0,
        }
    }
}

/// A rule with everything that its events depend on except the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertRule {
    /// The alert's id.
    pub alert: Code,
    /// The pool.
    pub pool: PoolId,
    /// The token sold.
    pub base: Base,
    /// The watched condition.
    pub kind: AlertKind,
    /// The durations that apply.
    pub times: AlertTimes,
    /// How a slot without a value is counted.
    pub on_missing: OnMissing,
    /// The first slot that is evaluated.
    pub first_slot: Slot,
    /// The beginning of the URLs of evidence.
    pub web_url: String,
}

/// Why a rule is invalid, with the field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {why}")]
pub struct RuleError {
    /// The field; `rule` if the document as a whole is invalid.
    pub field: &'static str,
    /// The reason.
    pub why: String,
}

struct Document {
    v: u32,
    alert: Code,
    pool: PoolId,
    base: Base,
    kind: String,
    first_slot: Slot,
    web_url: String,
    size_usd: Option<String>,
    pct: Option<String>,
    clear_pct: Option<String>,
    usd: Option<String>,
    clear_usd: Option<String>,
    at_pct: Option<String>,
    reasons: Vec<Code>,
    for_slots: Option<u32>,
    clear_for_slots: Option<u32>,
    no_data_slots: Option<u32>,
    refire_slots: Option<u32>,
    remind_slots: Option<u32>,
    on_missing: Option<OnMissing>,
}

wire_struct!(Document {
    v, alert, pool, base, kind, first_slot, web_url;
    optional size_usd, pct, clear_pct, usd, clear_usd, at_pct, reasons, for_slots, clear_for_slots, no_data_slots,
        refire_slots, remind_slots, on_missing
});

impl AlertRule {
    /// Reads an untrusted rule from JSON that need not be canonical. Omitted fields have defaults: the alert fires
    /// after two breaches, clears after three slots, reports missing data after three slots, fires again after twelve
    /// slots at the earliest and does not remind. The value at which it clears is a tenth of the threshold away, on the
    /// safe side.
    ///
    /// ```
    /// # use exitgap_core::alerts::AlertRule;
    /// let rule = AlertRule::from_json(br#"{"v": 1, "alert": "mine", "pool": "anvil:0x00000000000000000000000000000000000000aa",
    ///   "base": "token0", "kind": "gap_above", "size_usd": "250000", "pct": "2", "first_slot": 5957856,
    ///   "web_url": "https://exits.example"}"#)?;
    /// assert!(String::from_utf8_lossy(&rule.to_canonical()).contains(r#""clear_pct":"1.8""#));
    /// # Ok::<(), exitgap_core::alerts::RuleError>(())
    /// ```
    pub fn from_json(bytes: &[u8]) -> Result<Self, RuleError> {
        if bytes.len() > MAX_RULE_BYTES {
            return Err(wrong("rule", &format!("at most {MAX_RULE_BYTES} bytes")));
        }
        let json = parse_json(bytes).map_err(|error| wrong("rule", &error))?;
        let document = Document::from_json(&json).map_err(|error| wrong("rule", &error))?;
        document.rule()
    }

    /// The canonical bytes, with all defaults filled in.
    pub fn to_canonical(&self) -> Vec<u8> {
        // The document contains only strings and small integers, which always have a canonical form.
        to_canonical(&Document::from_rule(self)).unwrap_or_default()
    }

    /// The hash of the canonical bytes.
    pub fn hash(&self) -> DocumentHash {
        DocumentHash(Sha256::digest(self.to_canonical()).into())
    }

    /// The threshold as text; for kinds without a threshold, the condition that fires.
    pub fn threshold(&self) -> String {
        match &self.kind {
            AlertKind::GapAbove { pct, .. } => pct.to_string(),
            AlertKind::DepthBelow { usd, .. } | AlertKind::LowestDepthBelow { usd, .. } => {
                usd.to_string()
            }
            AlertKind::OracleStale | AlertKind::MarketClosed => "true".to_owned(),
            AlertKind::Missing { .. } => "missing".to_owned(),
        }
    }
}

impl AlertKind {
    /// The code used in documents.
    pub fn code(&self) -> &'static str {
        match self {
            Self::GapAbove { .. } => "gap_above",
            Self::DepthBelow { .. } => "depth_below",
            Self::LowestDepthBelow { .. } => "lowest_depth_below",
            Self::OracleStale => "oracle_stale",
            Self::MarketClosed => "market_closed",
            Self::Missing { .. } => "missing",
        }
    }
}

impl Document {
    fn from_rule(rule: &AlertRule) -> Self {
        let AlertTimes { for_slots, clear_for_slots, no_data_slots, refire_slots, remind_slots } =
            rule.times;
        let mut of = Self {
            v: VERSION,
            alert: rule.alert,
            pool: rule.pool.clone(),
            base: rule.base,
            kind: rule.kind.code().to_owned(),
            first_slot: rule.first_slot,
            web_url: rule.web_url.clone(),
            size_usd: None,
            pct: None,
            clear_pct: None,
            usd: None,
            clear_usd: None,
            at_pct: None,
            reasons: Vec::new(),
            for_slots: Some(for_slots),
            clear_for_slots: Some(clear_for_slots),
            no_data_slots: Some(no_data_slots),
            refire_slots: Some(refire_slots),
            remind_slots: Some(remind_slots),
            on_missing: Some(rule.on_missing),
        };
        match &rule.kind {
            AlertKind::GapAbove { size, pct, clear_pct } => {
                of.size_usd = Some(size.to_string());
                (of.pct, of.clear_pct) = (Some(pct.to_string()), Some(clear_pct.to_string()));
            }
            AlertKind::DepthBelow { usd, clear_usd, at } => {
                (of.usd, of.clear_usd) = (Some(usd.to_string()), Some(clear_usd.to_string()));
                of.at_pct = Some(at.to_string());
            }
            AlertKind::LowestDepthBelow { usd, clear_usd } => {
                (of.usd, of.clear_usd) = (Some(usd.to_string()), Some(clear_usd.to_string()));
            }
            AlertKind::OracleStale | AlertKind::MarketClosed => {}
            AlertKind::Missing { reasons } => of.reasons.clone_from(reasons),
        }
        of
    }

    fn rule(self) -> Result<AlertRule, RuleError> {
        if self.v != VERSION {
            return Err(wrong("v", "this version reads only 1"));
        }
        let kind = self.kind()?;
        self.check_fields(&kind)?;
        let times = AlertTimes::default();
        let slots = |field, given: Option<u32>, default, least, most| {
            let slots = given.unwrap_or(default);
            if (least..=most).contains(&slots) {
                return Ok(slots);
            }
            Err(wrong(field, &format!("{slots} slots is outside the range {least} to {most}")))
        };
        let times = AlertTimes {
            for_slots: slots("for_slots", self.for_slots, times.for_slots, 1, MOST_RUN)?,
            clear_for_slots: slots(
                "clear_for_slots",
                self.clear_for_slots,
                times.clear_for_slots,
                1,
                MOST_RUN,
            )?,
            no_data_slots: slots(
                "no_data_slots",
                self.no_data_slots,
                times.no_data_slots,
                0,
                MOST_RUN,
            )?,
            refire_slots: slots(
                "refire_slots",
                self.refire_slots,
                times.refire_slots,
                0,
                MOST_PAUSE,
            )?,
            remind_slots: slots(
                "remind_slots",
                self.remind_slots,
                times.remind_slots,
                0,
                MOST_PAUSE,
            )?,
        };
        let url = &self.web_url;
        let plain = url.bytes().all(|c| c.is_ascii_graphic() && !b"\"\\<>?#".contains(&c));
        let schemed = ["https://", "http://"].iter().any(|scheme| url.starts_with(scheme));
        if !plain || !schemed || url.len() > MOST_URL || url.ends_with('/') {
            return Err(wrong(
                "web_url",
                "an address such as https://exits.example, without a slash at its end",
            ));
        }
        let Self { alert, pool, base, first_slot, web_url, on_missing, .. } = self;
        let on_missing = on_missing.unwrap_or(OnMissing::Hold);
        Ok(AlertRule { alert, pool, base, kind, times, on_missing, first_slot, web_url })
    }

    fn kind(&self) -> Result<AlertKind, RuleError> {
        match self.kind.as_str() {
            "gap_above" => {
                let size = require_text("size_usd", self.size_usd.as_ref())?;
                let size = size.parse().map_err(|error| wrong("size_usd", &format!("{error}")))?;
                let pct = percent("pct", require_text("pct", self.pct.as_ref())?)?;
                let band = Percent(pct.0 - pct.0.abs() / 10);
                let clear_pct = self.clear_pct.as_ref().map(|text| percent("clear_pct", text));
                let clear_pct = clear_pct.transpose()?.unwrap_or(band);
                if clear_pct > pct {
                    return Err(wrong(
                        "clear_pct",
                        "must be at most pct, or the alert would clear before it fires",
                    ));
                }
                Ok(AlertKind::GapAbove { size, pct, clear_pct })
            }
            "depth_below" => {
                let [usd, clear_usd] = self.depths()?;
                let at = self.at_pct.as_ref().map(|text| text.parse());
                let at = at.transpose().map_err(|error| wrong("at_pct", &format!("{error}")))?;
                Ok(AlertKind::DepthBelow { usd, clear_usd, at: at.unwrap_or(GapLimit::DEPTH) })
            }
            "lowest_depth_below" => {
                let [usd, clear_usd] = self.depths()?;
                Ok(AlertKind::LowestDepthBelow { usd, clear_usd })
            }
            "oracle_stale" => Ok(AlertKind::OracleStale),
            "market_closed" => Ok(AlertKind::MarketClosed),
            "missing" => {
                let mut reasons = self.reasons.clone();
                crate::stable_sort::sort(&mut reasons, Ord::cmp);
                reasons.dedup();
                if reasons.len() > MOST_REASONS {
                    return Err(wrong("reasons", &format!("at most {MOST_REASONS}")));
                }
                Ok(AlertKind::Missing { reasons })
            }
            other => {
                let found: String = other.chars().take(40).collect();
                Err(wrong(
                    "kind",
                    &format!(
                        "{found:?} is unknown; expected gap_above, depth_below, lowest_depth_below, oracle_stale, \
                         market_closed or missing"
                    ),
                ))
            }
        }
    }

    fn depths(&self) -> Result<[UsdMicros; 2], RuleError> {
        let usd = dollars("usd", require_text("usd", self.usd.as_ref())?)?;
        let band = UsdMicros(usd.0 + usd.0 / 10);
        let clear_usd = self.clear_usd.as_ref().map(|text| dollars("clear_usd", text));
        let clear_usd = clear_usd.transpose()?.unwrap_or(band);
        if clear_usd < usd {
            return Err(wrong(
                "clear_usd",
                "must be at least usd, or the alert would clear before it fires",
            ));
        }
        Ok([usd, clear_usd])
    }

    /// Refuses fields that the kind does not use.
    fn check_fields(&self, kind: &AlertKind) -> Result<(), RuleError> {
        let gap = matches!(kind, AlertKind::GapAbove { .. });
        let depth = matches!(kind, AlertKind::DepthBelow { .. });
        let usd = depth || matches!(kind, AlertKind::LowestDepthBelow { .. });
        let missing = matches!(kind, AlertKind::Missing { .. });
        for (field, given, has) in [
            ("size_usd", self.size_usd.is_some(), gap),
            ("pct", self.pct.is_some(), gap),
            ("clear_pct", self.clear_pct.is_some(), gap),
            ("usd", self.usd.is_some(), usd),
            ("clear_usd", self.clear_usd.is_some(), usd),
            ("at_pct", self.at_pct.is_some(), depth),
            ("reasons", !self.reasons.is_empty(), missing),
        ] {
            if given && !has {
                return Err(wrong(field, &format!("{} does not use this field", kind.code())));
            }
        }
        Ok(())
    }
}

fn require_text<'a>(field: &'static str, text: Option<&'a String>) -> Result<&'a str, RuleError> {
    text.map(String::as_str).ok_or_else(|| wrong(field, "it is missing"))
}

fn percent(field: &'static str, text: &str) -> Result<Percent, RuleError> {
    let read = Percent::parse(text).map_err(|error| wrong(field, &error.to_string()))?;
    if read.0.abs() >= Percent::BOUND {
        return Err(wrong(field, "must be between minus and plus one billion percent"));
    }
    Ok(read)
}

fn dollars(field: &'static str, text: &str) -> Result<UsdMicros, RuleError> {
    const MOST: u64 = 1_000_000_000_000_000;
    let read = parse_scaled(text, 6, false).map_err(|error| wrong(field, &error.to_string()))?;
    let micros = u64::try_from(read).ok().filter(|micros| *micros <= MOST);
    micros.map(UsdMicros).ok_or_else(|| wrong(field, "at most 1000000000"))
}

fn wrong(field: &'static str, why: &str) -> RuleError {
    RuleError { field, why: why.to_owned() }
}
