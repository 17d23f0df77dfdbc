//! A lender's report on the pools where a collateral would be sold: for reading, printing and download.

use exitgap_api::{size_to_write, slot_at};
use exitgap_core::series::Slot;
use exitgap_core::units::SizeUsd;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use super::risk_exposure::render_absorption;
use super::risk_figures::{Report, ask, ask_each};
use super::risk_file::{Parts, WholeFile};
use super::risk_print::printed_head;
use super::risk_stress::{WithLiquidityGone, render_causes};
use super::risk_tables::{csv, slots, totals};
use crate::browser::download;
use crate::document::Document;
use crate::parts::size_asked;
use crate::parts::{
    Card, CollapsibleSection, Empty, FailureNotice, LiveQuery, LoadingNotice, PreviewNotice,
};
use crate::paths::Page;
use crate::service::{client, listed_pools, name_of};
use crate::text;

/// Maximum number of pools in a report, the same as in an exposure.
const MOST_POOLS: usize = 12;

/// The request; the page's address contains all of its parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct RiskAsked {
    /// The pools.
    pub pools: Vec<String>,
    /// The liquidation size.
    pub size: SizeUsd,
    /// The liquidation bonus, percent.
    pub bonus: String,
    /// The price drop applied in every slot, percent.
    pub fall: String,
    /// The share of all liquidity removed in every slot, percent: only for the stress test.
    pub haircut: String,
    /// Only slots after moves of at least this, percent: only for the stress test; every slot if empty.
    pub after_move: String,
    /// The first slot; by default a week before the last.
    pub from: Option<Slot>,
    /// The last slot; by default the newest that all pools have.
    pub to: Option<Slot>,
}

impl RiskAsked {
    /// The page's address for this request.
    pub fn href(&self) -> String {
        let encoded = |text: &str| String::from(js_sys::encode_uri_component(text));
        let pools = self.pools.iter().map(|pool| ("pool", encoded(pool)));
        let instant = |slot: Option<Slot>| slot.map(|slot| encoded(&slot.to_string()));
        let given = [
            ("size_usd", Some(size_to_write(self.size))),
            ("bonus_pct", Some(encoded(&self.bonus))),
            ("fall_pct", Some(encoded(&self.fall))),
            ("haircut_pct", Some(encoded(&self.haircut))),
            ("after_move_pct", Some(encoded(&self.after_move)).filter(|text| !text.is_empty())),
            ("from", instant(self.from)),
            ("to", instant(self.to)),
        ];
        let given = given.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let all: Vec<String> =
            pools.chain(given).map(|(name, value)| format!("{name}={value}")).collect();
        format!("{}?{}", Page::Risk.href(), all.join("&"))
    }
}

/// The page.
#[component]
pub fn RiskPage() -> impl IntoView {
    let query = use_query_map();
    let said = move |name: &str, or: &str| {
        query.read().get(name).filter(|said| !said.is_empty()).unwrap_or_else(|| or.to_owned())
    };
    let asked = Memo::new(move |_| {
        let mut pools = query.read().get_all("pool").unwrap_or_default();
        pools.truncate(MOST_POOLS);
        let size = size_asked(&said("size_usd", "1000000"))?;
        Ok::<_, exitgap_api::Problem>(RiskAsked {
            pools,
            size,
            bonus: said("bonus_pct", "5"),
            fall: said("fall_pct", "20"),
            haircut: said("haircut_pct", "30"),
            after_move: said("after_move_pct", ""),
            from: instant("from", &said("from", ""))?,
            to: instant("to", &said("to", ""))?,
        })
    });
    let found = LiveQuery::new(
        move || asked.get(),
        |asked| {
            let client = client();
            async move {
                let asked = asked?;
                if asked.pools.is_empty() {
                    return Ok(None);
                }
                let exposure = ask(&client, &asked).await?;
                Ok(Some((asked, exposure)))
            }
        },
    );
    let retry = found.again();
    let (picked, set_picked) = signal(false);
    view! {
        <h1>"Risk report"</h1>
        <p class="lead">
            "If your collateral had to be sold at once in these pools, in the worst 5-minute slot of a week, could \
             they have absorbed it, and at what loss?"
        </p>
        <CollapsibleSection id="asked" title="Assumptions" open=asked.get_untracked().map_or(true, |asked| asked.pools.is_empty())>
            <Controls asked=asked set_picked=set_picked/>
        </CollapsibleSection>
        {move || match found.answer(&asked.get()) {
            None => view! { <LoadingNotice what="a week of these pools"/> }.into_any(),
            Some(Err(error)) => view! { <FailureNotice error=error retry=retry/> }.into_any(),
            Some(Ok(None)) => {
                let next = move || {
                    let chosen = "Select pools, then create the report.";
                    let words = if picked.get() { chosen } else { "Select at least one pool above." };
                    view! { <Empty words=words.to_owned()/> }
                };
                next.into_any()
            }
            Some(Ok(Some((asked, exposure)))) => {
                view! { <Verdict exposure=exposure.clone()/><Each asked=asked exposure=exposure/> }
                    .into_any()
            }
        }}
    }
}

