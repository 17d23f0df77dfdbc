//! What a sale brings in cash: amounts, route, minimum, and its check in this browser.

use exitgap_api::Problem;
use exitgap_api::operations::Operation;
use exitgap_client::ClientError;
use leptos::prelude::*;

use super::cash_plan::ShownPlan;
use super::exit_comparison::ExitQuery;
use crate::document::Document;
use crate::parts::LiveQuery;
use crate::service::client;
use crate::text;

/// The section for a request; nothing if the request is not valid, which the page says elsewhere.
#[component]
pub fn InCash(asked: Memo<Result<ExitQuery, Problem>>) -> impl IntoView {
    let found = LiveQuery::new(
        move || asked.get(),
        |asked| {
            let client = client();
            async move { client.get_document::<Document>(&asked?.cash_target()).await }
        },
    );
    move || {
        asked.get().ok()?;
        let answer = found.answer(&asked.get())?;
        Some(view! {
            <section id="in-cash">
                <h2>{move || asked.get().map_or_else(|_| String::new(), |asked| asked.cash_title())}</h2>
                {match answer {
                    Ok(cash) => render_cash(&cash),
                    Err(error) => render_refusal(error),
                }}
            </section>
        })
    }
}

fn render_cash(cash: &Document) -> AnyView {
    let none = cash.text("cash").is_some().then(|| {
        view! { <p class="standing warn">"No cash tokens are configured for this chain, so the sale may end in any token."</p> }
    });
    let plan = ShownPlan {
        plan: cash,
        not_counted: cash.text_list("not_counted"),
        file: Operation::CashFile,
        id: "cash".to_owned(),
    };
    view! { {none}{plan.render()} }.into_any()
}

/// Why there is no answer. What the form is at fault for, the page says below.
fn render_refusal(error: ClientError) -> AnyView {
    let ClientError::Refused(refused) = error else {
        return view! { <p class="quiet">"The route into cash could not be loaded."</p> }
            .into_any();
    };
    let detail = text::grouped_within(&refused.detail);
    view! { <p class="standing warn" id="no-cash">{format!("{detail}.")}</p> }.into_any()
}
