//! `max_size_for` against the contracts.
//!
//! Whether a fill passes is decided here from the definition and from what the contract pays, with
//! arithmetic of this module's own. Pools so small that every amount can be sold are searched
//! exhaustively; on others the answer must pass, and neither the teeth right above it nor amounts
//! further up may.

use alloy::primitives::U256;
use exitgap_core::exit::{Exit, MaxSize};
use exitgap_core::pools::{Direction, PoolState, SaleCurve};
use exitgap_core::units::{GapLimit, SizeUsd};

use crate::{Mismatch, ParityError, v2, v3};
use exitgap_tests::devchain::Rng;
use exitgap_tests::parity::draw::{even, log_uniform};
use exitgap_tests::parity::oracle::Oracle;
use exitgap_tests::parity::vector::{Depth, Vector};

/// Limits tried per pool, direction and oracle.
const LIMITS: u64 = 8;

/// Pools whose largest sensible amount is at most this are searched exhaustively.
const EXHAUSTIVE: u64 = 1_500;

/// Teeth above an answer that are tested one by one.
const TEETH: usize = 12;

/// What was compared so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Limits compared.
    pub cases: u64,
    /// Of those, on pools where every amount was sold.
    pub exhaustive: u64,
    /// What differed.
    pub mismatches: Vec<Mismatch>,
}

/// A real pool or pair.
pub enum Contract {
    /// Of Uniswap v3.
    V3(Box<v3::Pool>),
    /// Of Uniswap v2.
    V2(Box<v2::Pair>),
}

impl Contract {
    /// The state, as the contract tells it.
    pub fn state(&mut self) -> Result<PoolState, ParityError> {
        Ok(match self {
            Self::V3(pool) => PoolState::Concentrated(pool.state()?),
            Self::V2(pair) => PoolState::ConstantProduct(pair.state()?),
        })
    }

    /// What the contract pays for `amount_in`; `None` where it does not take all of it, or would
    /// pay nothing.
    fn amount_out(
        &mut self,
        direction: Direction,
        amount_in: U256,
    ) -> Result<Option<U256>, ParityError> {
        let (consumed, paid) = match self {
            Self::V3(pool) => match pool.swap(direction, amount_in, false)? {
                Ok(swapped) => (swapped.consumed, swapped.paid),
                Err(_) => return Ok(None),
            },
            Self::V2(pair) => match pair.swap(direction, amount_in, false)? {
                Ok(swapped) => (swapped.consumed, swapped.paid),
                Err(_) => return Ok(None),
            },
        };
        Ok((consumed == amount_in && !paid.is_zero()).then_some(paid))
    }
}

/// One limit on one direction of a pool.
struct Question<'a> {
    state: &'a PoolState,
    curve: &'a SaleCurve,
    oracle: &'a Oracle,
    limit: GapLimit,
}

/// Tries `cases` limits on random pools and pairs. `heard` is called after each pool.
pub fn run(
    beds: (&v3::Bed, &v2::Bed),
    rng: &mut Rng,
    cases: u64,
    heard: &mut dyn FnMut(&Tally),
) -> Result<Tally, ParityError> {
    let mut tally = Tally::default();
    while tally.cases < cases {
        let mut contract = match rng.below(8) {
            0..=2 => Contract::V3(Box::new(beds.0.pool(&v3::PoolToMake::tiny(rng))?)),
            3 | 4 => Contract::V3(Box::new(beds.0.pool(&v3::PoolToMake::random(rng))?)),
            5 => Contract::V2(Box::new(v2::tiny_pair(beds.1, rng)?)),
            _ => Contract::V2(Box::new(v2::random_pair(beds.1, rng)?)),
        };
        let state = contract.state()?;
        for direction in Direction::BOTH {
            let Some(oracle) = Oracle::near(rng, &state, direction) else { continue };
            let curve = state.curve(direction);
            let count = LIMITS.min(cases - tally.cases);
            let limits: Vec<GapLimit> = (0..count).map(|_| oracle.limit(rng, &curve)).collect();
            try_limits(rng, &mut contract, &oracle, &limits, &mut tally)?;
        }
        heard(&tally);
    }
    Ok(tally)
}

/// Tries limits on one direction of a pool. Answers those that trying every amount confirmed.
pub fn try_limits(
    rng: &mut Rng,
    contract: &mut Contract,
    oracle: &Oracle,
    limits: &[GapLimit],
    tally: &mut Tally,
) -> Result<Vec<Depth>, ParityError> {
    let (state, direction) = (contract.state()?, oracle.direction);
    let curve = state.curve(direction);
    let exit = Exit::new(&state, direction, oracle.decimals, oracle.usd()?);
    let (most, paid) = curve.most();
    let mut paid_by_amount: Vec<Option<U256>> = vec![None];
    let mut confirmed = Vec::new();
    for &limit in limits {
        let question = Question { state: &state, curve: &curve, oracle, limit };
        tally.cases += 1;
        let found = match exit.max_size_for(limit) {
            Ok(found) => found,
            Err(exhausted) => {
                let reason = format!("core refuses: {exhausted}");
                let vector = question.vector(U256::ZERO, None);
                tally.mismatches.push(Mismatch { reason, vector });
                continue;
            }
        };
        let last = oracle.largest_input(paid, limit).min(most);
        let exhaustive = last <= U256::from(EXHAUSTIVE);
        let verdict = if exhaustive {
            tally.exhaustive += 1;
            for amount in paid_by_amount.len() as u64..=last.to::<u64>() {
                paid_by_amount.push(contract.amount_out(direction, U256::from(amount))?);
            }
            question.check_exhaustively(&found, &paid_by_amount)
        } else {
            question.check_around(rng, contract, &found)?
        };
        match verdict {
            Ok(()) if exhaustive => {
                confirmed.push(Depth::new(oracle, limit, found.max_amount_in, found.size));
            }
            Ok(()) => {}
            Err(mismatch) => tally.mismatches.push(*mismatch),
        }
    }
    Ok(confirmed)
}

