//! Keys that go from one value of a chart to the next.

use leptos::ev::KeyboardEvent;

/// Where a key goes from `now` among values up to `last`; `None`: nowhere. The page does not scroll by a key that does.
pub fn next_by_key(event: &KeyboardEvent, now: Option<usize>, last: usize) -> Option<usize> {
    let next = match (event.key().as_str(), now) {
        ("Home", _) => 0,
        ("End", _) | ("ArrowLeft" | "ArrowRight", None) => last,
        ("ArrowLeft", Some(now)) => now.saturating_sub(1),
        ("ArrowRight", Some(now)) => (now + 1).min(last),
        _ => return None,
    };
    event.prevent_default();
    Some(next)
}
