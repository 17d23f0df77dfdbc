//! The five numbers that matter most to a holder.

use exitgap_api::operations::Operation;
use exitgap_api::operations::parameters::{AT, BASE, FROM, GAP, SERIES_SIZE, SIZE, TO};
use exitgap_api::{Problem, ProblemCode};
use exitgap_client::ClientError;
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use exitgap_core::units::{Percent, SizeUsd, UsdMicros};
use leptos::prelude::*;
use leptos_router::hooks::query_signal_with_options;

use super::exit_comparison::Comparison;
use super::exit_parts::MadeOf;
use super::pool_answer::lost;
use super::pool_size::in_place;
use super::worst_slot::WorstSlot;
use crate::document::Document;
use crate::parts::{Card, LiveQuery};
use crate::paths::evidence_href;
use crate::service::client;
use crate::text;

/// The gaps that a holder may accept, percent; the first is the page's default.
const LIMITS: [&str; 5] = ["1", "0.1", "0.5", "2", "5"];

/// Number of slots in seven days.
const WEEK: u32 = 2_016;

/// The cards.
#[component]
pub fn Numbers(comparison: StoredValue<Comparison>) -> impl IntoView {
    let told = comparison.get_value();
    let size = text::usd_exact(&told.size.to_string());
    let used = told.venues.iter().filter(|venue| venue.leg.is_some()).count();
    let over =
        if used == 1 { "in one venue".to_owned() } else { format!("split over {used} venues") };
    let (magnitude, _) = text::split_gap(&told.gap);
    let beside = lost(&told.size.to_string(), &told.gap).unwrap_or_default();
    // A single leg has its own evidence; for the sum of several legs, each one's evidence is below.
    let legs = || told.venues.iter().filter_map(|venue| venue.leg.as_ref());
    let only = if used == 1 { legs().next() } else { None };
    let proof = only.and_then(|leg| evidence_href(leg.evidence_url.as_deref()?));
    let proof = proof.unwrap_or_else(|| "#where".to_owned());
    view! {
        <section class="cards" aria-label="Key figures">
            <Card name=format!("Gap for {size} of {}", told.symbol)
                value=view! { <a id="gap" href=proof title=text::percent(&told.gap)>{text::percent_read(magnitude)}</a> }.into_any()
                note=format!("{beside}, {over}").into_any()/>
            <Within comparison=comparison/>
            <Worst comparison=comparison/>
            {render_saving(&told)}
            <Redeem comparison=comparison/>
        </section>
        <p class="quiet" id="made-of"><MadeOf comparison=comparison/></p>
    }
}

/// What the split saves compared with the best single venue.
fn render_saving(told: &Comparison) -> AnyView {
    let best = told.venues.first();
    let alone = best.and_then(|venue| Percent::parse(venue.alone.as_deref()?).ok());
    let found = alone
        .zip(Percent::parse(&told.gap).ok())
        .map(|(Percent(alone), Percent(split))| Percent(alone - split));
    let (value, note) = match (found, best) {
        (Some(saved), Some(best)) => {
            let saved = saved.to_string();
            let dollars = lost(&told.size.to_string(), &saved).unwrap_or_default();
            let dollars = dollars.split(' ').next().unwrap_or_default().to_owned();
            let note = format!(
                "{} of the size, compared with selling everything in {}",
                text::percent_read(&saved),
                best.name
            );
            (dollars, note)
        }
        _ => ("not comparable".to_owned(), "no single venue fills this size".to_owned()),
    };
    view! { <Card name="Splitting saves" value=value.into_any() note=note.into_any()/> }.into_any()
}

/// The pools of a comparison's venues.
fn pools(told: &Comparison) -> Vec<PoolId> {
    told.venues.iter().filter_map(|venue| venue.pool.parse().ok()).collect()
}

/// The largest sale within a limit.
#[component]
fn Within(comparison: StoredValue<Comparison>) -> impl IntoView {
    let (chosen, set) = query_signal_with_options::<String>("limit", in_place());
    let limit = Memo::new(move |_| {
        let said = chosen.get().unwrap_or_default();
        LIMITS.into_iter().find(|limit| *limit == said).unwrap_or(LIMITS[0])
    });
    let sizes = LiveQuery::new(
        move || limit.get(),
        move |limit| {
            let (client, told) = (client(), comparison.get_value());
            async move {
                let (mut sum, mut venues) = (0_u64, 0);
                for pool in pools(&told) {
                    let target = Operation::MaxSize.target_of(&pool).with(&GAP, limit);
                    let target = target.with(&BASE, &told.token).with(&AT, told.slot);
                    let most: Document = client.get_document(&target).await?;
                    // If there is none, no size at all stays within the limit.
                    let most =
                        most.text("max_size_usd").and_then(|most| most.parse::<SizeUsd>().ok());
                    sum = sum.saturating_add(most.map_or(0, SizeUsd::micros));
                    venues += u32::from(most.is_some());
                }
                Ok::<_, ClientError>((sum, venues))
            }
        },
    );
    let options = LIMITS.map(|one| {
        view! { <option value=one selected=move || limit.get() == one>{format!("{one}%")}</option> }
    });
    let select = view! {
        <select id="limit" aria-label="Accepted gap" on:change=move |event| set.set(Some(event_target_value(&event)))>{options}</select>
    };
    let value = move || match sizes.answer(&limit.get()) {
        None => "…".to_owned(),
        Some(Ok((sum, _))) => text::usd(&UsdMicros(sum).to_string()),
        Some(Err(_)) => "not known".to_owned(),
    };
    let note = move || match sizes.answer(&limit.get()) {
        None => "loading each venue".to_owned(),
        Some(Ok((_, 0))) => "no size stays within this gap".to_owned(),
        Some(Ok((_, 1))) => "in one venue".to_owned(),
        Some(Ok((_, venues))) => {
            format!("lower bound: each of {venues} venues used up to that gap")
        }
        Some(Err(error)) => error.to_string(),
    };
    view! { <Card name="Largest sale within" extra=select.into_any() value=value.into_any() note=note.into_any()/> }
}

