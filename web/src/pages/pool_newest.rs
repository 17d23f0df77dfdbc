//! Which slot the page shows, how old it is by now, and whether a newer one was recorded meanwhile.

use core::time::Duration;

use exitgap_api::PublishedLadder;
use exitgap_client::Recorded;
use exitgap_core::series::Slot;
use leptos::leptos_dom::helpers::set_interval_with_handle;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::app::client;
use crate::text;

/// How often the age is told anew.
const TICK: Duration = Duration::from_secs(10);

/// Ticks between two questions for a newer slot.
const TICKS_ASKED: u32 = 3;

/// The age from which a newer slot may be there, s: a slot's length, and a little for reading it.
const MAY_BE_NEWER_S: u64 = Slot::SECONDS + 10;

/// What the service says of the newest slot.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Told {
    /// The newest recorded slot's instant, RFC 3339.
    slot: String,
    /// Slots after it that are missing.
    newer_missing: u64,
}

impl Told {
    fn of(published: &PublishedLadder) -> Self {
        let source = &published.answer.context.method.depth_source;
        Self {
            slot: source.slot_time.clone().unwrap_or_default(),
            newer_missing: source.newer_slots_missing.unwrap_or(0),
        }
    }
}

/// The slot that is shown. A newer one is offered, not put in its place: the reader may be reading.
#[component]
pub fn Newest(
    /// What is shown.
    recorded: StoredValue<Recorded>,
    /// Shows the newest instead.
    show: Callback<()>,
) -> impl IntoView {
    let fetched = js_sys::Date::now();
    let (told, set_told) = signal(recorded.with_value(|recorded| Told::of(&recorded.published)));
    let shown = told.get_untracked().slot;
    let age_then = recorded.with_value(|recorded| recorded.published.snapshot_age_s);
    let (age, set_age) = signal(age_then);
    let pool = recorded.with_value(|recorded| recorded.snapshot.observation().pool().clone());
    let client = client();
    let ticks = StoredValue::new(0_u32);
    let tick = move || {
        set_age.set(age_then.saturating_add(seconds_since(fetched)));
        ticks.update_value(|ticks| *ticks = ticks.wrapping_add(1));
        if ticks.get_value() % TICKS_ASKED != 0 || age.get_untracked() < MAY_BE_NEWER_S {
            return;
        }
        let (pool, client) = (pool.clone(), client.clone());
        // Nobody waits for it: what cannot be had now is asked for again.
        spawn_local(async move {
            if let Ok(published) = client.ladder(&pool, None, None).await {
                drop(set_told.try_set(Told::of(&published)));
            }
        });
    };
    if let Ok(timer) = set_interval_with_handle(tick, TICK) {
        on_cleanup(move || timer.clear());
    }
    let about = recorded.with_value(about);
    let slot = text::instant(&shown);
    let missing = {
        let shown = shown.clone();
        move || match told.get() {
            Told { slot, newer_missing: 1 } if slot == shown => {
                " The slot after it is missing.".to_owned()
            }
            Told { slot, newer_missing } if slot == shown && newer_missing > 0 => {
                format!(" The {newer_missing} slots after it are missing.")
            }
            _ => String::new(),
        }
    };
    let newer = move || {
        let newest = told.get().slot;
        (newest > shown).then(|| {
            view! {
                <p class="refused" role="status" id="newer">
                    {format!("A newer slot was recorded, {}. ", text::instant(&newest))}
                    <button type="button" class="small" on:click=move |_| show.run(())>"Show it"</button>
                </p>
            }
        })
    };
    view! {
        <p class="quiet" id="newest">
            {format!("Newest recorded slot {slot}, ")}{move || text::age(age.get())}{format!(" old; {about}")}{missing}
        </p>
        {newer}
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

/// The block it was read at, and how long the pool was observed.
fn about(recorded: &Recorded) -> String {
    let context = &recorded.published.answer.context;
    let days = context.days_observed.as_ref().map_or_else(String::new, ToString::to_string);
    let source = &context.method.depth_source;
    let block = text::instant(&source.block_time);
    format!("block {} of {block}. Days observed: {days}.", source.block_number)
}
