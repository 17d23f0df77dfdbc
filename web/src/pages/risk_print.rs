//! The head of a printed report, in place of the form: its subject, its log, and when it was created.

use leptos::prelude::*;

use super::risk_figures::Report;
use crate::parts::LiveQuery;
use crate::service::client;
use crate::text;

/// The head of the printed page; the screen shows the form.
pub fn printed_head(report: &Report) -> impl IntoView + use<> {
    let service = client();
    let address = service.known_web().to_string();
    let key = LiveQuery::new(
        || (),
        move |()| {
            let service = service.clone();
            async move { service.verifier_key().await }
        },
    );
    let key = move || match key.answer(&()) {
        Some(Ok(key)) => format!("{key} (according to the service)"),
        Some(Err(error)) => format!("not known: {error}"),
        None => "loading".to_owned(),
    };
    let asked = &report.asked;
    let pools = report
        .pools
        .iter()
        .map(|one| view! { <div>{one.name.clone()}" "<code>{one.pool.clone()}</code></div> });
    let pools = pools.collect_view();
    let period = [report.exposure.text_or_none("from"), report.exposure.text_or_none("to")];
    let period = period.map(|time| text::instant(&time)).join(" to ");
    let after = match asked.after_move.as_str() {
        "" => String::new(),
        moved => format!(" and only slots after price moves of at least {moved}%"),
    };
    let assumed = format!(
        "liquidation bonus {}%, price drop {}%; for the stress test, {}% of liquidity withdrawn{after}",
        asked.bonus, asked.fall, asked.haircut,
    );
    let made = String::from(js_sys::Date::new_0().to_iso_string());
    view! {
        <dl class="printed">
            <div><dt>"Pools"</dt><dd>{pools}</dd></div>
            <div><dt>"Liquidation size"</dt><dd>{text::usd_exact(&asked.size.to_string())}</dd></div>
            <div><dt>"Period"</dt><dd>{period}</dd></div>
            <div><dt>"Assumptions"</dt><dd>{assumed}</dd></div>
            <div><dt>"Log key"</dt><dd>{key}</dd></div>
            <div><dt>"Service"</dt><dd>{address}</dd></div>
            <div><dt>"Created"</dt><dd>{text::instant(&made)}</dd></div>
        </dl>
    }
}
