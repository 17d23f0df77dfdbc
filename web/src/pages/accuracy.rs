//! The accuracy of every pool's estimates: one table, with a row for each pool.

use exitgap_api::operations::{Operation, parameters};
use exitgap_api::{ProblemCode, Status};
use exitgap_client::{Browser, Client, ClientError};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};

use super::accuracy_rows::{csv, rows, status};
use super::pool_accuracy::{ERRORS, EXACT};
use crate::browser::download;
use crate::document::Document;
use crate::parts::{
    Chains, Empty, FailureNotice, LiveQuery, LoadingNotice, PreviewNotice, Table, number, words,
};
use crate::paths::Page;
use crate::service::{client, name_of, on_sealed};
use crate::text;

/// The table's code for a pool whose row is not computed yet.
pub const WAITING: &str = "waiting";

/// The request; the page's address contains all of its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AccuracyQuery {
    chain: String,
    /// The cursors of the pages after the first; the last one is shown.
    cursors: Vec<String>,
}

impl AccuracyQuery {
    /// The page's address for this request.
    fn href(&self) -> String {
        let encoded = |text: &str| String::from(js_sys::encode_uri_component(text));
        let chain = (!self.chain.is_empty()).then(|| format!("chain={}", encoded(&self.chain)));
        let pages = self.cursors.iter().map(|one| format!("cursor={}", encoded(one)));
        let asked: Vec<String> = chain.into_iter().chain(pages).collect();
        let mark = if asked.is_empty() { "" } else { "?" };
        format!("{}{mark}{}", Page::Accuracy.href(), asked.join("&"))
    }

    /// Loads a page of the table, with the names of its pools.
    async fn fetch(&self, client: &Client<Browser>) -> Result<NamedTable, ClientError> {
        let chain = Some(&self.chain).filter(|chain| !chain.is_empty());
        let page = |operation: Operation| {
            let target = operation.target().maybe(&parameters::CHAIN, chain);
            target.maybe(&parameters::POOL_CURSOR, self.cursors.last())
        };
        let table = client.get_document::<Document>(&page(Operation::AccuracyTable)).await?;
        // Both lists are ordered by pool id, and have the same length.
        let pools = client.get_document::<Document>(&page(Operation::Pools)).await?.list("pools");
        let name = |pool: Document| Some((pool.text("pool")?, name_of(&pool)?));
        Ok(NamedTable { table, names: pools.into_iter().filter_map(name).collect() })
    }
}

/// A page of the table.
#[derive(Debug, Clone)]
struct NamedTable {
    table: Document,
    /// The names of pools, each with its tokens, venue and fee.
    names: Vec<(String, String)>,
}

/// The page.
#[component]
pub fn AccuracyPage() -> impl IntoView {
    let (query, navigate) = (use_query_map(), use_navigate());
    let asked = Memo::new(move |_| {
        let query = query.read();
        AccuracyQuery {
            chain: query.get("chain").unwrap_or_default(),
            cursors: query.get_all("cursor").unwrap_or_default(),
        }
    });
    let found = LiveQuery::new(
        move || asked.get(),
        |asked| {
            let client = client();
            async move { asked.fetch(&client).await }
        },
    );
    let retry = found.again();
    // Rows are computed in turn: a missing row may be available with the next slot.
    on_sealed(None, move || found.renew());
    let choose = Callback::new(move |chain: String| {
        let asked = AccuracyQuery { chain, cursors: Vec::new() };
        navigate(&asked.href(), NavigateOptions { scroll: false, ..NavigateOptions::default() });
    });
    let chain = Signal::derive(move || asked.read().chain.clone());
    view! {
        <h1>"Estimate accuracy"</h1>
        <p class="lead">
            "Each swap in the last seven days compared with the estimate from the last snapshot before it. An error is the \
             realized gap minus the estimated gap. Above zero, the swap filled worse than estimated. Pools are not ranked, \
             and no pool is left out."
        </p>
        <form class="controls" on:submit=|event| event.prevent_default()>
            <Chains chosen=chain choose=choose/>
        </form>
        {move || match found.answer(&asked.get()) {
            None => view! { <LoadingNotice what="the table"/> }.into_any(),
            Some(Err(error)) => view! { <FailureNotice error=error retry=retry/> }.into_any(),
            Some(Ok(told)) => shown(&told, &asked.get(), move |_| found.renew()),
        }}
    }
}