/// The largest gap in seven days, in the currently best venue.
#[component]
fn Worst(comparison: StoredValue<Comparison>) -> impl IntoView {
    let worst = LiveQuery::new(
        || (),
        move |()| {
            let (client, told) = (client(), comparison.get_value());
            async move {
                let pool = pools(&told).into_iter().next();
                let pool = pool.ok_or_else(no_venue)?;
                let target = Operation::Stress.target_of(&pool).with(&SERIES_SIZE, told.size);
                let target = target.with(&BASE, &told.token).with(&FROM, week_before(told.slot));
                client.get_document::<Document>(&target.with(&TO, told.slot)).await
            }
        },
    );
    let told = Signal::derive(move || worst.answer(&()));
    let value = move || match told.get() {
        None => "…".into_any(),
        Some(Err(_)) => "not known".into_any(),
        Some(Ok(stress)) => {
            let slot = WorstSlot::from_stress(&stress).into_iter().next();
            slot.map_or_else(|| "not known".into_any(), WorstSlot::shown)
        }
    };
    let (best, size) = comparison.with_value(|told| {
        let best = told.venues.first().map(|venue| venue.name.clone());
        (best.unwrap_or_default(), told.size.to_string())
    });
    let note = move || match told.get() {
        None => "loading".to_owned(),
        Some(Err(error)) => error.to_string(),
        Some(Ok(stress)) => {
            let slot = WorstSlot::from_stress(&stress).into_iter().next();
            let loss = slot.as_ref().and_then(|slot| lost(&size, slot.gap.as_deref()?));
            let loss = loss.map_or_else(String::new, |loss| format!("{loss}, "));
            let when =
                slot.map_or_else(String::new, |slot| format!(" at {}", text::instant(&slot.time)));
            let refused = match stress.count("slots_refused") {
                0 => String::new(),
                some => format!("; {some} slots could not fill this size"),
            };
            let missing = stress.count("slots_missing") + stress.count("slots_retracted");
            let recorded = text::group_digits(&stress.text_or_none("slots_recorded"));
            format!(
                "{loss}everything in {best}{when}{refused}; {recorded} slots recorded, {missing} missing"
            )
        }
    };
    view! { <Card name="Worst in 7 days" value=value.into_any() note=note.into_any()/> }
}

fn no_venue() -> ClientError {
    Problem::new(ProblemCode::NotFound, "no venue was compared").into()
}

/// The slot a week before another.
pub fn week_before(slot: Slot) -> Slot {
    Slot::new(slot.number().saturating_sub(WEEK - 1).into()).unwrap_or(Slot::FIRST)
}

/// The result of redeeming instead.
#[component]
fn Redeem(comparison: StoredValue<Comparison>) -> impl IntoView {
    let paths = LiveQuery::new(
        || (),
        move |()| {
            let (client, told) = (client(), comparison.get_value());
            async move {
                let pool = pools(&told).into_iter().next();
                let pool = pool.ok_or_else(no_venue)?;
                let target = Operation::Redemption.target_of(&pool).with(&SIZE, told.size);
                let target = target.with(&BASE, &told.token).with(&AT, told.slot);
                let told: Document = client.get_document(&target).await?;
                let open = |path: &Document| path.text("advantage_pct").is_some();
                Ok::<_, ClientError>(told.list("paths").into_iter().find(open))
            }
        },
    );
    let value = move || match paths.answer(&()) {
        None => "…".to_owned(),
        Some(Err(_)) => "not known".to_owned(),
        Some(Ok(None)) => "not available".to_owned(),
        Some(Ok(Some(path))) => {
            let annual = path.text("break_even_annual_pct_at_t_max");
            match annual.or_else(|| path.text("advantage_pct")) {
                Some(percent) => text::percent_read(&percent),
                None => "no gain".to_owned(),
            }
        }
    };
    let note = move || match paths.answer(&()) {
        None => "loading".to_owned(),
        Some(Err(error)) => error.to_string(),
        Some(Ok(None)) => "no redemption terms are configured for this token".to_owned(),
        Some(Ok(Some(path))) => {
            let wait = path.text("t_max_s").and_then(|seconds| seconds.parse().ok());
            let wait = wait.map_or_else(|| "an unknown time".to_owned(), text::age);
            format!("per year, modelled. Redeem if waiting {wait} costs you less. Details below.")
        }
    };
    view! { <Card name="Redeem instead" value=value.into_any() note=note.into_any()/> }
}
