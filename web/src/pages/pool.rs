//! One pool: the estimated loss of a sale here and now, computed in this browser.

use exitgap_api::{LadderRows, Number, PoolName, Status};
use exitgap_client::{ClientError, EvidenceOf, FetchedSnapshot};
use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::ids::PoolId;
use exitgap_core::pools::Direction;
use exitgap_core::units::{GapLimit, Percent, SizeUsd};
use leptos::prelude::*;
use leptos_router::hooks::{query_signal_with_options, use_params_map};

use super::pool_accuracy::PoolAccuracy;
use super::pool_alert::PoolAlert;
use super::pool_answer::Answer;
use super::pool_decay::PoolDecay;
use super::pool_history::PoolHistory;
use super::pool_hours::PoolHours;
use super::pool_newest::Newest;
use super::pool_simulate::Simulate;
use super::pool_size::{in_place, size_box};
use crate::parts::{
    CollapsibleSection, Drawn, FailureNotice, LiveQuery, LoadingNotice, PreviewNotice, StatusTag,
    Table, exact, link_evidence, not_understood, number, rule_of, soon,
};
use crate::paths::{self, Page};
use crate::prerender::Meanwhile;
use crate::service::client;
use crate::text;

/// The page.
#[component]
pub fn PoolPage() -> impl IntoView {
    let params = use_params_map();
    let name = Memo::new(move |_| params.read().get("pool").unwrap_or_default());
    let found = LiveQuery::new(
        move || name.get(),
        |name| {
            let client = client();
            async move { client.fetch_snapshot(&parse_pool(&name)?, None).await }
        },
    );
    let retry = found.again();
    move || {
        match found.answer(&name.get()) {
        None => {
            view! { <Meanwhile heading=name.get()/><LoadingNotice what="the pool's newest snapshot"/> }
                .into_any()
        }
        Some(Err(error)) => {
            view! { <h1>{name.get()}</h1><FailureNotice error=error retry=retry/> }.into_any()
        }
        Some(Ok(recorded)) => view! { <Pool recorded=recorded retry=retry/> }.into_any(),
    }
    }
}

/// Reads the pool of an address.
pub fn parse_pool(name: &str) -> Result<PoolId, ClientError> {
    exitgap_api::parse_pool(name)
        .map_err(|problem| problem.hint("The board lists every pool.").into())
}

#[component]
fn Pool(recorded: FetchedSnapshot, retry: Callback<()>) -> impl IntoView {
    let (asked_base, set_base) = query_signal_with_options::<String>("base", in_place());
    let (size, set_size) = size_box();
    let observation = recorded.snapshot.observation();
    let symbols = [0, 1].map(|index| observation.tokens()[index].symbol.as_str().to_owned());
    let default = recorded.default_direction.base_index();
    let status = Status::from(observation.chain().kind);
    let pool = observation.pool().clone();
    let closes = !observation.pool_sessions().is_empty();
    let venue = PoolName::from_observation(observation).name();
    let title = format!("{} / {}, {venue}", symbols[0], symbols[1]);
    paths::set_title(&paths::pool_title(&title));
    let recorded = StoredValue::new(recorded);
    let said = move || {
        let direction = recorded.read_value().direction(Some(&asked_base.get()?)).ok();
        Some(direction.map(Direction::base_index))
    };
    let base = Memo::new(move |_| said().flatten().unwrap_or(default));
    let sold = symbols[default].clone();
    let not_sold = move || {
        (said() == Some(None)).then(|| {
            not_understood(format!(
                "The base in the address is not one of this pool's tokens. {sold} is sold instead."
            ))
        })
    };
    let bases: Vec<_> = symbols
        .iter()
        .enumerate()
        .map(|(index, symbol)| {
            let value = base_name(index);
            view! {
                <label class="choice">
                    <input type="radio" name="base" value=value prop:checked=move || base.get() == index
                        on:change=move |_| set_base.set(Some(value.to_owned()))/>
                    {format!("sell {symbol}")}
                </label>
            }
        })
        .collect();
    let below = StoredValue::new((pool.clone(), symbols));
    view! {
        <h1>{title}" "<StatusTag status=status/></h1>
        <p class="quiet"><code>{pool.to_string()}</code></p>
        <PreviewNotice shown=status == Status::Preview/>
        <Newest recorded=recorded show=retry/>
        <form class="controls" on:submit=|event| event.prevent_default()>
            <fieldset><legend>"Sell"</legend>{bases}</fieldset>
            <label>"Size (USD)"
                <input type="text" inputmode="decimal" autocomplete="off" id="size" prop:value=move || size.get()
                    on:input=move |event| set_size.set(event_target_value(&event))/>
            </label>
        </form>
        {not_sold}
        <Answer recorded=recorded base=base size=size/>
        {soon(move || view! { <Ladders recorded=recorded base=base/> }.into_any())}
        {soon(move || {
            let (pool, symbols) = below.get_value();
            view! { <PoolHistory pool=pool base=base symbols=symbols asked=size closes=closes/> }.into_any()
        })}
        {soon(move || {
            let (pool, _) = below.get_value();
            view! {
                {closes.then(|| view! { <PoolHours pool=pool.clone() base=base/> })}
                <PoolAlert pool=pool base=base size=size/>
            }
            .into_any()
        })}
        {soon(move || {
            let (pool, symbols) = below.get_value();
            view! { <PoolDecay pool=pool.clone() base=base/><PoolAccuracy pool=pool symbols=symbols/> }.into_any()
        })}
        {soon(move || view! { <Simulate recorded=recorded base=base size=size/> }.into_any())}
    }
}

