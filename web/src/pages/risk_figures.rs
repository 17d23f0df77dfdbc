//! The documents behind a risk report.

use exitgap_api::operations::parameters::{
    BONUS, CASCADE, FALL, FROM, PERIOD_FROM, REFERENCE, SERIES_SIZE, TO, VENUE,
};
use exitgap_api::operations::{Operation, Target};
use exitgap_api::{parse_pool, slot_at};
use exitgap_client::{Browser, Client, ClientError};
use exitgap_core::analytics::Reference;
use exitgap_core::series::Slot;

use super::exit_wait::standard;
use super::risk::RiskAsked;
use super::risk_alone;
use crate::chart::parse_number;
use crate::document::Document;
use crate::service::{listed_pools, name_of};
use crate::text;

/// The documents about one pool.
#[derive(Debug, Clone)]
pub struct PoolRisk {
    /// The pool.
    pub pool: String,
    /// Its name: untrusted text.
    pub name: String,
    /// The worst of the period.
    pub stress: Document,
    /// The same as a figure that anyone can recompute; `None` for a period that is too long.
    pub alone: Option<Document>,
    /// How its depth decreases after moves; `None` if that is not available for its kind of pool.
    pub decay: Option<Document>,
    /// Compares open and closed markets.
    pub hours: Document,
}

/// The whole report.
#[derive(Debug, Clone)]
pub struct Report {
    /// The request.
    pub asked: RiskAsked,
    /// The exposure of all pools together.
    pub exposure: Document,
    /// The documents about each pool.
    pub pools: Vec<PoolRisk>,
}

/// The request about all pools together, also used as the address of its figure file.
pub fn exposure_of(asked: &RiskAsked, from: Option<Slot>, to: Option<Slot>) -> Target {
    let target = Operation::Exposure.target();
    let target = asked.pools.iter().fold(target, |target, pool| target.with(&VENUE, pool));
    let target =
        target.with(&CASCADE, asked.size).with(&BONUS, &asked.bonus).with(&FALL, &asked.fall);
    let target = target.maybe(&PERIOD_FROM, from.as_ref()).maybe(&TO, to.as_ref());
    // The verdict is of the pools' own books. Slots in which the oracle led are counted separately.
    target.with(&REFERENCE, Reference::Mid.code())
}

/// Requests the document about all pools together, which is shown first.
pub async fn ask(client: &Client<Browser>, asked: &RiskAsked) -> Result<Document, ClientError> {
    client.get_document(&exposure_of(asked, asked.from, asked.to)).await
}

/// Requests the rest, one after the other: the service would reject concurrent requests for weeks of many pools.
pub async fn ask_each(
    client: &Client<Browser>,
    asked: &RiskAsked,
    exposure: Document,
) -> Result<Report, ClientError> {
    let [from, to] = ["from", "to"].map(|name| slot_at(name, &exposure.text_or_none(name)));
    let (from, to) = (from?, to?);
    let listed = listed_pools(client).await?;
    let mut pools = Vec::new();
    for pool in &asked.pools {
        let id = parse_pool(pool)?;
        let stress = Operation::Stress.target_of(&id).with(&SERIES_SIZE, asked.size);
        let stress = client.get_document(&stress.with(&FROM, from).with(&TO, to)).await?;
        let alone = known(client.get_document(&risk_alone::target(asked, pool, from, to)).await)?;
        // Its own four weeks, up to the end of this report, because a week has too few moves.
        let decay =
            known(client.get_document(&Operation::Decay.target_of(&id).with(&TO, to)).await)?;
        let hours = client
            .get_document(&Operation::Hours.target_of(&id).with(&SERIES_SIZE, standard(asked.size)))
            .await?;
        let named = listed.iter().find(|one| one.text("pool").as_ref() == Some(pool));
        let name = named.and_then(name_of).unwrap_or_else(|| text::short_pool(pool));
        pools.push(PoolRisk { pool: pool.clone(), name, stress, alone, decay, hours });
    }
    Ok(Report { asked: asked.clone(), exposure, pools })
}

