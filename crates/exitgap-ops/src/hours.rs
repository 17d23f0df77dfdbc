//! Open compared with closed markets: a pool's closures in the last 28 days.

use exitgap_api::operations::{FigureAddress, HoursAsked, HoursFileAsked};
use exitgap_api::{HoursClosed, HoursClosure, HoursToken, MarketHours, Number, Problem};
use exitgap_core::analytics::hours::HoursTerms;
use exitgap_core::evidence::Base;
use exitgap_core::exit::{ReopeningStatus, check_reopening, reopening_gap};
use exitgap_core::hours::{
    ClosureFigures, ClosureKind, ClosureSpan, HoursFigures, Market, Markets, NEEDED_CLOSURES,
    RecordedSlot, hours_figures,
};
use exitgap_core::series::{LookupError, Slot, rfc3339};
use exitgap_core::snapshot::Snapshot;
use exitgap_core::units::Percent;
use exitgap_store::{FindError, Gap, Held, Point, Reader, Rollup, StoreError};

use super::figures::{ResolvedFigure, ServedFigure};
use super::history::Series;
use super::{Service, Urls};

/// The period: 28 days.
const SLOTS: u32 = 28 * Slot::PER_DAY;

/// The data of a period from the store, before it is converted to a document.
struct PeriodRecord {
    series: Series,
    counted: Rollup,
    newest: Snapshot,
    markets: Markets,
    figures: HoursFigures,
    closures: Vec<OneClosure>,
}

/// A closure of the period that contains a recorded slot.
struct OneClosure {
    closed: ClosureSpan,
    slots: u32,
    lowest: Option<u64>,
    last: Slot,
    /// The fill in the last closed slot, if its size has a gap.
    last_gap: Gap,
    /// The first slot in which all rounds are fresh, and the gap measured at its prices.
    reopened: Option<(Slot, Option<Percent>)>,
}

/// The current or next closure, for an answer's flags.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct ClosureAtHand {
    /// Its kind.
    kind: Option<ClosureKind>,
    /// Its length, in seconds.
    length_s: Option<u64>,
    /// Seconds until it ends, if it has begun.
    opens_in_s: Option<u64>,
    /// Seconds until it begins, if it has not begun.
    closes_in_s: Option<u64>,
}

impl Series {
    /// The parameters of the figure file. The store adds the calendars.
    pub fn hours_terms(&self) -> HoursTerms {
        HoursTerms {
            pool: self.pool.id.clone(),
            base: Base::from(self.direction),
            from: self.from,
            to: self.to,
            size: self.size,
            sessions: Vec::new(),
        }
    }
}

impl ServedFigure for HoursTerms {
    async fn resolve(
        service: &Service,
        asked: HoursFileAsked,
    ) -> Result<ResolvedFigure<Self>, Problem> {
        let HoursFileAsked { series: asked } = asked;
        let named = asked.base.is_some().then_some(asked.from.zip(asked.to)).flatten();
        let base = service.series_base(&asked).await?;
        let find = move |reader: &Reader| Series::find(reader, &asked, base, SLOTS);
        let figure = service.read_store(find).await?.hours_terms();
        let is_settled = named.is_some_and(|(_, to)| to == figure.to);
        Ok(ResolvedFigure { figure, is_settled })
    }
}