/// Parses an instant in the form control's format, in UTC, or as RFC 3339; `None` if empty.
fn instant(name: &str, text: &str) -> Result<Option<Slot>, exitgap_api::Problem> {
    match text.len() {
        0 => Ok(None),
        16 => slot_at(name, &format!("{text}:00Z")).map(Some),
        _ => slot_at(name, text).map(Some),
    }
}

/// Controls for pools, size, terms and period. This is an ordinary browser form: submitting it leads to the next
/// address.
#[component]
fn Controls(
    asked: Memo<Result<RiskAsked, exitgap_api::Problem>>,
    /// Receives whether any pool is selected.
    set_picked: WriteSignal<bool>,
) -> impl IntoView {
    let known = LiveQuery::new(
        || (),
        |()| {
            let client = client();
            async move { listed_pools(&client).await }
        },
    );
    let retry = known.again();
    let (collateral, set_collateral) = signal(None::<String>);
    let pools = move || match known.answer(&()) {
        None => view! { <LoadingNotice what="the pools"/> }.into_any(),
        Some(Err(error)) => view! { <FailureNotice error=error retry=retry/> }.into_any(),
        Some(Ok(list)) => {
            let chosen = asked.get().map(|asked| asked.pools).unwrap_or_default();
            let choice = |pool: &Document| {
                let (id, words) = (pool.text_or_none("pool"), name_of(pool)?);
                let (checked, token) = (chosen.contains(&id), sold(pool));
                let other = move || collateral.read().as_ref().is_some_and(|one| *one != token);
                let other = Signal::derive(other);
                Some(
                    view! { <label class="choice" hidden=move || other.get()><input type="checkbox" name="pool" value=id checked=checked disabled=move || other.get()/>{words}</label> },
                )
            };
            list.iter().filter_map(choice).collect_view().into_any()
        }
    };
    // Pools that sell different tokens cannot be in one report.
    let tokens = move || {
        let list = known.answer(&()).and_then(Result::ok).unwrap_or_default();
        let mut tokens: Vec<String> = list.iter().map(sold).collect();
        tokens.sort();
        tokens.dedup();
        tokens
            .into_iter()
            .map(|token| view! { <option value=token.clone()>{token.clone()}</option> })
            .collect_view()
    };
    let choose = move |event| {
        let token = Some(event_target_value(&event)).filter(|token| !token.is_empty());
        set_collateral.set(token);
    };
    // The control's format of an instant: to the minute, without a zone.
    let minute = |slot: Option<Slot>| {
        slot.map(|slot| slot.to_string().chars().take(16).collect()).unwrap_or_default()
    };
    let field = move |read: fn(&RiskAsked) -> String| {
        asked.get_untracked().map(|asked| read(&asked)).unwrap_or_default()
    };
    let period = asked.get_untracked().map(|asked| [asked.from, asked.to].map(minute));
    let [from, to]: [String; 2] = period.unwrap_or_default();
    let pick = move |_| {
        let one = document().query_selector(".pools input:checked:enabled").ok().flatten();
        set_picked.set(one.is_some());
    };
    view! {
        <form class="controls card" method="get" action="/risk">
            <label>"Collateral" <select id="collateral" on:change=choose><option value="">"any token"</option>{tokens}</select></label>
            <fieldset class="pools" on:change=pick><legend>"Pools that sell the collateral"</legend>{pools}</fieldset>
            <label>"Liquidation size (USD)" <input name="size_usd" inputmode="decimal" value=field(|asked| size_to_write(asked.size))/></label>
            <label>"Liquidation bonus (%)" <input name="bonus_pct" inputmode="decimal" value=field(|asked| asked.bonus.clone())/></label>
            <label>"Price drop (%)" <input name="fall_pct" inputmode="decimal" value=field(|asked| asked.fall.clone())/></label>
            <label>"Liquidity withdrawn (%)" <input name="haircut_pct" inputmode="decimal" value=field(|asked| asked.haircut.clone())/></label>
            <label>"Only after price moves of at least (%)" <input name="after_move_pct" inputmode="decimal" value=field(|asked| asked.after_move.clone())/></label>
            <label>"From (UTC, default: 7 days ago)" <input type="datetime-local" name="from" value=from/></label>
            <label>"To (UTC, default: newest)" <input type="datetime-local" name="to" value=to/></label>
            <button type="submit" class="primary">"Create report"</button>
        </form>
    }
}

