//! The size in the box: answered at once, and kept in the address once the reader pauses.

use core::time::Duration;

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{query_signal_with_options, use_query_map};

use crate::parts::debounce_value;

/// What is sold where the address says nothing.
const DEFAULT: &str = "100000";

/// How long the reader must pause before the address is changed, and the service asked, too.
pub const PAUSE: Duration = Duration::from_millis(400);

/// How a control of the page changes the address: without a step to go back to.
pub fn in_place() -> NavigateOptions {
    NavigateOptions { scroll: false, replace: true, ..NavigateOptions::default() }
}

/// The text of the box, and what sets it.
pub fn size_box() -> (Memo<String>, WriteSignal<String>) {
    let query = use_query_map();
    let (_, set_address) = query_signal_with_options::<String>("size_usd", in_place());
    let in_address =
        Memo::new(move |_| query.read().get("size_usd").unwrap_or_else(|| DEFAULT.to_owned()));
    let (text, set_text) = signal(in_address.get_untracked());
    let typed = Memo::new(move |_| text.get());
    let rested = debounce_value(typed, PAUSE);
    let written = StoredValue::new(in_address.get_untracked());
    Effect::new(move || {
        let now = rested.get();
        if now != written.get_value() {
            written.set_value(now.clone());
            set_address.set(Some(now));
        }
    });
    // The way back and forth through the history, and links to this page.
    Effect::new(move || {
        let now = in_address.get();
        if now != written.get_value() {
            written.set_value(now.clone());
            set_text.set(now);
        }
    });
    (typed, set_text)
}
