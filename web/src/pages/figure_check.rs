//! A figure drawn from many snapshots, computed again in this browser.

use exitgap_client::{Browser, Client, ClientError};
use exitgap_core::analytics::figure::{FigureReport, is_figure_file};
use exitgap_core::evidence::{Outcome, Verdict};
use exitgap_core::tlog::VerifierKey;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::local_storage::kept_keys;
use crate::service::client;

/// How a check stands.
#[derive(Clone)]
enum State {
    NotAsked,
    At(usize, usize),
    Found(FigureReport, bool),
    Failed(String),
}

/// A button, and what came of it.
#[component]
pub fn CheckedFigure<F, R>(
    /// What it is, for the reader.
    what: &'static str,
    /// Fetches its file.
    fetch: F,
) -> impl IntoView
where
    F: Fn() -> R + Clone + 'static,
    R: Future<Output = Result<Vec<u8>, ClientError>> + 'static,
{
    let (state, set) = signal_local(State::NotAsked);
    let service = client();
    let check = move |_| {
        set.set(State::At(0, 0));
        let (file, service) = (fetch(), service.clone());
        spawn_local(async move {
            let found =
                found(&service, file, move |seen, all| drop(set.try_set(State::At(seen, all))))
                    .await;
            // The reader may have gone on to another page by then.
            drop(set.try_set(match found {
                Ok((report, kept)) => State::Found(report, kept),
                Err(error) => State::Failed(error),
            }));
        });
    };
    let said = move || match state.get() {
        State::NotAsked => view! { <p class="quiet">"Not checked here."</p> }.into_any(),
        State::At(_, 0) => view! { <p role="status">"Fetching the figure's file …"</p> }.into_any(),
        State::At(seen, all) => view! {
            <p role="status"><progress max=all.to_string() value=seen.to_string()></progress>
                {format!(" {seen} of {all} snapshots")}</p>
        }
        .into_any(),
        State::Failed(why) => view! { <p class="failed" role="alert">{why}</p> }.into_any(),
        State::Found(report, kept) => shown(&report, kept),
    };
    view! {
        <div class="checked-figure" id=format!("check-{what}")>
            <button type="button" on:click=check>"Compute it again in this browser"</button>
            <div aria-live="polite">{said}</div>
        </div>
    }
}

/// What was found, and whether by keys that this browser had kept before.
async fn found(
    client: &Client<Browser>,
    file: impl Future<Output = Result<Vec<u8>, ClientError>>,
    told: impl FnMut(usize, usize),
) -> Result<(FigureReport, bool), String> {
    let words = |error: ClientError| error.to_string();
    let file = file.await.map_err(words)?;
    if !is_figure_file(&file) {
        return Err("The service sent no figure file.".to_owned());
    }
    let kept = kept_keys();
    let own = !kept.is_empty();
    let named = if own { kept } else { client.verifier_key().await.map_err(words)? };
    let keys: Vec<VerifierKey> =
        named.lines().filter_map(|line| line.trim().parse().ok()).collect();
    let report = client.verify_figure(&file, &keys, told).await.map_err(words)?;
    Ok((report, own))
}

fn shown(report: &FigureReport, kept: bool) -> AnyView {
    let whose = if kept {
        "by the key that this browser keeps"
    } else {
        "by the key that the service names today: this browser has kept none yet"
    };
    match report.verdict {
        Verdict::Valid => {
            let snapshots = report
                .checks
                .iter()
                .find(|check| check.code == "ok" && check.found.ends_with("snapshots"));
            let many =
                snapshots.map_or(String::new(), |check| format!("{}, each hashed; ", check.found));
            view! {
                <p class="confirmed">{format!("Confirmed by this browser: it follows from {many}none was left out of the signed heads, {whose}.")}</p>
            }
            .into_any()
        }
        verdict => {
            let rows: Vec<_> = report
                .checks
                .iter()
                .filter(|check| check.outcome != Outcome::Pass)
                .map(|check| view! { <li>{format!("{}: expected {}, found {}", check.code, check.expected, check.found)}</li> })
                .collect();
            let words = if verdict == Verdict::Invalid {
                "It does not hold."
            } else {
                "Not everything could be checked."
            };
            view! { <div class="refused" role="alert"><p>{words}</p><ul>{rows}</ul></div> }
                .into_any()
        }
    }
}
