//! The fragility board: every pool, ranked by the estimated loss of a sale there.

use core::str::FromStr;

use exitgap_api::{
    Fragility, FragilityRow, Number, OracleLead7d, Problem, ProblemCode, StandardGap, Status,
};
use exitgap_client::{Browser, Client, ClientError};
use exitgap_core::ids::ChainSlug;
use exitgap_core::units::SizeUsd;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};

use crate::chart::{Spark, length, parse_number};
use crate::check::{CheckState, PublishedGap, Sold};
use crate::parts::{
    AskExit, Chains, CheckAll, CheckedGap, Column, Empty, FailureNotice, LiveQuery, LoadingNotice,
    PreviewNotice, Row, StatusTag, Table, link_evidence, not_understood, number, words,
};
use crate::paths::{Page, evidence_href};
use crate::service::{client, on_sealed};
use crate::text;

/// Number of pools per page.
const PAGE: usize = 100;

/// The request; the page's address contains all of its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
struct BoardQuery {
    size: SizeUsd,
    sort: String,
    chain: String,
    /// The cursors of the pages after the first; the last one is shown.
    cursors: Vec<String>,
}

impl BoardQuery {
    /// The page's address for this request.
    fn href(&self) -> String {
        let encoded = |text: &str| String::from(js_sys::encode_uri_component(text));
        let mut href = format!("/?size={}&sort={}", self.size, encoded(&self.sort));
        if !self.chain.is_empty() {
            href = format!("{href}&chain={}", encoded(&self.chain));
        }
        self.cursors.iter().fold(href, |href, one| format!("{href}&cursor={}", encoded(one)))
    }

    /// A changed request, which begins at the first page.
    fn with_change(self, change: impl FnOnce(&mut Self)) -> Self {
        let mut changed = Self { cursors: Vec::new(), ..self };
        change(&mut changed);
        changed
    }

    async fn fetch(&self, client: &Client<Browser>) -> Result<Fragility, ClientError> {
        let chain = match self.chain.as_str() {
            "" => None,
            chain => Some(ChainSlug::from_str(chain).map_err(|error| {
                Problem::new(ProblemCode::InvalidParameter, format!("chain: {error}"))
                    .field("chain")
                    .hint("Use a chain name such as ethereum, or select all chains.")
            })?),
        };
        let cursor = self.cursors.last().map(String::as_str);
        let limit = u32::try_from(PAGE).ok();
        client.fragility(chain.as_ref(), Some(&self.sort), Some(self.size), limit, cursor).await
    }
}

/// The page.
#[component]
pub fn Board() -> impl IntoView {
    let query = use_query_map();
    let asked = Memo::new(move |_| {
        let query = query.read();
        let size = query.get("size").and_then(|text| text.parse().ok());
        BoardQuery {
            size: size
                .filter(|size| SizeUsd::STANDARD.contains(size))
                .unwrap_or(SizeUsd::STANDARD[2]),
            sort: query.get("sort").unwrap_or_else(|| "gap".to_owned()),
            chain: query.get("chain").unwrap_or_default(),
            cursors: query.get_all("cursor").unwrap_or_default(),
        }
    });
    let board = LiveQuery::new(
        move || asked.get(),
        |asked| {
            let client = client();
            async move { asked.fetch(&client).await }
        },
    );
    let retry = board.again();
    let (is_newer, set_newer) = signal(false);
    on_sealed(None, move || {
        let _ = set_newer.try_set(true);
    });
    let show_newer = move |_| {
        set_newer.set(false);
        retry.run(());
    };
    let other_size = move || {
        let said = query.read().get("size")?;
        let shown = asked.read().size;
        (said.parse() != Ok(shown)).then(|| {
            let shown = text::usd(&shown.to_string());
            not_understood(format!(
                "The size in the address is not one of the board's sizes. {shown} is shown instead."
            ))
        })
    };
    view! {
        <h1>"Exit cost by pool"</h1>
        <p class="lead">
            "The exit gap is how far below the oracle price a sale of your size really fills. It is recorded in every \
             5-minute slot, computed exactly, and verified in your browser."
        </p>
        <AskExit/>
        <h2>"All pools"</h2>
        <Controls asked=asked/>
        {other_size}
        {move || is_newer.get().then(|| view! {
            <p class="refused" role="status" id="newer">
                "A newer slot was recorded. "
                <button type="button" class="small" on:click=show_newer>"Show newer slot"</button>
            </p>
        })}
        {move || match board.answer(&asked.get()) {
            None => view! { <LoadingNotice what="the board"/> }.into_any(),
            Some(Err(error)) => view! { <FailureNotice error=error retry=retry/> }.into_any(),
            Some(Ok(board)) => view! { <BoardTable board=board asked=asked.get()/> }.into_any(),
        }}
    }
}

