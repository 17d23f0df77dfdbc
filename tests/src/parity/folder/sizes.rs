//! The largest exit within a limit, for a recorded pool: it must pass, and nothing larger may.
//!
//! Whether a fill passes is decided from the definition, with [`Oracle`]'s own arithmetic. Tried above an answer: the
//! amounts directly above it, the largest input that would pass for each of the next outputs (if any amount with that
//! output passes, this one does, unless it pays more), random larger amounts, and the amounts recorded from the
//! contract.

use alloy::primitives::U256;
use exitgap_core::exit::{Exit, MaxSize, NotSized};
use exitgap_core::pools::vectors::{RecordedAnswer, RecordedCase, RecordedFills, RecordedPool};
use exitgap_core::pools::{PoolState, SaleCurve};
use exitgap_core::units::{GapLimit, SizeUsd};

use crate::devchain::Rng;
use crate::parity::draw::{even, log_uniform};
use crate::parity::oracle::{Definition, Oracle};

/// Number of amounts directly above an answer.
const NEIGHBOURS: u64 = 2_000;
/// Number of outputs above an answer's.
const TEETH: u64 = 1_000;
/// Number of random larger amounts.
const FAR: u64 = 240;

/// The result for a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SizeAnswer {
    /// The answer passes, and no larger amount that was tried does.
    Holds,
    /// The answer is wrong, with the reason.
    Wrong(String),
    /// The search was given up, which is allowed near the pool's own price.
    GivenUp,
    /// Sizes of this kind cannot be computed exactly.
    NotExact,
}

/// A limit for one direction of a recorded pool.
pub struct Question<'a> {
    /// The pool.
    pub pool: &'a RecordedPool,
    /// One of its sales, which determines what is sold.
    pub case: &'a RecordedCase,
    /// The state, for that pair of tokens.
    pub state: PoolState,
    /// The curve of that direction.
    pub curve: SaleCurve,
    /// Oracle prices near the pool's own.
    pub oracle: Oracle,
    /// The limit.
    pub limit: GapLimit,
}

