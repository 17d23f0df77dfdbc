//! What a sale brings in cash: amounts, route, minimum, and its check in this browser.

use exitgap_api::Problem;
use exitgap_api::operations::Operation;
use exitgap_client::ClientError;
use leptos::prelude::*;

use super::exit_comparison::ExitQuery;
use super::figure_check::CheckedFigure;
use crate::document::Document;
use crate::parts::{LiveQuery, Row, Table, render_collapsible, words};
use crate::paths::Page;
use crate::service::client;
use crate::text;

/// The section for a request; nothing if the request is not valid, which the page says elsewhere.
#[component]
pub fn InCash(asked: Memo<Result<ExitQuery, Problem>>) -> impl IntoView {
    let found = LiveQuery::new(
        move || asked.get(),
        |asked| {
            let client = client();
            async move { client.get_document::<Document>(&asked?.cash_target()).await }
        },
    );
    move || {
        asked.get().ok()?;
        let answer = found.answer(&asked.get())?;
        Some(view! {
            <section id="in-cash">
                <h2>{move || asked.get().map_or_else(|_| String::new(), |asked| asked.cash_title())}</h2>
                {match answer {
                    Ok(cash) => render_cash(&cash),
                    Err(error) => render_refusal(error),
                }}
            </section>
        })
    }
}

/// An amount of a document as whole tokens with the symbol, which is untrusted text.
fn tokens(of: &Document, raw: &str, token: &str, read: fn(&str, u8) -> String) -> String {
    let token = of.part(token);
    let decimals = token.as_ref().map_or(0, |token| token.count("decimals"));
    let decimals = u8::try_from(decimals).unwrap_or(u8::MAX);
    let symbol = token.map(|token| token.text_or_none("symbol")).unwrap_or_default();
    format!("{} {symbol}", read(&of.text_or_none(raw), decimals))
}

fn render_cash(cash: &Document) -> AnyView {
    let received = cash.list("received");
    let symbols: Vec<String> =
        received.iter().filter_map(|one| one.part("token")?.text("symbol")).collect();
    // With all digits: rounded up, it would be more than the plan is accepted to bring.
    let least = received.iter().map(|one| tokens(one, "amount_out_min_raw", "token", text::tokens));
    let least: Vec<String> = least.collect();
    let dollars = cash.text_or_none("received_usd");
    let gap = cash.text_or_none("exit_gap_pct");
    let bound = match (cash.text("bound_usd"), cash.text("optimality_gap_pct")) {
        (Some(most), Some(gap)) => format!(
            "No other route through the pools that count brings more than {}: its gap is at most {} lower.",
            text::usd_cents_up(&most),
            text::percent_read(&gap)
        ),
        _ => "Another way may be better, because the law of a pool is not known.".to_owned(),
    };
    let legs = cash.list("legs");
    let count =
        if legs.len() == 1 { "one pool".to_owned() } else { format!("{} pools", legs.len()) };
    let rows: Vec<Row> = legs.iter().map(leg_row).collect();
    let not_counted = cash.text_list("not_counted").join(", ");
    let (service, url) = (client(), cash.text_or_none("evidence_url"));
    let fetch = move || {
        let (client, url) = (service.clone(), url.clone());
        async move { client.figure(Operation::CashFile, &url).await }
    };
    let none = cash.text("cash").is_some().then(|| {
        view! { <p class="standing warn">"No cash tokens are configured for this chain, so the sale may end in any token."</p> }
    });
    let least = format!(
        "To allow for {} less, set the minimum received to {}.",
        text::percent_read(&cash.text_or_none("tolerance_pct")),
        least.join(" and ")
    );
    let notes = format!(
        "Each sale is what the contract pays, to the last unit, in this order. {bound} Not counted: {not_counted}."
    );
    let route = view! {
        <p class="quiet">{least}</p>
        <Table first="Pool" columns=["Sells", "Buys"].map(words).into() rows=rows/>
        <p class="quiet">{notes}</p>
        <CheckedFigure at="check-cash" fetch=fetch/>
    };
    view! {
        {none}
        <p class="answer">
            "You receive "
            <strong id="cash-received" title=text::usd_exact(&dollars)>{text::usd_cents(&dollars)}</strong>
            {format!(" in {}, {}, through {count}.", symbols.join(" and "), text::beside_oracle(&gap))}
        </p>
        {render_collapsible("cash-route", "The route, and its check", true, route.into_any())}
    }
    .into_any()
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

/// Why there is no answer. What the form is at fault for, the page says below.
fn render_refusal(error: ClientError) -> AnyView {
    let ClientError::Refused(refused) = error else {
        return view! { <p class="quiet">"The route into cash could not be loaded."</p> }
            .into_any();
    };
    let detail = text::grouped_within(&refused.detail);
    view! { <p class="standing warn" id="no-cash">{format!("{detail}.")}</p> }.into_any()
}