/// Controls for size, order and chain.
#[component]
fn Controls(asked: Memo<BoardQuery>) -> impl IntoView {
    let navigate = use_navigate();
    let ask = Callback::new(move |asked: BoardQuery| {
        navigate(&asked.href(), NavigateOptions { scroll: false, ..NavigateOptions::default() });
    });
    let change = move |change: fn(&mut BoardQuery, String)| {
        move |event| {
            let value = event_target_value(&event);
            ask.run(asked.get_untracked().with_change(|asked| change(asked, value)));
        }
    };
    let sizes: Vec<_> = SizeUsd::STANDARD
        .into_iter()
        .map(|size| {
            let text = size.to_string();
            let (value, shown) = (text.clone(), text::usd(&text));
            view! { <option value=value prop:selected=move || asked.read().size == size>{shown}</option> }
        })
        .collect();
    let sorts = [
        ("gap", "largest gap"),
        ("book_score", "most fragile"),
        ("score", "most fragile from the oracle price"),
        ("depth", "lowest depth"),
    ];
    let sorts: Vec<_> = sorts
        .into_iter()
        .map(|(value, shown)| {
            view! { <option value=value prop:selected=move || asked.read().sort == value>{shown}</option> }
        })
        .collect();
    let set_size = change(|asked, size| asked.size = size.parse().unwrap_or(asked.size));
    let set_sort = change(|asked, sort| asked.sort = sort);
    let chain = Signal::derive(move || asked.read().chain.clone());
    let set_chain = Callback::new(move |chain| {
        ask.run(asked.get_untracked().with_change(|asked| asked.chain = chain));
    });
    view! {
        <form class="controls" on:submit=|event| event.prevent_default()>
            <label>"Size sold" <select on:change=set_size>{sizes}</select></label>
            <label>"Order" <select on:change=set_sort>{sorts}</select></label>
            <Chains chosen=chain choose=set_chain/>
        </form>
    }
}

/// The gap at the requested size.
fn gap_at(row: &FragilityRow, size: SizeUsd) -> Option<StandardGap> {
    let wanted = Number::from(size);
    row.gaps.iter().find(|gap| gap.size_usd == wanted).cloned()
}

#[component]
fn BoardTable(board: Fragility, asked: BoardQuery) -> impl IntoView {
    if board.rows.is_empty() {
        let words = if asked.chain.is_empty() {
            "No pool has a snapshot yet. The recorder reads each pool every five minutes. Try again later."
                .to_owned()
        } else {
            format!(
                "No pool on {} has a snapshot yet. Select all chains to see all pools.",
                asked.chain
            )
        };
        return view! { <Empty words=words/> }.into_any();
    }
    let preview = board.rows.iter().any(|row| row.status == Status::Preview);
    let size = asked.size;
    let pages = pages(&asked, &board);
    let rows: Vec<_> = board
        .rows
        .into_iter()
        .map(|row| {
            let published = published_gap(&row, size);
            (row, published.map(|one| (one, RwSignal::new(CheckState::NotChecked))))
        })
        .collect();
    let to_check: Vec<_> = rows.iter().filter_map(|(_, published)| published.clone()).collect();
    let greatest = rows.iter().filter_map(|(row, _)| gap_number(row, size)).fold(0.0, f64::max);
    let row = |(row, published)| Searchable {
        words: search_words(&row),
        row: StoredValue::new((row, published)),
        greatest,
        size,
    };
    let body: Vec<Searchable> = rows.into_iter().map(row).collect();
    let columns = vec![
        number(&format!("Gap at {}", text::usd(&size.to_string()))),
        number("Depth at 2% now"),
        number("Lowest in 7 days"),
        words("Lowest by day"),
        number("Fragility"),
        number("Largest oracle lead"),
        number("Days observed"),
    ];
    let without = (board.pools_without_snapshot > 0)
        .then(|| format!(" {} more have no snapshot yet.", board.pools_without_snapshot));
    view! {
        <PreviewNotice shown=preview/>
        <BoardSearch rows=body columns=columns>
            <CheckAll published=to_check/>
            <span class="standing">{format!("{} pools.", text::group_digits(&board.pools.to_string()))}{without}</span>
        </BoardSearch>
        {pages}
        <p class="quiet">
            <a href=Page::Accuracy.href()>"Estimate accuracy"</a>
            " · "<a href=Page::Equities.href()>"Tokenized stocks by session"</a>
        </p>
        <p class="quiet">
            {format!("Method {}. ", board.method_version)}<a href="/method#fragility">"Definitions of fragility and depth"</a>
        </p>
    }
    .into_any()
}

