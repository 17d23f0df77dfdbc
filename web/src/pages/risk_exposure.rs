//! The liquidation size compared with what the pools could have absorbed: as a chart, as a table, and recomputed here.

use exitgap_api::operations::{ExposureAsked, Operation};
use leptos::prelude::*;

use super::figure_check::CheckedFigure;
use super::risk_figures::{Report, exposure_of};
use crate::chart::{Bar, Bars, format_fixed, parse_number};
use crate::parts::{CollapsibleSection, Row, Table, number};
use crate::service::client;
use crate::text;

/// The depths of an exposure: name, its field, and the field of its slot.
const DEPTHS: [(&str, &str, &str, &str); 5] = [
    ("depth at 2% now", "line-a", "depth_now_usd", "to"),
    ("median depth at 2%", "line-a", "depth_q50_usd", ""),
    ("depth at break-even now, after the drop", "line-c", "break_even_depth_now_usd", "to"),
    ("median depth at break-even", "line-c", "break_even_depth_q50_usd", ""),
    (
        "lowest depth at break-even",
        "line-c",
        "lowest_break_even_depth_usd",
        "lowest_break_even_time",
    ),
];

/// The section.
pub fn render_absorption(report: &Report) -> AnyView {
    let exposure = &report.exposure;
    let cascade = exposure.text_or_none("cascade_usd");
    let mut bars = vec![bar("to be sold", "line-b", Some(cascade.clone()))];
    let mut rows = Vec::new();
    for (name, class, field, time) in DEPTHS {
        let usd = exposure.text(field);
        let when = exposure.text(time).map(|time| text::instant(&time));
        rows.push(row(name.to_owned(), usd.as_deref(), &cascade, when));
        bars.push(bar(name, class, usd));
    }
    for venue in exposure.list("venues") {
        let pool = venue.text_or_none("pool");
        let when = venue.text("lowest_depth_time").map(|time| text::instant(&time));
        let name = format!("lowest depth at 2%, {}", report.name_of(&pool));
        rows.push(row(name, venue.text("lowest_depth_usd").as_deref(), &cascade, when));
    }
    let title = format!(
        "{} to be sold, compared with the depth of all pools together",
        text::usd(&cascade)
    );
    let checked = render_figure_check(report);
    view! {
        <CollapsibleSection id="exposure" title="Could the pools absorb it?">
            <p class="quiet">"Depth at 2% from the pools' own prices before the drop, and, after the drop, within the gap at which a liquidator breaks even. \
                The dashed line is the amount to be sold. A bar that ends before it would not have been enough."</p>
            <Bars title=title bars=bars/>
            <Table first="Depth of the pools" columns=["USD", "÷ to be sold", "Slot"].map(number).into() rows=rows/>
            {checked}
        </CollapsibleSection>
    }
    .into_any()
}

fn bar(name: &str, class: &'static str, usd: Option<String>) -> Bar {
    let value = usd.as_deref().and_then(parse_number);
    let shown = usd.map_or_else(|| "not known".to_owned(), |usd| text::usd(&usd));
    Bar { name: name.to_owned(), value, class, shown }
}

fn row(name: String, usd: Option<&str>, cascade: &str, when: Option<String>) -> Row {
    let ratio =
        usd.and_then(parse_number).zip(parse_number(cascade).filter(|cascade| *cascade > 0.0));
    let ratio = ratio.map_or_else(String::new, |(usd, cascade)| {
        // Truncated and not rounded up: only a sufficient depth is shown as 1.00.
        let cents = (usd / cascade * 100.0).floor() / 100.0;
        format!("{}×", text::group_digits(&format_fixed(cents, 2)))
    });
    let usd = usd.map_or_else(|| "not known".to_owned(), text::usd);
    (name.into_any(), vec![usd.into_any(), ratio.into_any(), when.unwrap_or_default().into_any()])
}

/// The same request with the exact period of the answer, so that its file never changes.
fn file_asked(report: &Report) -> Option<ExposureAsked> {
    let pinned = report.pinned_query();
    let target = exposure_of(&pinned, pinned.from, pinned.to);
    let (_, query) = target.as_str().split_once('?')?;
    Operation::Exposure.parse_question(None, query).ok()
}

/// Recomputes the figure from the file of the same request with the exact period of the answer.
fn render_figure_check(report: &Report) -> Option<impl IntoView + use<>> {
    let (service, asked) = (client(), StoredValue::new(file_asked(report)?));
    let fetch = move || {
        let (client, asked) = (service.clone(), asked.get_value());
        async move { client.exposure_file(&asked).await }
    };
    Some(view! { <CheckedFigure at="check-exposure" fetch=fetch/> })
}
