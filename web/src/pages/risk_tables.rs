//! A risk report's tables, each number with its evidence.

use exitgap_client::EvidenceOf;
use leptos::prelude::*;

use super::risk_alone::{Alone, render_figure_checks};
use super::risk_figures::{PoolRisk, Report};
use super::worst_slot::WorstSlot;
use crate::parts::{CollapsibleSection, Row, Table, number, words};
use crate::paths::Page;
use crate::text;

/// Number of worst slots listed, for all pools together.
const LISTED: usize = 10;

/// A table of the pools.
pub fn totals(report: &Report) -> impl IntoView + use<> {
    let rows = report.pools.iter().map(total).collect();
    let columns = [
        "Median gap",
        "95th percentile gap",
        "Worst slot",
        "Slots that could not fill the size",
        "Lowest depth at 2% from the oracle price",
        "Lowest depth at 2% from the pool's own price",
        "Missing slots",
    ];
    let size = text::usd_exact(&report.asked.size.to_string());
    // For longer periods the service provides only sums.
    let too_long = report.pools.iter().any(|one| one.stress.part("detail").is_none());
    let too_long = if too_long { "; single slots are available for up to 31 days" } else { "" };
    let caption = format!("Each pool alone, selling {size}{too_long}");
    view! {
        <Table caption=caption first="Pool" columns=columns.map(number).into() rows=rows/>
        {render_figure_checks(report)}
    }
}

fn total(one: &PoolRisk) -> Row {
    let alone = Alone::from_pool(one);
    let unknown = if alone.is_by_slot { "cannot be filled" } else { "–" };
    let gap = |gap: &Option<String>| {
        gap.as_ref().map_or_else(|| unknown.to_owned(), |gap| text::percent_read(gap))
    };
    let worst = WorstSlot::from_stress(&one.stress).into_iter().next();
    let none = if alone.is_by_slot { "none" } else { "–" };
    let worst = worst.map_or_else(|| none.into_any(), WorstSlot::shown);
    let widest = one.stress.part("worst_gap").and_then(|worst| worst.text("exit_gap_pct"));
    let depth = alone.depth.map_or_else(
        || "none".into_any(),
        |(usd, time)| view! { {text::usd(&usd)}<small>{text::instant(&time)}</small> }.into_any(),
    );
    let book = alone.book.map_or_else(
        || "–".into_any(),
        |(usd, time)| view! { {text::usd(&usd)}<small>{text::instant(&time)}</small> }.into_any(),
    );
    let [q50, q95] = alone.gaps.each_ref().map(gap);
    let cells = vec![
        q50.into_any(),
        q95.into_any(),
        worst,
        refusals(alone.refused, alone.recorded, widest),
        depth,
        book,
        alone.missing.into_any(),
    ];
    let href = Page::Pool(one.pool.clone()).href();
    let pool = text::short_pool(&one.pool);
    (view! { <a href=href>{one.name.clone()}</a><small>{pool}</small> }.into_any(), cells)
}

/// In how many slots the size could not be filled, and how large the gap was in the others.
fn refusals(refused: u64, recorded: u64, widest: Option<String>) -> AnyView {
    if refused == 0 {
        return format!("none of {recorded}").into_any();
    }
    // Tenths of a percent, rounded up: one slot among thousands is not zero.
    let tenths = (refused * 1_000).div_ceil(recorded.max(1));
    let share = format!("{}.{}%", tenths / 10, tenths % 10);
    let others = widest.map(|gap| {
        view! { <small>{format!("{} in the worst of the others", text::percent_read(&gap))}</small> }
    });
    view! { {format!("{refused} of {recorded}, {share}")}{others} }.into_any()
}

/// The worst slots of all pools, worst first: first the worst of each pool, then any others.
fn worst(report: &Report) -> Vec<(&PoolRisk, WorstSlot)> {
    let by_severity = |(_, one): &(&PoolRisk, WorstSlot), (_, other): &(&PoolRisk, WorstSlot)| {
        let (one, other) = (one.severity(), other.severity());
        other.0.total_cmp(&one.0).then(other.1.total_cmp(&one.1))
    };
    let (mut listed, mut others) = (Vec::new(), Vec::new());
    for one in &report.pools {
        let mut slots = WorstSlot::from_stress(&one.stress).into_iter();
        listed.extend(slots.next().map(|slot| (one, slot)));
        others.extend(slots.map(|slot| (one, slot)));
    }
    others.sort_by(by_severity);
    others.truncate(LISTED.saturating_sub(listed.len()));
    listed.extend(others);
    listed.sort_by(by_severity);
    listed
}