/// The ranks on this page, and links to the previous and next pages.
fn pages(asked: &BoardQuery, board: &Fragility) -> impl IntoView + use<> {
    let before = asked.cursors.len() * PAGE;
    let ranks = format!("Ranks {}–{}", before + 1, before + board.rows.len());
    let previous = (!asked.cursors.is_empty()).then(|| {
        let mut page = asked.clone();
        page.cursors.pop();
        view! { <a class="previous" href=page.href()>"← Previous pools"</a> }
    });
    let next = board.next_cursor.clone().map(|cursor| {
        let mut page = asked.clone();
        page.cursors.push(cursor);
        view! { <a class="next" href=page.href()>"Next pools →"</a> }
    });
    let several = previous.is_some() || next.is_some();
    several.then(|| {
        view! { <nav class="pages" aria-label="Ranks">{previous}<span class="quiet">{ranks}</span>{next}</nav> }
    })
}

/// The row's gap at this size, with everything it claims to be about.
fn published_gap(row: &FragilityRow, size: SizeUsd) -> Option<PublishedGap> {
    let gap = gap_at(row, size)?;
    Some(PublishedGap {
        evidence_url: gap.evidence_url?,
        pool: row.pool.clone(),
        sold: Sold::Token(row.base.address.clone()),
        size,
        time: row.slot_time.clone(),
        exit_gap_pct: gap.exit_gap_pct?.as_str().to_owned(),
    })
}

fn row_view(
    row: &FragilityRow,
    published: Option<(PublishedGap, RwSignal<CheckState>)>,
    size: SizeUsd,
    greatest: f64,
) -> Row {
    let bar = magnitude(gap_number(row, size), greatest);
    let gap = match (published, gap_at(row, size)) {
        (Some((published, standing)), _) => {
            view! { <CheckedGap published=published standing=standing/> }.into_any()
        }
        (None, Some(StandardGap { refusal: Some(code), evidence_url, .. })) => {
            let words = code.title();
            let href = evidence_url.and_then(|url| evidence_href(&url));
            let cannot = link_evidence("cannot be filled".to_owned(), href);
            view! { <span class="none" title=words>{cannot}</span> }.into_any()
        }
        _ => view! { <span class="none">"none"</span> }.into_any(),
    };
    let depth = readings(
        row.depth_usd.as_ref().map(|usd| text::usd(usd.as_str())),
        row.book_usd.as_ref(),
        row.depth_note.as_deref(),
    );
    let lowest = readings(
        row.lowest_depth_7d.as_ref().map(|lowest| {
            format!("{}, {}", text::usd(lowest.depth_usd.as_str()), text::instant(&lowest.time))
        }),
        row.week.lowest_book_7d_usd.as_ref(),
        row.week.lowest_depth_7d_note.as_deref(),
    );
    let part = partial_days(row);
    let score = row.book_fragility_score.as_ref().map_or_else(
        || "–".into_any(),
        |score| {
            let exact = score.to_string();
            view! { <span title=exact.clone()>{text::round_number(&exact)}</span> }.into_any()
        },
    );
    let lead = lead_view(row.week.oracle_lead_7d.as_ref());
    let late = (row.newer_slots_missing > 0).then(|| {
        view! { <span class="tag warn">{format!("{} newest slots missing", row.newer_slots_missing)}</span> }
    });
    let stale = row.oracle_stale.then(|| view! { <span class="tag warn">"stale oracle"</span> });
    let days = row
        .daily_lowest_depth_usd
        .iter()
        .map(|day| day.as_ref().map(ToString::to_string))
        .collect();
    let name = format!("{} for {}, {}", row.base.symbol, row.quote.symbol, row.name);
    let href = format!("{}?size_usd={size}", Page::Pool(row.pool.clone()).href());
    let heading = view! {
        <a href=href>{name}</a>" "<StatusTag status=row.status/>{stale}{late}
        <small>{text::short_pool(&row.pool)}</small>
    };
    let cells = vec![
        view! { {gap}{bar} }.into_any(),
        depth,
        lowest,
        view! { <Spark values=days/>{part} }.into_any(),
        score,
        lead,
        row.days_observed.to_string().into_any(),
    ];
    (heading.into_any(), cells)
}

