//! Processes a period: the snapshots of its recorded, unretracted slots and the documents that its heads commit to, one
//! at a time.

use std::collections::VecDeque;

use super::{AccuracyFigure, AccuracyResult, AccuracyScan, AccuracyTermsOf};
use super::{Fills, MAX_LOGS, MAX_LOGS_HELD, PoolLog};
use crate::analytics::FigureError;
use crate::analytics::figure::{Figure, FigurePass};
use crate::evidence::DocumentError;
use crate::ids::PoolId;
use crate::json::Part;
use crate::series::Slot;
use crate::snapshot::Observation;

/// The pass. The caller passes the recorded, unretracted slots of the period in ascending order. Whenever the pass
/// [wants](Self::wants_fills) a document, the caller passes the next document that the heads from its first slot up to
/// `until` commit to, or `None` if there are no more.
#[derive(Debug)]
pub struct AccuracyPass {
    pool: PoolId,
    /// The first and the last slot of the period.
    period: [Slot; 2],
    scan: AccuracyScan,
    /// The slot that waits for the logs up to its block.
    waiting: Option<(Slot, Observation)>,
    /// Logs after the block of the previous slot, not yet used.
    unused: VecDeque<PoolLog>,
    /// The last block that the documents so far cover.
    until: Option<u64>,
    /// Whether there are no further documents.
    is_out: bool,
    slots: Option<[Slot; 2]>,
    slots_waiting: u32,
    documents: u32,
    /// Logs of the documents so far.
    logs: usize,
}

/// The result of a period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccuracyOfPeriod {
    /// The figure.
    pub result: AccuracyResult,
    /// The first and the last slot whose logs are known, if any.
    pub slots: Option<[Slot; 2]>,
    /// Later slots whose logs no head up to `until` commits to.
    pub slots_waiting: u32,
    /// The number of documents read.
    pub documents: u32,
}

impl AccuracyPass {
    /// An empty pass by the rules of the parameters' version.
    pub fn new<const VERSION: u8>(terms: AccuracyTermsOf<VERSION>) -> Result<Self, FigureError> {
        let AccuracyTermsOf { pool, from, to, .. } = terms.validate()?;
        Ok(Self {
            pool,
            period: [from, to],
            scan: AccuracyScan::of(AccuracyTermsOf::<VERSION>::RULES),
            waiting: None,
            unused: VecDeque::new(),
            until: None,
            is_out: false,
            slots: None,
            slots_waiting: 0,
            documents: 0,
            logs: 0,
        })
    }

    /// Compares up to the waiting slot as soon as its logs are known.
    fn go_on(&mut self) -> Result<(), FigureError> {
        let Some((slot, observation)) = self.waiting.take() else { return Ok(()) };
        let block = observation.block().number;
        if self.until.is_none_or(|until| until < block) {
            if self.is_out {
                self.slots_waiting += 1;
            } else {
                self.waiting = Some((slot, observation));
            }
            return Ok(());
        }
        let count = self.unused.partition_point(|log| log.block <= block);
        let logs: Vec<PoolLog> = self.unused.drain(..count).collect();
        self.scan.add_slot(slot, observation, &logs)?;
        self.slots = Some(self.slots.map_or([slot; 2], |[first, _]| [first, slot]));
        Ok(())
    }
}

impl FigurePass for AccuracyPass {
    type Result = AccuracyOfPeriod;

    /// The caller must first pass any document that the pass wants.
    fn add_snapshot(
        &mut self,
        _: &PoolId,
        slot: Slot,
        observation: Observation,
    ) -> Result<(), FigureError> {
        let [from, to] = self.period;
        let is_within = (from..=to).contains(&slot);
        if !is_within || self.waiting.is_some() {
            return Err(FigureError::OutOfOrder { slot });
        }
        if !super::is_told_of(observation.state()) {
            return Err(super::unsupported_protocol(observation.state().protocol()));
        }
        self.waiting = Some((slot, observation));
        self.go_on()
    }

    fn wants_fills(&self) -> bool {
        self.waiting.is_some()
    }

    fn take_fills(&mut self, fills: Option<Fills>) -> Result<(), FigureError> {
        let Some(fills) = fills else {
            self.is_out = true;
            self.slots_waiting += u32::from(self.waiting.take().is_some());
            return Ok(());
        };
        let follows = self.until.is_none_or(|until| fills.follows(until));
        if !follows || fills.contract != *self.pool.contract() {
            return Err(FigureError::OtherFills { after_block: fills.after_block });
        }
        self.logs += fills.logs.len();
        if self.logs > MAX_LOGS || self.unused.len() + fills.logs.len() > MAX_LOGS_HELD {
            return Err(FigureError::TooManyLogs);
        }
        self.until = Some(fills.to_block);
        self.unused.extend(fills.logs);
        self.documents += 1;
        self.go_on()
    }

    fn finish(self) -> Result<AccuracyOfPeriod, FigureError> {
        let Self { scan, slots, slots_waiting, documents, .. } = self;
        Ok(AccuracyOfPeriod { result: scan.finish(), slots, slots_waiting, documents })
    }

    fn document(result: &AccuracyOfPeriod) -> Result<Part, DocumentError> {
        AccuracyFigure::from_period(result).part(result.result.rules)
    }
}
