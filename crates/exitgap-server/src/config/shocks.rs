//! `[[shock]]`: recorded periods that have names.

use std::borrow::Cow;

use exitgap_api::operations::{DecayAsked, Given, Operation, Question};
use exitgap_chain::config::ChainConfig;
use exitgap_core::ids::{ChainSlug, PoolId};
use exitgap_core::series::Slot;
use serde::Deserialize;

use crate::ops::ShockOf;

/// Maximum number of names in a configuration: the first request for a period's numbers reads the whole period.
const MOST: usize = 16;

/// Maximum number of slots in a period: a week.
const MOST_SLOTS: u64 = 7 * Slot::PER_DAY as u64;

/// Maximum length of a shock's description.
const MOST_ABOUT: usize = 200;

/// One `[[shock]]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShockConfig {
    /// The name used by callers: 1 to 32 characters of a-z, 0-9 and -, starting with a letter. Unique.
    pub name: String,
    /// A description, 1 to 200 characters on one line.
    pub about: String,
    /// The pool in which it was observed.
    pub pool: PoolId,
    /// The token whose price fell: token0, token1, its symbol or address. Default: the pool's.
    pub base: Option<String>,
    /// The first slot, an RFC 3339 instant.
    pub from: String,
    /// The last slot, at most a week later.
    pub to: String,
    /// Minimum move of the mid price, percent. Default: 2; for pegged tokens 0.2 is more useful.
    pub move_pct: Option<String>,
    /// Number of slots within which the move must happen, 1 to 48. Default: 3.
    pub within_slots: Option<u32>,
    /// The gap at which depth is measured, percent. Default: 2.
    pub gap_pct: Option<String>,
}

/// Checks the names against the configured chains.
pub(super) fn check_shocks(
    tables: &[ShockConfig],
    chains: &[ChainConfig],
) -> Result<Vec<ShockOf>, (&'static str, String)> {
    if tables.len() > MOST {
        return Err((
            "name",
            format!("{} [[shock]] tables exceed the limit of {MOST}", tables.len()),
        ));
    }
    let mut known: Vec<ShockOf> = Vec::new();
    for table in tables {
        let name: String = table.name.chars().take(40).collect();
        let shock =
            table.check_shock(chains).map_err(|(key, what)| (key, format!("{name}: {what}")))?;
        if known.iter().any(|one| one.name == shock.name) {
            return Err(("name", format!("{name}: two shocks have this name; rename one")));
        }
        known.push(shock);
    }
    Ok(known)
}

impl ShockConfig {
    fn check_shock(&self, chains: &[ChainConfig]) -> Result<ShockOf, (&'static str, String)> {
        let Self { name, about, pool, base, from, to, move_pct, within_slots, gap_pct } = self;
        // Same syntax as a chain's slug.
        if name.parse::<ChainSlug>().is_err() {
            return Err(("name", "write 1 to 32 of a-z, 0-9 and -, a letter first".to_owned()));
        }
        let is_plain = !about.is_empty() && about.chars().all(|c| !c.is_control());
        if !is_plain || about.chars().count() > MOST_ABOUT {
            return Err(("about", format!("write 1 to {MOST_ABOUT} characters on one line")));
        }
        if !chains.iter().any(|one| one.slug == *pool.chain()) {
            return Err(("pool", format!("no [[chain]] has the slug {}", pool.chain())));
        }
        let (pool, within) = (pool.to_string(), within_slots.map(|slots| slots.to_string()));
        let given = [
            ("pool", Some(&pool)),
            ("base", base.as_ref()),
            ("from", Some(from)),
            ("to", Some(to)),
            ("move_pct", move_pct.as_ref()),
            ("within_slots", within.as_ref()),
            ("gap_pct", gap_pct.as_ref()),
        ];
        let given =
            given.into_iter().filter_map(|(key, value)| Some((key, Cow::from(value?.as_str()))));
        let decay = Given::from_arguments(Operation::Decay.row().parameters, given)
            .and_then(|given| DecayAsked::from_parameters(&given))
            .map_err(|problem| {
                let key = KEYS.into_iter().find(|key| problem.field.as_deref() == Some(*key));
                (key.unwrap_or("pool"), problem.detail)
            })?;
        // Both were given and parsed.
        let (first, last) = decay.from.zip(decay.to).unwrap_or((Slot::FIRST, Slot::FIRST));
        let slots = (u64::from(last.number()) + 1).saturating_sub(first.number().into());
        if !(1..=MOST_SLOTS).contains(&slots) {
            let what = format!(
                "{from} to {to} has {slots} slots; use a period of 1 to {MOST_SLOTS} slots (one week)"
            );
            return Err(("to", what));
        }
        let (name, about) = (name.clone(), about.clone());
        Ok(ShockOf { name, about, decay, from: first, to: last })
    }
}

/// The keys that are parsed like request parameters.
const KEYS: [&str; 7] = ["pool", "base", "from", "to", "move_pct", "within_slots", "gap_pct"];
