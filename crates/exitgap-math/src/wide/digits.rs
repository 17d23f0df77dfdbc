//! Products limb by limb and quotients digit by digit, for machines whose products have at most 64 bits.
//!
//! WebAssembly has no 128-bit product of two 64-bit numbers. Every wide integer library builds one from four smaller
//! products, again at each use; here it is built in one place. A quotient is computed in digits of 32 bits, which
//! WebAssembly's instructions can divide. There this is several times as fast, with a tenth of the code. Numbers are
//! passed as limbs of 64 bits, lowest first, with at most 1,024 bits. The code uses loops with counters, because in a
//! build for size the compiler does not inline iterator adapters.

/// The number of digits of the widest number.
const MOST: usize = 32;

/// A number's digits, lowest first.
struct Digits {
    /// One more digit than a number has, because normalising shifts bits out of the highest one.
    row: [u32; MOST + 1],
    /// The number of digits up to the highest nonzero one.
    count: usize,
}

impl Digits {
    fn from_limbs(limbs: &[u64]) -> Self {
        let mut row = [0; MOST + 1];
        let limbs = significant(limbs);
        for (index, limb) in limbs.iter().enumerate() {
            row[2 * index] = low(*limb);
            row[2 * index + 1] = high(*limb);
        }
        let half = limbs.last().is_some_and(|limb| high(*limb) == 0);
        Self { row, count: 2 * limbs.len() - usize::from(half) }
    }

    fn digits(&self) -> &[u32] {
        &self.row[..self.count]
    }

    /// Multiplies by `2^shift`, which must be below `2^32`.
    fn shift_up(&mut self, shift: u32) {
        let mut carry = 0;
        for digit in &mut self.row[..=self.count] {
            let wide = u64::from(*digit) << shift | carry;
            (*digit, carry) = (low(wide), wide >> 32);
        }
    }

    /// The reverse.
    fn shift_down(&mut self, shift: u32) {
        let mut above = 0;
        for at in (0..=self.count).rev() {
            let digit = u64::from(self.row[at]);
            self.row[at] = low((above << 32 | digit) >> shift);
            above = digit;
        }
    }

    /// Divides by one digit, leaves the remainder and returns the quotient.
    fn divide_by_digit(&mut self, divisor: u32) -> [u32; MOST] {
        let (mut quotient, mut rest) = ([0; MOST], 0_u64);
        for at in (0..self.count).rev() {
            let part = rest << 32 | u64::from(self.row[at]);
            quotient[at] = low(part / u64::from(divisor));
            rest = part % u64::from(divisor);
            self.row[at] = 0;
        }
        self.row[0] = low(rest);
        quotient
    }

    /// Same for a divisor with at least two digits, and at most as many as the number: long division, in which each
    /// digit is guessed from the highest two and then corrected.
    fn divide_by(&mut self, mut divisor: Self) -> [u32; MOST] {
        let shift = divisor.row[divisor.count - 1].leading_zeros();
        divisor.shift_up(shift);
        self.shift_up(shift);
        let divisor = divisor.digits();
        let mut quotient = [0; MOST];
        for at in (0..=self.count - divisor.len()).rev() {
            let window = &mut self.row[at..=at + divisor.len()];
            quotient[at] = take_multiple(window, divisor);
        }
        self.shift_down(shift);
        quotient
    }
}

/// Subtracts the largest multiple of the divisor from the window and returns the factor. The window has one digit more
/// than the divisor and is below `2^32` times the divisor. The divisor's highest bit is set, so the guess is never too
/// low and at most two too high.
fn take_multiple(window: &mut [u32], divisor: &[u32]) -> u32 {
    let [.., second, first] = divisor else { return 0 };
    let [.., third_place, second_place, first_place] = window else { return 0 };
    let [first, second] = [*first, *second].map(u64::from);
    let top = u64::from(*first_place) << 32 | u64::from(*second_place);
    let next = u64::from(*third_place);
    let mut guess = (top / first).min(u64::from(u32::MAX));
    let mut rest = top - guess * first;
    while rest < 1 << 32 && guess * second > (rest << 32 | next) {
        guess -= 1;
        rest += first;
    }
    let mut owed = 0;
    for (at, place) in window.iter_mut().enumerate() {
        let taken = guess * digit_at(divisor, at) + owed;
        let (left, borrowed) = place.overflowing_sub(low(taken));
        *place = left;
        owed = (taken >> 32) + u64::from(borrowed);
    }
    if owed != 0 {
        // The guess was one too high, because it ignored the lower digits.
        guess -= 1;
        let mut carry = 0;
        for (at, place) in window.iter_mut().enumerate() {
            let sum = u64::from(*place) + digit_at(divisor, at) + carry;
            (*place, carry) = (low(sum), sum >> 32);
        }
    }
    low(guess)
}

