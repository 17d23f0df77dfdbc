//! The balance that keeps the invariant: the root of a cubic in closed form, or by Newton's iteration if there is no
//! closed form.
//!
//! Source: `math_v_200.vy` of Tricrypto-NG and `math_v_210.vy` of Twocrypto-NG (`get_y`,
//! `_newton_y`, `_cbrt`).

use super::ONE;
use super::signed_int::SignedInt;
use crate::wide::{U256, U512, narrow, square_root};

/// The values that the formulas share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Curve {
    /// The contract's `ANN`.
    pub ann: U256,
    pub gamma: U256,
    pub invariant: U256,
}

fn wide(number: u128) -> U512 {
    U512::from(number)
}

/// `10^exponent`.
fn ten(exponent: u32) -> u128 {
    10_u128.pow(exponent)
}

impl Curve {
    fn in_bounds(&self) -> Option<()> {
        let least = U256::from(ten(17));
        let most = U256::from(ten(33));
        (self.invariant >= least && self.invariant <= most).then_some(())
    }

    /// A balance as a fraction of the invariant, with eighteen decimals.
    fn share(&self, balance: U256) -> Option<U512> {
        (U512::from(balance) * wide(ONE)).checked_div(self.invariant.into())
    }

    /// Checks a balance of three coins: its fraction must be between a hundredth and a hundred.
    fn share_of_three(&self, balance: U256) -> Option<()> {
        let share = self.share(balance)?;
        (share >= wide(ten(16)) && share <= wide(ten(20))).then_some(())
    }

    /// The balance of a coin, given the other two in the order of the coins.
    pub fn beside_two(&self, others: [U256; 2]) -> Option<U256> {
        self.in_bounds()?;
        for other in others {
            self.share_of_three(other)?;
        }
        let [xj, xk, d] = [others[0], others[1], self.invariant].map(SignedInt::from_u256);
        let [g, ann] = [self.gamma, self.ann].map(SignedInt::from_u256);
        let (one, g2) = (SignedInt::small(ONE), g.times(g)?);
        let small = SignedInt::small;
        let ninth = small(ten(36) / 9);
        let squared = d.times(d)?;
        let part = squared.over(xj)?.times(g2)?.times(ann)?.word()?;
        let part = part.over(small(729))?.over(small(10_000))?.over(xk)?;
        let slope = small(2).times(one)?.times(g)?.over(small(27))?;
        let b = ninth.plus(slope)?.minus(part)?.word()?;
        let sum = g2.times(xj.plus(xk)?.minus(d)?)?.word()?;
        let sum = sum.over(d)?.times(ann)?.over(small(27))?.over(small(10_000))?;
        let grown = g.times(g.plus(small(4 * ONE))?)?.over(small(27))?;
        let c = ninth.plus(grown)?.plus(sum)?.word()?;
        let last = one.plus(g)?;
        let last = last.times(last)?.over(small(27))?;
        let cubic = Cubic { a: small(ten(36) / 27), b, c, d: last }.scaled_of_three()?;
        let Some(RootParts { b, delta0, c1 }) = cubic.find_root_parts(true)? else {
            return self.iterate_newton(&others, U512::ZERO);
        };
        let root = b.plus(b.times(delta0)?.over(c1)?)?.minus(c1)?.over(small(3))?;
        let scale = squared.over(small(27))?.over(xk)?.times(d)?.over(xj)?;
        let y = scale.times(root)?.over(cubic.a)?.to_u256()?;
        let share = self.share(y)?;
        (share >= wide(ten(16) - 1) && share <= wide(ten(20))).then_some(y)
    }

    /// The balance of a coin, given the other one.
    pub fn beside_one(&self, other: U256) -> Option<U256> {
        self.in_bounds()?;
        let most = self.most_share();
        let small = SignedInt::small;
        let share = (wide(2 * ONE) * U512::from(other)).checked_div(self.invariant.into())?;
        if share < wide(ten(36)) / most || share > most {
            return None;
        }
        let [xj, d, g, ann] =
            [other, self.invariant, self.gamma, self.ann].map(SignedInt::from_u256);
        let (one, g2) = (small(ONE), g.times(g)?);
        let ann_g2 = ann.times(g2)?.word()?;
        let quarter = small(400_000_000);
        let part = d.times(ann_g2)?.word()?.over(quarter)?.over(xj)?;
        let steep = small(2 * ten(14)).times(g)?;
        let b = part.minus(small(3 * ten(32)))?.minus(steep)?.word()?;
        let four = small(4).times(ann_g2)?.over(quarter)?;
        let c = small(3 * ten(32))
            .plus(small(4 * ten(14)).times(g)?)?
            .plus(g2.over(small(10_000))?)?
            .plus(four.times(xj)?.over(d)?)?
            .minus(four)?
            .word()?;
        let last = one.plus(g)?;
        let last = last.times(last)?.over(small(10_000))?.negate();
        let cubic = Cubic { a: small(ten(32)), b, c, d: last }.scaled_of_two()?;
        let Some(RootParts { b, delta0, c1 }) = cubic.find_root_parts(false)? else {
            return self.iterate_newton(&[other], most);
        };
        let root = one.times(c1)?.minus(one.times(b)?)?;
        let root = root.minus(one.times(b)?.over(c1)?.times(delta0)?)?;
        let root = root.over(small(3).times(cubic.a)?)?;
        let y = d.times(d)?.over(xj)?.times(root)?.over(small(4))?.over(one)?.to_u256()?;
        let share = self.share(y)?;
        let bounds = wide(ten(36)) / wide(2) / most;
        (share >= bounds && share <= most / wide(2)).then_some(y)
    }

