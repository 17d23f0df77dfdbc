//! Figures over many slots: the service's answers, their files, and their verification from the service's snapshots.

use std::collections::BTreeMap;

use exitgap_api::operations::parameters::{
    ABOVE, BASE, BONUS, BOOK_GAP, CASCADE, EQUITY_GAP, EQUITY_SIZE, EXPORT_FROM, EXPORT_POOL,
    EXPORT_TO, FALL, HAIRCUT, MOVE, PERIOD_FROM, PROTOCOL_FEE, REFERENCE, SHOCK_FALL, SLOT, SOLD,
    TO, VENUE, WITHIN_SLOTS,
};
use exitgap_api::operations::{
    AccuracyAsked, DecayAsked, EquityAsked, ExportAsked, ExposureAsked, FigureOf, Operation,
    Target, VenueAsked, VenueStressAsked,
};
use exitgap_api::{
    DepthDecay, Equities, EquityScore, Export, LiquidationExposure, MAX_SNAPSHOT_PAGE_BYTES,
    NamedShocks, Number, PoolAccuracy, VenueLeftOut, VenueStress,
};
use exitgap_core::analytics::Reference;
use exitgap_core::analytics::accuracy::Fills;
use exitgap_core::analytics::exposure::Liquidation;
use exitgap_core::analytics::figure::{
    FigureFills, FigureReport, FigureUse, FigureVerifier, FigureWant, MAX_FIGURE_BYTES,
};
use exitgap_core::evidence::Base;
use exitgap_core::ids::{DocumentHash, PoolId, SnapshotHash};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{SnapshotDocuments, SnapshotFile};
use exitgap_core::tlog::VerifierKey;
use exitgap_core::units::Percent;

use crate::client::{JSON, series_target};
use crate::{Client, ClientError, HistoryOf, Transport};

impl<T: Transport> Client<T> {
    /// `GET /v1/decay/{pool}`: how depth decreases after price moves. The client's guards apply, not those of `asked`.
    pub async fn depth_decay(&self, asked: &DecayAsked) -> Result<DepthDecay, ClientError> {
        let target = decay_target(asked);
        let decay: DepthDecay = self.get_guarded(target.clone()).await?;
        let of = &decay.of;
        let base = asked.base.as_deref().and_then(Base::from_code);
        let answers = of.pool == asked.pool.to_string()
            && base.is_none_or(|base| base.code() == of.base)
            && of.within_slots == asked.within_slots
            && of.move_pct == Number::from(Percent(asked.move_e8.into()))
            && of.gap_pct == Number::from(asked.gap);
        if !answers {
            return Err(self.not_as_specified(&target, "the answer does not match the request"));
        }
        Ok(decay)
    }

    /// `GET /v1/accuracy/{pool}`: every swap of a period, compared with its estimate.
    pub async fn accuracy(&self, asked: &AccuracyAsked) -> Result<PoolAccuracy, ClientError> {
        let target = Operation::Accuracy.target_of(&asked.pool);
        let target = target.maybe(&PERIOD_FROM, asked.from).maybe(&TO, asked.to);
        let told: PoolAccuracy = self.get_guarded(target.clone()).await?;
        if told.record.pool != asked.pool.to_string() {
            return Err(self.not_as_specified(&target, "the answer does not match the request"));
        }
        Ok(told)
    }

    /// The figure file of `operation` at a `figure_url`, from this client's service whatever the URL's host; not
    /// verified yet.
    pub async fn figure(&self, operation: Operation, url: &str) -> Result<Vec<u8>, ClientError> {
        let named = url.split_once(operation.prefix()).map_or("", |(_, named)| named);
        self.bytes(&operation.target_of(named), JSON, MAX_FIGURE_BYTES).await
    }

    /// The figure file at an address, not verified yet. A file for another request is an error; one that this program cannot
    /// read is not, and its verdict is not `valid`.
    pub async fn figure_file(&self, of: &FigureOf) -> Result<Vec<u8>, ClientError> {
        let named = of.named.as_deref().unwrap_or_default();
        let query = if of.query.is_empty() { String::new() } else { format!("?{}", of.query) };
        let target = of.operation.target_of(format_args!("{named}{query}"));
        let file = self.bytes(&target, JSON, MAX_FIGURE_BYTES).await?;
        if of.is_of_file(&file) == Some(false) {
            return Err(self.not_as_specified(&target, "it is the file of another request"));
        }
        Ok(file)
    }

    /// The figure file of the accuracy record, not verified yet.
    pub async fn accuracy_file(&self, asked: &AccuracyAsked) -> Result<Vec<u8>, ClientError> {
        let target = Operation::AccuracyFile.target_of(&asked.pool);
        let target = target.maybe(&PERIOD_FROM, asked.from).maybe(&TO, asked.to);
        self.bytes(&target, JSON, MAX_FIGURE_BYTES).await
    }