type Verdict = Result<(), Box<Mismatch>>;

impl Question<'_> {
    /// Compares with what trying every amount finds. `paid[n]` is what the contract pays for `n`;
    /// no amount past its end can pass.
    fn check_exhaustively(&self, found: &MaxSize, paid: &[Option<U256>]) -> Verdict {
        let passing = |amount: &u64| {
            let index = usize::try_from(*amount).expect("an index of the list");
            paid[index].is_some_and(|out| self.oracle.passes(U256::from(*amount), out, self.limit))
        };
        let size_of = |amount: u64| {
            let size = self.oracle.largest_size(U256::from(amount))?;
            (self.oracle.amount_in(size) == U256::from(amount)).then_some(size)
        };
        let amounts = || (1..paid.len() as u64).rev().filter(passing);
        let max_amount_in = U256::from(amounts().next().unwrap_or(0));
        let size = amounts().find_map(size_of);
        if (found.max_amount_in, found.size) == (max_amount_in, size) {
            return Ok(());
        }
        Err(Box::new(self.mismatch(
            found,
            max_amount_in,
            size,
            "trying every amount finds more or less",
        )))
    }

    /// Asks the contract at the answer and above it.
    fn check_around(
        &self,
        rng: &mut Rng,
        contract: &mut Contract,
        found: &MaxSize,
    ) -> Result<Verdict, ParityError> {
        let answer = found.max_amount_in;
        if !answer.is_zero() {
            let paid = contract.amount_out(self.oracle.direction, answer)?;
            if paid != Some(found.max_amount_out) || !self.passes(answer, paid) {
                return Ok(Err(Box::new(self.mismatch(
                    found,
                    U256::ZERO,
                    None,
                    "the answer does not pass",
                ))));
            }
        }
        for amount in self.amounts_above(rng, answer) {
            if self.passes(amount, contract.amount_out(self.oracle.direction, amount)?) {
                return Ok(Err(Box::new(self.mismatch(
                    found,
                    amount,
                    None,
                    "a larger amount passes",
                ))));
            }
        }
        let size_amount = found.size.map(|size| self.oracle.amount_in(size));
        if let Some(amount) = size_amount {
            let paid = contract.amount_out(self.oracle.direction, amount)?;
            if amount > answer || !self.passes(amount, paid) {
                return Ok(Err(Box::new(self.mismatch(
                    found,
                    amount,
                    None,
                    "the size does not pass",
                ))));
            }
        }
        let above = found.size.map_or(SizeUsd::MIN.micros(), |size| size.micros() + 1);
        if let Ok(above) = SizeUsd::from_micros(above) {
            let amount = self.oracle.amount_in(above);
            // Amounts above the answer were tested already.
            if amount <= answer
                && self.passes(amount, contract.amount_out(self.oracle.direction, amount)?)
            {
                return Ok(Err(Box::new(self.mismatch(
                    found,
                    amount,
                    Some(above),
                    "a larger size passes",
                ))));
            }
        }
        Ok(Ok(()))
    }

    fn passes(&self, amount: U256, paid: Option<U256>) -> bool {
        paid.is_some_and(|paid| self.oracle.passes(amount, paid, self.limit))
    }

    /// The starts of the teeth right above `answer`, which are their best amounts, then amounts at
    /// growing distances, the ends of the next segments, and amounts from anywhere above.
    fn amounts_above(&self, rng: &mut Rng, answer: U256) -> Vec<U256> {
        let most = self.curve.most().0;
        let room = most - answer.min(most);
        let mut amounts = Vec::new();
        let mut tooth = answer;
        while let Some(next) = self.next_tooth(tooth).filter(|_| amounts.len() < TEETH) {
            amounts.push(next);
            tooth = next;
        }
        for _ in 0..4 {
            amounts.push(answer + log_uniform(rng, room));
            amounts.push(answer + even(rng, room));
        }
        let ends = (0..self.curve.segment_count()).map(|index| self.curve.segment(index).in_end);
        amounts.extend(ends.filter(|end| *end > answer).take(2));
        amounts.retain(|amount| *amount > answer && *amount <= most);
        amounts
    }

    /// The least amount that pays more than `amount` does.
    fn next_tooth(&self, amount: U256) -> Option<U256> {
        let paid = |amount| self.curve.fill(amount).map_or(U256::ZERO, |fill| fill.amount_out);
        let (most, here) = (self.curve.most().0, paid(amount));
        if amount >= most || paid(most) == here {
            return None;
        }
        let mut step = U256::ONE;
        while paid((amount + step).min(most)) == here {
            step <<= 1;
        }
        let (mut low, mut high) = (amount + (step >> 1), (amount + step).min(most));
        while high - low > U256::ONE {
            let middle: U256 = low + ((high - low) >> 1);
            if paid(middle) == here { low = middle } else { high = middle }
        }
        Some(high)
    }

    fn mismatch(
        &self,
        found: &MaxSize,
        max_amount_in: U256,
        size: Option<SizeUsd>,
        reason: &str,
    ) -> Mismatch {
        let vector = self.vector(max_amount_in, size);
        Mismatch { reason: format!("{reason}: core says {found:?}"), vector }
    }

    fn vector(&self, max_amount_in: U256, size: Option<SizeUsd>) -> Vector {
        let expected = Depth::new(self.oracle, self.limit, max_amount_in, size);
        Vector { depths: vec![expected], ..Vector::new(self.state, self.oracle.direction) }
    }
}
