//! The fills of the same sale with liquidity removed: by the reader's own share, or by that of a named recorded drop.

use core::fmt::Write;

use exitgap_api::operations::parameters::{
    AFTER_MOVE, HAIRCUT, PERIOD_FROM, SHOCK_FALL, SOLD, TO, VENUE,
};
use exitgap_api::operations::{Operation, Target};
use exitgap_client::{Browser, Client, ClientError};
use leptos::prelude::*;

use super::figure_check::CheckedFigure;
use super::risk::RiskAsked;
use crate::browser::download;
use crate::chart::{Bar, Bars, parse_number};
use crate::document::Document;
use crate::parts::{
    CollapsibleSection, FailureNotice, LiveQuery, LoadingNotice, Row, Table, number,
    render_collapsible,
};
use crate::service::client;
use crate::text;

/// The stress test, and the named shocks.
#[derive(Debug, Clone)]
struct StressDocuments {
    stress: Document,
    shocks: Vec<Document>,
}

/// The request, also used as the address of its figure file.
pub fn target(asked: &RiskAsked) -> Target {
    let target = Operation::VenueStress.target();
    let target = asked.pools.iter().fold(target, |target, pool| target.with(&VENUE, pool));
    let target = target.with(&SOLD, asked.size).with(&HAIRCUT, &asked.haircut);
    let after = Some(&asked.after_move).filter(|moved| !moved.is_empty());
    target
        .with(&SHOCK_FALL, &asked.fall)
        .maybe(&AFTER_MOVE, after)
        .maybe(&PERIOD_FROM, asked.from.as_ref())
        .maybe(&TO, asked.to.as_ref())
}

async fn ask(client: &Client<Browser>, asked: &RiskAsked) -> Result<StressDocuments, ClientError> {
    let stress = client.get_document(&target(asked)).await?;
    let shocks: Document = client.get_document(&Operation::Shocks.target()).await?;
    Ok(StressDocuments { stress, shocks: shocks.list("shocks") })
}

/// The section.
#[component]
pub fn WithLiquidityGone(
    /// The report's request.
    asked: RiskAsked,
    /// The same, with the exact period of the report.
    pinned: RiskAsked,
) -> impl IntoView {
    let (asked, pinned) = (StoredValue::new(asked), StoredValue::new(pinned));
    let found = LiveQuery::new(
        || (),
        move |()| {
            let (client, pinned) = (client(), pinned.get_value());
            async move { ask(&client, &pinned).await }
        },
    );
    let retry = found.again();
    view! {
        <CollapsibleSection id="stress" title="Stress test: with liquidity withdrawn">
            {move || match found.answer(&()) {
                None => view! { <LoadingNotice what="the stress test"/> }.into_any(),
                Some(Err(error)) => view! { <FailureNotice error=error retry=retry/> }.into_any(),
                Some(Ok(told)) => shown(&told, &asked.read_value()),
            }}
        </CollapsibleSection>
    }
}

fn shown(told: &StressDocuments, asked: &RiskAsked) -> AnyView {
    let StressDocuments { stress, shocks } = told;
    let after = stress.text("after_move_pct").map(|moved| {
        format!(
            " Only slots after a price move of {} within {} slots are counted: {} slots had no such move, and {} could not be tested.",
            text::percent_read(&moved),
            stress.count("within_slots"),
            stress.count("slots_unmoved"),
            stress.count("slots_untestable"),
        )
    });
    let words = format!(
        "In every slot, {} of all liquidity is withdrawn and the price is {} lower. The sale is split optimally over these pools. {} slots were tested; {} could not fill the sale.",
        text::percent_read(&stress.text_or_none("haircut_pct")),
        text::percent_read(&stress.text_or_none("fall_pct")),
        text::group_digits(&stress.text_or_none("have")),
        stress.count("slots_unfillable"),
    );
    let csv = csv(stress);
    let keep = move |_| download(csv.as_bytes(), "text/csv", "stress.csv");
    view! {
        <p class="quiet">{words}{after}</p>
        {render_causes(stress)}
        {render_shocks(shocks, asked)}
        <Bars title="Depth within 2% of the oracle price, compared with the size to be sold".to_owned() bars=bars(stress)/>
        {render_collapsible("worst-after", "Worst slots with liquidity withdrawn", true, worst(stress).into_any())}
        <p class="actions"><button type="button" class="small" on:click=keep>"Download the stress test (CSV)"</button></p>
        {render_figure_check(stress)}
    }
    .into_any()
}