    /// The figure file of a decay, not verified yet.
    pub async fn decay_file(&self, asked: &DecayAsked) -> Result<Vec<u8>, ClientError> {
        let target = with_terms(Operation::DecayFile.target_of(&asked.pool), asked);
        self.bytes(&target, JSON, MAX_FIGURE_BYTES).await
    }

    /// The figure file of market hours, for the same request as [`Client::hours`]; not verified yet.
    pub async fn hours_file(&self, of: &HistoryOf) -> Result<Vec<u8>, ClientError> {
        let target = series_target(Operation::HoursFile, of);
        self.bytes(&target, JSON, MAX_FIGURE_BYTES).await
    }

    /// `GET /v1/export`: closed days, at most 31 per page. Their checkpoint and hashes are not verified yet:
    /// `exitgap export` verifies them, and downloads the files.
    pub async fn closed_days(&self, asked: &ExportAsked) -> Result<Export, ClientError> {
        let target = Operation::Export.target();
        let target = target.maybe(&EXPORT_FROM, asked.from).maybe(&EXPORT_TO, asked.to);
        let add = |target: Target, pool: &PoolId| target.with(&EXPORT_POOL, pool);
        self.json(&asked.pools.iter().fold(target, add)).await
    }

    /// `GET /v1/equities`: every tokenized stock of the service, with its current state.
    pub async fn equities(&self) -> Result<Equities, ClientError> {
        self.json(&Operation::Equities.target()).await
    }

    /// `GET /v1/equities/{chain}/{token}`: the statistics of a tokenized stock's pools. The client's guards apply, not
    /// those of `asked`.
    pub async fn equity_score(&self, asked: &EquityAsked) -> Result<EquityScore, ClientError> {
        let target = Operation::Equity.of_share(&asked.chain, asked.token);
        let target = target.with(&EQUITY_SIZE, asked.size);
        let target = target.with(&EQUITY_GAP, Number::from(asked.limit));
        let told: EquityScore = self.get_guarded(target.clone()).await?;
        let answers = told.listed.chain == asked.chain.to_string()
            && told.listed.token == asked.token.to_string()
            && told.size_usd == asked.size.into()
            && told.gap_pct == asked.limit.into();
        if !answers {
            return Err(self.not_as_specified(&target, "the answer does not match the request"));
        }
        Ok(told)
    }

    /// `GET /v1/exposure`: whether a week's markets could have absorbed a liquidation. The client's guards apply, not
    /// those of `asked`.
    pub async fn liquidation_exposure(
        &self,
        asked: &ExposureAsked,
    ) -> Result<LiquidationExposure, ClientError> {
        let target = exposure_target(Operation::Exposure, asked);
        let exposure: LiquidationExposure = self.get_guarded(target.clone()).await?;
        let of = &exposure.of;
        let told = exposure.venues.iter().map(|venue| (&venue.pool, &venue.base));
        let told: Vec<_> = told.chain(exposure.left_out.iter().map(of_left_out)).collect();
        let percent = |e8: u32| Number::from(Percent(e8.into()));
        let Liquidation { bonus_e8, protocol_fee_e8, fall_e8 } = asked.liquidation;
        let answers = are_of(&asked.venues, &told)
            && of.reference.as_deref() == asked.reference.map(Reference::code)
            && of.cascade_usd == asked.cascade.into()
            && of.bonus_pct == percent(bonus_e8)
            && of.protocol_fee_pct == percent(protocol_fee_e8)
            && of.fall_pct == percent(fall_e8);
        if !answers {
            return Err(self.not_as_specified(&target, "the answer does not match the request"));
        }
        Ok(exposure)
    }

    /// The figure file of an exposure, not verified yet.
    pub async fn exposure_file(&self, asked: &ExposureAsked) -> Result<Vec<u8>, ClientError> {
        let mut asked = asked.clone();
        if !asked.venues.iter().all(is_by_place) {
            // A file's address names tokens by their place, which the figure tells.
            let told = self.liquidation_exposure(&asked).await?;
            let taking = told.venues.iter().map(|venue| (&venue.pool, &venue.base));
            name_by_place(&mut asked.venues, taking.chain(told.left_out.iter().map(of_left_out)));
        }
        let target = exposure_target(Operation::ExposureFile, &asked);
        self.bytes(&target, JSON, MAX_FIGURE_BYTES).await
    }

