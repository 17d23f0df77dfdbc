//! The slot that the page shows, its current age, and whether a newer one was recorded meanwhile.

use core::time::Duration;

use exitgap_api::PublishedLadder;
use exitgap_client::FetchedSnapshot;
use leptos::leptos_dom::helpers::set_interval_with_handle;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::service::{client, on_sealed};
use crate::text;

/// How often the age is updated.
const TICK: Duration = Duration::from_secs(10);

/// The newest recorded slot's instant, according to the service, and the number of missing slots after it.
fn newest_of(published: &PublishedLadder) -> (String, u32) {
    let source = &published.answer.context.method.depth_source;
    let missing = source.newer_slots_missing.unwrap_or(0);
    (source.slot_time.clone().unwrap_or_default(), u32::try_from(missing).unwrap_or(u32::MAX))
}

/// The displayed slot. A newer one is offered, but does not replace it automatically, because the reader may be
/// reading.
#[component]
pub fn Newest(
    /// The displayed snapshot.
    recorded: StoredValue<FetchedSnapshot>,
    /// Shows the newest one instead.
    show: Callback<()>,
) -> impl IntoView {
    let fetched = js_sys::Date::now();
    let (shown, then_missing) = recorded.with_value(|recorded| newest_of(&recorded.published));
    let (newest, set_newest) = signal(shown.clone());
    let (ticks, missing) = (RwSignal::new(0_u32), RwSignal::new(then_missing));
    let age_then = recorded.with_value(|recorded| recorded.published.snapshot_age_s);
    let age = move || age_then.saturating_add(seconds_since(fetched));
    let pool = recorded.with_value(|recorded| recorded.snapshot.observation().pool().clone());
    let client = client();
    let tick = move || {
        if let Some(now) = ticks.try_get_untracked() {
            ticks.set(now.wrapping_add(1));
        }
    };
    let of_pool = pool.clone();
    on_sealed(Some(&of_pool), move || {
        let (pool, client) = (pool.clone(), client.clone());
        // A failure here does not matter: it is requested again with the next slot.
        spawn_local(async move {
            if let Ok(published) = client.ladder(&pool, None, None).await {
                let (slot, count) = newest_of(&published);
                drop(set_newest.try_set(slot));
                let _ = missing.try_set(count);
            }
        });
    });
    if let Ok(timer) = set_interval_with_handle(tick, TICK) {
        on_cleanup(move || timer.clear());
    }
    let about = recorded.with_value(about);
    let slot = text::instant(&shown);
    let aged = move || {
        ticks.track();
        text::age(age())
    };
    let after = move || match (newest.get() > shown, missing.get()) {
        (true, _) => {
            let words = format!("A newer slot was recorded, {}. ", text::instant(&newest.get()));
            view! {
                <p class="refused" role="status" id="newer">
                    {words}
                    <button type="button" class="small" on:click=move |_| show.run(())>"Show newer slot"</button>
                </p>
            }
            .into_any()
        }
        (false, 0) => ().into_any(),
        (false, some) => {
            let words = format!("Later slots that are missing or retracted: {some}.");
            view! { <p class="quiet">{words}</p> }.into_any()
        }
    };
    view! {
        <p class="quiet" id="newest">
            {format!("Newest recorded slot {slot}, ")}{aged}{format!(" old; {about}")}
        </p>
        {after}
    }
}

/// Whole seconds since an instant of this browser's clock, which may have been set back.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "cut on purpose, never negative"
)]
fn seconds_since(then_ms: f64) -> u64 {
    ((js_sys::Date::now() - then_ms) / 1_000.0).max(0.0) as u64
}

/// The block at which it was read, and how long the pool was observed.
fn about(recorded: &FetchedSnapshot) -> String {
    let context = &recorded.published.answer.context;
    let days = context.days_observed.as_ref().map_or_else(String::new, ToString::to_string);
    let source = &context.method.depth_source;
    let block = text::instant(&source.block_time);
    format!("block {} of {block}. Days observed: {days}.", source.block_number)
}
