//! The kinds of pools that can be read. Only this file lists them and dispatches to them.
//!
//! A new kind needs a folder next to this file and a line in the list below.

use exitgap_core::U256;
use exitgap_core::ids::{Address, PoolId};
use exitgap_core::pools::PoolState;
use exitgap_core::snapshot::{Fact, Observation};

use super::balancer::{BalancerReader, ThirdVaultReader};
use super::concentrated::TickedReader;
use super::constant_product::PairReader;
use super::curve::{CryptoReader, NgReader, PlainReader};
use super::linked::LinkedReader;
use super::managed::ManagedReader;
use super::reader::{
    Candidate, Claim, DecodedState, PartReader, Parts, PoolReader, Probe, RecognisedPool,
};
use super::solidly::SolidlyReader;
use crate::abi::{Answer, Call};
use crate::config::{Factory, PoolPlan};
use crate::read_failure::ReadFailure;
use crate::trial::{Outcome, Sale, Verdict};

/// Generates, from a list of kinds, the enum of their readers with the only `match` over it.
macro_rules! kinds {
    ($dollar:tt $($reader:ident,)+) => {
        /// The reader of one pool.
        #[expect(clippy::enum_variant_names, reason = "a variant is called as the type it holds")]
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

        /// The probes of all kinds for a pool, in order, without duplicates.
        pub(crate) fn probes(plan: &PoolPlan, factories: &[Factory]) -> Vec<Probe> {
            let mut probes: Vec<Probe> = Vec::new();
            $(
                for probe in <$reader as PoolReader>::probes(plan, factories) {
                    if !probes.contains(&probe) {
                        probes.push(probe);
                    }
                }
            )+
            probes
        }

        /// Each kind's conclusion from the answers.
        pub(crate) fn claims(
            candidate: &Candidate<'_>,
            answered: &[(Probe, Answer)],
        ) -> Vec<Claim<Reader>> {
            vec![$(claim::<$reader>(candidate, answered)),+]
        }

        /// The remembered parts of a recorded state; `None` if nothing of it is remembered.
        pub(crate) fn parts_of(state: &PoolState) -> Option<Parts> {
            None$(.or_else(|| <$reader as PoolReader>::parts_of(state)))+
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
    ManagedReader,
    LinkedReader,
    SolidlyReader,
    NgReader,
    PlainReader,
    CryptoReader,
    BalancerReader,
    ThirdVaultReader,
}

/// One kind's conclusion from the answers to its probes.
fn claim<K: PoolReader>(candidate: &Candidate<'_>, answered: &[(Probe, Answer)]) -> Claim<Reader> {
    let probes = K::probes(candidate.plan, candidate.factories);
    let own: Vec<Answer> = probes
        .iter()
        .filter_map(|probe| answered.iter().find(|(asked, _)| asked == probe))
        .map(|(_, answer)| answer.clone())
        .collect();
    match K::identify(candidate, &own) {
        Claim::Foreign => Claim::Foreign,
        Claim::Partly => Claim::Partly,
        Claim::Is(RecognisedPool { reader, tokens, proof }) => {
            Claim::Is(RecognisedPool { reader: reader.into(), tokens, proof })
        }
        Claim::Refused(why) => Claim::Refused(why),
    }
}

/// Each method is [`PoolReader`]'s method of the same name.
impl Reader {
    pub(crate) fn name(&self) -> &'static str {
        ask!(self, reader => reader.name())
    }

    pub(crate) fn state_calls(&self) -> Vec<Call> {
        ask!(self, reader => reader.state_calls())
    }

    pub(crate) fn further(&self) -> Vec<Call> {
        ask!(self, reader => reader.further())
    }

    pub(crate) fn confirm_registration(
        self,
        plan: &PoolPlan,
        answers: &[Answer],
    ) -> Result<(Self, Vec<Address>), String> {
        ask!(self, reader => {
            reader.confirm_registration(plan, answers).map(|(reader, tokens)| (reader.into(), tokens))
        })
    }

    pub(crate) fn decode(
        &self,
        pool: &PoolId,
        at: u64,
        answers: &[Answer],
    ) -> Result<DecodedState, ReadFailure> {
        ask!(self, reader => reader.decode(pool, at, answers))
    }

    pub(crate) fn part_reader(&self) -> Option<&dyn PartReader> {
        ask!(self, reader => reader.part_reader())
    }

    pub(crate) fn facts(&self) -> Vec<Fact> {
        ask!(self, reader => reader.facts())
    }

    pub(crate) fn tried_at_once(&self) -> usize {
        fn kind_trial_limit<K: PoolReader>(_: &K) -> usize {
            K::TRIED_AT_ONCE
        }
        ask!(self, reader => kind_trial_limit(reader))
    }

    pub(crate) fn moves_tokens(&self) -> bool {
        fn kind_moves_tokens<K: PoolReader>(_: &K) -> bool {
            K::MOVES_TOKENS
        }
        ask!(self, reader => kind_moves_tokens(reader))
    }

    pub(crate) fn swapped_by(&self) -> Address {
        ask!(self, reader => reader.swapped_by())
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

    pub(crate) fn judge(&self, pool: &Observation, sale: &Sale, outcomes: &[Outcome]) -> Verdict {
        ask!(self, reader => reader.judge(pool, sale, outcomes))
    }
}
