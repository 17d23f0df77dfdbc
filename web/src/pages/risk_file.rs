//! The report as one self-proving file: the evidence of its worst slots and its figures, one per line, for
//! `exitgap verify`.

use exitgap_api::operations::Operation;
use exitgap_api::report_first_line;
use exitgap_client::{Browser, Client, ClientError, EvidenceOf};
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use super::risk::RiskAsked;
use super::risk_figures::{Report, known};
use super::risk_stress;
use super::risk_tables::worst_proofs;
use crate::browser::download;
use crate::document::Document;
use crate::parts::VerifyCommand;
use crate::service::client;

/// The state of the download.
#[derive(Clone)]
enum State {
    NotAsked,
    At(usize, usize),
    /// The number of files, and what the service does not provide.
    Done(usize, Vec<&'static str>),
    Failed(String),
}

/// The sources of the file.
#[derive(Clone)]
pub struct Parts {
    figures: Vec<(Operation, String)>,
    evidence: Vec<EvidenceOf>,
    /// The parts of the report without a figure.
    without: Vec<&'static str>,
    /// The request for the stress test.
    stress: RiskAsked,
}

/// A report as a file.
struct Whole {
    bytes: Vec<u8>,
    files: usize,
    /// The parts that are not in it, because the service may not provide them for a pool or period.
    without: Vec<&'static str>,
}

impl Parts {
    /// The figures of a report, and the evidence of its worst slots.
    pub fn from_report(report: &Report) -> Self {
        let figure =
            |operation: Operation, of: &Document| Some((operation, of.text("figure_url")?));
        let decays = report.pools.iter().filter_map(|one| one.decay.as_ref());
        let decays = decays.filter_map(|decay| figure(Operation::DecayFile, decay));
        let exposure = figure(Operation::ExposureFile, &report.exposure);
        let alone = report.pools.iter().filter_map(|one| one.alone.as_ref());
        let alone = alone.filter_map(|alone| figure(Operation::VenueStressFile, alone));
        let hours = report.pools.iter().filter(|one| one.closes());
        let hours = hours.filter_map(|one| figure(Operation::HoursFile, &one.hours));
        let by_no_figure = report.pools.iter().any(|one| one.alone.is_none());
        Self {
            figures: exposure.into_iter().chain(alone).chain(decays).chain(hours).collect(),
            evidence: worst_proofs(report),
            without: by_no_figure
                .then_some("some pools' own medians and counts")
                .into_iter()
                .collect(),
            stress: report.pinned_query(),
        }
    }

    fn count(&self) -> usize {
        self.figures.len() + self.evidence.len() + 1
    }

    /// A first line that lists the files, followed by the files, one per line.
    async fn fetch_files(
        &self,
        client: &Client<Browser>,
        told: impl Fn(usize),
    ) -> Result<Whole, ClientError> {
        let mut files = Vec::new();
        for (operation, url) in &self.figures {
            files.push(client.figure(*operation, url).await?);
            told(files.len());
        }
        let stress = self.stress(client).await?;
        let mut without = self.without.clone();
        if stress.is_none() {
            without.push("the stress test");
        }
        files.extend(stress);
        for of in &self.evidence {
            told(files.len());
            files.push(client.evidence(of).await?);
        }
        let mut bytes = report_first_line(&files).into_bytes();
        for file in &files {
            bytes.push(b'\n');
            bytes.extend(file);
        }
        bytes.push(b'\n');
        Ok(Whole { bytes, files: files.len(), without })
    }

    /// The stress test for exactly the report's period; `None` if the service does not provide it.
    async fn stress(&self, client: &Client<Browser>) -> Result<Option<Vec<u8>>, ClientError> {
        let told = known(client.get_document(&risk_stress::target(&self.stress)).await)?;
        let Some(url) = told.and_then(|told| told.text("figure_url")) else { return Ok(None) };
        client.figure(Operation::VenueStressFile, &url).await.map(Some)
    }
}

/// A button, and the result.
#[component]
pub fn WholeFile(
    /// The sources of the file.
    parts: Parts,
) -> impl IntoView {
    let (state, set) = signal_local(State::NotAsked);
    let all = parts.count();
    let service = client();
    let gather = move |_| {
        set.set(State::At(0, all));
        let (parts, service) = (parts.clone(), service.clone());
        spawn_local(async move {
            let told = move |seen| drop(set.try_set(State::At(seen, all)));
            let came = match parts.fetch_files(&service, told).await {
                Ok(whole) => {
                    download(&whole.bytes, "application/jsonl", "risk.jsonl");
                    State::Done(whole.files, whole.without)
                }
                Err(error) => State::Failed(error.to_string()),
            };
            // The reader may have left the page meanwhile.
            drop(set.try_set(came));
        });
    };
    let said = move || {
        match state.get() {
        State::NotAsked => ().into_any(),
        State::At(seen, all) => view! {
            <progress max=all.to_string() value=seen.to_string()></progress>{format!(" {seen} of {all} files")}
        }
        .into_any(),
        State::Done(files, without) => {
            let left_out = match without.join(" and ") {
                none if none.is_empty() => none,
                without => format!(", without {without} (not available for these pools or this period)"),
            };
            view! {
                <p>{format!("{files} files, one per line, after a first line that names them{left_out}. Verify all of them with:")}</p>
                <VerifyCommand file="risk.jsonl"/>
            }
        }
        .into_any(),
        State::Failed(why) => view! { <span class="failed">{why}</span> }.into_any(),
    }
    };
    view! {
        <button type="button" id="whole-file" on:click=gather>"Download with proofs"</button>
        <div class="quiet" role="status" id="whole-file-said">{said}</div>
        <p class="quiet" id="whole-file-holds">
            "The file with proofs contains the figures that the numbers of this report follow from, each with the hashes of its snapshots, \
             and the evidence of the worst slots. Named historical drops are not included."
        </p>
    }
}