    /// `GET /v1/stress`: the estimates for one exit over several venues in each slot of a week, after a shock. The
    /// client's guards apply, not those of `asked`.
    pub async fn venue_stress(&self, asked: &VenueStressAsked) -> Result<VenueStress, ClientError> {
        let target = stress_target(Operation::VenueStress, asked);
        let stress: VenueStress = self.get_guarded(target.clone()).await?;
        let of = &stress.of;
        let told = stress.venues.iter().map(|venue| (&venue.pool, &venue.base));
        let told: Vec<_> = told.chain(stress.left_out.iter().map(of_left_out)).collect();
        let percent = |e8: u32| Number::from(Percent(e8.into()));
        let limit = asked.limit.map(Number::from);
        let answers = are_of(&asked.venues, &told)
            && of.reference.as_deref() == asked.reference.map(Reference::code)
            && of.size_usd == asked.size.into()
            && of.haircut_pct == percent(asked.shock.haircut_e8)
            && of.fall_pct == percent(asked.shock.fall_e8)
            && of.after_move_pct == asked.after.map(|after| percent(after.move_e8))
            && of.within_slots == asked.after.map(|after| after.within_slots)
            && stress.above.as_ref().map(|above| &above.limit_pct) == limit.as_ref();
        if !answers {
            return Err(self.not_as_specified(&target, "the answer does not match the request"));
        }
        Ok(stress)
    }

    /// `GET /v1/shocks`: the effects of recorded moves that the operator named, as parameters of a stress test.
    pub async fn shocks(&self) -> Result<NamedShocks, ClientError> {
        self.json(&Operation::Shocks.target()).await
    }

    /// The figure file of a stress test, not verified yet.
    pub async fn venue_stress_file(
        &self,
        asked: &VenueStressAsked,
    ) -> Result<Vec<u8>, ClientError> {
        let mut asked = asked.clone();
        if !asked.venues.iter().all(is_by_place) {
            // A file's address names tokens by their place, which the figure tells.
            let told = self.venue_stress(&asked).await?;
            let taking = told.venues.iter().map(|venue| (&venue.pool, &venue.base));
            name_by_place(&mut asked.venues, taking.chain(told.left_out.iter().map(of_left_out)));
        }
        let target = stress_target(Operation::VenueStressFile, &asked);
        self.bytes(&target, JSON, MAX_FIGURE_BYTES).await
    }

    /// Verifies a figure file: recomputes its result from the service's snapshots, and from the pools' logs if it uses
    /// them, and checks every hash. `told` receives how many inputs were processed, and the total.
    pub async fn verify_figure(
        &self,
        file: &[u8],
        keys: &[VerifierKey],
        mut told: impl FnMut(usize, usize),
    ) -> Result<FigureReport, ClientError> {
        let mut verifier = FigureVerifier::new(file, keys);
        let mut pages: BTreeMap<PoolId, BTreeMap<SnapshotHash, SnapshotDocuments>> =
            BTreeMap::new();
        let mut logged: BTreeMap<DocumentHash, Vec<u8>> = BTreeMap::new();
        while let Some(wanted) = verifier.next_want() {
            match wanted {
                FigureWant::Snapshot(wanted) => {
                    let wanted = wanted.clone();
                    let page = pages.entry(wanted.pool.clone()).or_default();
                    if !page.contains_key(&wanted.snapshot) {
                        *page = self.snapshots_from(&wanted).await?;
                    }
                    let found = page.remove(&wanted.snapshot);
                    verifier.add_snapshot(found.as_ref());
                }
                FigureWant::Fills(wanted) => {
                    let wanted = wanted.clone();
                    if !logged.contains_key(&wanted.document) {
                        logged = self.fills_from(&wanted).await?;
                    }
                    let found = logged.remove(&wanted.document);
                    verifier.take_fills(found.as_deref());
                }
            }
            let (seen, all) = verifier.progress();
            told(seen, all);
        }
        Ok(verifier.finish())
    }

    /// A pool's logs from a slot on, as the documents to which its heads commit, keyed by hash.
    async fn fills_from(
        &self,
        wanted: &FigureFills,
    ) -> Result<BTreeMap<DocumentHash, Vec<u8>>, ClientError> {
        let target = Operation::Fills.target_of(&wanted.pool);
        let target = target.with(&SLOT, wanted.slot.number());
        let lines = self.fills(&wanted.pool, wanted.slot).await?;
        let read = |line: &[u8]| {
            let document = Fills::document_of_line(line);
            let (_, document) =
                document.map_err(|error| self.not_as_specified(&target, error.to_string()))?;
            Ok((Fills::hash_of(&document), document))
        };
        lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(read).collect()
    }

    /// A page of a pool's snapshots from a slot on: snapshot files, one per line, not checked.
    pub async fn series(&self, pool: &PoolId, from: Slot) -> Result<Vec<u8>, ClientError> {
        let target = Operation::Snapshots.target_of(pool).with(&SLOT, from.number());
        self.bytes(&target, "application/x-ndjson", MAX_SNAPSHOT_PAGE_BYTES).await
    }

