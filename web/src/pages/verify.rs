//! Verify a file: dropped, chosen or pasted. The file is never sent; of the log, tiles are fetched where
//! they prove that it continues what this browser kept.

use exitgap_api::{VerificationReport, check_name};
use exitgap_core::analytics::figure::MAX_FIGURE_BYTES;
use exitgap_core::evidence::Evidence;
use exitgap_core::tlog::VerifierKey;
use leptos::ev::DragEvent;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::{JsFuture, spawn_local};

use super::verify_report::{Found as FoundReport, report_found};
use crate::check;
use crate::local_storage::kept_keys;
use crate::parts::{Asking, Checks, Loading, PreviewNotice, Verdicts};
use crate::service::client;
use crate::told::Told;

/// A file that was read, or why it could not be.
type Given = Result<Vec<u8>, String>;

/// A file and the keys to check it by, once both are there.
type Asked = Option<(Vec<u8>, Vec<VerifierKey>)>;

/// What was found of what was given.
#[derive(Debug, Clone)]
enum Found {
    One(Box<FoundFile>),
    Report(FoundReport),
}

/// What a file was found to be.
#[derive(Debug, Clone)]
struct FoundFile {
    report: VerificationReport,
    keys: Vec<VerifierKey>,
    /// What became of comparing its log with what this browser kept.
    compared: String,
    /// What it says of itself.
    told: Told,
}

/// The page.
#[component]
pub fn VerifyPage() -> impl IntoView {
    let (given, set_given) = signal(None::<Given>);
    let (keys, set_keys) = signal(kept_keys());
    let parsed = Memo::new(move |_| parse_keys(&keys.read()));
    let found = Asking::new(
        move || Some((given.get()?.ok()?, parsed.get().ok()?)),
        |asked: Asked| {
            let client = client();
            async move {
                let (bytes, keys) = asked?;
                if let Some(report) = FoundReport::of(&bytes, &keys) {
                    return Some(Found::Report(report));
                }
                let evidence = Evidence::read(&bytes);
                let told = Told::of(&evidence);
                let (report, compared) = check::file(&client, &evidence, keys.clone()).await;
                Some(Found::One(Box::new(FoundFile { report, keys, compared, told })))
            }
        },
    );
    let found = move || {
        match (given.get(), parsed.get()) {
        (None, _) => view! { <p class="empty">"No file yet."</p> }.into_any(),
        (Some(Err(why)), _) => view! { <p class="failed" role="alert">{why}</p> }.into_any(),
        (Some(Ok(_)), Err(_)) => {
            view! { <p class="empty">"The file is there. It is checked as soon as the keys can be read."</p> }
                .into_any()
        }
        (Some(Ok(bytes)), Ok(keys)) => match found.answer(&Some((bytes, keys))) {
            Some(Some(Found::One(found))) => view! { <Report found=*found/> }.into_any(),
            Some(Some(Found::Report(found))) => report_found(&found).into_any(),
            _ => view! { <Loading what="what this browser kept, and checking"/> }.into_any(),
        },
    }
    };
    view! {
        <h1>"Verify a file"</h1>
        <p class="lead">"The file stays in this browser. Works offline once this page is loaded, but for one thing: that the file's \
            log continues the state of it that this browser kept."</p>
        <Take set_given=set_given/>
        <label for="keys">"Keys you trust, one per line (those this browser has kept are filled in)"</label>
        <textarea id="keys" rows="2" spellcheck="false" prop:value=move || keys.get()
            on:input=move |event| set_keys.set(event_target_value(&event))></textarea>
        {move || parsed.get().err().map(|why| view! { <p class="refused" role="alert">{why}</p> })}
        {found}
        <p class="quiet">
            {format!("{} checks are made: ", exitgap_core::evidence::CheckName::ALL.len())}
            {exitgap_core::evidence::CheckName::ALL.map(check_name).join(", ").replace('_', " ")}"."
        </p>
    }
}

/// Takes a file: dropped, chosen or pasted.
#[component]
fn Take(set_given: WriteSignal<Option<Given>>) -> impl IntoView {
    let read_file = move |file: web_sys::File| {
        if file.size() > MAX_BYTES_F64 {
            set_given.set(Some(Err(format!(
                "{} is larger than the {MAX_FIGURE_BYTES} bytes a report may have",
                file.name()
            ))));
            return;
        }
        spawn_local(async move {
            let bytes = JsFuture::from(file.array_buffer()).await;
            let bytes = bytes.map(|buffer| js_sys::Uint8Array::new(&buffer).to_vec());
            let given = bytes.map_err(|_| "the file could not be read".to_owned());
            // The reader may have gone on to another page by then.
            drop(set_given.try_set(Some(given)));
        });
    };
    let dropped = move |event: DragEvent| {
        event.prevent_default();
        let files = event.data_transfer().and_then(|data| data.files());
        if let Some(file) = files.and_then(|files| files.get(0)) {
            read_file(file);
        }
    };
    let chosen = move |event: leptos::ev::Event| {
        let input =
            event.target().and_then(|target| target.dyn_into::<web_sys::HtmlInputElement>().ok());
        if let Some(file) = input.and_then(|input| input.files()).and_then(|files| files.get(0)) {
            read_file(file);
        }
    };
    let pasted = move |event: leptos::ev::Event| {
        let text = event_target_value(&event);
        // A pasted text often ends with a line break that the file has not.
        let text = text.trim();
        let given = (!text.is_empty()).then(|| {
            let fits = text.len() <= MAX_FIGURE_BYTES;
            if fits {
                Ok(text.as_bytes().to_vec())
            } else {
                Err("the text is too long for a report".to_owned())
            }
        });
        set_given.set(given);
    };
    view! {
        <div class="drop" on:dragover=|event: DragEvent| event.prevent_default() on:drop=dropped>
            <p><label>"Evidence file, or a report of several " <input type="file" accept=".json,.jsonl,application/json" on:change=chosen/></label>
            " or drop it here."</p>
            <label for="pasted">"Or paste it"</label>
            <textarea id="pasted" rows="4" spellcheck="false" on:input=pasted></textarea>
        </div>
    }
}

/// [`MAX_FIGURE_BYTES`], as files tell their size.
#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
const MAX_BYTES_F64: f64 = MAX_FIGURE_BYTES as f64;

#[component]
fn Report(found: FoundFile) -> impl IntoView {
    let FoundFile { report, keys, compared, told } = found;
    let names: Vec<_> = keys.iter().map(|key| format!("{}+{}", key.name(), key.id())).collect();
    let trust = if names.is_empty() {
        "You trust no key: whose log it is was not checked.".to_owned()
    } else {
        format!("Trusts {}.", names.join(", "))
    };
    let preview = told.preview;
    let stated = report.claim.is_some();
    let checks = report.report.checks.clone();
    view! {
        <PreviewNotice shown=preview/>
        <Verdicts report=report trust=format!("{trust} {compared}") told=told/>
        {stated.then(|| view! {
            <p class="quiet" id="later">
                "Whether the slot was taken back later was not looked at: no file can tell. The evidence page of the server \
                 that recorded it asks."
            </p>
        })}
        <Checks checks=checks/>
    }
}

fn parse_keys(text: &str) -> Result<Vec<VerifierKey>, String> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            line.trim()
                .parse()
                .map_err(|error: exitgap_core::tlog::NoteError| format!("Key {number}: {error}"))
        })
        .collect()
}
