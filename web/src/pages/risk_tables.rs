//! A risk report's tables, each number with what proves it.

use exitgap_client::EvidenceOf;
use leptos::prelude::*;

use super::risk_figures::{PoolRisk, Report};
use super::worst_slot::WorstSlot;
use crate::document::Document;
use crate::parts::{Row, Table, number, words};
use crate::paths::Page;
use crate::text;

/// Worst slots that are listed, of all pools together.
const LISTED: usize = 10;

/// As wide as a phone's page is at most: what the style sheet makes cards of.
const PHONE_PX: f64 = 640.0;

/// Each pool.
pub fn totals(report: &Report) -> impl IntoView + use<> {
    let rows = report.pools.iter().map(total).collect();
    let columns = [
        "Median gap",
        "95 of 100 slots within",
        "Worst slot",
        "Slots that could not fill it",
        "Lowest depth at 2 %",
        "Missing slots",
    ];
    let size = text::usd_exact(&report.asked.size.to_string());
    // Of longer periods the service tells sums alone.
    let too_long = report.pools.iter().any(|one| one.stress.part("detail").is_none());
    let too_long = if too_long { "; single slots are told of up to 31 days" } else { "" };
    let caption = format!("Each pool alone, selling {size}{too_long}");
    view! { <Table caption=caption first="Pool" columns=columns.map(number).into() rows=rows/> }
}

fn total(one: &PoolRisk) -> Row {
    let percent = |part: &Document, name: &str| {
        part.text(name)
            .map_or_else(|| "cannot be filled".to_owned(), |gap| text::percent_read(&gap))
    };
    let detail = one.stress.part("detail");
    let spread =
        |name: &str| detail.as_ref().map_or_else(|| "–".to_owned(), |detail| percent(detail, name));
    let worst = WorstSlot::of(&one.stress).into_iter().next();
    let none = if detail.is_some() { "none" } else { "–" };
    let worst = worst.map_or_else(|| none.into_any(), WorstSlot::shown);
    let widest = one.stress.part("worst_gap").and_then(|worst| worst.text("exit_gap_pct"));
    let (refused, recorded) =
        (one.stress.count("slots_refused"), one.stress.count("slots_recorded"));
    let depth = one.stress.part("lowest_depth");
    let depth = depth.map_or_else(
        || "none".into_any(),
        |depth| {
            let when = text::instant(&depth.text_or_none("time"));
            view! { {text::usd(&depth.text_or_none("depth_usd"))}<small>{when}</small> }.into_any()
        },
    );
    let missing = one.stress.count("slots_missing") + one.stress.count("slots_retracted");
    let cells = vec![
        spread("gap_q50_pct").into_any(),
        spread("gap_q95_pct").into_any(),
        worst,
        refusals(refused, recorded, widest),
        depth,
        missing.into_any(),
    ];
    let href = Page::Pool(one.pool.clone()).href();
    let pool = text::short_pool(&one.pool);
    (view! { <a href=href>{one.name.clone()}</a><small>{pool}</small> }.into_any(), cells)
}

/// In how many slots the size could not be filled, and how wide the gap was in the others.
fn refusals(refused: u64, recorded: u64, widest: Option<String>) -> AnyView {
    if refused == 0 {
        return format!("none of {recorded}").into_any();
    }
    // Tenths of a percent, up: one slot of thousands is not none.
    let tenths = (refused * 1_000).div_ceil(recorded.max(1));
    let share = format!("{}.{} %", tenths / 10, tenths % 10);
    let others = widest.map(|gap| {
        view! { <small>{format!("{} at the worst of the others", text::percent_read(&gap))}</small> }
    });
    view! { {format!("{refused} of {recorded}, {share}")}{others} }.into_any()
}

/// The worst slots of all pools, the worst first: the worst of each pool, and then whichever.
fn worst(report: &Report) -> Vec<(&PoolRisk, WorstSlot)> {
    let by_severity = |(_, one): &(&PoolRisk, WorstSlot), (_, other): &(&PoolRisk, WorstSlot)| {
        let (one, other) = (one.severity(), other.severity());
        other.0.total_cmp(&one.0).then(other.1.total_cmp(&one.1))
    };
    let (mut listed, mut others) = (Vec::new(), Vec::new());
    for one in &report.pools {
        let mut slots = WorstSlot::of(&one.stress).into_iter();
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

/// The worst slots.
pub fn slots(report: &Report) -> impl IntoView + use<> {
    let row = |(pool, one): (&PoolRisk, WorstSlot)| -> Row {
        let time = text::instant(&one.time);
        (time.into_any(), vec![pool.name.clone().into_any(), one.shown()])
    };
    let rows = worst(report).into_iter().map(row).collect();
    let listed = view! {
        <p class="quiet">
            "The worst of each pool, and the next worst of all: what cannot be filled is worse than any gap, \
             and the less of it was filled the worse. Each opens its evidence: the recorded state, recomputed in your browser."
        </p>
        <Table first="Slot" columns=vec![words("Pool"), number("Gap")] rows=rows/>
    };
    let listed = listed.into_any();
    view! {
        <section>
            <h2>"The worst slots"</h2>
            {folded("worst", "Each with its evidence", listed)}
        </section>
    }
}

/// What is open where it fits, and closed on a phone: ten cards are many screens of it.
pub fn folded(id: &'static str, summary: &'static str, shown: AnyView) -> impl IntoView {
    let width = window().inner_width().ok().and_then(|width| width.as_f64());
    let wide = width.is_none_or(|width| width > PHONE_PX);
    view! { <details class="folded" id=id prop:open=wide><summary>{summary}</summary>{shown}</details> }
}

/// A line for each number, with what proves it.
pub fn csv(report: &Report) -> String {
    let figure = report.exposure.text_or_none("figure_url");
    let origin = window().location().origin().unwrap_or_default();
    let mut out = String::from("of,figure,value,time,evidence_url,figure_url\n");
    let mut line = |of: &str, name: &str, value: &str, time: &str, evidence: &str, figure: &str| {
        out.push_str(&[of, name, value, time, evidence, figure].join(","));
        out.push('\n');
    };
    for (name, time) in [
        ("band", ""),
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
        let detail = one.stress.part("detail");
        for name in ["gap_q50_pct", "gap_q95_pct"] {
            let value = detail.as_ref().and_then(|detail| detail.text(name)).unwrap_or_default();
            line(&one.pool, name, &value, "", "", "");
        }
        for name in ["slots_recorded", "slots_refused", "slots_missing", "slots_retracted"] {
            line(&one.pool, name, &one.stress.text_or_none(name), "", "", "");
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