/// Both readings of a depth: from the pool's own price, and from the oracle price with the reason if that is low.
fn readings(from_oracle: Option<String>, book: Option<&Number>, note: Option<&str>) -> AnyView {
    let from_oracle = from_oracle.unwrap_or_else(|| "none".to_owned());
    let note = note.map(|note| view! { <small class="note">{note.to_owned()}</small> });
    match book {
        None => view! { {from_oracle}{note} }.into_any(),
        Some(book) => view! {
            {text::usd(book.as_str())}
            <small>{format!("from the oracle price: {from_oracle}")}</small>
            {note}
        }
        .into_any(),
    }
}

/// The largest lead of the oracle over the pool in seven days, and how long it was above its limit.
fn lead_view(lead: Option<&OracleLead7d>) -> AnyView {
    let Some(lead) = lead else { return "–".into_any() };
    let largest = text::percent_read(lead.largest_pct.as_str());
    let above = (lead.slots_above > 0).then(|| {
        let limit = text::percent(lead.limit_pct.as_str());
        let slots = if lead.slots_above == 1 { "slot" } else { "slots" };
        view! { <small>{format!("above {limit} in {} {slots}", lead.slots_above)}</small> }
    });
    let exact = text::percent(lead.largest_pct.as_str());
    view! { <span title=exact>{largest}</span>{above} }.into_any()
}

/// The text that a search looks in.
fn search_words(row: &FragilityRow) -> String {
    let (base, quote) = (&row.base, &row.quote);
    let all = [&row.pool, &base.symbol, &quote.symbol, &row.name, &base.address, &quote.address];
    all.map(|one| one.to_lowercase()).join(" ")
}

/// The width of the gap for drawing; `None` if there is no number.
fn gap_number(row: &FragilityRow, size: SizeUsd) -> Option<f64> {
    Some(parse_number(gap_at(row, size)?.exit_gap_pct?.as_str())?.abs())
}

/// A bar for a gap, relative to the largest one on the page.
fn magnitude(gap: Option<f64>, greatest: f64) -> Option<impl IntoView + use<>> {
    let width = length(gap? / greatest.max(1e-9) * 100.0);
    Some(view! {
        <svg class="magnitude" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
            <rect class="fill line-c" width=width height="4"/>
        </svg>
    })
}

/// Days of the sparkline with missing slots, or which are not over yet: the lowest depth of such a day covers only the
/// known slots.
fn partial_days(row: &FragilityRow) -> Option<impl IntoView + use<>> {
    (row.slots_missing_7d > 0).then(
        || view! { <small>{format!("partial: {} slots missing", row.slots_missing_7d)}</small> },
    )
}

/// A row, with the text that a search looks in.
#[derive(Clone)]
struct Searchable {
    words: String,
    row: StoredValue<BoardRow>,
    greatest: f64,
    size: SizeUsd,
}

/// A row with its gap, and the state of the gap's check.
type BoardRow = (FragilityRow, Option<(PublishedGap, RwSignal<CheckState>)>);

/// The rows that contain all words of the search, with the elements beside the search box.
#[component]
fn BoardSearch(rows: Vec<Searchable>, columns: Vec<Column>, children: Children) -> impl IntoView {
    let (search, set_search) = signal(String::new());
    let shown = move || {
        let search = search.read().to_lowercase();
        let found: Vec<_> = rows
            .iter()
            .filter(|row| search.split_whitespace().all(|word| row.words.contains(word)))
            .map(|one| {
                let (row, published) = one.row.get_value();
                row_view(&row, published, one.size, one.greatest)
            })
            .collect();
        if found.is_empty() {
            let words = "No pool on this page matches all of these words.".to_owned();
            return view! { <Empty words=words/> }.into_any();
        }
        view! { <Table class="board" first="Pool" columns=columns.clone() rows=found/> }.into_any()
    };
    view! {
        <form class="controls" role="search" on:submit=|event| event.prevent_default()>
            <label>"Search these pools"
                <input type="search" placeholder="token, venue or address" autocomplete="off" id="search"
                    on:input=move |event| set_search.set(event_target_value(&event))/>
            </label>
            {children()}
        </form>
        {shown}
    }
}