impl Service {
    /// Whether a pool's market is open, and statistics of its closures.
    pub async fn hours(&self, asked: HoursAsked) -> Result<MarketHours, Problem> {
        let HoursAsked { series: asked } = asked;
        let guards = asked.guards;
        let base = self.series_base(&asked).await?;
        let read = self
            .read_store(move |reader| {
                PeriodRecord::from_reader(reader, Series::find(reader, &asked, base, SLOTS)?)
            })
            .await?;
        let used = [read.series.from, read.series.to];
        let of = self.series_of(&read.series, used, &read.counted).await;
        guards.check(&self.guard_inputs(&read.series, of.status))?;
        let observation = read.newest.observation();
        let session = observation.session();
        let at = observation.block().timestamp;
        let hand = at_hand(&read.markets, at);
        let closed = |figures: &ClosureFigures| {
            let of_kind = read.closures.iter().filter(|one| one.closed.kind == figures.kind);
            let worst = of_kind.filter_map(|one| one.reopened?.1).max();
            HoursClosed::new(figures, worst.map(Number::from))
        };
        let closed: Vec<HoursClosed> = read.figures.closed.iter().map(closed).collect();
        let kind = hand.kind.map(|kind| kind.as_str().to_owned());
        let own = closed.iter().find(|one| kind.as_ref() == Some(&one.closure_kind));
        let file = read.series.hours_terms().address();
        let never = hand.kind.is_none() && session.market_open && hand.closes_in_s.is_none();
        Ok(MarketHours {
            block_time: rfc3339(at),
            snapshot_age_s: self.age_s(read.newest.slot()),
            market_open: session.market_open,
            session_note: session.note,
            oracle_state: observation.oracle_state().into(),
            sessions: HoursToken::from_observation(observation),
            opens_in_s: hand.opens_in_s,
            closes_in_s: hand.closes_in_s,
            closure_length_s: hand.length_s,
            enough: never || own.is_some_and(|own| own.enough),
            have: own.map_or(0, |own| own.have),
            needed: if never { 0 } else { NEEDED_CLOSURES },
            thin_when_closed: own.and_then(|own| own.thin_when_closed),
            closure_kind: kind,
            slots_missing: read.counted.missing_slots + read.counted.retracted_slots,
            slots_unknown: read.figures.slots_unknown,
            open: (&read.figures.open).into(),
            closures: read
                .closures
                .iter()
                .map(|one| one.describe_closure(&self.urls, &read.series))
                .collect(),
            closed,
            figure_url: [self.urls.web.as_str(), file.as_str()].concat(),
            of,
        })
    }
}

/// The closure at an instant, or the next one.
fn at_hand(markets: &Markets, at: u64) -> ClosureAtHand {
    let of = |closed: ClosureSpan| ClosureAtHand {
        kind: Some(closed.kind),
        length_s: Some(closed.to - closed.from),
        ..ClosureAtHand::default()
    };
    match markets.market(at) {
        Market::Unknown => ClosureAtHand::default(),
        Market::Closed(closure) => ClosureAtHand {
            opens_in_s: Some(closure.opens_in_s),
            ..markets.closure_at(at).map(of).unwrap_or_default()
        },
        Market::Open => {
            let Some(closes_at) = markets.closes_at(at) else { return ClosureAtHand::default() };
            let closes_in_s = Some(closes_at - at);
            let next = markets.closure_at(closes_at).map(of).unwrap_or_default();
            ClosureAtHand { closes_in_s, ..next }
        }
    }
}

impl PeriodRecord {
    fn from_reader(reader: &Reader, series: Series) -> Result<Self, FindError> {
        let nothing =
            || LookupError::NothingRecorded { pool: series.pool.id.clone(), reason: None };
        let newest = series.newest.ok_or_else(nothing)?;
        let newest = reader.snapshot_at(&series.pool, newest)?.ok_or_else(nothing)?;
        let markets = newest.observation().markets();
        let of = [series.direction.base_index(), series.size_index];
        let points = reader.points(&series.pool, of, series.from, series.to)?;
        let mut counted = Rollup::default();
        for point in &points {
            counted.add_point(of, point);
        }
        let from = series.from.unix_s().saturating_sub(Snapshot::MAX_BLOCK_AGE_S);
        let known = markets.closures(from, series.to.unix_s() + 1);
        let mut told: Vec<(Slot, Gap, RecordedSlot)> = Vec::new();
        for point in &points {
            if let Held::Recorded(depth_usd, gap) = point.held {
                let before = told.last().map_or(0, |(_, _, slot)| slot.at);
                // Timestamps never decrease: if the previous instant is later, it is in the same session.
                let at = instant(reader, &series, &known, point)?.max(before);
                let filled = match gap {
                    Gap::Filled(gap) => Some(gap),
                    Gap::Refused(_) => None,
                };
                told.push((point.slot, gap, RecordedSlot { at, depth_usd, gap: filled }));
            }
        }
        let slots: Vec<RecordedSlot> = told.iter().map(|(_, _, slot)| *slot).collect();
        let figures = hours_figures(&markets, &known, &slots);
        let mut closures = Vec::new();
        for (index, closed) in known.iter().enumerate() {
            let until = known.get(index + 1).map_or(u64::MAX, |next| next.from);
            closures.extend(OneClosure::from_closed(reader, &series, *closed, until, &told)?);
        }
        Ok(Self { series, counted, newest, markets, figures, closures })
    }
}

