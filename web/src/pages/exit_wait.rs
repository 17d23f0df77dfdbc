//! The results of waiting or redeeming.

use exitgap_api::operations::Operation;
use exitgap_api::operations::parameters::{AT, BASE, SERIES_SIZE, SIZE};
use leptos::prelude::*;

use exitgap_core::units::SizeUsd;

use super::exit_comparison::Comparison;
use crate::browser::download;
use crate::chart::{Later, Payoff, parse_number};
use crate::document::Document;
use crate::parts::{
    CollapsibleSection, Empty, FailureNotice, LiveQuery, LoadingNotice, Row, Table, number,
};
use crate::service::client;
use crate::text;

/// The section, for the currently best venue.
#[component]
pub fn Wait(comparison: StoredValue<Comparison>) -> impl IntoView {
    let ask = move |operation: Operation| {
        LiveQuery::new(
            || (),
            move |()| {
                let (client, told) = (client(), comparison.get_value());
                async move {
                    let pool =
                        told.venues.first().map(|venue| venue.pool.clone()).unwrap_or_default();
                    let pool = exitgap_api::parse_pool(&pool)?;
                    let target = operation.target_of(&pool).with(&BASE, &told.token);
                    let target = match operation {
                        Operation::Hours => target.with(&SERIES_SIZE, standard(told.size)),
                        _ => target.with(&SIZE, told.size).with(&AT, told.slot),
                    };
                    client.get_document::<Document>(&target).await
                }
            },
        )
    };
    let (hours, paths) = (ask(Operation::Hours), ask(Operation::Redemption));
    let (hours_again, paths_again) = (hours.again(), paths.again());
    view! {
        <CollapsibleSection id="wait" title="Wait or redeem">
            {move || match hours.answer(&()) {
                None => view! { <LoadingNotice what="the market's hours"/> }.into_any(),
                Some(Err(error)) => view! { <FailureNotice error=error retry=hours_again/> }.into_any(),
                Some(Ok(told)) => market(&told),
            }}
            {move || match paths.answer(&()) {
                None => view! { <LoadingNotice what="the redemption terms"/> }.into_any(),
                Some(Err(error)) => view! { <FailureNotice error=error retry=paths_again/> }.into_any(),
                Some(Ok(told)) => render_redemptions(&told),
            }}
        </CollapsibleSection>
    }
}

/// The standard size nearest to a size: the gaps of open and closed markets are stored only for standard sizes.
pub fn standard(size: SizeUsd) -> SizeUsd {
    let apart = |one: &SizeUsd| one.micros().abs_diff(size.micros());
    SizeUsd::STANDARD.into_iter().min_by_key(apart).unwrap_or(size)
}

fn seconds(document: &Document, name: &str) -> Option<u64> {
    document.text(name)?.parse().ok()
}

/// Whether the market is open, and the distribution of the gap while it was open and closed.
pub fn market(told: &Document) -> AnyView {
    if told.list("sessions").is_empty() {
        return view! { <p>"This market is open around the clock; there is no opening to wait for."</p> }
            .into_any();
    }
    let now = match (
        told.is_true("market_open"),
        seconds(told, "opens_in_s"),
        seconds(told, "closes_in_s"),
    ) {
        (true, _, Some(left)) => format!("The market is open for another {}.", text::age(left)),
        (true, ..) => "The market is open.".to_owned(),
        (false, Some(left), _) => {
            format!("The market is closed and opens in {}.", text::age(left))
        }
        (false, ..) => "The market is closed.".to_owned(),
    };
    let spread = |name: String, one: &Document| {
        let percent = |field: &str| {
            one.text(field).map_or_else(|| "–".to_owned(), |gap| text::percent_read(&gap))
        };
        let depth = one.text("depth_usd_q50").map_or_else(|| "–".to_owned(), |usd| text::usd(&usd));
        let cells = [percent("exit_gap_pct_q50"), percent("exit_gap_pct_q95"), depth];
        let reopening = one
            .text("reopening_gap_pct_worst")
            .map_or_else(|| "–".to_owned(), |gap| text::percent_read(&gap));
        let cells =
            cells.into_iter().chain([reopening, text::group_digits(&one.text_or_none("slots"))]);
        (name.into_any(), cells.map(IntoAny::into_any).collect()) as Row
    };
    let open = told.part("open").map(|open| spread("open".to_owned(), &open));
    let closed = told.list("closed");
    let closed = closed
        .iter()
        .map(|one| spread(format!("closed: {}", one.text_or_none("closure_kind")), one));
    let rows = open.into_iter().chain(closed).collect();
    let columns =
        ["Median gap", "95th percentile gap", "Median depth at 2%", "Worst reopening gap", "Slots"];
    view! {
        <p><b>{now}</b>{format!(" Gaps are for a sale of {}.", text::usd(&told.text_or_none("size_usd")))}</p>
        <Table first="Market" columns=columns.map(number).into() rows=rows/>
    }
    .into_any()
}

