//! The size in the box: answers follow every change, and the address is updated once the reader pauses.

use core::time::Duration;

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{query_signal_with_options, use_query_map};

use crate::parts::debounce_value;

/// The default size.
const DEFAULT: &str = "100000";

/// How long the reader must pause before the address is updated and the service is asked.
pub const PAUSE: Duration = Duration::from_millis(400);

/// How a control changes the address: without a new history entry.
pub fn in_place() -> NavigateOptions {
    NavigateOptions { scroll: false, replace: true, ..NavigateOptions::default() }
}

/// The text of the box, and its setter.
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
    // Handles navigation through the history, and links to this page.
    Effect::new(move || {
        let now = in_address.get();
        if now != written.get_value() {
            written.set_value(now.clone());
            set_text.set(now);
        }
    });
    (typed, set_text)
}
