//! The fragility board: every pool, ranked by what a sale would lose there.

use exitgap_api::{Fragility, FragilityRow, StandardGap, Status};
use exitgap_core::units::SizeUsd;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{query_signal_with_options, use_query_map};

use crate::app::client;
use crate::chart::Spark;
use crate::check::Standing;
use crate::parts::{CheckAll, CheckedGap, Empty, Failed, Loading, PreviewNotice, StatusTag};
use crate::paths::Page;
use crate::text;

/// What the reader asked for, all of it in the address.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Asked {
    size: SizeUsd,
    sort: String,
    chain: Option<String>,
    cursor: Option<String>,
}

fn replacing() -> NavigateOptions {
    NavigateOptions { scroll: false, ..NavigateOptions::default() }
}

/// The page.
#[component]
pub fn Board() -> impl IntoView {
    let query = use_query_map();
    let asked = Memo::new(move |_| {
        let query = query.read();
        let size = query.get("size").and_then(|text| text.parse().ok());
        Asked {
            size: size
                .filter(|size| SizeUsd::STANDARD.contains(size))
                .unwrap_or(SizeUsd::STANDARD[2]),
            sort: query.get("sort").unwrap_or_else(|| "gap".to_owned()),
            chain: query.get("chain").filter(|chain| !chain.is_empty()),
            cursor: query.get("cursor"),
        }
    });
    let board = LocalResource::new(move || {
        let (asked, client) = (asked.get(), client());
        async move {
            let chain = asked.chain.as_deref().and_then(|chain| chain.parse().ok());
            let (sort, size) = (Some(asked.sort.as_str()), Some(asked.size));
            let cursor = asked.cursor.as_deref();
            client.fragility(chain.as_ref(), sort, size, Some(100), cursor).await
        }
    });
    view! {
        <h1>"Where would your size lose most?"</h1>
        <p class="lead">
            "Every monitored pool, ranked by its exit gap: how far below the oracle price a sale of this size \
             would really fill, recorded every five minutes."
        </p>
        <Controls asked=asked/>
        {move || match board.get() {
            None => view! { <Loading what="the board"/> }.into_any(),
            Some(Err(error)) => view! { <Failed error=error/> }.into_any(),
            Some(Ok(board)) => view! { <Table board=board asked=asked.get()/> }.into_any(),
        }}
    }
}

/// Size, order and chain.
#[component]
fn Controls(asked: Memo<Asked>) -> impl IntoView {
    let (_, set_size) = query_signal_with_options::<String>("size", replacing());
    let (_, set_sort) = query_signal_with_options::<String>("sort", replacing());
    let (_, set_chain) = query_signal_with_options::<String>("chain", replacing());
    let sizes: Vec<_> = SizeUsd::STANDARD
        .into_iter()
        .map(|size| {
            let text = size.to_string();
            let (value, shown) = (text.clone(), text::usd(&text));
            view! { <option value=value selected=move || asked.read().size == size>{shown}</option> }
        })
        .collect();
    let sorts = [("gap", "largest gap"), ("score", "most fragile"), ("depth", "least depth")];
    let sorts: Vec<_> = sorts
        .into_iter()
        .map(|(value, shown)| {
            view! { <option value=value selected=move || asked.read().sort == value>{shown}</option> }
        })
        .collect();
    view! {
        <form class="controls" on:submit=|event| event.prevent_default()>
            <label>"Size sold" <select on:change=move |event| set_size.set(Some(event_target_value(&event)))>{sizes}</select></label>
            <label>"Order" <select on:change=move |event| set_sort.set(Some(event_target_value(&event)))>{sorts}</select></label>
            <label>"Chain"
                <input type="search" placeholder="all" autocomplete="off" prop:value=move || asked.read().chain.clone().unwrap_or_default()
                    on:change=move |event| {
                        let chain = event_target_value(&event);
                        set_chain.set(Some(chain).filter(|chain| !chain.is_empty()));
                    }/>
            </label>
        </form>
    }
}

/// The gap at the size asked for.
fn gap_at(row: &FragilityRow, size: SizeUsd) -> Option<StandardGap> {
    let wanted = exitgap_api::Number::from(size);
    row.gaps.iter().find(|gap| gap.size_usd == wanted).cloned()
}