impl<'a> Question<'a> {
    /// The question with this number, drawn from `seed`: it cycles through the pools. `None` if no oracle prices can
    /// express the pool's own.
    pub fn draw(fills: &'a RecordedFills, seed: u64, number: u64) -> Option<Self> {
        let pools = || fills.pools.iter().filter(|pool| pool.state.is_ok());
        let turn = number.checked_rem(pools().count() as u64)?;
        let pool = pools().nth(usize::try_from(turn).ok()?)?;
        let mut rng = Rng::new(seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let case = pick(&mut rng, &pool.cases)?;
        let state = pool.state.as_ref().ok()?.clone().of_pair(case.pair)?;
        let curve = state.curve(case.direction);
        let oracle = Oracle::near(&mut rng, &state, case.direction)?;
        let limit = if rng.once_in(4) {
            oracle.limit(&mut rng, &curve)
        } else {
            // A limit that a sale similar to a recorded one just reaches or misses.
            let amount = pick(&mut rng, &pool.cases)?.amount_in;
            let amount = amount - even(&mut rng, amount);
            oracle.limit_at(&mut rng, &curve, amount)
        };
        Some(Self { pool, case, state, curve, oracle, limit })
    }

    /// The exit that answers it.
    pub fn exit(&self) -> Option<Exit> {
        let (usd, decimals) = (self.oracle.usd().ok()?, self.oracle.decimals);
        Some(Exit::new(&self.state, self.case.direction, decimals, usd))
    }

    fn check(&self, rng: &mut Rng, found: &MaxSize) -> Result<(), String> {
        let definition = self.oracle.definition(self.limit);
        let paid = |amount: U256| {
            let out = self.curve.fill(amount).ok().map(|fill| fill.amount_out);
            out.filter(|out| !out.is_zero())
        };
        let passes = |amount| paid(amount).is_some_and(|out| definition.passes(amount, out));
        let (answer, limit) = (found.max_amount_in, self.limit);
        if !answer.is_zero() {
            let once = self.state.fill_once(self.case.direction, answer);
            if once.is_ok_and(|fill| fill.amount_out != found.max_amount_out) || !passes(answer) {
                return Err(format!("within {limit}%, {answer} is answered, and does not pass"));
            }
        }
        let larger = self.amounts_above(rng, &definition, found);
        if let Some(larger) = larger.into_iter().find(|amount| passes(*amount)) {
            return Err(format!("within {limit}%, {answer} is answered, and {larger} passes"));
        }
        if let Some(larger) = self.recorded_above(&definition, answer) {
            return Err(format!("within {limit}%, {answer} is answered; the contract's {larger}"));
        }
        self.check_size(found, passes)
    }

    /// A larger recorded amount that passes, if any.
    fn recorded_above(&self, definition: &Definition, answer: U256) -> Option<U256> {
        let same = |case: &&RecordedCase| {
            (case.pair, case.direction) == (self.case.pair, self.case.direction)
        };
        let cases = self.pool.cases.iter().filter(same).filter(|case| case.amount_in > answer);
        let passes = |case: &RecordedCase| match case.answer {
            RecordedAnswer::Paid(out) => !out.is_zero() && definition.passes(case.amount_in, out),
            _ => false,
        };
        cases.map(|case| passes(case).then_some(case.amount_in)).find_map(|found| found)
    }

    fn amounts_above(&self, rng: &mut Rng, definition: &Definition, found: &MaxSize) -> Vec<U256> {
        let (answer, paid) = (found.max_amount_in, found.max_amount_out);
        let most = self.curve.most().0;
        let room = most.saturating_sub(answer);
        let mut amounts: Vec<U256> =
            (1..=NEIGHBOURS).map(|step| answer.saturating_add(U256::from(step))).collect();
        amounts.extend(
            (0..TEETH).map(|step| definition.largest_input(paid.saturating_add(U256::from(step)))),
        );
        for _ in 0..FAR / 2 {
            amounts.push(answer.saturating_add(log_uniform(rng, room)));
            let near = answer.saturating_add(U256::from(1_000_000)).min(room);
            amounts.push(answer.saturating_add(even(rng, near)));
        }
        amounts.push(most);
        amounts.retain(|amount| *amount > answer && *amount <= most);
        amounts
    }

    fn check_size(&self, found: &MaxSize, passes: impl Fn(U256) -> bool) -> Result<(), String> {
        let (answer, limit) = (found.max_amount_in, self.limit);
        if let Some(size) = found.size {
            let amount = self.oracle.amount_in(size);
            if amount > answer || !passes(amount) {
                return Err(format!("within {limit}%, the size {size} does not pass"));
            }
        }
        let above = found.size.map_or(SizeUsd::MIN.micros(), |size| size.micros() + 1);
        if let Ok(above) = SizeUsd::from_micros(above) {
            let amount = self.oracle.amount_in(above);
            // Amounts above the answer were already tried.
            if amount <= answer && passes(amount) {
                return Err(format!("within {limit}%, the larger size {above} passes"));
            }
        }
        Ok(())
    }
}

/// Answers the question with this number; also returns the pool's name. `None` if there is no question.
pub(super) fn try_one(
    fills: &RecordedFills,
    seed: u64,
    number: u64,
) -> Option<(String, SizeAnswer)> {
    let question = Question::draw(fills, seed, number)?;
    let mut rng = Rng::new(seed ^ !number);
    let answer = match question.exit()?.max_size_for(question.limit) {
        Err(NotSized::NotExact) => SizeAnswer::NotExact,
        Err(NotSized::Exhausted(_)) => SizeAnswer::GivenUp,
        Ok(found) => match question.check(&mut rng, &found) {
            Ok(()) => SizeAnswer::Holds,
            Err(how) => SizeAnswer::Wrong(how),
        },
    };
    Some((question.pool.id.clone(), answer))
}

fn pick<'a, T>(rng: &mut Rng, list: &'a [T]) -> Option<&'a T> {
    let index = rng.next_u64().checked_rem(list.len() as u64)?;
    list.get(usize::try_from(index).ok()?)
}
