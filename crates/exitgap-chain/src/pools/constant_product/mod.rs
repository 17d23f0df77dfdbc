//! Uniswap v2's pair, and forks that respond and pay like it: two reserves, and a fee that no
//! contract reports.

use exitgap_core::U256;
use exitgap_core::ids::{Address, PoolId};
use exitgap_core::pools::{ConstantProduct, FeeRate};
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::Observation;

use super::pair::{self, Pair};
use super::reader::{Candidate, Claim, DecodedState, PoolReader, Probe, RecognisedPool};
use super::{call_failure, solidly};
use crate::abi::{Answer, Call, V2Factory, V2Pair, wire};
use crate::config::{Factory, FactoryKind, PoolPlan};
use crate::read_failure::ReadFailure;
use crate::trial::{Outcome, Sale, Verdict};

/// The number of words in the answer of `getReserves`.
const RESERVES_WORDS: usize = 3;

/// Reads one pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PairReader {
    pair: Address,
    fee: FeeRate,
    /// Whether its factory is known to be Uniswap v2's.
    uniswap: bool,
}

impl PoolReader for PairReader {
    fn probes(plan: &PoolPlan, _factories: &[Factory]) -> Vec<Probe> {
        let Some(pool) = plan.id.contract().address() else { return Vec::new() };
        let mut probes = pair::probes(pool);
        let reserves = &V2Pair::getReservesCall {};
        probes.push(Probe::new("getReserves", pool, reserves, RESERVES_WORDS));
        probes.extend(solidly::probes(pool));
        probes
    }

    fn identify(candidate: &Candidate<'_>, answers: &[Answer]) -> Claim<Self> {
        let Some((pair, [reserves, stable, metadata])) = Pair::from_answers(answers) else {
            return Claim::Foreign;
        };
        if reserves.exact::<V2Pair::getReservesCall>(RESERVES_WORDS).is_none() {
            return Claim::Foreign;
        }
        // These pairs answer like a v2 pair but use other rules.
        if solidly::answers_any(stable, metadata) {
            return Claim::Foreign;
        }
        match candidate.plan.fee.zip(candidate.plan.id.contract().address()) {
            Some((fee, address)) => {
                let known = candidate.factories.iter().find(|known| known.address == pair.factory);
                let uniswap = known.is_some_and(|known| known.kind == FactoryKind::UniswapV2);
                let [token0, token1] = pair.tokens.map(wire);
                let asked = V2Factory::getPairCall { tokenA: token0, tokenB: token1 };
                let proof = uniswap.then(|| Call::new(pair.factory, &asked, 1));
                let reader = Self { pair: address, fee, uniswap };
                Claim::Is(RecognisedPool { reader, tokens: pair.tokens.to_vec(), proof })
            }
            None => Claim::Refused("a v2 pair does not report its fee; configure `fee`".to_owned()),
        }
    }

    fn name(&self) -> &'static str {
        if self.uniswap { "constant_product of Uniswap v2" } else { ConstantProduct::PROTOCOL }
    }

    fn state_calls(&self) -> Vec<Call> {
        vec![Call::new(self.pair, &V2Pair::getReservesCall {}, RESERVES_WORDS)]
    }

    fn decode(
        &self,
        pool: &PoolId,
        _at: u64,
        answers: &[Answer],
    ) -> Result<DecodedState, ReadFailure> {
        let answer = answers.first().unwrap_or(&Answer::Reverted);
        let reserves = answer
            .exact::<V2Pair::getReservesCall>(RESERVES_WORDS)
            .ok_or_else(|| call_failure(pool, "getReserves", answer))?;
        let raw = [reserves.reserve0.to(), reserves.reserve1.to()];
        let state = ConstantProduct::new(raw, self.fee).map_err(|error| {
            ReadFailure::new(MissingReason::StateInconsistent, format!("pool {pool}: {error}"))
        })?;
        Ok(DecodedState::Whole(state.into()))
    }

    /// The pair can be paid for only one trial at a time.
    const TRIED_AT_ONCE: usize = 1;

    fn swapped_by(&self) -> Address {
        self.pair
    }

    /// After the pair was paid, three amounts are requested: exactly the fill, which it must allow; one unit more,
    /// which it must refuse; and one unit, which shows that a trial is possible at all. This verifies the curve and the
    /// fee.
    fn trial_calls(&self, sale: &Sale) -> Vec<Vec<u8>> {
        let outs = [sale.amount_out, sale.amount_out + U256::ONE, U256::ONE];
        outs.map(|out| pair::swap(sale, out)).to_vec()
    }

    /// The reserves plus the payment to the pair.
    fn trial_balance(&self, pool: &Observation, sale: &Sale, token: usize) -> Option<U256> {
        let pair = ConstantProduct::from_state(pool.state())?;
        let paid = if token == sale.direction.base_index() { sale.amount_in } else { U256::ZERO };
        Some(U256::from(pair.reserves()[token]) + paid)
    }

    fn judge(&self, _pool: &Observation, sale: &Sale, outcomes: &[Outcome]) -> Verdict {
        let [fill, more, least] = outcomes else {
            return Verdict::Unknown("the trial was set up incorrectly".to_owned());
        };
        if !least.success {
            return Verdict::Unknown(format!("swap {}", least.in_words()));
        }
        let (amount_in, amount_out) = (sale.amount_in, sale.amount_out);
        let base = sale.direction.base_index();
        match (fill.success, more.success) {
            (true, false) => Verdict::Same,
            (false, _) => Verdict::Other(format!(
                "for {amount_in} of token{base} it does not pay the {amount_out} that its kind and fee give: swap \
                 {}",
                fill.in_words()
            )),
            (true, true) => Verdict::Other(format!(
                "for {amount_in} of token{base} it pays more than the {amount_out} that its kind and fee give"
            )),
        }
    }
}
