//! What this deployment can do.

use exitgap_api::{Capability, CapabilityStatus, ChainCapability};
use leptos::prelude::*;

use crate::parts::{Asking, Failed, Loading};
use crate::service::client;

/// The page.
#[component]
pub fn CapabilitiesPage() -> impl IntoView {
    let found = Asking::new(
        || (),
        |()| {
            let client = client();
            async move { client.capabilities().await }
        },
    );
    let retry = found.again();
    view! {
        <h1>"Capabilities"</h1>
        <p class="lead">"Live: on recorded data of live chains. Preview: built and usable, on preview data. Roadmap: specified, and not built."</p>
        {move || match found.answer(&()) {
            None => view! { <Loading what="the capabilities"/> }.into_any(),
            Some(Err(error)) => view! { <Failed error=error retry=retry/> }.into_any(),
            Some(Ok(list)) => {
                let chains: Vec<_> = list.chains.into_iter().map(chain).collect();
                let rows: Vec<_> = list.capabilities.into_iter().map(row).collect();
                view! {
                    <ul>{chains}</ul>
                    <div class="wide" tabindex="0" role="group" aria-label="Table, scrolls sideways"><table>
                        <thead><tr><th scope="col">"Capability"</th><th scope="col">"Status here"</th><th scope="col">"Where"</th><th scope="col">"Gated by"</th></tr></thead>
                        <tbody>{rows}</tbody>
                    </table></div>
                }
                .into_any()
            }
        }}
    }
}

fn row(one: Capability) -> impl IntoView {
    let (class, word) = match one.status {
        CapabilityStatus::Live => ("tag live", "live"),
        CapabilityStatus::Preview => ("tag preview", "preview"),
        CapabilityStatus::Roadmap => ("tag", "roadmap"),
    };
    let live_on = match one.live_on.as_slice() {
        [] => String::new(),
        chains => format!(" on {}", chains.join(", ")),
    };
    view! {
        <tr><th scope="row">{one.capability}</th><td><span class=class>{word}</span>{live_on}</td><td>{one.place}</td><td>{one.gated_by.join(", ")}</td></tr>
    }
}

/// How a chain stands, and why.
fn chain(one: ChainCapability) -> impl IntoView {
    let stands = match one.not_live_because {
        None => "live".to_owned(),
        Some(why) => format!("not live: {why}"),
    };
    view! { <li>{one.chain}": "{stands}</li> }
}