/// An instant in the same session as the block's timestamp: the slot's own instant, unless the market opened or closed
/// in the ten minutes before it. In that case the snapshot is read.
fn instant(
    reader: &Reader,
    series: &Series,
    closures: &[ClosureSpan],
    point: &Point,
) -> Result<u64, FindError> {
    let at = point.slot.unix_s();
    let oldest = at.saturating_sub(Snapshot::MAX_BLOCK_AGE_S);
    let rang = |bell: u64| oldest < bell && bell <= at;
    let near = closures.partition_point(|closed| closed.to <= oldest);
    let near = closures.get(near..).unwrap_or_default().iter().take(2);
    if !near.into_iter().any(|closed| rang(closed.from) || rang(closed.to)) {
        return Ok(at);
    }
    Ok(snapshot(reader, series, point.slot)?.observation().block().timestamp)
}

fn snapshot(reader: &Reader, series: &Series, slot: Slot) -> Result<Snapshot, StoreError> {
    reader.snapshot_at(&series.pool, slot)?.ok_or_else(|| StoreError::CorruptRow {
        table: "entry",
        found: format!("no snapshot of {} at {slot}", series.pool.id),
    })
}

impl OneClosure {
    /// A closure with a recorded slot, and the reopening before the market closed again.
    fn from_closed(
        reader: &Reader,
        series: &Series,
        closed: ClosureSpan,
        until: u64,
        told: &[(Slot, Gap, RecordedSlot)],
    ) -> Result<Option<Self>, FindError> {
        let place = |at: u64| told.partition_point(|(_, _, slot)| slot.at < at);
        let (first, end) = (place(closed.from), place(closed.to));
        let within = &told[first..end];
        let Some((last, last_gap, _)) = within.last().copied() else { return Ok(None) };
        let mut found = Self {
            closed,
            slots: u32::try_from(within.len()).unwrap_or(u32::MAX),
            lowest: within.iter().filter_map(|(_, _, slot)| slot.depth_usd).min(),
            last,
            last_gap,
            reopened: None,
        };
        if matches!(last_gap, Gap::Refused(_)) {
            return Ok(Some(found));
        }
        let closing = snapshot(reader, series, last)?;
        for (slot, ..) in &told[end..place(until)] {
            let open = snapshot(reader, series, *slot)?;
            match check_reopening(open.observation(), closed.to) {
                ReopeningStatus::NotYet => {}
                ReopeningStatus::Never => break,
                ReopeningStatus::Yes => {
                    let [closing, open] = [&closing, &open].map(Snapshot::observation);
                    let gap = reopening_gap(closing, open, series.direction, series.size);
                    found.reopened = Some((*slot, gap.ok().flatten()));
                    break;
                }
            }
        }
        Ok(Some(found))
    }

    fn describe_closure(&self, urls: &Urls, series: &Series) -> HoursClosure {
        let Self { closed, slots, lowest, last, last_gap, reopened } = *self;
        HoursClosure {
            closure_kind: closed.kind.as_str().to_owned(),
            closed_at: rfc3339(closed.from),
            opens_at: rfc3339(closed.to),
            slots_recorded: slots,
            depth_usd_lowest: lowest.map(Number::from),
            reopening_gap_pct: reopened.and_then(|(_, gap)| gap).map(Number::from),
            last_closed_slot: last.to_string(),
            reopened_slot: reopened.map(|(slot, _)| slot.to_string()),
            evidence_url: series.gap_point(urls, last, last_gap).evidence_url,
        }
    }
}
