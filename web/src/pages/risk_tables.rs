//! A risk report's tables, each number with what proves it.

use exitgap_client::EvidenceOf;
use leptos::prelude::*;

use super::risk_figures::{PoolRisk, Report};
use crate::chart::parsed;
use crate::document::Document;
use crate::parts::{Row, Table, linked, number, words};
use crate::paths::{Page, evidence_href};
use crate::text;

/// Worst slots that are listed, of all pools together.
const LISTED: usize = 10;

/// Each pool.
pub fn totals(report: &Report) -> impl IntoView + use<> {
    let rows = report.pools.iter().map(total).collect();
    let columns = [
        "Median gap",
        "95 of 100 slots within",
        "Worst gap",
        "Bad slots",
        "Lowest depth at 2 %",
        "Missing slots",
    ];
    let caption =
        format!("Each pool alone, selling {}", text::usd_exact(&report.asked.size.to_string()));
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
    let worst = one
        .stress
        .part("worst_gap")
        .map_or_else(|| "none".to_owned(), |worst| percent(&worst, "exit_gap_pct"));
    let worst = linked(worst, one.stress.text("evidence_url").as_deref().and_then(evidence_href));
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
        format!("{refused} of {recorded}").into_any(),
        depth,
        missing.into_any(),
    ];
    let href = Page::Pool(one.pool.clone()).href();
    let pool = text::short_pool(&one.pool);
    (view! { <a href=href>{one.name.clone()}</a><small>{pool}</small> }.into_any(), cells)
}

/// A slot of a pool, and its gap.
struct Worst {
    pool: String,
    name: String,
    time: String,
    gap: Option<String>,
    href: Option<String>,
}

/// The worst slots of all pools, the worst first: one that cannot fill the size is worse than any number.
fn worst(report: &Report) -> Vec<Worst> {
    let of_pool = |one: &PoolRisk| {
        let like = one.stress.text("evidence_url").as_deref().and_then(EvidenceOf::from_url);
        let slots =
            one.stress.part("detail").map(|detail| detail.list("worst_slots")).unwrap_or_default();
        let slot = |slot: &Document| {
            let own = slot.text("evidence_url").as_deref().and_then(evidence_href);
            // What is refused is proven at the same address as what is filled.
            let alike = || {
                let number = exitgap_core::series::Slot::new(slot.count("slot")).ok()?;
                Some(Page::Evidence(EvidenceOf { slot: number, ..like.clone()? }).href())
            };
            Worst {
                pool: one.pool.clone(),
                name: one.name.clone(),
                time: slot.text_or_none("time"),
                gap: slot.text("exit_gap_pct"),
                href: own.or_else(alike),
            }
        };
        slots.iter().map(slot).collect::<Vec<_>>()
    };
    let mut all: Vec<Worst> = report.pools.iter().flat_map(of_pool).collect();
    let cost =
        |one: &Worst| one.gap.as_deref().map_or(f64::INFINITY, |gap| parsed(gap).unwrap_or(0.0));
    all.sort_by(|one, other| cost(other).total_cmp(&cost(one)));
    all.truncate(LISTED);
    all
}

/// The evidence of the worst slots.
pub fn worst_proofs(report: &Report) -> Vec<EvidenceOf> {
    let href = |one: &Worst| one.href.as_deref().and_then(EvidenceOf::from_url);
    worst(report).iter().filter_map(href).collect()
}

/// The worst slots.
pub fn slots(report: &Report) -> impl IntoView + use<> {
    let row = |one: Worst| -> Row {
        let gap =
            one.gap.map_or_else(|| "cannot be filled".to_owned(), |gap| text::percent_read(&gap));
        let cells = vec![one.name.into_any(), linked(gap, one.href)];
        (text::instant(&one.time).into_any(), cells)
    };
    let rows = worst(report).into_iter().map(row).collect();
    view! {
        <section>
            <h2>"The worst slots"</h2>
            <p class="quiet">"Each gap opens its evidence: the recorded state, recomputed in your browser."</p>
            <Table first="Slot" columns=vec![words("Pool"), number("Gap")] rows=rows/>
        </section>
    }
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
    for one in worst(report) {
        let proof = one.href.map(|href| format!("{origin}{href}")).unwrap_or_default();
        let gap = one.gap.unwrap_or_else(|| "cannot be filled".to_owned());
        line(&one.pool, "worst_slot_gap_pct", &gap, &one.time, &proof, "");
    }
    out
}
