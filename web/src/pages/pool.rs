//! One pool: what a size would lose here and now, computed in this browser.

use exitgap_api::{Amounts, ExitResult, LadderRows, Problem, PublishedExit, Status, parse_size};
use exitgap_client::{ClientError, Recorded};
use exitgap_core::ids::PoolId;
use exitgap_core::units::{GapLimit, SizeUsd};
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{query_signal_with_options, use_params_map};

use super::pool_history::PoolHistory;
use super::pool_simulate::Simulate;
use crate::app::client;
use crate::parts::{Drawn, Failed, Loading, PreviewNotice, Split, StatusTag};
use crate::paths::evidence_href;
use crate::text;

/// How long the reader must pause before the service is asked, too.
const PAUSE_MS: u32 = 400;

/// The page.
#[component]
pub fn PoolPage() -> impl IntoView {
    let params = use_params_map();
    let name = Memo::new(move |_| params.read().get("pool").unwrap_or_default());
    let found = LocalResource::new(move || {
        let (name, client) = (name.get(), client());
        async move {
            let pool = parse_pool(&name)?;
            client.recorded(&pool, None).await
        }
    });
    move || match found.get() {
        None => {
            view! { <h1>{name.get()}</h1><Loading what="the pool's newest snapshot"/> }.into_any()
        }
        Some(Err(error)) => view! { <h1>{name.get()}</h1><Failed error=error/> }.into_any(),
        Some(Ok(recorded)) => view! { <Pool recorded=recorded/> }.into_any(),
    }
}

/// Reads the pool of an address.
pub fn parse_pool(name: &str) -> Result<PoolId, ClientError> {
    name.to_ascii_lowercase().parse().map_err(|error: exitgap_core::ids::IdError| {
        let problem = Problem::new(exitgap_api::ProblemCode::InvalidPool, error.to_string());
        problem.field("pool").hint("The board lists every pool.").into()
    })
}

#[component]
fn Pool(recorded: Recorded) -> impl IntoView {
    let options = || NavigateOptions { scroll: false, replace: true, ..NavigateOptions::default() };
    let (asked_base, set_base) = query_signal_with_options::<String>("base", options());
    let (asked_size, set_size) = query_signal_with_options::<String>("size_usd", options());
    let observation = recorded.snapshot.observation();
    let symbols = [0, 1].map(|index| observation.tokens()[index].symbol.as_str().to_owned());
    let default = recorded.default_direction.base_index();
    let base = Memo::new(move |_| match asked_base.get().as_deref() {
        Some("token0") => 0,
        Some("token1") => 1,
        _ => default,
    });
    let size = Memo::new(move |_| asked_size.get().unwrap_or_else(|| "100000".to_owned()));
    let status = Status::from(observation.chain().kind);
    let slot = recorded.snapshot.slot();
    let pool = observation.pool().clone();
    let title = format!("{} / {}", symbols[0], symbols[1]);
    let recorded = StoredValue::new(recorded);
    let context = Memo::new(move |_| {
        let published = recorded.read_value();
        let context = &published.published.answer.context;
        let days = context.days_observed.as_ref().map_or_else(String::new, ToString::to_string);
        let block = &context.method.depth_source;
        (days, block.block_number, block.block_time.clone(), published.published.snapshot_age_s)
    });
    let bases: Vec<_> = symbols
        .iter()
        .enumerate()
        .map(|(index, symbol)| {
            let value = if index == 0 { "token0" } else { "token1" };
            view! {
                <label class="choice">
                    <input type="radio" name="base" value=value prop:checked=move || base.get() == index
                        on:change=move |_| set_base.set(Some(value.to_owned()))/>
                    {format!("sell {symbol}")}
                </label>
            }
        })
        .collect();
    view! {
        <h1>{title}" "<StatusTag status=status/></h1>
        <p class="quiet"><code>{pool.to_string()}</code></p>
        <PreviewNotice shown=status == Status::Preview/>
        <p class="quiet">{move || {
            let (days, block, time, age) = context.get();
            format!(
                "Newest recorded slot {}, {} old; block {block} of {}. Days observed: {days}.",
                text::instant(&slot.to_string()), text::age(age), text::instant(&time)
            )
        }}</p>
        <form class="controls" on:submit=|event| event.prevent_default()>
            <fieldset><legend>"Exit"</legend>{bases}</fieldset>
            <label>"Size, USD"
                <input type="text" inputmode="decimal" autocomplete="off" id="size" prop:value=move || size.get()
                    on:input=move |event| set_size.set(Some(event_target_value(&event)))/>
            </label>
        </form>
        <Answer recorded=recorded base=base size=size/>
        <Ladders recorded=recorded base=base/>
        <PoolHistory pool=pool base=base/>
        <Simulate recorded=recorded base=base size=size/>
    }
}