/// The slots that failed, by cause, and the pools that could not take part.
pub fn render_causes(report: &Document) -> impl IntoView + use<> {
    let note = report.part("causes").and_then(|causes| causes.text("note"));
    let note = note.map(|note| view! { <p class="causes">{note}</p> });
    let left_out: Vec<_> = report
        .list("left_out")
        .iter()
        .map(|out| {
            let share = out.text("depth_share_pct").map_or_else(
                || "a share of the depth that is not known".to_owned(),
                |share| format!("{} of the depth", text::percent_read(&share)),
            );
            let pool = text::short_pool(&out.text_or_none("pool"));
            let words = format!(
                "{pool} ({}) cannot be included in this report yet. It held {share}.",
                out.text_or_none("protocol"),
            );
            view! { <p class="standing warn">{words}</p> }
        })
        .collect();
    view! { {note}{left_out} }
}

/// Recorded drops that the operator named: each links to this report with that drop.
fn render_shocks(shocks: &[Document], asked: &RiskAsked) -> Option<AnyView> {
    let one = |shock: &Document| {
        let (fall, haircut) = (shock.text("fall_pct")?, shock.text("haircut_pct")?);
        let words = format!(
            "{}: the price fell by {}, and {} of the depth was withdrawn",
            shock.text_or_none("about"),
            text::percent_read(&fall),
            text::percent_read(&haircut),
        );
        let href = RiskAsked { fall, haircut, ..asked.clone() }.href();
        Some(view! { <li><a href=href>{words}</a></li> })
    };
    let all: Vec<_> = shocks.iter().filter_map(one).collect();
    (!all.is_empty()).then(|| {
        view! { <p>"As in a recorded price drop:"</p><ul id="shocks">{all}</ul> }.into_any()
    })
}

fn bars(stress: &Document) -> Vec<Bar> {
    let fields = [
        ("to be sold", "line-b", "size_usd"),
        ("median depth", "line-a", "depth_q50_usd"),
        ("lowest depth", "line-a", "lowest_depth_usd"),
        ("lowest depth from the pools' own prices", "line-c", "lowest_book_usd"),
    ];
    let bar = |(name, class, field): (&str, &'static str, &str)| {
        let usd = stress.text(field);
        let shown = usd.as_deref().map_or_else(|| "not known".to_owned(), text::usd);
        Bar { name: name.to_owned(), value: usd.as_deref().and_then(parse_number), class, shown }
    };
    fields.map(bar).into()
}

fn worst(stress: &Document) -> impl IntoView + use<> {
    let row = |slot: &Document| -> Row {
        let usd =
            |field: &str| slot.text(field).map_or_else(|| "–".to_owned(), |usd| text::usd(&usd));
        let percent = |field: &str| {
            slot.text(field).map_or_else(|| "–".to_owned(), |gap| text::percent_read(&gap))
        };
        let gap = slot
            .text("exit_gap_pct")
            .map_or_else(|| "cannot be filled".to_owned(), |gap| text::percent_read(&gap));
        let cells = vec![
            gap.into_any(),
            usd("max_fillable_usd").into_any(),
            percent("gap_from_mid_pct").into_any(),
            usd("depth_usd").into_any(),
            usd("book_usd").into_any(),
        ];
        (text::instant(&slot.text_or_none("time")).into_any(), cells)
    };
    let rows = stress.list("worst_slots").iter().map(row).collect();
    let columns = [
        "Gap from the oracle price",
        "Largest fill",
        "Gap from the pools' own prices",
        "Depth from the oracle price",
        "Depth from the pools' own prices",
    ];
    view! { <Table class="stressed" caption="All pools together, worst slots first" first="Slot" columns=columns.map(number).into() rows=rows/> }
}

/// Recomputes the figure from the file that the answer names.
fn render_figure_check(stress: &Document) -> Option<impl IntoView + use<>> {
    let (service, url) = (client(), StoredValue::new(stress.text("figure_url")?));
    let fetch = move || {
        let (client, url) = (service.clone(), url.get_value());
        async move { client.figure(Operation::VenueStressFile, &url).await }
    };
    Some(view! { <CheckedFigure at="check-stress" fetch=fetch/> })
}

/// One CSV line for each of the worst slots, with the file that proves the whole figure.
fn csv(stress: &Document) -> String {
    let fields =
        ["time", "exit_gap_pct", "max_fillable_usd", "gap_from_mid_pct", "depth_usd", "book_usd"];
    let asked = ["size_usd", "haircut_pct", "fall_pct", "figure_url"];
    let mut out = format!("{},{}\n", fields.join(","), asked.join(","));
    let of_all = asked.map(|name| stress.text(name).unwrap_or_default()).join(",");
    for slot in stress.list("worst_slots") {
        let line = fields.map(|name| slot.text(name).unwrap_or_default()).join(",");
        let _ = writeln!(out, "{line},{of_all}");
    }
    out
}
