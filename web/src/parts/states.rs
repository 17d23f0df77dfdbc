//! Loading, empty and failed states, which are different things; and the status of a figure.

use core::time::Duration;

use exitgap_api::{Problem, ProblemCode, Status};
use exitgap_client::ClientError;
use leptos::prelude::*;

use crate::browser::has_kept_keys;
use crate::text;

/// A loading notice.
#[component]
pub fn LoadingNotice(
    /// What is loading.
    what: &'static str,
) -> impl IntoView {
    view! { <p class="loading" role="status">{format!("Loading {what}…")}</p> }
}

/// Content below the visible part: rendered a moment later in a separate task, so that the page stays responsive.
pub fn soon(shown: impl Fn() -> AnyView + Send + 'static) -> impl IntoView {
    let (is_time, set) = signal(false);
    let now = move || {
        let _ = set.try_set(true);
    };
    set_timeout(now, Duration::ZERO);
    move || is_time.get().then(&shown)
}

/// A notice that there is nothing, without an error.
#[component]
pub fn Empty(
    /// What is missing, and what to do.
    words: String,
) -> impl IntoView {
    view! { <p class="empty">{words}</p> }
}

/// A notice that a request failed, or that it must be changed.
#[component]
pub fn FailureNotice(
    /// Why.
    error: ClientError,
    /// Repeats the request; without it, the page is reloaded.
    #[prop(optional)]
    retry: Option<Callback<()>>,
) -> impl IntoView {
    if is_wrong(&error) {
        return view! { <RefusalNotice problem=error.into_problem()/> }.into_any();
    }
    let told = describe_failure(error);
    let (words, again): (_, Box<dyn FnMut(leptos::ev::MouseEvent)>) = match retry {
        Some(retry) => ("Try again", Box::new(move |_| retry.run(()))),
        None => ("Reload the page", Box::new(|_| drop(window().location().reload()))),
    };
    view! {
        <section class="failed" role="alert">
            <p><strong>{told.headline}</strong></p>
            <p>{told.remedy}</p>
            <p class="code">{told.code}</p>
            <button type="button" on:click=again>{words}</button>
        </section>
    }
    .into_any()
}

/// Whether the request itself is at fault, so that repeating it gives the same result.
fn is_wrong(error: &ClientError) -> bool {
    match error {
        ClientError::Problem(_) => true,
        ClientError::Refused(problem) => matches!(problem.status, 400 | 404 | 422),
        _ => false,
    }
}

/// The message about a failure, for people.
struct FailureMessage {
    headline: String,
    remedy: String,
    code: String,
}

/// The remedy for a failure of the service.
const AGAIN: &str = "Try again. If it keeps failing, the problem is on the service's side.";

fn describe_failure(error: ClientError) -> FailureMessage {
    let code = error.code().to_owned();
    if let ClientError::NoDocument { status, .. } = error {
        return FailureMessage {
            headline: format!("The service is unavailable (HTTP {status})."),
            remedy: AGAIN.to_owned(),
            code: format!("code: {code} ({error})"),
        };
    }
    match error {
        ClientError::NotTrusted { why, .. } if has_kept_keys() => {
            FailureMessage {
                headline: "The log is not signed by the key that this browser has kept since its first visit."
                    .to_owned(),
                remedy: "Either the operator changed the key, which they should have announced with the old one, or \
                    another server answers in their place. This browser trusts none of its data. Ask the operator."
                    .to_owned(),
                code: format!("code: {code} ({why})"),
            }
        }
        ClientError::Newer { newer, .. } => FailureMessage {
            headline: "This was made by a newer version of exitgap; update to check it.".to_owned(),
            remedy: "It is neither confirmed nor wrong. Reload the page to get this server's newest program. If this message \
                stays, verify with a newer program from another source."
                .to_owned(),
            code: format!("code: {code} ({newer})"),
        },
        ClientError::KeptUnusable { .. } => FailureMessage {
            headline: "The log version stored in this browser cannot be compared with the log.".to_owned(),
            remedy: "The stored version is neither trusted nor deleted. If it was damaged, clear this site's data. This \
                visit then counts as the first."
                .to_owned(),
            code: format!("code: {code} ({error})"),
        },
        ClientError::Transport { error, .. } => FailureMessage {
            headline: "The service does not answer.".to_owned(),
            remedy: "Check that this device is online, then try again.".to_owned(),
            code: format!("code: {code} ({error})"),
        },
        other => {
            let problem = other.into_problem();
            let remedy = problem.hint.unwrap_or_else(|| AGAIN.to_owned());
            let headline = text::grouped_within(&problem.detail);
            FailureMessage { headline, remedy, code: format!("code: {code}") }
        }
    }
}

/// A notice that the request has no answer, and that repeating it does not help.
#[component]
pub fn RefusalNotice(
    /// Why.
    problem: Problem,
) -> impl IntoView {
    // A message about an invalid size is complete without a heading.
    let of_size = problem.code == ProblemCode::InvalidParameter
        && problem.field.as_deref() == Some("size_usd");
    let of_pool = matches!(problem.code, ProblemCode::InvalidPool | ProblemCode::UnknownPool);
    view! {
        <div class="refused" role="status">
            {(!of_size).then(|| view! { <p><strong>{problem.code.title()}</strong></p> })}
            <p>{text::grouped_within(&problem.detail)}</p>
            {problem.hint.map(|hint| view! { <p>{text::grouped_within(&hint)}</p> })}
            {of_pool.then(|| view! { <p><a href="/">"All pools"</a></p> })}
        </div>
    }
}

/// A notice about the part of the address that was not understood, and what is shown instead.
pub fn not_understood(words: String) -> AnyView {
    view! { <p class="refused" role="status">{words}</p> }.into_any()
}

/// The status in one word: live or preview.
#[component]
pub fn StatusTag(
    /// The status.
    status: Status,
) -> impl IntoView {
    match status {
        Status::Live => view! { <span class="tag live">"live"</span> },
        Status::Preview => view! { <span class="tag preview">"preview"</span> },
    }
}

/// A notice, if applicable, that the figures on the page should not be relied on.
#[component]
pub fn PreviewNotice(
    /// Whether to show it.
    #[prop(into)]
    shown: Signal<bool>,
) -> impl IntoView {
    view! {
        <Show when=move || shown.get()>
            <p class="preview-notice">
                <strong>"Preview."</strong>
                " These figures come from a chain that is not live. The method and the evidence are real. \
                 Do not rely on the prices."
            </p>
        </Show>
    }
}
