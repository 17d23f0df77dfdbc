//! Tokenized stocks: their states, and how the pools of one of them trade in each session of its exchange.

use exitgap_api::operations::Operation;
use exitgap_api::operations::parameters::EQUITY_SIZE;
use exitgap_client::{Browser, Client, ClientError};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};

use super::equities_vector::vector;
use crate::document::Document;
use crate::parts::size_asked;
use crate::parts::{
    Empty, FailureNotice, LiveQuery, LoadingNotice, PreviewNotice, Row, Table, number, words,
};
use crate::paths::Page;
use crate::service::{client, on_sealed};
use crate::text;

/// The default size.
const DEFAULT: &str = "10000";

/// The request, all of it from the page's address: a tokenized stock as `<chain>:<address>`, or none, and a size as
/// entered.
#[derive(Debug, Clone, PartialEq, Eq)]
struct EquitiesQuery {
    token: String,
    size: String,
}

/// The documents that are shown.
#[derive(Debug, Clone)]
struct EquityDocuments {
    all: Document,
    one: Option<Document>,
}

impl EquitiesQuery {
    /// The page's address for this request.
    fn href(token: &str, size: &str) -> String {
        let size = String::from(js_sys::encode_uri_component(size));
        format!("{}?token={token}&size_usd={size}", Page::Equities.href())
    }

    async fn fetch(&self, client: &Client<Browser>) -> Result<EquityDocuments, ClientError> {
        let all = client.get_document::<Document>(&Operation::Equities.target()).await?;
        if self.token.is_empty() {
            return Ok(EquityDocuments { all, one: None });
        }
        let size = size_asked(&self.size)?;
        let target = Operation::Equity.target_of(self.token.replacen(':', "/", 1));
        let one = client.get_document::<Document>(&target.with(&EQUITY_SIZE, size)).await?;
        Ok(EquityDocuments { all, one: Some(one) })
    }
}