/// The name of the token that a listed pool sells.
fn sold(pool: &Document) -> String {
    pool.part("base").map(|base| base.text_or_none("symbol")).unwrap_or_default()
}

fn times(ratio: Option<String>) -> String {
    ratio.map_or_else(
        || "not known".to_owned(),
        |ratio| {
            let cents = ratio.find('.').and_then(|point| ratio.get(..point + 3)).unwrap_or(&ratio);
            format!("{}×", text::group_digits(cents))
        },
    )
}

/// The result for all pools together.
#[component]
fn Verdict(exposure: Document) -> impl IntoView {
    let fall =
        exposure.text("fall_pct").map(|fall| format!("after a {} fall", text::percent(&fall)));
    let fall = fall.unwrap_or_else(|| "after the fall".to_owned());
    let band = match exposure.text_or_none("band").as_str() {
        "covered" => (
            "verdict pass",
            "Covered: even at the week's lowest depth from the pools' own prices, the full amount sells within 2% and within break-even.".to_owned(),
        ),
        "strained" => (
            "verdict warn",
            "Strained: from the pools' own prices always sellable within break-even, not always within 2%.".to_owned(),
        ),
        "exposed" => (
            "verdict fail",
            format!("Exposed: at some point, a part could not have been liquidated profitably even at the pools' own prices ({fall})."),
        ),
        "unfillable" => (
            "verdict fail",
            format!("Unfillable: at some point, {fall}, these pools could not have absorbed the sale at all."),
        ),
        _ => (
            "verdict warn",
            "Unrated: too little is recorded for a verdict. Partial results are shown anyway.".to_owned(),
        ),
    };
    let counts = ["have", "needed", "slots_incomplete", "slots_missing"];
    let [have, needed, incomplete, missing] = counts.map(|name| exposure.count(name));
    let short = if have < needed { format!(" (a verdict needs {needed})") } else { String::new() };
    let gaps = match (incomplete, missing) {
        (0, 0) => "none missing".to_owned(),
        _ => format!("{incomplete} without data for one of the pools, {missing} missing"),
    };
    let [from, to] = ["from", "to"].map(|name| text::instant(&exposure.text_or_none(name)));
    let have = text::group_digits(&have.to_string());
    let period = format!("{from} to {to}: {have} slots{short}, {gaps}.");
    let preview = exposure.text_or_none("status") == "preview";
    view! {
        <PreviewNotice shown=preview/>
        <div class=band.0 id="band">
            <p><strong>{band.1}</strong></p>
            {render_causes(&exposure)}
            <p class="quiet">{period}</p>
        </div>
    }
}