    /// A pool's logs from a slot on: documents, one per line with its slot, not checked.
    pub async fn fills(&self, pool: &PoolId, from: Slot) -> Result<Vec<u8>, ClientError> {
        let target = Operation::Fills.target_of(pool).with(&SLOT, from.number());
        self.bytes(&target, "application/x-ndjson", MAX_SNAPSHOT_PAGE_BYTES).await
    }

    /// The snapshots of a pool from a slot on, keyed by hash.
    async fn snapshots_from(
        &self,
        wanted: &FigureUse,
    ) -> Result<BTreeMap<SnapshotHash, SnapshotDocuments>, ClientError> {
        let target = Operation::Snapshots.target_of(&wanted.pool);
        let target = target.with(&SLOT, wanted.slot.number());
        let lines = self.series(&wanted.pool, wanted.slot).await?;
        let read = |line: &[u8]| {
            let file = SnapshotFile::from_json(line);
            let file = file.map_err(|error| self.not_as_specified(&target, error.to_string()))?;
            Ok((file.documents.hash(), file.documents))
        };
        lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(read).collect()
    }
}

fn exposure_target(operation: Operation, asked: &ExposureAsked) -> Target {
    let ExposureAsked { venues, cascade, liquidation, from, to, reference, guards: _ } = asked;
    let percent = |e8: u32| Number::from(Percent(e8.into()));
    let target = operation.target();
    venues
        .iter()
        .fold(target, |target, venue| target.with(&VENUE, venue))
        .with(&CASCADE, cascade)
        .with(&BONUS, percent(liquidation.bonus_e8))
        .with(&PROTOCOL_FEE, percent(liquidation.protocol_fee_e8))
        .with(&FALL, percent(liquidation.fall_e8))
        .maybe(&PERIOD_FROM, from.as_ref())
        .maybe(&TO, to.as_ref())
        .maybe(&REFERENCE, reference.map(Reference::code))
}

/// The pool and the base of a venue that is left out.
fn of_left_out(out: &VenueLeftOut) -> (&String, &String) {
    (&out.pool, &out.base)
}

/// Whether an answer's venues, each with its base, are the requested ones.
fn are_of(asked: &[VenueAsked], told: &[(&String, &String)]) -> bool {
    asked.len() == told.len()
        && asked.iter().all(|asked| {
            let base = asked.base.as_deref().and_then(Base::from_code);
            let pool = asked.pool.to_string();
            let same = |(told, of): &(&String, &String)| {
                **told == pool && base.is_none_or(|base| base.code() == of.as_str())
            };
            told.iter().any(same)
        })
}

/// Names the tokens of venues by their place, as an answer does.
fn name_by_place<'t>(
    asked: &mut [VenueAsked],
    told: impl Iterator<Item = (&'t String, &'t String)>,
) {
    let told: Vec<_> = told.collect();
    for venue in asked {
        let pool = venue.pool.to_string();
        let found = told.iter().find(|(told, _)| **told == pool);
        if let Some((_, base)) = found {
            venue.base = Some((*base).clone());
        }
    }
}

/// Whether a base is named by its index, or not named.
fn is_by_place(venue: &VenueAsked) -> bool {
    venue.base.as_deref().is_none_or(|base| Base::from_code(base).is_some())
}

fn stress_target(operation: Operation, asked: &VenueStressAsked) -> Target {
    let VenueStressAsked { venues, size, shock, limit, after, from, to, reference, guards: _ } =
        asked;
    let percent = |e8: u32| Number::from(Percent(e8.into()));
    let target = operation.target();
    venues
        .iter()
        .fold(target, |target, venue| target.with(&VENUE, venue))
        .with(&SOLD, size)
        .with(&HAIRCUT, percent(shock.haircut_e8))
        .with(&SHOCK_FALL, percent(shock.fall_e8))
        .maybe(&ABOVE, limit.map(Number::from).as_ref())
        .after_move(*after)
        .maybe(&PERIOD_FROM, from.as_ref())
        .maybe(&TO, to.as_ref())
        .maybe(&REFERENCE, reference.map(Reference::code))
}

fn decay_target(asked: &DecayAsked) -> Target {
    with_terms(Operation::Decay.target_of(&asked.pool), asked)
}

fn with_terms(target: Target, asked: &DecayAsked) -> Target {
    let DecayAsked { pool: _, base, from, to, move_e8, within_slots, gap, guards: _ } = asked;
    target
        .maybe(&BASE, base.as_ref())
        .maybe(&PERIOD_FROM, from.as_ref())
        .maybe(&TO, to.as_ref())
        .with(&MOVE, Number::from(Percent((*move_e8).into())))
        .with(&WITHIN_SLOTS, within_slots)
        .with(&BOOK_GAP, Number::from(*gap))
}
