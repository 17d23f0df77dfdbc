//! The worst of a period, selected by two times or by dragging on the chart.

use exitgap_api::{Number, PoolBook, Stress};
use exitgap_core::units::SizeUsd;
use leptos::prelude::*;

use super::pool_history::Between;
use super::pool_series::{depth_view, least_fillable, published_gap, sale_href};
use crate::check::CheckState;
use crate::parts::{CheckedGap, link_evidence};
use crate::text;

/// The two times of a period, as entered.
#[component]
pub fn Period(
    /// The requested period; the whole series if there is none.
    period: ReadSignal<Between>,
    /// Sets it.
    set_period: WriteSignal<Between>,
) -> impl IntoView {
    let local = |time: &str| time.get(..16).unwrap_or_default().to_owned();
    let (typed_from, set_from) = signal(String::new());
    let (typed_to, set_to) = signal(String::new());
    let (wrong, set_wrong) = signal(false);
    Effect::new(move || {
        let (from, to) = period.get().unzip();
        set_from.set(from.as_deref().map(local).unwrap_or_default());
        set_to.set(to.as_deref().map(local).unwrap_or_default());
        set_wrong.set(false);
    });
    let apply = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let (from, to) = (typed_from.get(), typed_to.get());
        let whole = !from.is_empty() && !to.is_empty();
        set_wrong.set(!whole);
        if whole {
            set_period.set(Some((format!("{from}:00Z"), format!("{to}:00Z"))));
        }
    };
    view! {
        <form class="controls" on:submit=apply>
            <label>"From (UTC)" <input type="datetime-local" prop:value=move || typed_from.get()
                on:input=move |event| set_from.set(event_target_value(&event))/></label>
            <label>"To (UTC)" <input type="datetime-local" prop:value=move || typed_to.get()
                on:input=move |event| set_to.set(event_target_value(&event))/></label>
            <button type="submit">"Show the worst of this period"</button>
            <button type="button" class="small" on:click=move |_| set_period.set(None)>"Show whole series"</button>
        </form>
        <Show when=move || wrong.get()>
            <p class="refused" role="alert">"A period needs both times. Enter both, or show the whole series."</p>
        </Show>
    }
}

/// The worst gap and the lowest depth.
#[component]
pub fn Worst(
    /// The document from the service.
    stress: Stress,
    /// The size that is sold.
    size: SizeUsd,
    /// The symbol of the token that is sold: untrusted text.
    sells: Memo<String>,
) -> impl IntoView {
    let of = format!("{} to {}", text::instant(&stress.of.from), text::instant(&stress.of.to));
    let sells = sells.get_untracked();
    let sold = format!("Worst gap, {} of {sells}", text::usd(&size.to_string()));
    let gap = match &stress.worst_gap {
        None if stress.slots_refused > 0 => {
            "none: no recorded slot could fill this size".into_any()
        }
        None => "none in this period".into_any(),
        Some(point) => {
            let when = text::instant(&point.time);
            let inside = stress.of.from <= point.time && point.time <= stress.of.to;
            let published = published_gap(point, &stress.of, size).filter(|_| inside);
            match published {
                Some(published) => {
                    let standing = RwSignal::new(CheckState::NotChecked);
                    view! { <CheckedGap published=published standing=standing alone=true/>{format!(" at {when}")} }
                        .into_any()
                }
                None => "none".into_any(),
            }
        }
    };
    let depth = stress.lowest_depth.map_or_else(
        || "none".into_any(),
        |point| {
            let when = format!(" at {}", text::instant(&point.time));
            let note = point.reading.depth_note.clone();
            let note = note.map(|note| view! { <small class="note">{note}</small> });
            view! { {depth_view(&point, &stress.of)}{when}{note} }.into_any()
        },
    );
    let [gap_book, depth_book] = [&stress.worst_gap_book, &stress.lowest_depth_book]
        .map(|book| book.as_ref().map(|book| view! { <small>{held(book)}</small> }));
    let slots = format!(
        "{} recorded, {} missing, {} retracted",
        stress.slots_recorded, stress.slots_missing, stress.slots_retracted
    );
    let refused = (stress.slots_refused > 0).then(|| {
        let least = least_fillable(stress.least_fillable.as_ref());
        let words = format!("{} recorded slots{least}", stress.slots_refused);
        let point = stress.least_fillable.as_ref();
        let size = stress.of.size_usd.as_str();
        let words = link_evidence(words, point.and_then(|point| sale_href(&stress.of, point.slot, size)));
        view! { <div><dt>"Slots that could not fill this size"</dt><dd id="refused">{words}</dd></div> }
    });
    view! {
        <dl class="facts stress">
            <div><dt>"Period"</dt><dd>{of}</dd></div>
            <div><dt>{sold}</dt><dd>{gap}{gap_book}</dd></div>
            {refused}
            <div><dt>"Lowest depth at 2%"</dt><dd>{depth}{depth_book}</dd></div>
            <div><dt>"Slots"</dt><dd>{slots}</dd></div>
        </dl>
    }
}

/// The pool's depth around its own price: whether liquidity was removed, or the price had moved away from it.
fn held(book: &PoolBook) -> String {
    let usd = book
        .book_usd
        .as_ref()
        .map_or_else(|| "not known".to_owned(), |usd| text::usd(usd.as_str()));
    let held = format!("{usd} within 2% of the pool's own price");
    match book.basis_pct.as_ref().map(Number::as_str) {
        Some(basis) if basis.starts_with('-') => {
            format!("{held}, {} above the oracle", text::percent(&basis[1..]))
        }
        Some(basis) => format!("{held}, {} below the oracle", text::percent(basis)),
        None => held,
    }
}