/// The evidence of the worst slots.
pub fn worst_proofs(report: &Report) -> Vec<EvidenceOf> {
    let href = |(_, one): &(&PoolRisk, WorstSlot)| EvidenceOf::from_url(one.href.as_deref()?);
    worst(report).iter().filter_map(href).collect()
}

/// A table of the worst slots.
pub fn slots(report: &Report) -> impl IntoView + use<> {
    let row = |(pool, one): (&PoolRisk, WorstSlot)| -> Row {
        let time = text::instant(&one.time);
        (time.into_any(), vec![pool.name.clone().into_any(), one.shown()])
    };
    let rows = worst(report).into_iter().map(row).collect();
    let listed = view! {
        <p class="quiet">
            "The worst slot of each pool, then the next worst of all pools. A sale that cannot be filled ranks worse than any gap, \
             and the less of it could be filled, the worse. Each gap opens its evidence: the recorded state, recomputed in your browser."
        </p>
        <Table first="Slot" columns=vec![words("Pool"), number("Gap")] rows=rows/>
    };
    let listed = listed.into_any();
    view! {
        <CollapsibleSection id="worst" title="Worst slots">{listed}</CollapsibleSection>
    }
}

/// One CSV line per number, with its evidence.
pub fn csv(report: &Report) -> String {
    let figure = report.exposure.text_or_none("figure_url");
    let origin = window().location().origin().unwrap_or_default();
    let mut out = String::from("of,figure,value,time,evidence_url,figure_url\n");
    let mut line = |of: &str, name: &str, value: &str, time: &str, evidence: &str, figure: &str| {
        out.push_str(&[of, name, value, time, evidence, figure].join(","));
        out.push('\n');
    };
    let causes = report.exposure.part("causes");
    for name in ["oracle_led_slots", "oracle_led_longest_run_slots", "thin_book_slots"] {
        if let Some(causes) = &causes {
            line("all", name, &causes.text_or_none(name), "", "", &figure);
        }
    }
    for (name, time) in [
        ("band", ""),
        ("reference", ""),
        ("coverage", ""),
        ("coverage_break_even", "lowest_break_even_time"),
        ("shortfall_usd", "worst_time"),
        ("stranded_usd", "lowest_break_even_time"),
        ("worst_gap_pct", "worst_time"),
    ] {
        let time = report.exposure.text_or_none(time);
        line("all", name, &report.exposure.text_or_none(name), &time, "", &figure);
    }
    for one in &report.pools {
        let alone = Alone::from_pool(one);
        let (figure, [q50, q95]) = (alone.figure.unwrap_or_default(), alone.gaps);
        for (name, gap) in [("gap_q50_pct", q50), ("gap_q95_pct", q95)] {
            line(&one.pool, name, &gap.unwrap_or_default(), "", "", &figure);
        }
        for (name, slots) in [
            ("slots_recorded", alone.recorded),
            ("slots_refused", alone.refused),
            ("slots_missing", alone.missing),
        ] {
            line(&one.pool, name, &slots.to_string(), "", "", &figure);
        }
        if let Some((usd, time)) = alone.depth {
            line(&one.pool, "lowest_depth_usd", &usd, &time, "", &figure);
        }
        if let Some((usd, time)) = alone.book {
            line(&one.pool, "lowest_book_usd", &usd, &time, "", &figure);
        }
        for kind in one.hours.list("closed") {
            let gap = kind.text_or_none("reopening_gap_pct_worst");
            let figure = one.hours.text_or_none("figure_url");
            line(&one.pool, "reopening_gap_pct_worst", &gap, "", "", &figure);
        }
        if let Some(decay) = &one.decay {
            let half = decay.part("down").map(|down| down.text_or_none("half_life_slots_q50"));
            line(
                &one.pool,
                "half_life_slots_q50",
                &half.unwrap_or_default(),
                "",
                "",
                &decay.text_or_none("figure_url"),
            );
        }
    }
    for (pool, one) in worst(report) {
        let proof = one.href.map(|href| format!("{origin}{href}")).unwrap_or_default();
        let gap = one.gap.unwrap_or_else(|| "cannot be filled".to_owned());
        line(&pool.pool, "worst_slot_gap_pct", &gap, &one.time, &proof, "");
    }
    out
}
