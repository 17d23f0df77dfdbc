//! A plan that ends in cash: what it brings, its sales, the minimum received, and its check in this browser.

use exitgap_api::operations::Operation;
use leptos::prelude::*;

use super::figure_check::CheckedFigure;
use crate::document::Document;
use crate::parts::{Row, Table, render_collapsible, words};
use crate::paths::Page;
use crate::service::client;
use crate::text;

/// A plan to show.
pub struct ShownPlan<'a> {
    /// The part of an answer that has the legs and what they bring.
    pub plan: &'a Document,
    /// What the answer does not count.
    pub not_counted: Vec<String>,
    /// The operation of its figure file.
    pub file: Operation,
    /// The beginning of the ids of its elements.
    pub id: String,
}

impl ShownPlan<'_> {
    /// The sentence of what is received, and the sales with their check.
    pub fn render(self) -> AnyView {
        let Self { plan, not_counted, file, id } = self;
        let received = plan.list("received");
        let symbols: Vec<String> =
            received.iter().filter_map(|one| one.part("token")?.text("symbol")).collect();
        let dollars = plan.text_or_none("received_usd");
        let gap = plan.text_or_none("exit_gap_pct");
        let legs = plan.list("legs");
        let count =
            if legs.len() == 1 { "one pool".to_owned() } else { format!("{} pools", legs.len()) };
        let rows: Vec<Row> = legs.iter().map(leg_row).collect();
        let (service, url) = (client(), plan.text_or_none("evidence_url"));
        let fetch = move || {
            let (client, url) = (service.clone(), url.clone());
            async move { client.figure(file, &url).await }
        };
        let notes = format!(
            "Each sale is what the contract pays, to the last unit, in this order. {} Not counted: {}.",
            bound(plan),
            not_counted.join(", ")
        );
        let route = view! {
            <p class="quiet">{least(plan, &received)}</p>
            <Table first="Pool" columns=["Sells", "Buys"].map(words).into() rows=rows/>
            <p class="quiet">{notes}</p>
            <CheckedFigure at=format!("check-{id}") fetch=fetch/>
        };
        view! {
            <p class="answer">
                "You receive "
                <strong id=format!("{id}-received") title=text::usd_exact(&dollars)>{text::usd_cents(&dollars)}</strong>
                {format!(" in {}, {}, through {count}.", symbols.join(" and "), text::beside_oracle(&gap))}
            </p>
            {render_collapsible(format!("{id}-route"), "The route, and its check", true, route.into_any())}
        }
        .into_any()
    }
}

/// How much more any other plan can bring.
fn bound(plan: &Document) -> String {
    match (plan.text("bound_usd"), plan.text("optimality_gap_pct")) {
        (Some(most), Some(gap)) => format!(
            "No other route through the pools that count brings more than {}: its gap is at most {} lower.",
            text::usd_cents_up(&most),
            text::percent_read(&gap)
        ),
        _ => "Another way may be better, because the law of a pool is not known.".to_owned(),
    }
}

/// The minimum received at the reader's tolerance. With all digits: rounded up, it would be more than the plan is
/// accepted to bring.
fn least(plan: &Document, received: &[Document]) -> String {
    let least = received.iter().map(|one| tokens(one, "amount_out_min_raw", "token", text::tokens));
    format!(
        "To allow for {} less, set the minimum received to {}.",
        text::percent_read(&plan.text_or_none("tolerance_pct")),
        least.collect::<Vec<_>>().join(" and ")
    )
}

/// An amount of a document as whole tokens with the symbol, which is untrusted text.
pub fn tokens(of: &Document, raw: &str, token: &str, read: fn(&str, u8) -> String) -> String {
    let token = of.part(token);
    let decimals = token.as_ref().map_or(0, |token| token.count("decimals"));
    let decimals = u8::try_from(decimals).unwrap_or(u8::MAX);
    let symbol = token.map(|token| token.text_or_none("symbol")).unwrap_or_default();
    format!("{} {symbol}", read(&of.text_or_none(raw), decimals))
}

fn leg_row(leg: &Document) -> Row {
    let pool = leg.text_or_none("pool");
    let [sold, bought] = [("amount_in_raw", "sold"), ("amount_out_raw", "bought")]
        .map(|(raw, token)| tokens(leg, raw, token, text::tokens_read));
    let heading = view! {
        <a href=Page::Pool(pool.clone()).href()>{leg.text_or_none("name")}</a><small>{text::short_pool(&pool)}</small>
    };
    (heading.into_any(), vec![sold.into_any(), bought.into_any()])
}
