//! Several positions, computed here from snapshots; they stay in this browser.

use std::collections::BTreeMap;
use std::fmt::Write;

use exitgap_api::{Problem, Status, parse_size};
use exitgap_client::{Browser, Client, ClientError, Recorded};
use exitgap_core::exit::{PortfolioPart, PortfolioTotal};
use exitgap_core::ids::PoolId;
use exitgap_core::pools::Direction;
use exitgap_core::units::{Percent, SizeUsd, UsdMicros};
use leptos::prelude::*;

use super::pool::{base_name, parse_pool};
use crate::app::client;
use crate::parts::{Empty, Failed, Loading, PreviewNotice};
use crate::paths::Page;
use crate::text;

/// As many as the service takes.
const MAX_POSITIONS: usize = 100;

/// One line of the box.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Position {
    pool: PoolId,
    base: Option<String>,
    size: SizeUsd,
}

/// All positions in one pool and direction, sold together.
#[derive(Debug, Clone)]
struct Row {
    pool: PoolId,
    symbols: [String; 2],
    base: usize,
    status: Status,
    size: UsdMicros,
    gap: Option<String>,
    loss: Option<i128>,
    filled: UsdMicros,
    problem: Option<String>,
}

/// The page.
#[component]
pub fn PortfolioPage() -> impl IntoView {
    let fragment = window().location().hash().unwrap_or_default();
    let start =
        fragment.trim_start_matches('#').replace(',', "\n").replace("%3A", ":").replace("%2F", "/");
    let (text, set_text) = signal(start);
    let parsed = Memo::new(move |_| parse(&text.read()));
    Effect::new(move || {
        if let Ok(positions) = &*parsed.read() {
            let lines: Vec<String> = positions.iter().map(line).collect();
            let _ = window().location().set_hash(&lines.join(","));
        }
    });
    let found = LocalResource::new(move || {
        let (positions, client) = (parsed.get(), client());
        async move {
            match positions {
                Ok(positions) => Some(compute(&client, positions).await),
                Err(_) => None,
            }
        }
    });
    view! {
        <h1>"Portfolio"</h1>
        <p class="lead">"What it would cost to exit everything at once. Positions stay in this browser: they are computed \
            here from recorded snapshots, and kept in the part of the address that is never sent."</p>
        <label for="positions">"One position per line: "<code>"<pool>:<size_usd>"</code>" or "<code>"<pool>/<base>:<size_usd>"</code></label>
        <textarea id="positions" rows="5" spellcheck="false" prop:value=move || text.get()
            on:input=move |event| set_text.set(event_target_value(&event))></textarea>
        {move || match (parsed.get(), found.get()) {
            (Err(problem), _) => view! { <p class="refused" role="alert">{problem.detail}</p> }.into_any(),
            (Ok(positions), _) if positions.is_empty() => {
                view! { <Empty words="No positions yet. Paste some above; the board lists the pools.".to_owned()/> }.into_any()
            }
            (_, None | Some(None)) => view! { <Loading what="the snapshots"/> }.into_any(),
            (_, Some(Some(Err(error)))) => view! { <Failed error=error/> }.into_any(),
            (_, Some(Some(Ok(rows)))) => view! { <Exits rows=rows/> }.into_any(),
        }}
    }
}

fn line(position: &Position) -> String {
    let base = position.base.as_ref().map_or_else(String::new, |base| format!("/{base}"));
    format!("{}{base}:{}", position.pool, position.size)
}

fn parse(text: &str) -> Result<Vec<Position>, Problem> {
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.len() > MAX_POSITIONS {
        let detail =
            format!("{} positions are more than the {MAX_POSITIONS} of a portfolio", lines.len());
        return Err(exitgap_api::invalid_parameter("position", &detail, "paste fewer"));
    }
    (1..)
        .zip(lines)
        .map(|(number, line)| position(line).map_err(|problem| at_line(number, problem)))
        .collect()
}

fn at_line(number: usize, problem: Problem) -> Problem {
    Problem { detail: format!("Line {number}: {}", problem.detail), ..problem }
}

/// `<pool>:<size_usd>` or `<pool>/<base>:<size_usd>`, split at the last colon.
fn position(line: &str) -> Result<Position, Problem> {
    let parts = line.rsplit_once(':').filter(|(venue, _)| venue.contains(':'));
    let (venue, size) = parts.ok_or_else(|| {
        exitgap_api::invalid_parameter(
            "position",
            "no size after a pool and a colon",
            "<pool>:<size_usd>",
        )
    })?;
    let (pool, base) = match venue.split_once('/') {
        Some((pool, base)) => (pool, Some(base.to_owned())),
        None => (venue, None),
    };
    let pool = parse_pool(pool).map_err(ClientError::into_problem)?;
    Ok(Position { pool, base, size: parse_size(size.trim())? })
}

/// Fetches each pool's snapshot once, and sells what is held of it together.
async fn compute(
    client: &Client<Browser>,
    positions: Vec<Position>,
) -> Result<Vec<Row>, ClientError> {
    let mut pools: BTreeMap<PoolId, Recorded> = BTreeMap::new();
    let mut sums: BTreeMap<(PoolId, usize), u64> = BTreeMap::new();
    for Position { pool, base, size } in positions {
        if !pools.contains_key(&pool) {
            pools.insert(pool.clone(), client.recorded(&pool, None).await?);
        }
        let direction = pools[&pool].direction(base.as_deref())?;
        let sum = sums.entry((pool, direction.base_index())).or_default();
        *sum = sum.saturating_add(size.micros());
    }
    Ok(sums
        .into_iter()
        .map(|((pool, base), sum)| row(&pools[&pool], base, UsdMicros(sum)))
        .collect())
}