/// `token0` or `token1`.
pub fn base_name(index: usize) -> &'static str {
    if index == 0 { "token0" } else { "token1" }
}

/// The exit of the size in the box, computed here, beside what the service says of it.
#[component]
fn Answer(recorded: StoredValue<Recorded>, base: Memo<usize>, size: Memo<String>) -> impl IntoView {
    let computed = Memo::new(move |_| {
        let size = parse_size(size.read().trim())?;
        recorded.read_value().estimate(size, Some(base_name(base.get())))
    });
    let served = LocalResource::new(move || {
        let (size, base, client) = (size.get(), base.get(), client());
        async move {
            TimeoutFuture::new(PAUSE_MS).await;
            let size = parse_size(size.trim()).map_err(ClientError::from)?;
            let pool = recorded.read_value().snapshot.observation().pool().clone();
            let at = recorded.read_value().snapshot.slot().to_string();
            client.exit(&pool, size, Some(base_name(base)), Some(&at)).await
        }
    });
    view! {
        <section class="answer" aria-live="polite">
            {move || match computed.get() {
                Ok(result) => view! { <Result result=result/> }.into_any(),
                Err(problem) => view! { <Refused problem=problem/> }.into_any(),
            }}
            <p class="agreement">{move || agreement(computed.get(), served.get())}</p>
        </section>
    }
}

fn agreement(
    computed: Result<ExitResult, Problem>,
    served: Option<Result<PublishedExit, ClientError>>,
) -> AnyView {
    match (computed, served) {
        (Ok(_), None) => {
            view! { <span class="quiet">"Computed in this browser. Asking the service, too…"</span> }.into_any()
        }
        (Ok(ours), Some(Ok(theirs))) if ours.figures == theirs.answer.figures => {
            let evidence = theirs.evidence_url.as_deref().and_then(evidence_href).map(|href| {
                view! { <a href=href>"Open the evidence"</a> }
            });
            view! {
                <span class="standing pass">"Computed in this browser; the service says the same, to the last digit."</span>
                " "{evidence}
            }
            .into_any()
        }
        (Ok(ours), Some(Ok(theirs))) if ours.figures.size_usd == theirs.answer.figures.size_usd => view! {
            <span class="standing fail" role="alert">
                {format!(
                    "The service says {} %, this browser computes {} %. Trust the snapshot, and tell the operator.",
                    theirs.answer.figures.exit_gap_pct, ours.figures.exit_gap_pct
                )}
            </span>
        }
        .into_any(),
        (Ok(_), Some(Err(error))) => view! {
            <span class="standing warn">{format!("Computed in this browser. The service did not answer: {error}")}</span>
        }
        .into_any(),
        _ => ().into_any(),
    }
}

/// A size that has no gap.
#[component]
fn Refused(problem: Problem) -> impl IntoView {
    view! {
        <div class="refused">
            <p><strong>{problem.code.title()}</strong></p>
            <p>{problem.detail}</p>
            {problem.hint.map(|hint| view! { <p>{hint}</p> })}
        </div>
    }
}

#[component]
fn Result(result: ExitResult) -> impl IntoView {
    let ExitResult { figures, context } = result;
    let Amounts {
        exit_gap_pct: gap,
        split,
        realized_price_usd: realized,
        amount_in_raw,
        amount_out_raw,
        ..
    } = figures;
    let side = if gap.as_str().starts_with('-') { "above" } else { "below" };
    let magnitude = gap.as_str().trim_start_matches('-');
    let sold =
        format!("{} {}", text::tokens(&amount_in_raw, context.base.decimals), context.base.symbol);
    let bought = format!(
        "{} {}",
        text::tokens(&amount_out_raw, context.quote.decimals),
        context.quote.symbol
    );
    let per = format!("USD per {}", context.base.symbol);
    let stale = context.oracle_stale.then(|| {
        view! { <p class="standing warn">"An oracle answer is older than its heartbeat."</p> }
    });
    view! {
        <p class="headline"><b id="gap">{text::percent(magnitude)}</b>{format!(" {side} the oracle price")}</p>
        {stale}
        <Split split=split/>
        <dl class="facts">
            <div><dt>"Realized price"</dt><dd>{text::grouped(realized.as_str())}" "{per.clone()}</dd></div>
            <div><dt>"Oracle price"</dt><dd>{text::grouped(context.oracle_price_usd.as_str())}" "{per}</dd></div>
            <div><dt>"Sells"</dt><dd>{sold}</dd></div>
            <div><dt>"Receives"</dt><dd>{bought}</dd></div>
        </dl>
    }
}

