//! A slot's value, judged by a rule.

use super::rule::{AlertKind, AlertRule};
use crate::evidence::{Head, HeadEntry};
use crate::exit::{Exit, METHOD_VERSION};
use crate::json::wire_code;
use crate::pools::Direction;
use crate::snapshot::Snapshot;
use crate::units::{GapLimit, UsdMicros};

/// How a rule classifies a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sample {
    /// Beyond the threshold: a breach.
    Breach,
    /// Between the threshold and the value at which the alert clears.
    Between,
    /// At or beyond the value at which the alert clears.
    Clear,
    /// The slot has no value.
    Nothing,
}

impl Sample {
    const ALL: [Self; 4] = [Self::Breach, Self::Between, Self::Clear, Self::Nothing];

    /// The code used in documents.
    pub fn code(self) -> &'static str {
        match self {
            Self::Breach => "breach",
            Self::Between => "between",
            Self::Clear => "clear",
            Self::Nothing => "nothing",
        }
    }

    fn from_flags(breach: bool, clear: bool) -> Self {
        match (breach, clear) {
            (true, _) => Self::Breach,
            (false, true) => Self::Clear,
            (false, false) => Self::Between,
        }
    }
}

wire_code!(Sample, Sample::ALL);

/// A slot's value as text: a percentage, dollars, `true` or `false`, or the reason why there is no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertReading {
    /// How the rule classifies it.
    pub sample: Sample,
    /// The value.
    pub value: String,
}

impl AlertReading {
    /// Reads the value that a rule watches from a slot's head and, if the head names one, its snapshot.
    pub fn from_head(rule: &AlertRule, head: &Head, snapshot: Option<&Snapshot>) -> Self {
        let told = |sample, value: &str| Self { sample, value: value.to_owned() };
        let missing = match &head.entry {
            HeadEntry::Recorded { .. } => None,
            HeadEntry::Missing(reason) => Some(reason.code()),
            HeadEntry::Retired => Some("retired"),
        };
        if let AlertKind::Missing { reasons } = &rule.kind {
            let Some(missing) = missing else { return told(Sample::Clear, "recorded") };
            let meant = reasons.is_empty() || reasons.iter().any(|one| one.as_str() == missing);
            return told(if meant { Sample::Breach } else { Sample::Between }, missing);
        }
        if let Some(missing) = missing {
            return told(Sample::Nothing, missing);
        }
        let Some(snapshot) = snapshot else { return told(Sample::Nothing, "unknown_snapshot") };
        let observation = snapshot.observation();
        let direction = Direction::from(rule.base);
        let flag = |is: bool| told(Sample::from_flags(is, !is), if is { "true" } else { "false" });
        match &rule.kind {
            AlertKind::OracleStale => flag(observation.oracle_stale()),
            AlertKind::MarketClosed => flag(!observation.session().market_open),
            AlertKind::GapAbove { size, pct, clear_pct } => {
                match Exit::estimate_once(observation, direction, *size) {
                    Ok(estimate) => told(
                        Sample::from_flags(estimate.gap > *pct, estimate.gap <= *clear_pct),
                        &estimate.gap.to_string(),
                    ),
                    // A sale that cannot be filled is worse than any gap.
                    Err(refusal) => told(Sample::Breach, refusal.code()),
                }
            }
            AlertKind::DepthBelow { usd, clear_usd, at } => {
                let depth = match &head.entry {
                    HeadEntry::Recorded { depth_usd, .. }
                        if *at == GapLimit::DEPTH && head.method_version == METHOD_VERSION =>
                    {
                        depth_usd[direction.base_index()]
                    }
                    _ => Exit::from_pool(observation, direction).depth_usd(*at).ok(),
                };
                of_depth(depth, *usd, *clear_usd)
            }
            AlertKind::LowestDepthBelow { usd, clear_usd } => {
                of_depth(head.lowest_depth_7d_usd[direction.base_index()], *usd, *clear_usd)
            }
            AlertKind::Missing { .. } => told(Sample::Clear, "recorded"),
        }
    }
}

/// Compares whole dollars with a threshold. A head without the depth gives no value.
fn of_depth(depth: Option<u64>, usd: UsdMicros, clear_usd: UsdMicros) -> AlertReading {
    let Some(depth) = depth else {
        return AlertReading { sample: Sample::Nothing, value: "depth_not_told".to_owned() };
    };
    let micros = UsdMicros(depth.saturating_mul(1_000_000));
    let sample = Sample::from_flags(micros < usd, micros >= clear_usd);
    AlertReading { sample, value: depth.to_string() }
}