/// An answer; `None` if the service has none for such a pool or period.
pub fn known(answer: Result<Document, ClientError>) -> Result<Option<Document>, ClientError> {
    match answer {
        Ok(told) => Ok(Some(told)),
        Err(ClientError::Refused(why)) if matches!(why.status, 400 | 404 | 422) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The period of a document.
fn period_of(told: &Document) -> Option<String> {
    let day = |name: &str| Some(told.text(name)?.get(..10)?.to_owned());
    Some(format!("{} to {}", day("from")?, day("to")?))
}

impl PoolRisk {
    /// Whether a token's market closes.
    pub fn closes(&self) -> bool {
        !self.hours.list("sessions").is_empty()
    }

    /// The median share of depth that was removed one slot after a drop, percent, and the median half-life in slots.
    fn withdrawn(&self) -> Option<(String, Option<String>)> {
        let down = self.decay.as_ref()?.part("down")?;
        let after = down.list("horizons").into_iter().find(|one| one.count("h_slots") == 1)?;
        Some((after.text("withdrawn_pct_q50")?, down.text("half_life_slots_q50")))
    }

    /// The period of the decay, which differs from the report's.
    fn decay_period(&self) -> Option<String> {
        period_of(self.decay.as_ref()?)
    }
}

impl Report {
    /// The same request, with the exact period of the answer.
    pub fn pinned_query(&self) -> RiskAsked {
        let slot = |name| slot_at(name, &self.exposure.text_or_none(name)).ok();
        RiskAsked { from: slot("from"), to: slot("to"), ..self.asked.clone() }
    }

    /// The name of one of its pools.
    pub fn name_of(&self, pool: &str) -> String {
        let found = self.pools.iter().find(|one| one.pool == pool);
        found.map_or_else(|| text::short_pool(pool), |one| one.name.clone())
    }

    /// The largest share that was removed after drops, with an explanation.
    pub fn withdrawn(&self) -> (String, String) {
        let found = self.pools.iter().filter_map(PoolRisk::withdrawn);
        // All have the same length, up to the same slot.
        let period = self.pools.iter().find_map(PoolRisk::decay_period);
        let period = period.map_or_else(String::new, |period| format!(", {period}"));
        let greatest = found.max_by(|(one, _), (other, _)| {
            parse_number(one).unwrap_or(0.0).total_cmp(&parse_number(other).unwrap_or(0.0))
        });
        match greatest {
            None => (
                "not known".to_owned(),
                format!("too few moves are recorded in these pools{period}"),
            ),
            Some((share, half)) => {
                let half = half.and_then(|slots| slots.parse::<u64>().ok());
                let half = half.map_or_else(
                    || "half not recovered within four hours".to_owned(),
                    |slots| format!("half recovered after {} min", slots * 5),
                );
                (
                    text::percent_read(&share),
                    format!(
                        "median one slot after price drops, in the pool that loses the most depth; {half}{period}"
                    ),
                )
            }
        }
    }

    /// The largest reopening gap, or the statement that no market closes.
    pub fn worst_reopening(&self) -> (String, String) {
        let mut closing = self.pools.iter().filter(|one| one.closes()).peekable();
        if closing.peek().is_none() {
            return (
                "never closes".to_owned(),
                "the markets of these pools' tokens are open around the clock".to_owned(),
            );
        }
        let worst = closing
            .flat_map(|one| one.hours.list("closed"))
            .filter_map(|kind| kind.text("reopening_gap_pct_worst"))
            .max_by(|one, other| {
                parse_number(one).unwrap_or(0.0).total_cmp(&parse_number(other).unwrap_or(0.0))
            });
        match worst {
            Some(gap) => (
                text::percent_read(&gap),
                "the worst gap between the last closed slot and the first fresh price".to_owned(),
            ),
            None => ("not known".to_owned(), "too few closures are recorded".to_owned()),
        }
    }
}
