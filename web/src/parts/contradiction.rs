//! Two signed states that exclude each other: shown prominently, and offered as a file to pass on.

use exitgap_api::Contradiction;
use leptos::prelude::*;

use crate::browser::download;
use crate::service::client;

/// A rewritten history, with the proof.
#[component]
pub fn Rewritten(
    /// The two states.
    found: Contradiction,
) -> impl IntoView {
    let log = format!("{}/log", client().known_web());
    let proof = StoredValue::new(document_of(&found, &log));
    let [seen, shown] = found.checkpoints;
    view! {
        <section class="failed" role="alert">
            <h2>"This log's history was rewritten"</h2>
            <p>{format!("Two signed versions of the log contradict each other: {}.", found.proves)}</p>
            <p class="actions">
                <button type="button" on:click=move |_| {
                    download(proof.read_value().as_bytes(), "application/json", "rewritten-history.json");
                }>"Download the proof"</button>
                <span class="quiet">
                    "Keep the file and share it. It contains both versions as they were signed. If their sizes \
                     differ, also copy the log's tiles: "<code>{log}</code>
                </span>
            </p>
            <h3>"Version this browser saw before"</h3><pre>{seen}</pre>
            <h3>"Version shown now"</h3><pre>{shown}</pre>
        </section>
    }
}

/// The proof as a document for others.
fn document_of(found: &Contradiction, log: &str) -> String {
    let [seen, shown] = &found.checkpoints;
    let noticed = String::from(js_sys::Date::new_0().to_iso_string());
    let rows = [
        ("log", log),
        ("proves", found.proves.as_str()),
        ("checkpoint_seen_before", seen.as_str()),
        ("checkpoint_shown_now", shown.as_str()),
        ("noticed_at", noticed.as_str()),
    ];
    let rows = rows.map(|(name, text)| {
        // A text always has a JSON form.
        let json = js_sys::JSON::stringify(&text.into()).map(String::from).unwrap_or_default();
        format!("  \"{name}\": {json}")
    });
    format!("{{\n{}\n}}\n", rows.join(",\n"))
}