    /// The maximum ratio of two balances. It is smaller if gamma is large.
    fn most_share(&self) -> U512 {
        let (most, limit) = (wide(100 * ONE), wide(2 * ten(16)));
        let gamma = U512::from(self.gamma);
        if gamma > limit { most * limit / gamma } else { most }
    }

    /// Newton's iteration (`_newton_y`), given one or two other balances.
    fn iterate_newton(&self, others: &[U256], most_share: U512) -> Option<U256> {
        let n = wide(others.len() as u128 + 1);
        let (one, d) = (wide(ONE), U512::from(self.invariant));
        let word = |number: U512| narrow(number).map(U512::from);
        let mut sorted: Vec<U512> = others.iter().map(|x| U512::from(*x)).collect();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        let (mut y, mut known) = (d / n, one);
        if others.len() == 2 {
            for x in others {
                self.share_of_three(*x)?;
            }
            for x in sorted.iter().rev() {
                y = word(y * d)?.checked_div(*x * n)?;
            }
            for x in &sorted {
                known = (known * *x * n).checked_div(d)?;
            }
        } else {
            y = (d * d).checked_div(sorted[0] * wide(4))?;
            known = (one * wide(2) * sorted[0]).checked_div(d)?;
            if known < wide(ten(36)) / most_share || known > most_share {
                return None;
            }
        }
        let sum = sorted.iter().fold(U512::ZERO, |sum, x| sum + *x);
        let fine = wide(ten(14));
        let close = (sorted[0] / fine).max(d / fine).max(wide(100));
        for _ in 0..255 {
            let before = y;
            let next = self.round(y, sum, known, n)?;
            let Some(next) = next else {
                y = before >> 1;
                continue;
            };
            y = next;
            let distance = if y > before { y - before } else { before - y };
            if distance < close.max(y / fine) {
                let y = narrow(y)?;
                if others.len() == 2 {
                    self.share_of_three(y)?;
                }
                return Some(y);
            }
        }
        None
    }

    /// One round of the iteration. The inner value is `None` if `y` is halved without a check.
    #[expect(clippy::option_option, reason = "refused, and halved, are two things")]
    fn round(&self, y: U512, others: U512, known: U512, n: U512) -> Option<Option<U512>> {
        let word = |number: U512| narrow(number).map(U512::from);
        let (one, d, gamma) = (wide(ONE), U512::from(self.invariant), U512::from(self.gamma));
        let k0 = word(word(known * y)? * n)?.checked_div(d)?;
        let sum = others + y;
        let apart = gamma + one;
        let apart = if apart > k0 { apart - k0 } else { k0 - apart } + U512::ONE;
        let first = word(word(one * d)?.checked_div(gamma)? * apart)?.checked_div(gamma)?;
        let first = word(word(first * apart)? * wide(10_000))?.checked_div(self.ann.into())?;
        let second = one + (wide(2) * one * k0).checked_div(apart)?;
        let value = word(one * y + sum * second + first)?;
        let taken = word(d * second)?;
        let Some(value) = value.checked_sub(taken) else { return Some(None) };
        let slope = value.checked_div(y)?;
        if slope.is_zero() {
            return None;
        }
        let minus = first / slope;
        let plus = (value + one * d) / slope + (minus * one).checked_div(k0)?;
        let minus = minus + one * sum / slope;
        Some(Some(plus.checked_sub(minus).unwrap_or(y >> 1)))
    }
}

/// `a·x³ + b·x² + c·x + d`.
#[derive(Debug, Clone, Copy)]
struct Cubic {
    a: SignedInt,
    b: SignedInt,
    c: SignedInt,
    d: SignedInt,
}

/// The components of the root.
struct RootParts {
    b: SignedInt,
    delta0: SignedInt,
    c1: SignedInt,
}

impl Cubic {
    fn each(self, change: impl Fn(SignedInt) -> Option<SignedInt>) -> Option<Self> {
        let Self { a, b, c, d } = self;
        Some(Self { a: change(a)?, b: change(b)?, c: change(c)?, d: change(d)? })
    }

    /// `3·a·c ÷ b − b`.
    fn delta0(&self) -> Option<SignedInt> {
        SignedInt::small(3).times(self.a)?.times(self.c)?.over(self.b)?.minus(self.b)
    }

