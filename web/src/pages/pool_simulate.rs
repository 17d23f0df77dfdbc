//! Simulations: the largest size within a gap, and one order split into several.

use exitgap_api::{AtOnce, Problem, SimulationResult, parse_gap_limit, parse_order_plan};
use exitgap_client::FetchedSnapshot;
use leptos::prelude::*;

use super::pool::{base_name, evidence_of};
use crate::parts::size_asked;
use crate::parts::{CollapsibleSection, Table, exact, number};
use crate::text;

/// The section.
#[component]
pub fn Simulate(
    /// The pool's snapshot.
    recorded: StoredValue<FetchedSnapshot>,
    /// The token that is sold.
    base: Memo<usize>,
    /// The size in the page's box.
    size: Memo<String>,
) -> impl IntoView {
    let (gap, set_gap) = signal("1".to_owned());
    let (orders, set_orders) = signal("4".to_owned());
    let (recovery, set_recovery) = signal("50".to_owned());
    let largest = move || {
        let limit = parse_gap_limit(gap.read().trim())?;
        let answer = recorded.read_value().max_size_for(limit, Some(base_name(base.get())))?;
        Ok::<_, Problem>(answer.figures.depth)
    };
    let plan = Memo::new(move |_| {
        // A text that is not a number is as invalid as zero orders.
        let orders = orders.read().trim().parse().unwrap_or(0);
        let size = size_asked(&size.read())?.to_string();
        let plan = parse_order_plan(&size, orders, recovery.read().trim(), 0)?;
        recorded.read_value().simulate_orders(plan, Some(base_name(base.get())))
    });
    view! {
        <CollapsibleSection id="what-if" title="Simulation">
            <form class="controls" on:submit=|event| event.prevent_default()>
                <label>"Largest accepted gap (%)"
                    <input type="text" inputmode="decimal" autocomplete="off" prop:value=move || gap.get()
                        on:input=move |event| set_gap.set(event_target_value(&event))/>
                </label>
            </form>
            <p aria-live="polite">{move || match largest() {
                Ok(Some(depth)) => {
                    let size = depth.max_size_usd.as_str();
                    let href = evidence_of(&recorded.read_value(), base.get(), size);
                    let limited = depth.limited_by.replace('_', " ");
                    view! {
                        {format!("The largest size within {}% is {} (limited by {limited}). ", gap.get(), text::usd_exact(size))}
                        {href.map(|href| view! { <a href=href>"Open its evidence"</a> })}
                    }
                    .into_any()
                }
                Ok(None) => "No size stays within this gap.".into_any(),
                Err(problem) => text::grouped_within(&problem.detail).into_any(),
            }}</p>
            <form class="controls" on:submit=|event| event.prevent_default()>
                <label>"Orders" <input type="number" min="1" max="1000" prop:value=move || orders.get()
                    on:input=move |event| set_orders.set(event_target_value(&event))/></label>
                <label>"Recovery between orders (%)" <input type="text" inputmode="decimal" autocomplete="off"
                    prop:value=move || recovery.get()
                    on:input=move |event| set_recovery.set(event_target_value(&event))/></label>
            </form>
            <p class="quiet">
                "This is your assumption, not a forecast. Between two orders, the pool's √price moves back by this \
                 share of its move. Liquidity and oracle price stay unchanged."
            </p>
            <div aria-live="polite">{move || match plan.get() {
                Ok(result) => view! { <SimulationView result=result/> }.into_any(),
                Err(problem) => view! { <p class="refused">{text::grouped_within(&problem.detail)}</p> }.into_any(),
            }}</div>
        </CollapsibleSection>
    }
}

fn orders(count: &str, which: &str) -> String {
    format!("{count} {which}order{}", if count == "1" { "" } else { "s" })
}

#[component]
fn SimulationView(result: SimulationResult) -> impl IntoView {
    const SHOWN: usize = 20;
    let simulation = result.figures;
    let at_once = match &simulation.at_once {
        AtOnce::Exit(exit) => {
            format!("{} if sold at once", text::percent(exit.exit_gap_pct.as_str()))
        }
        AtOnce::Problem(problem) => format!("if sold at once: {}", problem.detail),
    };
    let words = format!(
        "{} of {} in {}: a gap of {}; {at_once}.",
        text::usd_exact(simulation.size_usd.as_str()),
        result.context.base.symbol,
        orders(&simulation.orders.to_string(), ""),
        text::percent(simulation.exit_gap_pct.as_str()),
    );
    let more = simulation.fills.len().saturating_sub(SHOWN);
    let rows: Vec<_> = simulation
        .fills
        .into_iter()
        .take(SHOWN)
        .map(|fill| {
            let amount = |raw: &str, decimals| {
                exact(text::tokens_read(raw, decimals), text::tokens(raw, decimals))
            };
            let sells = amount(&fill.amount_in_raw, result.context.base.decimals);
            let receives = amount(&fill.amount_out_raw, result.context.quote.decimals);
            let gap = fill.exit_gap_pct.as_str();
            let gap = exact(text::percent_read(gap), text::percent(gap));
            (fill.order.into_any(), vec![sells, receives, gap])
        })
        .collect();
    let columns = vec![
        number(&format!("Sells {}", result.context.base.symbol)),
        number(&format!("Receives {}", result.context.quote.symbol)),
        number("Gap"),
    ];
    view! {
        <p><b>{words}</b></p>
        <Table first="Order" columns=columns rows=rows/>
        {(more > 0).then(|| view! { <p class="quiet">{format!("and {}", orders(&more.to_string(), "more "))}</p> })}
    }
}
