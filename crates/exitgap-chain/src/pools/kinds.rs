//! The kinds of pools that are read: the one place that names them all and asks the right one.
//!
//! A new kind is a folder beside this file and a line in the list below.

use exitgap_core::U256;
use exitgap_core::ids::Address;
use exitgap_core::snapshot::Observation;

use super::concentrated::TickedReader;
use super::constant_product::PairReader;
use super::reader::{Candidate, Claim, PoolReader, Reading};
use crate::abi::{Answer, Call};
use crate::missing::Missing;
use crate::trial::{Outcome, Sale, Verdict};

/// Makes of a list of kinds the type that holds a reader of one of them, and the one `match` over
/// it.
macro_rules! kinds {
    ($dollar:tt $($reader:ident,)+) => {
        /// How one pool is read.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub(crate) enum Reader {
            $($reader($reader),)+
        }

        $(
            impl From<$reader> for Reader {
                fn from(reader: $reader) -> Self {
                    Self::$reader(reader)
                }
            }
        )+

        /// The names of the questions that the kinds ask of every contract, in their order.
        pub(crate) fn probe_names() -> Vec<&'static str> {
            [$(<$reader as PoolReader>::PROBES),+].concat()
        }

        /// The calls that ask them.
        pub(crate) fn probes(pool: Address) -> Vec<Call> {
            [$(<$reader as PoolReader>::probes(pool)),+].concat()
        }

        /// What each kind makes of the answers.
        pub(crate) fn claims(
            candidate: &Candidate<'_>,
            mut answers: &[Answer],
        ) -> Vec<Claim<Reader>> {
            vec![$(claim::<$reader>(candidate, &mut answers)),+]
        }

        macro_rules! ask {
            ($dollar one:expr, $dollar it:ident => $dollar answer:expr) => {
                match $dollar one {
                    $(Reader::$reader($dollar it) => $dollar answer,)+
                }
            };
        }
    };
}

kinds! { $
    PairReader,
    TickedReader,
}

/// What one kind makes of its part of the answers, which are taken.
fn claim<K: PoolReader>(candidate: &Candidate<'_>, answers: &mut &[Answer]) -> Claim<Reader> {
    let (own, rest) = answers.split_at(K::PROBES.len().min(answers.len()));
    *answers = rest;
    match K::identify(candidate, own) {
        Claim::Foreign => Claim::Foreign,
        Claim::Partly => Claim::Partly,
        Claim::Is { reader, proof } => Claim::Is { reader: reader.into(), proof },
        Claim::Refused(why) => Claim::Refused(why),
    }
}

/// Each question is the [`PoolReader`]'s of the same name.
impl Reader {
    pub(crate) fn name(&self) -> &'static str {
        ask!(self, reader => reader.name())
    }

    pub(crate) fn state_calls(&self, pool: Address) -> Vec<Call> {
        ask!(self, reader => reader.state_calls(pool))
    }

    pub(crate) fn decode(&self, pool: Address, answers: &[Answer]) -> Result<Reading, Missing> {
        ask!(self, reader => reader.decode(pool, answers))
    }

    pub(crate) fn ticks(&self) -> Option<&TickedReader> {
        ask!(self, reader => reader.ticks())
    }

    pub(crate) fn tried_at_once(&self) -> usize {
        fn of<K: PoolReader>(_: &K) -> usize {
            K::TRIED_AT_ONCE
        }
        ask!(self, reader => of(reader))
    }

    pub(crate) fn trial_calls(&self, sale: &Sale) -> Vec<Vec<u8>> {
        ask!(self, reader => reader.trial_calls(sale))
    }

    pub(crate) fn trial_balance(
        &self,
        pool: &Observation,
        sale: &Sale,
        token: usize,
    ) -> Option<U256> {
        ask!(self, reader => reader.trial_balance(pool, sale, token))
    }

    pub(crate) fn judge(&self, sale: &Sale, outcomes: &[Outcome]) -> Verdict {
        ask!(self, reader => reader.judge(sale, outcomes))
    }
}