    /// `27·a² ÷ b · d ÷ b`.
    fn last(&self) -> Option<SignedInt> {
        let square = SignedInt::small(27).times(self.a)?.times(self.a)?;
        square.over(self.b)?.times(self.d)?.over(self.b)
    }

    /// Scaled so that the following values fit in a word, for three coins.
    fn scaled_of_three(self) -> Option<Self> {
        const STEPS: [(u32, u32); 8] =
            [(48, 30), (44, 26), (40, 22), (36, 18), (32, 14), (28, 10), (24, 6), (20, 2)];
        let divisor = divisor(self.delta0()?, &STEPS);
        if self.a.size() > self.b.size() {
            let more = self.a.over(self.b)?.positive();
            self.each(|term| term.times(more)?.over(divisor))
        } else {
            let less = self.b.over(self.a)?.positive();
            self.each(|term| term.over(less)?.over(divisor))
        }
    }

    /// Same for two coins.
    fn scaled_of_two(self) -> Option<Self> {
        const STEPS: [(u32, u32); 14] = [
            (48, 30),
            (46, 28),
            (44, 26),
            (42, 24),
            (40, 22),
            (38, 20),
            (36, 18),
            (34, 16),
            (32, 14),
            (30, 12),
            (28, 10),
            (26, 8),
            (24, 6),
            (20, 2),
        ];
        let delta0 = self.delta0()?;
        let delta1 = SignedInt::small(3).times(delta0)?.plus(self.b)?.minus(self.last()?)?;
        let least = [delta0, delta1, self.a].into_iter().map(SignedInt::positive);
        let least = least.min_by(|x, y| x.size().cmp(&y.size()))?;
        let divisor = divisor(least, &STEPS);
        self.each(|term| term.over(divisor))
    }

    /// The components of the root. The inner value is `None` if the cubic has more than one root.
    #[expect(clippy::option_option, reason = "refused, and solved otherwise, are two things")]
    fn find_root_parts(&self, of_three: bool) -> Option<Option<RootParts>> {
        let small = SignedInt::small;
        let (b, delta0) = (self.b, self.delta0()?);
        if of_three {
            small(3).times(self.a)?.times(self.c)?.word()?;
        }
        let delta1 = if of_three {
            let first = small(9).times(self.a)?.times(self.c)?.over(b)?;
            first.minus(small(2).times(b)?)?.minus(self.last()?)?
        } else {
            small(3).times(delta0)?.plus(b)?.minus(self.last()?)?
        };
        let cube = small(4).times(delta0)?.times(delta0)?.over(b)?.times(delta0)?;
        let cube = if of_three { cube.word()? } else { cube };
        let square = delta1.times(delta1)?.word()?.plus(cube)?.word()?;
        if !square.is_above_zero() {
            return Some(None);
        }
        let root = SignedInt::from_u256(narrow(square_root(square.size()))?);
        let (cubic_b, second) = (cube_root(b)?, small(2));
        let half = if delta1.is_above_zero() {
            cube_root(delta1.plus(root)?.over(second)?)?
        } else {
            cube_root(root.minus(delta1)?.over(second)?)?.negate()
        };
        let one = small(ONE);
        let c1 = cubic_b.times(cubic_b)?.over(one)?.times(half)?.over(one)?;
        Some(Some(RootParts { b, delta0, c1 }))
    }
}

/// The power of ten of the first step below a number.
fn divisor(number: SignedInt, steps: &[(u32, u32)]) -> SignedInt {
    let size = number.size();
    let power = |exponent: u32| {
        let half = U512::from(10_u128.pow(exponent / 2));
        half * half
    };
    let step = steps.iter().find(|(limit, _)| size > power(*limit));
    step.map_or(SignedInt::ONE, |(_, exponent)| SignedInt::small(10_u128.pow(*exponent)))
}

/// `_cbrt`: seven rounds of Newton's iteration, with eighteen additional decimals if they fit.
fn cube_root(number: SignedInt) -> Option<SignedInt> {
    let size = number.size();
    // 2^256 ÷ 10^36, rounded down.
    let room = U512::from(115_792_089_237_316_195_423_570_985_008_687_907_853_u128)
        * U512::from(1_000_u64)
        + U512::from(269_u64);
    let one = wide(ONE);
    let (grown, more) = if size >= room * one {
        (size, wide(ten(12)))
    } else if size >= room {
        (size * one, wide(ten(6)))
    } else {
        (size * one * one, U512::ONE)
    };
    let bits = grown.bit_len().saturating_sub(1);
    let power = U512::from(1_260_u64.pow(u32::try_from(bits % 3).ok()?));
    let thousand = U512::from(1_000_u64.pow(u32::try_from(bits % 3).ok()?));
    let mut root = (U512::ONE << (bits / 3)) * power / thousand;
    for _ in 0..7 {
        root = ((root << 1) + grown.checked_div(root * root)?) / wide(3);
    }
    let root = SignedInt::from_u256(narrow(root * more)?);
    Some(if number.is_below_zero() { root.negate() } else { root })
}
