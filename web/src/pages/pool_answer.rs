//! The exit of the entered size, computed here and compared with the service's answer.

use exitgap_api::{
    Amounts, DepthWeek, ExitResult, Number, OracleState, Problem, ProblemCode, PublishedExit,
    TokenLabel,
};
use exitgap_client::{ClientError, FetchedSnapshot};
use exitgap_core::units::{Percent, SizeUsd};
use leptos::prelude::*;

use super::pool::{base_name, evidence_of};
use super::pool_size::PAUSE;
use crate::parts::size_asked;
use crate::parts::{Conditions, LiveQuery, RefusalNotice, Split, debounce_value, exact};
use crate::paths::evidence_href;
use crate::service::client;
use crate::text;

/// The section.
#[component]
pub fn Answer(
    /// The pool's snapshot.
    recorded: StoredValue<FetchedSnapshot>,
    /// The token that is sold.
    base: Memo<usize>,
    /// The text of the size box.
    size: Memo<String>,
) -> impl IntoView {
    let asked = Memo::new(move |_| (base.get(), size_asked(&size.read())));
    let computed = Memo::new(move |_| {
        let (base, size) = asked.get();
        recorded.read_value().estimate(size?, Some(base_name(base)))
    });
    // Prepare the request before the first wait: the reader may leave the page meanwhile.
    let (pool, at) = recorded.with_value(|recorded| {
        (recorded.snapshot.observation().pool().clone(), recorded.snapshot.slot().to_string())
    });
    let rested = debounce_value(asked, PAUSE);
    let served = LiveQuery::new(
        move || rested.get(),
        move |(base, size)| {
            let (pool, at, client) = (pool.clone(), at.clone(), client());
            async move { client.exit(&pool, size?, Some(base_name(base)), Some(&at)).await }
        },
    );
    // For the pool's default base it came with the snapshot, for the other token with the answer.
    let default = recorded.with_value(|recorded| {
        let published = &recorded.published;
        let lows = (published.lowest_depth_7d_usd.clone(), published.week.clone());
        (recorded.default_direction.base_index(), lows)
    });
    let lowest = Signal::derive(move || match served.answer(&asked.get()) {
        Some(Ok(served)) => (served.lowest_depth_7d_usd, served.week),
        _ if default.0 == base.get() => default.1.clone(),
        _ => (None, DepthWeek::default()),
    });
    let agreed = move || {
        let served = served.answer(&asked.get());
        match computed.get() {
            Ok(ours) => agreement(&ours, served),
            Err(ours) if ours.code.has_evidence() => {
                let size = asked.get().1.ok().map(|size| size.to_string());
                let evidence =
                    size.and_then(|size| evidence_of(&recorded.read_value(), base.get(), &size));
                agreed_refusal(&ours, served, evidence)
            }
            Err(_) => ().into_any(),
        }
    };
    view! {
        <section class="answer" aria-live="polite">
            {move || match computed.get() {
                Ok(result) => view! { <Result result=result lowest=lowest/> }.into_any(),
                Err(problem) => view! { <RefusalNotice problem=problem/> }.into_any(),
            }}
            <p class="agreement">{agreed}</p>
        </section>
    }
}

/// The service's answer to exactly this request.
type ServiceAnswer = Option<Result<PublishedExit, ClientError>>;

/// Whether the service returns the same. Only an answer to exactly this request is compared.
fn agreement(ours: &ExitResult, served: ServiceAnswer) -> AnyView {
    match served {
        None => render_pending(),
        Some(Ok(theirs)) if ours.figures == theirs.answer.figures => {
            let evidence = theirs.evidence_url.as_deref().and_then(evidence_href).map(|href| {
                view! { <a href=href>"Open the evidence"</a> }
            });
            view! {
                <span class="standing pass">"Computed in this browser. The service returned the same value, to the last digit."</span>
                " "{evidence}
            }
            .into_any()
        }
        Some(Ok(theirs)) => differs(
            &format!("{}%", theirs.answer.figures.exit_gap_pct),
            &format!("{}%", ours.figures.exit_gap_pct),
        ),
        Some(Err(error)) => render_failure(&error),
    }
}

/// The same for a size that cannot be filled.
fn agreed_refusal(ours: &Problem, served: ServiceAnswer, evidence: Option<String>) -> AnyView {
    let theirs = match served {
        None => return render_pending(),
        Some(Ok(theirs)) => {
            return differs(&format!("{}%", theirs.answer.figures.exit_gap_pct), &ours.detail);
        }
        Some(Err(ClientError::Refused(theirs))) if is_provable(&theirs.code) => theirs,
        Some(Err(error)) => return render_failure(&error),
    };
    if theirs.code != ours.code.as_str() || theirs.max_fillable_usd != ours.max_fillable_usd {
        return differs(&theirs.detail, &ours.detail);
    }
    let evidence = evidence.map(|href| view! { <a href=href>"Open the evidence"</a> });
    view! {
        <span class="standing pass">"Computed in this browser. The service also reports that this size cannot be filled."</span>
        " "{evidence}
    }
    .into_any()
}