#[component]
fn Table(board: Fragility, asked: Asked) -> impl IntoView {
    if board.rows.is_empty() {
        let words = match &asked.chain {
            Some(chain) => format!("No pool of {chain} has a snapshot yet. Clear the chain to see all pools."),
            None => "No pool has a snapshot yet. The recorder reads each every five minutes; come back then.".to_owned(),
        };
        return view! { <Empty words=words/> }.into_any();
    }
    let preview = board.rows.iter().any(|row| row.status == Status::Preview);
    let rows: Vec<_> =
        board.rows.into_iter().map(|row| (row, RwSignal::new(Standing::NotChecked))).collect();
    let size = asked.size;
    let to_check: Vec<_> = rows
        .iter()
        .filter_map(|(row, standing)| {
            let gap = gap_at(row, size)?;
            Some((gap.evidence_url?, gap.exit_gap_pct?.as_str().to_owned(), *standing))
        })
        .collect();
    let body: Vec<_> =
        rows.into_iter().map(|(row, standing)| row_view(row, standing, size)).collect();
    let without = (board.pools_without_snapshot > 0)
        .then(|| format!(" {} more have no snapshot yet.", board.pools_without_snapshot));
    let next = board.next_cursor.map(|cursor| {
        let chain = asked.chain.map_or_else(String::new, |chain| format!("&chain={chain}"));
        let href = format!("/?size={size}&sort={}{chain}&cursor={cursor}", asked.sort);
        view! { <a class="next" href=href>"Next pools →"</a> }
    });
    view! {
        <PreviewNotice shown=preview/>
        <p class="quiet">
            {format!("{} pools.", board.pools)}{without}" "
            <CheckAll published=to_check/>
        </p>
        <div class="wide" tabindex="0" role="group" aria-label="Table, scrolls sideways">
            <table class="board">
                <thead>
                    <tr>
                        <th scope="col">"Pool"</th>
                        <th scope="col" class="number">{format!("Gap at {}", text::usd(&size.to_string()))}</th>
                        <th scope="col" class="number">"Depth at 2 % now"</th>
                        <th scope="col" class="number">"Lowest in 7 days"</th>
                        <th scope="col">"By day"</th>
                        <th scope="col" class="number">"Fragility"</th>
                        <th scope="col" class="number">"Days observed"</th>
                    </tr>
                </thead>
                <tbody>{body}</tbody>
            </table>
        </div>
        {next}
        <p class="quiet">"Fragility: "{board.score_method}</p>
    }
    .into_any()
}

fn row_view(row: FragilityRow, standing: RwSignal<Standing>, size: SizeUsd) -> impl IntoView {
    let gap = match gap_at(&row, size) {
        Some(StandardGap { exit_gap_pct: Some(gap), evidence_url: Some(url), .. }) => {
            let published = gap.as_str().to_owned();
            let shown = text::percent(&published);
            view! { <CheckedGap published=published shown=shown evidence_url=url standing=standing/> }.into_any()
        }
        Some(StandardGap { refusal: Some(code), .. }) => {
            let words = code.title();
            view! { <span class="none" title=words>"cannot be filled"</span> }.into_any()
        }
        _ => view! { <span class="none">"none"</span> }.into_any(),
    };
    let dollars = |number: Option<exitgap_api::Number>| {
        number.map_or_else(|| "none".to_owned(), |number| text::usd(number.as_str()))
    };
    let lowest = row
        .lowest_depth_7d
        .as_ref()
        .map(|lowest| (dollars(Some(lowest.depth_usd.clone())), text::instant(&lowest.time)));
    let (lowest, when) = lowest.unwrap_or_else(|| ("none".to_owned(), String::new()));
    let score = row
        .fragility_score
        .as_ref()
        .map_or_else(|| "–".to_owned(), |score| text::grouped(score.as_str()));
    let late = (row.newer_slots_missing > 0).then(|| {
        view! { <span class="tag warn">{format!("{} newest slots missing", row.newer_slots_missing)}</span> }
    });
    let stale = row.oracle_stale.then(|| view! { <span class="tag warn">"stale oracle"</span> });
    let days = row
        .daily_lowest_depth_usd
        .iter()
        .map(|day| day.as_ref().map(ToString::to_string))
        .collect();
    let name = format!("{} for {}", row.base.symbol, row.quote.symbol);
    let href = Page::Pool(row.pool.clone()).href();
    view! {
        <tr>
            <th scope="row">
                <a href=href>{name}</a>" "<StatusTag status=row.status/>{stale}{late}
                <small>{text::short_pool(&row.pool)}</small>
            </th>
            <td class="number">{gap}</td>
            <td class="number">{dollars(row.depth_usd)}</td>
            <td class="number">{lowest}<small>{when}</small></td>
            <td><Spark values=days/></td>
            <td class="number">{score}</td>
            <td class="number">{row.days_observed.to_string()}</td>
        </tr>
    }
}
