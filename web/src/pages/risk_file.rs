//! The report as one file that proves itself: the evidence of its worst slots and its figures, a line each, for `exitgap verify`.

use exitgap_api::operations::Operation;
use exitgap_client::{Browser, Client, ClientError, EvidenceOf};
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use super::risk_figures::Report;
use super::risk_tables::worst_proofs;
use crate::document::Document;
use crate::download::download;
use crate::service::client;

/// How the gathering stands.
#[derive(Clone)]
enum State {
    NotAsked,
    At(usize, usize),
    Done(usize),
    Failed(String),
}

/// What the file is made of.
#[derive(Clone)]
pub struct Parts {
    figures: Vec<(Operation, String)>,
    evidence: Vec<EvidenceOf>,
}

impl Parts {
    /// The figures of a report, and the evidence of its worst slots.
    pub fn of(report: &Report) -> Self {
        let figure =
            |operation: Operation, of: &Document| Some((operation, of.text("figure_url")?));
        let decays = report.pools.iter().filter_map(|one| one.decay.as_ref());
        let decays = decays.filter_map(|decay| figure(Operation::DecayFile, decay));
        let exposure = figure(Operation::ExposureFile, &report.exposure);
        Self {
            figures: exposure.into_iter().chain(decays).collect(),
            evidence: worst_proofs(report),
        }
    }

    fn count(&self) -> usize {
        self.figures.len() + self.evidence.len()
    }

    /// One file after the other, a line each.
    async fn gathered(
        &self,
        client: &Client<Browser>,
        told: impl Fn(usize),
    ) -> Result<Vec<u8>, ClientError> {
        let (mut whole, mut count) = (Vec::new(), 0);
        let mut add = |file: Vec<u8>| {
            whole.extend(file);
            whole.push(b'\n');
            count += 1;
            told(count);
        };
        for (operation, url) in &self.figures {
            add(client.figure(*operation, url).await?);
        }
        for of in &self.evidence {
            add(client.evidence(of).await?);
        }
        Ok(whole)
    }
}

/// A button, and what came of it.
#[component]
pub fn WholeFile(
    /// What it is made of.
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
            let came = match parts.gathered(&service, told).await {
                Ok(whole) => {
                    download(&whole, "application/jsonl", "risk.jsonl");
                    State::Done(all)
                }
                Err(error) => State::Failed(error.to_string()),
            };
            // The reader may have gone on to another page by then.
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
        State::Done(all) => view! {
            {format!("{all} files, a line each: ")}<code>"exitgap verify risk.jsonl --trust verifier-key --snapshots <this service>"</code>
        }
        .into_any(),
        State::Failed(why) => view! { <span class="failed">{why}</span> }.into_any(),
    }
    };
    view! {
        <button type="button" id="whole-file" on:click=gather>"Take it away with its proofs"</button>
        <span class="quiet" role="status">{said}</span>
    }
}