fn row(recorded: &Recorded, base: usize, size: UsdMicros) -> Row {
    let observation = recorded.snapshot.observation();
    let symbol = |index: usize| observation.tokens()[index].symbol.as_str().to_owned();
    let direction = if base == 0 { Direction::ZeroForOne } else { Direction::OneForZero };
    let outcome = SizeUsd::from_micros(size.0)
        .map_err(|error| {
            exitgap_api::invalid_parameter("size_usd", &error.to_string(), "exit in parts")
        })
        .and_then(|size| recorded.estimate(size, Some(base_name(direction.base_index()))));
    let (mut gap, mut filled, mut problem) = (None, UsdMicros(0), None);
    match outcome {
        Ok(result) => (gap, filled) = (Some(result.figures.exit_gap_pct.to_string()), size),
        Err(refused) => {
            let most = refused
                .max_fillable_usd
                .as_ref()
                .and_then(|most| most.as_str().parse::<SizeUsd>().ok());
            if let Some(most) = most
                && let Ok(part) = recorded.estimate(most, Some(base_name(base)))
            {
                (gap, filled) = (Some(part.figures.exit_gap_pct.to_string()), most.into());
            }
            problem = Some(refused.detail);
        }
    }
    let weigh =
        |gap: &String| Percent::parse(gap).ok().map(|Percent(gap)| gap * i128::from(filled.0));
    let loss = gap.as_ref().and_then(weigh);
    let status = Status::from(observation.chain().kind);
    let pool = observation.pool().clone();
    Row {
        pool,
        symbols: [symbol(base), symbol(1 - base)],
        base,
        status,
        size,
        gap,
        loss,
        filled,
        problem,
    }
}

#[component]
fn Exits(rows: Vec<Row>) -> impl IntoView {
    let parts: Vec<_> = rows
        .iter()
        .map(|row| {
            let gap = row.gap.as_deref().and_then(|gap| Percent::parse(gap).ok());
            PortfolioPart { size: row.size, filled: row.filled, gap }
        })
        .collect();
    let total = PortfolioTotal::of(&parts);
    let preview = rows.iter().any(|row| row.status == Status::Preview);
    let worst = rows.iter().max_by_key(|row| row.loss.unwrap_or(i128::MIN));
    let worst =
        worst.map(|row| format!("{} for {} in {}", row.symbols[0], row.symbols[1], row.pool));
    let shown = |gap: Option<Percent>| {
        gap.map_or_else(|| "none".to_owned(), |gap| text::percent(&gap.to_string()))
    };
    let whole = match total.gap {
        Some(_) => shown(total.gap),
        None => format!("none: {} cannot be filled", text::usd_exact(&total.unfilled.to_string())),
    };
    let csv = StoredValue::new(csv(&rows));
    let body: Vec<_> = rows
        .into_iter()
        .map(|row| {
            let gap = row.gap.as_deref().map_or_else(|| "none".to_owned(), text::percent);
            let href = format!("{}?base={}&size_usd={}", Page::Pool(row.pool.to_string()).href(), base_name(row.base), row.size);
            let problem = row.problem.map(|problem| view! { <small class="standing warn">{problem}</small> });
            view! {
                <tr>
                    <th scope="row"><a href=href>{format!("{} for {}", row.symbols[0], row.symbols[1])}</a>
                        <small>{text::short_pool(&row.pool.to_string())}</small>{problem}</th>
                    <td class="number">{text::usd_exact(&row.size.to_string())}</td>
                    <td class="number">{gap}</td>
                </tr>
            }
        })
        .collect();
    view! {
        <PreviewNotice shown=preview/>
        <dl class="facts">
            <div><dt>"To sell"</dt><dd>{text::usd_exact(&total.size.to_string())}</dd></div>
            <div><dt>"Gap of everything"</dt><dd><b>{whole}</b></dd></div>
            <div><dt>"Gap of what can be filled"</dt><dd>{shown(total.filled_gap)}</dd></div>
            <div><dt>"Loses most"</dt><dd>{worst.unwrap_or_default()}</dd></div>
        </dl>
        <div class="wide" tabindex="0" role="group" aria-label="Table, scrolls sideways"><table>
            <thead><tr><th scope="col">"Exit"</th><th scope="col" class="number">"Size"</th><th scope="col" class="number">"Exit gap"</th></tr></thead>
            <tbody>{body}</tbody>
        </table></div>
        <p class="actions"><button type="button" on:click=move |_| super::evidence::download(&csv.read_value().clone().into_bytes(), "text/csv", "exits.csv")>"Export CSV"</button></p>
    }
}

/// Symbols are hostile text: quotation marks are doubled, and no cell begins a formula.
fn csv(rows: &[Row]) -> String {
    let cell = |text: &str| {
        let text = text.replace('"', "\"\"");
        let guard = if text.starts_with(['=', '+', '-', '@']) { "'" } else { "" };
        format!("\"{guard}{text}\"")
    };
    let mut out = String::from("pool,base,size_usd,exit_gap_pct,filled_usd,problem\n");
    for row in rows {
        let gap = row.gap.clone().unwrap_or_default();
        let problem = cell(row.problem.as_deref().unwrap_or_default());
        let base = cell(&row.symbols[0]);
        let _ = writeln!(out, "{},{base},{},{gap},{},{problem}", row.pool, row.size, row.filled);
    }
    out
}
