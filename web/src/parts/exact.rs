//! A number as a person reads it, with all of its digits behind it.

use leptos::prelude::*;

/// What is shown, and what is exact: on hover, and as what the words are called to those who hear them.
pub fn exact(shown: String, digits: String) -> AnyView {
    if shown == digits {
        return shown.into_any();
    }
    view! { <span class="exact" title=digits>{shown}</span> }.into_any()
}