/// Whether there is evidence for a refusal with this code: only if it is about the size.
fn is_provable(code: &str) -> bool {
    ProblemCode::PROVABLE.iter().any(|provable| provable.as_str() == code)
}

fn render_pending() -> AnyView {
    view! { <span class="quiet">"Computed in this browser. Asking the service for comparison…"</span> }
        .into_any()
}

fn differs(theirs: &str, ours: &str) -> AnyView {
    let words = format!(
        "The service returned {theirs}, but this browser computed {ours}. Trust the snapshot, and tell the operator."
    );
    view! { <span class="standing fail" role="alert">{words}</span> }.into_any()
}

fn render_failure(error: &ClientError) -> AnyView {
    let words = format!("Computed in this browser. The service gave no answer: {error}");
    view! { <span class="standing warn">{words}</span> }.into_any()
}

#[component]
fn Result(result: ExitResult, lowest: Signal<(Option<Number>, DepthWeek)>) -> impl IntoView {
    let ExitResult { figures, context } = result;
    let dollars =
        |usd: Option<Number>| usd.map_or_else(|| "–".to_owned(), |usd| text::usd(usd.as_str()));
    let note = move || {
        lowest
            .get()
            .1
            .lowest_depth_7d_note
            .map(|note| view! { <small id="lowest-note">{note}</small> })
    };
    let book = move || dollars(lowest.get().1.lowest_book_7d_usd);
    let lowest = move || dollars(lowest.get().0);
    let Amounts {
        size_usd: size,
        exit_gap_pct: gap,
        split,
        realized_price_usd: realized,
        amount_in_raw,
        amount_out_raw,
        ..
    } = figures;
    let (magnitude, side) = text::split_gap(gap.as_str());
    let amount = |raw: &str, token: &TokenLabel| {
        let shown = |number: String| format!("{number} {}", token.symbol);
        exact(
            shown(text::tokens_read(raw, token.decimals)),
            shown(text::tokens(raw, token.decimals)),
        )
    };
    let (sold, bought) =
        (amount(&amount_in_raw, &context.base), amount(&amount_out_raw, &context.quote));
    let price = |price: &Number| {
        let of = |number: String| format!("{number} USD per {}", context.base.symbol);
        exact(of(text::price_read(price.as_str())), of(text::group_digits(price.as_str())))
    };
    let (realized, oracle) = (price(&realized), price(&context.oracle_price_usd));
    let lost = lost(size.as_str(), gap.as_str());
    let stale = match context.oracle_state {
        OracleState::Fresh => None,
        OracleState::HeldOverClose => {
            Some("The market is closed, and an oracle price is held over the close.")
        }
        OracleState::Stale => Some("An oracle price is older than its heartbeat."),
    };
    let stale = stale.map(|words| view! { <p class="standing warn">{words}</p> });
    let inexact = context.inexact_detail.as_ref().map(|detail| {
        view! { <p class="standing warn" id="inexact">{format!("Not exact: {detail}.")}</p> }
    });
    view! {
        <p class="headline"><b id="gap" title=text::percent(magnitude)>{text::percent_read(magnitude)}</b>{format!(" {side} the oracle price")}</p>
        {stale}
        {inexact}
        <Split split=split/>
        <dl class="facts">
            <div><dt>"Realized price"</dt><dd>{realized}</dd></div>
            <div><dt>"Oracle price"</dt><dd>{oracle}</dd></div>
            <div><dt>"Value received"</dt><dd id="lost">{lost}</dd></div>
            <div><dt>"Sells"</dt><dd>{sold}</dd></div>
            <div><dt>"Receives"</dt><dd>{bought}</dd></div>
            <div><dt>"Lowest depth at 2% in 7 days, from the oracle price (from the service)"</dt><dd><span id="lowest">{lowest}</span>{note}</dd></div>
            <div><dt>"Lowest depth at 2% in 7 days, from the pool's own price (from the service)"</dt><dd id="lowest-book">{book}</dd></div>
            <Conditions context=context/>
        </dl>
    }
}

/// The gap as an amount for this size, rounded half-even to the cent. It is a difference from the oracle value, which
/// may lag, and not necessarily a loss.
pub fn lost(size: &str, gap: &str) -> Option<String> {
    /// One cent, in micro-dollars times millionths of a percent.
    const CENT: i128 = 1_000_000_000_000;
    let (size, Percent(gap)) = (size.parse::<SizeUsd>().ok()?, Percent::parse(gap).ok()?);
    let exact = i128::from(size.micros()).checked_mul(gap.abs())?;
    let (whole, rest) = (exact / CENT, exact % CENT);
    let cents = whole + i128::from(rest * 2 + whole % 2 > CENT);
    let dollars = text::usd_exact(&format!("{}.{:02}", cents / 100, cents % 100));
    Some(format!("{dollars} {} the oracle value", if gap < 0 { "above" } else { "below" }))
}