/// Each redemption path, compared with selling now.
fn render_redemptions(told: &Document) -> AnyView {
    let paths = told.list("paths");
    if paths.is_empty() {
        let words =
            "This service has no redemption terms for this token, so there is nothing to compare.";
        return view! { <Empty words=words.to_owned()/> }.into_any();
    }
    let usd =
        |text: Option<String>| text.map_or_else(|| "–".to_owned(), |usd| text::usd_cents(&usd));
    let percent =
        |text: Option<String>| text.map_or_else(|| "–".to_owned(), |one| text::percent_read(&one));
    let row = |path: &Document| {
        let wait = match (seconds(path, "t_min_s"), seconds(path, "t_max_s")) {
            (Some(least), Some(most)) if least == most => text::age(least),
            (Some(least), Some(most)) => format!("{} to {}", text::age(least), text::age(most)),
            _ => path.text("refusal").unwrap_or_else(|| "no payment".to_owned()).replace('_', " "),
        };
        let cells = vec![
            wait.into_any(),
            usd(path.text("receives_usd")).into_any(),
            percent(path.text("advantage_pct")).into_any(),
            percent(path.text("break_even_annual_pct_at_t_max")).into_any(),
        ];
        let kind = path.text_or_none("kind").replace('_', " ");
        let terms = format!(
            "{}, read {}",
            path.text_or_none("terms_source"),
            path.text_or_none("terms_read_on")
        );
        let said: Vec<_> =
            path.list("facts").iter().map(|fact| fact.text_or_none("says")).collect();
        let said = (!said.is_empty()).then(|| {
            view! { <small>{format!("{}: read from the chain at the slot's block", said.join(", "))}</small> }
        });
        let heading = view! {
            {kind}<small>{path.text_or_none("eligibility")}</small><small>{terms}</small>{said}
        };
        (heading.into_any(), cells) as Row
    };
    let rows = paths.iter().map(row).collect();
    let table = csv(told, &paths);
    let keep = move |_| download(table.as_bytes(), "text/csv", "redeeming.csv");
    let drawn = drawn(told, &paths);
    let now = usd(told.text("receives_now_usd"));
    let columns = ["Wait", "You receive", "Gain over selling now", "Break-even per year"];
    view! {
        <p>{format!("Selling everything there now brings {now}. Redemption is modelled from terms that the operator entered. Nothing on a chain proves them, except where marked.")}</p>
        {drawn}
        <Table first="Redemption" columns=columns.map(number).into() rows=rows/>
        <p class="actions"><button type="button" on:click=keep>"Download CSV"</button></p>
    }
    .into_any()
}

/// A chart of each path's amount and time, compared with selling now.
fn drawn(told: &Document, paths: &[Document]) -> Option<AnyView> {
    const COLOURS: [&str; 2] = ["line-c", "line-b"];
    let now = parse_number(&told.text("receives_now_usd")?)?;
    let way = |path: &Document| {
        let usd = parse_number(&path.text("receives_usd")?)?;
        let wait_s = (parse_number(&path.text("t_min_s")?)?, parse_number(&path.text("t_max_s")?)?);
        Some((path.text_or_none("kind").replace('_', " "), usd, wait_s))
    };
    let ways = paths.iter().filter_map(way).zip(COLOURS.iter().cycle());
    let ways: Vec<_> =
        ways.map(|((name, usd, wait_s), class)| Later { name, usd, wait_s, class }).collect();
    let title = "Payment over time: each band runs from the soonest to the latest payment; a dot marks where redeeming has paid more".to_owned();
    (!ways.is_empty()).then(|| view! { <Payoff title=title now=now ways=ways/> }.into_any())
}

/// One CSV line per path, with the evidence of the sale it is compared with.
fn csv(told: &Document, paths: &[Document]) -> String {
    const FIELDS: [&str; 7] = [
        "kind",
        "t_min_s",
        "t_max_s",
        "receives_usd",
        "advantage_pct",
        "break_even_annual_pct_at_t_max",
        "terms_sha256",
    ];
    let now = told.text_or_none("receives_now_usd");
    let proof = told.text_or_none("evidence_url");
    let line = |path: &Document| {
        let fields = FIELDS.map(|name| path.text_or_none(name)).join(",");
        format!("{fields},{now},{proof}\n")
    };
    let head = format!("{},receives_now_usd,evidence_url\n", FIELDS.join(","));
    paths.iter().map(line).fold(head, |all, line| all + &line)
}