/// The page.
#[component]
pub fn EquitiesPage() -> impl IntoView {
    let (query, navigate) = (use_query_map(), use_navigate());
    let asked = Memo::new(move |_| {
        let query = query.read();
        EquitiesQuery {
            token: query.get("token").unwrap_or_default(),
            size: query.get("size_usd").unwrap_or_else(|| DEFAULT.to_owned()),
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
    on_sealed(None, move || found.renew());
    let boxed = NodeRef::<leptos::html::Input>::new();
    let go = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let Some(boxed) = boxed.get_untracked() else { return };
        let href = EquitiesQuery::href(&asked.read_untracked().token, boxed.value().trim());
        navigate(&href, NavigateOptions { scroll: false, ..NavigateOptions::default() });
    };
    let form = view! {
        <form class="controls" on:submit=go>
            <label>"Sale size (USD)" <input id="share-size" type="text" inputmode="decimal" autocomplete="off"
                node_ref=boxed prop:value=move || asked.read().size.clone()/></label>
            <button type="submit" class="small">"Show gaps"</button>
        </form>
    };
    view! {
        <h1>"Tokenized stocks"</h1>
        <p class="lead">
            "The status of each tokenized stock, and how its pools trade while its exchange is open, before and after hours and over \
             weekends. Six weeks of data by session, and no single score: weekend liquidity matters to a holder, not to a day \
             trader."
        </p>
        <div hidden=move || asked.read().token.is_empty()>{form}</div>
        {move || match found.answer(&asked.get()) {
            None => view! { <LoadingNotice what="the stocks"/> }.into_any(),
            Some(Err(error)) => view! { <FailureNotice error=error retry=retry/> }.into_any(),
            Some(Ok(told)) => shown(&told, &asked.get()),
        }}
    }
}

/// Renders the answer.
fn shown(told: &EquityDocuments, asked: &EquitiesQuery) -> AnyView {
    let shares = told.all.list("equities");
    if shares.is_empty() {
        let words = "No tokenized stocks are tracked here yet.".to_owned();
        return view! { <Empty words=words/> }.into_any();
    }
    let state = |share: &Document| share.part("state");
    let preview =
        shares.iter().filter_map(state).any(|state| state.text_or_none("status") == "preview");
    let columns = vec![
        words("Session"),
        number("Oracle price"),
        number("Price shown in wallets"),
        number("Discount to oracle"),
        number("Depth at 2%"),
        number("Share in deepest pool"),
        words("Status"),
    ];
    let rows = shares.iter().map(|share| row(share, asked)).collect();
    let one = told.one.as_ref().map(chosen);
    view! {
        <PreviewNotice shown=preview/>
        <Table class="shares" first="Stock" columns=columns rows=rows/>
        {one}
        <p class="quiet">
            "Slots recorded while trading is paused, or within a day of a multiplier change, are excluded from the statistics but counted. \
             The figures do not cover the issuer, custody, or who may hold the token."
        </p>
    }
    .into_any()
}

/// A tokenized stock, with a link to its statistics.
fn row(share: &Document, asked: &EquitiesQuery) -> Row {
    let token = format!("{}:{}", share.text_or_none("chain"), share.text_or_none("token"));
    let name = share.text("symbol").unwrap_or_else(|| text::short_pool(&token));
    let kind = share.text_or_none("kind").replace('_', " ");
    let here = (token == asked.token).then_some("true");
    let heading = view! {
        <a href=EquitiesQuery::href(&token, &asked.size) aria-current=here>{name}</a>" "<span class="quiet">{kind}</span>
    };
    let Some(state) = share.part("state") else {
        return (heading.into_any(), vec!["No snapshot yet.".into_any()]);
    };
    let usd = |of: &Document, field: &str| {
        of.text(field).map_or_else(|| "–".to_owned(), |usd| text::usd_cents(&usd))
    };
    let percent = |of: &Document, field: &str| {
        of.text(field).map_or_else(|| "–".to_owned(), |part| text::percent_read(&part))
    };
    let oracle = state.text_or_none("oracle_state").replace('_', " ");
    let cells = vec![
        format!("{}, oracle {oracle}", state.text_or_none("session")).into_any(),
        usd(&state, "oracle_price_usd").into_any(),
        usd(&state, "ui_price_usd").into_any(),
        percent(&state, "basis_pct").into_any(),
        share.text("depth_usd").map_or_else(|| "–".to_owned(), |usd| text::usd(&usd)).into_any(),
        percent(share, "concentration_pct").into_any(),
        describe_state(&state).into_any(),
    ];
    (heading.into_any(), cells)
}

/// The reason why a tokenized stock is not in its normal state, if any.
fn describe_state(state: &Document) -> String {
    if state.is_true("feed_paused") {
        return "Paused".to_owned();
    }
    if state.is_true("corporate_action") {
        let when = state
            .text("effective_at")
            .map_or_else(String::new, |at| format!(" at {}", text::instant(&at)));
        return format!("Multiplier changes{when}");
    }
    if !state.is_true("facts_whole") {
        return "Some contract data could not be read.".to_owned();
    }
    "Normal".to_owned()
}

/// The selected tokenized stock: a section for each of its pools.
fn chosen(one: &Document) -> impl IntoView + use<> {
    let name = one.text("symbol").unwrap_or_else(|| text::short_pool(&one.text_or_none("token")));
    let size = text::usd_exact(&one.text_or_none("size_usd"));
    let pools = one.list("vectors");
    let pools =
        pools.iter().enumerate().map(|(place, pool)| vector(place, pool, &size)).collect_view();
    let left_out = one.list("left_out");
    let left_out = (!left_out.is_empty()).then(|| {
        let line = |pool: &Document| {
            view! { <li>{text::short_pool(&pool.text_or_none("pool"))}": "{pool.text_or_none("detail")}</li> }
        };
        view! {
            <p class="quiet">"Not included:"</p>
            <ul class="quiet">{left_out.iter().map(line).collect_view()}</ul>
        }
    });
    view! { <section id="share"><h2>{format!("{name} by session")}</h2>{pools}{left_out}</section> }
}
