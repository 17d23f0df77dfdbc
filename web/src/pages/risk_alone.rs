//! One pool alone over the period of a report, without shocks; from a figure that anyone can recompute, if there is
//! one.

use exitgap_api::operations::{Operation, Target};
use exitgap_core::series::Slot;
use leptos::prelude::*;

use super::figure_check::CheckedFigure;
use super::risk::RiskAsked;
use super::risk_figures::{PoolRisk, Report};
use super::risk_stress;
use crate::document::Document;
use crate::parts::render_collapsible;
use crate::service::client;

/// The results for the pool.
pub struct Alone {
    /// The median gap, percent, and the 95th percentile: `None` if the slot at that rank could not fill the size, or if
    /// the period is too long for single slots.
    pub gaps: [Option<String>; 2],
    /// Whether single slots are available.
    pub is_by_slot: bool,
    /// Number of slots evaluated.
    pub recorded: u64,
    /// Number of these slots that could not fill the size.
    pub refused: u64,
    /// Number of slots without data.
    pub missing: u64,
    /// The lowest depth at two percent, whole USD, and its slot.
    pub depth: Option<(String, String)>,
    /// The same from the pool's own price, if single slots are available.
    pub book: Option<(String, String)>,
    /// The URL of the figure file, if there is one.
    pub figure: Option<String>,
}

impl Alone {
    /// The results for a pool of a report.
    pub fn from_pool(pool: &PoolRisk) -> Self {
        let gaps = |of: &Document| ["gap_q50_pct", "gap_q95_pct"].map(|name| of.text(name));
        let Some(alone) = &pool.alone else {
            let detail = pool.stress.part("detail");
            let depth = pool.stress.part("lowest_depth");
            return Self {
                gaps: detail.as_ref().map(gaps).unwrap_or_default(),
                is_by_slot: detail.is_some(),
                recorded: pool.stress.count("slots_recorded"),
                refused: pool.stress.count("slots_refused"),
                missing: pool.stress.count("slots_missing") + pool.stress.count("slots_retracted"),
                depth: depth.and_then(|at| at.text("depth_usd").zip(at.text("time"))),
                book: None,
                figure: None,
            };
        };
        Self {
            gaps: gaps(alone),
            is_by_slot: true,
            recorded: alone.count("have"),
            refused: alone.count("slots_unfillable"),
            missing: alone.count("slots_missing"),
            depth: alone.text("lowest_depth_usd").zip(alone.text("lowest_depth_time")),
            book: alone.text("lowest_book_usd").zip(alone.text("lowest_book_time")),
            figure: alone.text("figure_url"),
        }
    }
}

/// The request about one pool: without removed liquidity or a price drop.
pub fn target(asked: &RiskAsked, pool: &str, from: Slot, to: Slot) -> Target {
    let as_it_was = || "0".to_owned();
    risk_stress::target(&RiskAsked {
        pools: vec![pool.to_owned()],
        fall: as_it_was(),
        haircut: as_it_was(),
        after_move: String::new(),
        from: Some(from),
        to: Some(to),
        ..asked.clone()
    })
}

/// Recomputes each pool's numbers from the files that their answers name.
pub fn render_figure_checks(report: &Report) -> Option<impl IntoView + use<>> {
    let one = |(place, pool): (usize, &PoolRisk)| {
        let (service, url) = (client(), StoredValue::new(Alone::from_pool(pool).figure?));
        let fetch = move || {
            let (client, url) = (service.clone(), url.get_value());
            async move { client.figure(Operation::VenueStressFile, &url).await }
        };
        let at = format!("check-alone-{place}");
        Some(view! { <h3>{pool.name.clone()}</h3><CheckedFigure at=at fetch=fetch/> })
    };
    let all: Vec<_> = report.pools.iter().enumerate().filter_map(one).collect();
    (!all.is_empty()).then(|| {
        render_collapsible("check-alone", "Recompute these in this browser", false, all.into_any())
    })
}