/// A digit, or zero above the highest one.
fn digit_at(digits: &[u32], at: usize) -> u64 {
    digits.get(at).copied().map_or(0, u64::from)
}

/// Writes `a × b` to `out` as far as it fits, and returns whether it fits.
#[inline(never)]
pub(super) fn multiply(a: &[u64], b: &[u64], out: &mut [u64]) -> bool {
    let (a, b) = (significant(a), significant(b));
    out.fill(0);
    let mut fits = true;
    for (index, limb) in a.iter().enumerate() {
        let mut carry = 0;
        for (other, at) in b.iter().zip(index..) {
            let (low, high) = product(*limb, *other);
            let (sum, first) = low.overflowing_add(carry);
            let Some(place) = out.get_mut(at) else {
                fits &= sum == 0 && !first && high == 0;
                carry = 0;
                continue;
            };
            let (sum, second) = place.overflowing_add(sum);
            *place = sum;
            // The high limb of the product of two limbs has room for two carries.
            carry = high + u64::from(first) + u64::from(second);
        }
        match out.get_mut(index + b.len()) {
            Some(place) => *place = carry,
            None => fits &= carry == 0,
        }
    }
    fits
}

/// The limbs up to the highest nonzero one.
fn significant(limbs: &[u64]) -> &[u64] {
    let mut count = limbs.len();
    while count > 0 && limbs[count - 1] == 0 {
        count -= 1;
    }
    &limbs[..count]
}

/// The product of two limbs, low and high.
#[inline]
fn product(a: u64, b: u64) -> (u64, u64) {
    let [a0, a1, b0, b1] = [low(a), high(a), low(b), high(b)].map(u64::from);
    let lowest = a0 * b0;
    let middle = a1 * b0 + (lowest >> 32);
    let other = a0 * b1 + u64::from(low(middle));
    (other << 32 | u64::from(low(lowest)), a1 * b1 + (middle >> 32) + (other >> 32))
}

/// Leaves the quotient in `number` and the remainder in `divisor`. Both must have the same width.
///
/// # Panics
/// Panics if the divisor is zero, like every division.
#[inline(never)]
pub(super) fn divide(number: &mut [u64], divisor: &mut [u64]) {
    let (mut rest, by) = (Digits::from_limbs(number), Digits::from_limbs(divisor));
    let quotient = match by.digits() {
        [] => panic!("division by zero"),
        _ if rest.count < by.count => [0; MOST],
        [digit] => rest.divide_by_digit(*digit),
        _ => rest.divide_by(by),
    };
    join(&quotient, number);
    join(&rest.row, divisor);
}

/// Joins digits to limbs, which must have room for all nonzero digits.
fn join(digits: &[u32], limbs: &mut [u64]) {
    for (index, limb) in limbs.iter_mut().enumerate() {
        *limb = digit_at(digits, 2 * index + 1) << 32 | digit_at(digits, 2 * index);
    }
}

fn low(limb: u64) -> u32 {
    (limb & 0xffff_ffff) as u32
}

fn high(limb: u64) -> u32 {
    (limb >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random input almost never has digits for which the guess is one too high.
    #[test]
    fn a_guess_that_is_one_too_many_is_taken_back() {
        let divisor = [u32::MAX, 0, 0x8000_0000];
        let mut window = [0, 0, 0x8000_0000, 0x7fff_ffff];
        let [top, first] = [0x7fff_ffff_8000_0000_0000_0000_u128, 0x8000_0000_0000_0000];
        let guess = u32::try_from(top / first).unwrap();
        assert_eq!(take_multiple(&mut window, &divisor), guess - 1);
        // window = guess − 1 times the divisor, plus the remainder.
        let wide =
            |row: &[u32]| row.iter().rev().fold(0_u128, |n, digit| n << 32 | u128::from(*digit));
        let taken = u128::from(guess - 1) * wide(&divisor);
        assert_eq!(taken + wide(&window), 0x7fff_ffff_8000_0000_u128 << 64);
        assert!(wide(&window) < wide(&divisor));
    }
}
