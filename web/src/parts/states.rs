//! Loading, empty and failed, which are different things; and how far a figure may be relied on.

use exitgap_api::Status;
use exitgap_client::ClientError;
use leptos::prelude::*;

/// Something is on its way.
#[component]
pub fn Loading(
    /// What.
    what: &'static str,
) -> impl IntoView {
    view! { <p class="loading" role="status">{format!("Loading {what}…")}</p> }
}

/// Nothing is there, and nothing is wrong.
#[component]
pub fn Empty(
    /// What is not there, and what to do.
    words: String,
) -> impl IntoView {
    view! { <p class="empty">{words}</p> }
}

/// It did not work.
#[component]
pub fn Failed(
    /// Why.
    error: ClientError,
) -> impl IntoView {
    let code = error.code().to_owned();
    let unreachable = matches!(error, ClientError::Transport { .. });
    let problem = error.into_problem();
    let remedy = match (&problem.hint, unreachable) {
        (Some(hint), _) => hint.clone(),
        (None, true) => "The service does not answer. Try again in a moment.".to_owned(),
        (None, false) => "Try again; if it stays so, the service is at fault.".to_owned(),
    };
    view! {
        <section class="failed" role="alert">
            <p><strong>{problem.detail}</strong></p>
            <p>{remedy}</p>
            <p class="code">{format!("code: {code}")}</p>
            <button type="button" on:click=|_| { let _ = window().location().reload(); }>
                "Load the page again"
            </button>
        </section>
    }
}

/// Live or preview, in one word.
#[component]
pub fn StatusTag(
    /// Which.
    status: Status,
) -> impl IntoView {
    match status {
        Status::Live => view! { <span class="tag live">"live"</span> },
        Status::Preview => view! { <span class="tag preview">"preview"</span> },
    }
}

/// Says, where it is so, that the figures of the page are not to be relied on.
#[component]
pub fn PreviewNotice(
    /// Whether it is so.
    #[prop(into)]
    shown: Signal<bool>,
) -> impl IntoView {
    view! {
        <Show when=move || shown.get()>
            <p class="preview-notice">
                <strong>"Preview."</strong>
                " These figures come from a chain that is not live. The method and its evidence are real; \
                 the prices are not to be relied on."
            </p>
        </Show>
    }
}
