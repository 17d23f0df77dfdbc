//! The capabilities of this deployment.

use exitgap_api::{Capability, CapabilityStatus, ChainCapability};
use leptos::prelude::*;

use crate::parts::{FailureNotice, LiveQuery, LoadingNotice, Row, Table, words};
use crate::service::client;

/// The page.
#[component]
pub fn CapabilitiesPage() -> impl IntoView {
    let found = LiveQuery::new(
        || (),
        |()| {
            let client = client();
            async move { client.capabilities().await }
        },
    );
    let retry = found.again();
    view! {
        <h1>"Capabilities"</h1>
        <p class="lead">"Live: runs on recorded data of live chains. Preview: built and usable, on preview data. Roadmap: specified, not built yet."</p>
        {move || match found.answer(&()) {
            None => view! { <LoadingNotice what="the capabilities"/> }.into_any(),
            Some(Err(error)) => view! { <FailureNotice error=error retry=retry/> }.into_any(),
            Some(Ok(list)) => {
                let chains: Vec<_> = list.chains.into_iter().map(chain).collect();
                let rows = list.capabilities.into_iter().map(row).collect();
                let columns = ["Status here", "Where", "Gated by"].map(words).into();
                view! {
                    <ul>{chains}</ul>
                    <Table class="capabilities" first="Capability" columns=columns rows=rows/>
                }
                .into_any()
            }
        }}
    }
}

fn row(one: Capability) -> Row {
    let class = match one.status {
        CapabilityStatus::Live => "tag live",
        CapabilityStatus::Preview => "tag preview",
        CapabilityStatus::Roadmap => "tag",
    };
    let live_on = match one.live_on.as_slice() {
        [] => String::new(),
        chains => format!(" on {}", chains.join(", ")),
    };
    let status = view! { <span class=class>{one.status.code()}</span>{live_on} }.into_any();
    let cells = vec![status, one.place.into_any(), one.gated_by.join(", ").into_any()];
    (one.capability.into_any(), cells)
}

/// The status of a chain, with the reason.
fn chain(one: ChainCapability) -> impl IntoView {
    let stands = match one.not_live_because {
        None => "live".to_owned(),
        Some(why) => format!("not live: {why}"),
    };
    view! { <li>{one.chain}": "{stands}</li> }
}