/// `token0` or `token1`.
pub fn base_name(index: usize) -> &'static str {
    if index == 0 { "token0" } else { "token1" }
}

/// The evidence of a sale of this size, on the page's snapshot.
pub fn evidence_of(recorded: &FetchedSnapshot, base: usize, size_usd: &str) -> Option<String> {
    let of = EvidenceOf {
        pool: recorded.snapshot.observation().pool().clone(),
        base: Direction::BOTH[base].into(),
        slot: recorded.snapshot.slot(),
        size: size_usd.parse().ok()?,
        method_version: METHOD_VERSION.to_owned(),
    };
    Some(Page::Evidence(of).href())
}

/// Depth by gap and slippage by size, computed in this browser.
#[component]
fn Ladders(recorded: StoredValue<FetchedSnapshot>, base: Memo<usize>) -> impl IntoView {
    let rows = Memo::new(move |_| {
        let recorded = recorded.read_value();
        let ladder =
            recorded.ladder(&GapLimit::LADDER, &SizeUsd::STANDARD, Some(base_name(base.get())));
        ladder.map(|ladder| ladder.figures)
    });
    let rule =
        recorded.with_value(|recorded| rule_of(recorded.snapshot.observation().state().protocol()));
    let points = move || {
        let recorded = recorded.read_value();
        let direction = recorded.direction(Some(base_name(base.get()))).ok()?;
        Some(slippage(&recorded.answers(direction)))
    };
    view! {
        <CollapsibleSection id="ladders" title="Depth and slippage">
            <p class="quiet" id="rule">{rule}</p>
            <p class="quiet">"Computed in this browser from the snapshot. Each linked number opens the evidence of a sale of that size."</p>
            {soon(move || {
                (move || rows.get().ok().map(|rows| view! { <Rungs rows=rows recorded=recorded base=base/> })).into_any()
            })}
            {soon(move || (move || points().map(|points| view! { <Drawn points=points/> })).into_any())}
        </CollapsibleSection>
    }
}

/// Gaps for sizes from 1,000 USD on, ten per power of ten, as long as the pool can fill them, and up to a gap of half
/// the value.
pub fn slippage(answers: &exitgap_api::Answers<'_>) -> Vec<(String, String)> {
    /// Ten round numbers per power of ten, roughly evenly spaced.
    const STEPS: [u64; 10] = [100, 125, 160, 200, 250, 315, 400, 500, 630, 800];
    const DECADES: u32 = 6;
    let half = Percent(50_000_000);
    let decades = (0..DECADES).map(|decade| 10 * 10_u64.pow(decade));
    let sizes = decades.flat_map(|unit| STEPS.map(|step| step * unit));
    let mut points = Vec::new();
    for dollars in sizes {
        let Ok(size) = SizeUsd::from_micros(dollars * 1_000_000) else { break };
        let Ok(result) = answers.estimate(size) else { break };
        let gap = result.figures.exit_gap_pct.to_string();
        let is_last = Percent::parse(&gap).is_ok_and(|gap| gap > half);
        points.push((text::usd(&size.to_string()), gap));
        if is_last {
            break;
        }
    }
    points
}