/// Renders the answer.
fn shown(
    told: &NamedTable,
    asked: &AccuracyQuery,
    again: impl Fn(leptos::ev::MouseEvent) + 'static,
) -> AnyView {
    let pools = told.table.list("pools");
    if pools.is_empty() {
        let words =
            "No pool is recorded on this chain. Select all chains to see all pools.".to_owned();
        return view! { <Empty words=words/> }.into_any();
    }
    let mut records = pools.iter().filter_map(|row| row.part("record"));
    let preview = records.any(|record| status(&record) == Status::Preview);
    let waiting = told.table.count(WAITING);
    let waiting = (waiting > 0).then(|| {
        let words = match waiting {
            1 => "1 pool has no result yet.".to_owned(),
            many => format!("{} pools have no result yet.", text::group_digits(&many.to_string())),
        };
        view! {
            <p class="refused" role="status" id="waiting">
                {words}" The service computes the pools one after the other. "
                <button type="button" class="small" on:click=again>"Refresh table"</button>
            </p>
        }
    });
    let table = csv(&pools);
    let keep = move |_| download(table.as_bytes(), "text/csv", "accuracy.csv");
    let errors = ERRORS.map(|(_, words)| words);
    let numbers = ["Swaps compared", EXACT].into_iter().chain(errors);
    let numbers = numbers.chain(["Intervals with complete logs"]).map(number);
    let columns = numbers.chain(["Computed", "Recompute"].map(words)).collect();
    let pages = pages(asked, &told.table);
    let of_page = pages.is_some().then_some(" on this page");
    view! {
        <PreviewNotice shown=preview/>
        {waiting}
        <Table class="accuracy" first="Pool" columns=columns rows=rows(&pools, &told.names)/>
        {pages}
        <p class="actions">
            <button type="button" class="small" on:click=keep>"Download CSV"</button>
            <span class="quiet">
                "One row per pool"{of_page}", with a link to the file anyone can recompute it from: "
                <code>"exitgap verify"</code>
            </span>
        </p>
        <p class="quiet">
            "A full record needs 200 compared swaps and 2,016 judged slots (seven days); partial results are shown anyway. There is no \
             average over pools, because errors of pools of different sizes are not comparable. Reverted trades are not covered."
        </p>
    }
    .into_any()
}

/// Links to the previous and next pages.
fn pages(asked: &AccuracyQuery, table: &Document) -> Option<impl IntoView + use<>> {
    let previous = (!asked.cursors.is_empty()).then(|| {
        let mut page = asked.clone();
        page.cursors.pop();
        view! { <a class="previous" href=page.href()>"← Previous pools"</a> }
    });
    let next = table.text("next_cursor").map(|cursor| {
        let mut page = asked.clone();
        page.cursors.push(cursor);
        view! { <a class="next" href=page.href()>"Next pools →"</a> }
    });
    let several = previous.is_some() || next.is_some();
    several.then(|| view! { <nav class="pages" aria-label="Pools">{previous}{next}</nav> })
}

/// Why there is no record, as text.
pub fn why_not(code: &str) -> String {
    if code == WAITING {
        return "Not computed yet.".to_owned();
    }
    let known = [ProblemCode::FigureUnsupportedKind, ProblemCode::NoSnapshotYet];
    let known = known.into_iter().find(|known| known.as_str() == code);
    known.map_or_else(|| format!("No record: {code}."), |known| format!("{}.", known.title()))
}