/// The rest, once it has loaded.
#[component]
fn Each(asked: RiskAsked, exposure: Document) -> impl IntoView {
    let question = StoredValue::new_local((asked, exposure));
    let found = LiveQuery::new(
        || (),
        move |()| {
            let (client, (asked, exposure)) = (client(), question.get_value());
            async move { ask_each(&client, &asked, exposure).await }
        },
    );
    let retry = found.again();
    move || match found.answer(&()) {
        None => view! { <LoadingNotice what="a week of each pool"/> }.into_any(),
        Some(Err(error)) => view! { <FailureNotice error=error retry=retry/> }.into_any(),
        Some(Ok(report)) => view! { <ReportView report=report/> }.into_any(),
    }
}

/// The report.
#[component]
fn ReportView(report: Report) -> impl IntoView {
    let exposure = report.exposure.clone();
    let at = |name: &str| {
        exposure.text(name).map_or_else(String::new, |time| format!(" at {}", text::instant(&time)))
    };
    let usd = |name: &str| {
        exposure.text(name).map_or_else(|| "not known".to_owned(), |usd| text::usd(&usd))
    };
    let percent = |name: &str| {
        exposure.text(name).map_or_else(|| "not known".to_owned(), |gap| text::percent_read(&gap))
    };
    let shortfall = match exposure.count("slots_unfillable") {
        0 => {
            let (gap, when) = (percent("worst_gap_pct"), at("worst_time"));
            let note = format!(
                "liquidators' loss at the widest gap, {gap}{when}. Stranded: {}{}, the amount that the pools could not absorb within the break-even gap in the slot with the lowest depth",
                usd("stranded_usd"),
                at("lowest_break_even_time"),
            );
            (usd("shortfall_usd"), note)
        }
        slots => {
            let most = usd("least_fillable_usd");
            (
                "no fill".to_owned(),
                format!(
                    "in {slots} slots these pools together could not absorb the sale; the lowest maximum was {most}"
                ),
            )
        }
    };
    let withdrawn = report.withdrawn();
    let reopening = report.worst_reopening();
    let table = StoredValue::new(csv(&report));
    let keep = move |_| download(table.read_value().as_bytes(), "text/csv", "risk.csv");
    let print = |_| drop(window().print());
    let (absorbed, totals, slots) = (render_absorption(&report), totals(&report), slots(&report));
    let printed = printed_head(&report);
    view! {
        {printed}
        <section class="cards" aria-label="Key figures">
            <Card name="Coverage" value=times(exposure.text("coverage")).into_any()
                note="lowest depth at 2% from the pools' own prices, before the drop, ÷ size; 1× or more covers it".into_any()/>
            <Card name="Break-even coverage" value=times(exposure.text("coverage_break_even")).into_any()
                note=format!("lowest depth from the pools' own prices after a price drop of {}% at the break-even gap of {} ÷ size{}; below 1×, a part was not liquidated profitably", report.asked.fall, percent("break_even_gap_pct"), at("lowest_break_even_time")).into_any()/>
            <Card name="Shortfall at the worst slot" value=shortfall.0.into_any() note=shortfall.1.into_any()/>
            <Card name="Withdrawn after moves" value=withdrawn.0.into_any() note=withdrawn.1.into_any()/>
            <Card name="Reopening gap" value=reopening.0.into_any() note=reopening.1.into_any()/>
        </section>
        <div class="actions">
            <button type="button" on:click=print>"Print report"</button>
            <button type="button" on:click=keep>"Download CSV"</button>
            <WholeFile parts=Parts::from_report(&report)/>
        </div>
        {absorbed}
        <WithLiquidityGone asked=report.asked.clone() pinned=report.pinned_query()/>
        {totals}
        {slots}
    }
}