/// A note where a smaller sale loses more, because the pool's fee depends on the size.
fn worse_below(size: Option<&Number>) -> Option<impl IntoView + use<>> {
    size.map(|size| view! { <small>{format!("a smaller size is worse: {}", text::usd(size.as_str()))}</small> })
}

#[component]
fn Rungs(
    rows: LadderRows,
    recorded: StoredValue<FetchedSnapshot>,
    base: Memo<usize>,
) -> impl IntoView {
    let none = || "–".to_owned();
    let evidence = |size: &str| evidence_of(&recorded.read_value(), base.get_untracked(), size);
    let price = |price: Option<&Number>| {
        let digits = price.map(Number::as_str);
        let shown = |digits: &str| exact(text::price_read(digits), text::group_digits(digits));
        digits.map_or_else(|| none().into_any(), shown)
    };
    let by_gap: Vec<_> = rows
        .by_gap
        .into_iter()
        .map(|rung| {
            let depth = match (&rung.depth, &rung.problem) {
                (Some(depth), _) => {
                    let size = depth.max_size_usd.as_str();
                    link_evidence(text::usd(size), evidence(size))
                }
                (None, Some(problem)) => problem.code.title().into_any(),
                (None, None) => none().into_any(),
            };
            let limited = rung.depth.as_ref().is_some_and(|depth| depth.limited_by == "liquidity");
            let limited = limited.then(|| view! { <small>"limited by liquidity"</small> });
            let worse = worse_below(rung.worse_below_usd.as_ref());
            let exit = rung.exit.as_ref();
            let realized = price(exit.map(|exit| &exit.realized_price_usd));
            let next = price(exit.map(|exit| &exit.marginal_price_usd));
            let note = rung.reading.depth_note.clone();
            let note = note.map(|note| view! { <small class="note">{note}</small> });
            let depth = view! { {depth}{limited}{worse}{note} }.into_any();
            let book = rung.reading.book_usd.as_ref();
            let book = book.map_or_else(none, |usd| text::usd(usd.as_str())).into_any();
            let heading = format!("up to {}", text::percent(rung.gap_limit_pct.as_str()));
            (heading.into_any(), vec![depth, book, realized, next])
        })
        .collect();
    let by_size: Vec<_> = rows
        .by_size
        .into_iter()
        .map(|rung| {
            let gap = match (&rung.exit, &rung.problem) {
                (Some(exit), _) => {
                    let gap = exit.exit_gap_pct.as_str();
                    let linked =
                        link_evidence(text::percent_read(gap), evidence(rung.size_usd.as_str()));
                    view! { <span title=text::percent(gap)>{linked}</span> }.into_any()
                }
                (None, Some(problem)) if problem.code.has_evidence() => {
                    link_evidence("cannot be filled".to_owned(), evidence(rung.size_usd.as_str()))
                }
                (None, Some(problem)) => problem.code.title().into_any(),
                (None, None) => none().into_any(),
            };
            let worse = worse_below(rung.worse_below_usd.as_ref());
            let realized = price(rung.exit.as_ref().map(|exit| &exit.realized_price_usd));
            let gap = view! { {gap}{worse} }.into_any();
            (text::usd(rung.size_usd.as_str()).into_any(), vec![gap, realized])
        })
        .collect();
    view! {
        <div class="columns">
            <Table caption="Depth by gap" first="Gap" columns=["Depth from the oracle price", "From the pool's own price", "Realized price", "Marginal price"].map(number).into() rows=by_gap/>
            <Table caption="Slippage by size" first="Size" columns=["Exit gap", "Realized price"].map(number).into() rows=by_size/>
        </div>
    }
}
