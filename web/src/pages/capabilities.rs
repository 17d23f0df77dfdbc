//! What this deployment can do.

use exitgap_api::{Capability, CapabilityStatus};
use leptos::prelude::*;

use crate::app::client;
use crate::parts::{Asking, Failed, Loading};

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
                let rows: Vec<_> = list.capabilities.into_iter().map(row).collect();
                view! {
                    <div class="wide" tabindex="0" role="group" aria-label="Table, scrolls sideways"><table>
                        <thead><tr><th scope="col">"Capability"</th><th scope="col">"Status here"</th><th scope="col">"Where"</th></tr></thead>
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
    view! {
        <tr><th scope="row">{one.capability}</th><td><span class=class>{word}</span></td><td>{one.place}</td></tr>
    }
}