/// Depth by gap and slippage by size, computed here.
#[component]
fn Ladders(recorded: StoredValue<Recorded>, base: Memo<usize>) -> impl IntoView {
    let rows = Memo::new(move |_| {
        let recorded = recorded.read_value();
        let ladder =
            recorded.ladder(&GapLimit::LADDER, &SizeUsd::STANDARD, Some(base_name(base.get())));
        ladder.map(|ladder| ladder.figures)
    });
    let points = move || {
        let recorded = recorded.read_value();
        let direction = recorded.direction(Some(base_name(base.get()))).ok()?;
        Some(slippage(&recorded.answers(direction)))
    };
    view! {
        <section>
            <h2>"Depth and slippage"</h2>
            <p class="quiet">"Computed in this browser from the snapshot."</p>
            {move || rows.get().ok().map(|rows| view! { <Rungs rows=rows/> })}
            {move || points().map(|points| view! { <Drawn points=points/> })}
        </section>
    }
}

/// Gaps from 1,000 USD on, each size some 30 % above the one before, as long as the pool fills them.
pub fn slippage(answers: &exitgap_api::Answers<'_>) -> Vec<(String, String)> {
    const MOST: usize = 48;
    let mut points = Vec::new();
    let mut dollars: u64 = 1_000;
    while points.len() < MOST {
        let Ok(size) = SizeUsd::from_micros(dollars.saturating_mul(1_000_000)) else { break };
        let Ok(result) = answers.estimate(size) else { break };
        points.push((text::usd(&size.to_string()), result.figures.exit_gap_pct.to_string()));
        dollars = dollars.saturating_mul(13) / 10;
    }
    points
}

#[component]
fn Rungs(rows: LadderRows) -> impl IntoView {
    let none = || "–".to_owned();
    let by_gap: Vec<_> = rows
        .by_gap
        .into_iter()
        .map(|rung| {
            let depth = rung.depth.as_ref().map_or_else(none, |depth| text::usd(depth.max_size_usd.as_str()));
            let price = rung.exit.as_ref().map_or_else(none, |exit| text::grouped(exit.realized_price_usd.as_str()));
            let next = rung.exit.as_ref().map_or_else(none, |exit| text::grouped(exit.marginal_price_usd.as_str()));
            view! {
                <tr>
                    <th scope="row">{format!("up to {}", text::percent(rung.gap_limit_pct.as_str()))}</th>
                    <td class="number">{depth}</td><td class="number">{price}</td><td class="number">{next}</td>
                </tr>
            }
        })
        .collect();
    let by_size: Vec<_> = rows
        .by_size
        .into_iter()
        .map(|rung| {
            let gap = match (&rung.exit, &rung.problem) {
                (Some(exit), _) => text::percent(exit.exit_gap_pct.as_str()),
                (None, Some(problem)) => problem.code.title().to_owned(),
                (None, None) => none(),
            };
            let price = rung
                .exit
                .as_ref()
                .map_or_else(none, |exit| text::grouped(exit.realized_price_usd.as_str()));
            view! {
                <tr>
                    <th scope="row">{text::usd(rung.size_usd.as_str())}</th>
                    <td class="number">{gap}</td><td class="number">{price}</td>
                </tr>
            }
        })
        .collect();
    view! {
        <div class="columns">
            <div class="wide" tabindex="0" role="group" aria-label="Table, scrolls sideways"><table>
                <caption>"Depth by gap"</caption>
                <thead><tr><th scope="col">"Gap"</th><th scope="col" class="number">"Depth"</th>
                    <th scope="col" class="number">"Realized"</th><th scope="col" class="number">"Next unit at"</th></tr></thead>
                <tbody>{by_gap}</tbody>
            </table></div>
            <div class="wide" tabindex="0" role="group" aria-label="Table, scrolls sideways"><table>
                <caption>"Slippage by size"</caption>
                <thead><tr><th scope="col">"Size"</th><th scope="col" class="number">"Exit gap"</th>
                    <th scope="col" class="number">"Realized"</th></tr></thead>
                <tbody>{by_size}</tbody>
            </table></div>
        </div>
    }
}
