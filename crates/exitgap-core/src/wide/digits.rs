//! Products and quotients digit by digit, for machines that multiply into 64 bits at most.
//!
//! WebAssembly has no product of two 64-bit numbers, and every wide integer library builds
//! one of four smaller ones, at each use anew. Digits of 32 bits are what its instructions
//! are made for: this is several times as fast there, and a tenth of the code. Numbers are
//! limbs of 64 bits outside, lowest first, and at most 1,024 bits wide.

/// Digits of the widest number.
const MOST: usize = 32;

/// A number's digits, lowest first.
struct Digits {
    /// One more than a number has: what normalising moves out of the highest.
    row: [u32; MOST + 1],
    /// Those up to the highest that is not zero.
    count: usize,
}

impl Digits {
    fn of(limbs: &[u64]) -> Self {
        let (mut row, mut count) = ([0; MOST + 1], 0);
        for (index, (pair, limb)) in row.chunks_exact_mut(2).zip(limbs).enumerate() {
            pair.copy_from_slice(&[low(*limb), high(*limb)]);
            if *limb != 0 {
                count = 2 * index + 1 + usize::from(pair[1] != 0);
            }
        }
        Self { row, count }
    }

    fn digits(&self) -> &[u32] {
        &self.row[..self.count]
    }

    /// Multiplies by `2^shift`, below `2^32`.
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
        for digit in self.row.iter_mut().rev() {
            let wide = (above << 32 | u64::from(*digit)) >> shift;
            (*digit, above) = (low(wide), u64::from(*digit));
        }
    }

    /// Leaves the remainder of a division by one digit; answers the quotient.
    fn divide_by_digit(&mut self, divisor: u32) -> [u32; MOST] {
        let (mut quotient, mut rest) = ([0; MOST], 0_u64);
        for (digit, place) in self.row[..self.count].iter_mut().zip(&mut quotient).rev() {
            let part = rest << 32 | u64::from(*digit);
            *place = low(part / u64::from(divisor));
            rest = part % u64::from(divisor);
            *digit = 0;
        }
        self.row[0] = low(rest);
        quotient
    }

    /// The same for a divisor of two digits or more, and no more than the number has:
    /// long division, each digit guessed from the highest two and put right.
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

/// Takes the largest multiple of the divisor off the window, which has one digit more and
/// is below `2^32` times the divisor; answers how many that is. The divisor's highest bit
/// is set, so the guess is never below that and at most two above it.
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
    for (place, digit) in window.iter_mut().zip(divisor.iter().chain(&[0])) {
        let taken = guess * u64::from(*digit) + owed;
        let (left, borrowed) = place.overflowing_sub(low(taken));
        *place = left;
        owed = (taken >> 32) + u64::from(borrowed);
    }
    if owed != 0 {
        // One too many: the guess did not see the lower digits.
        guess -= 1;
        let mut carry = 0;
        for (place, digit) in window.iter_mut().zip(divisor.iter().chain(&[0])) {
            let sum = u64::from(*place) + u64::from(*digit) + carry;
            (*place, carry) = (low(sum), sum >> 32);
        }
    }
    low(guess)
}

/// `a × b` into `out`, as far as it fits; whether it did.
#[inline(never)]
pub(super) fn multiply(a: &[u64], b: &[u64], out: &mut [u64]) -> bool {
    let (a, b) = (Digits::of(a), Digits::of(b));
    let mut row = [0; 2 * MOST];
    for (at, digit) in a.digits().iter().enumerate() {
        let (places, mut carry) = (&mut row[at..=at + b.count], 0);
        for (place, other) in places.iter_mut().zip(b.digits().iter().chain(&[0])) {
            let sum = u64::from(*digit) * u64::from(*other) + u64::from(*place) + carry;
            (*place, carry) = (low(sum), sum >> 32);
        }
    }
    join(&row, out)
}

/// Leaves the quotient in `number` and the remainder in `divisor`, which are of one width.
///
/// # Panics
/// Where the divisor is zero, as every division does.
#[inline(never)]
pub(super) fn divide(number: &mut [u64], divisor: &mut [u64]) {
    let (mut rest, by) = (Digits::of(number), Digits::of(divisor));
    let quotient = match by.digits() {
        [] => panic!("division by zero"),
        _ if rest.count < by.count => [0; MOST],
        [digit] => rest.divide_by_digit(*digit),
        _ => rest.divide_by(by),
    };
    join(&quotient, number);
    join(&rest.row, divisor);
}

/// Digits into limbs, as far as they fit; whether they did.
fn join(digits: &[u32], limbs: &mut [u64]) -> bool {
    let (kept, lost) = digits.split_at(digits.len().min(2 * limbs.len()));
    for (limb, pair) in limbs.iter_mut().zip(kept.chunks(2)) {
        *limb = pair.iter().rev().fold(0, |limb, digit| limb << 32 | u64::from(*digit));
    }
    lost.iter().all(|digit| *digit == 0)
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

    /// Chance all but never finds digits for which the guess is one too many.
    #[test]
    fn a_guess_that_is_one_too_many_is_taken_back() {
        let divisor = [u32::MAX, 0, 0x8000_0000];
        let mut window = [0, 0, 0x8000_0000, 0x7fff_ffff];
        let [top, first] = [0x7fff_ffff_8000_0000_0000_0000_u128, 0x8000_0000_0000_0000];
        let guess = u32::try_from(top / first).unwrap();
        assert_eq!(take_multiple(&mut window, &divisor), guess - 1);
        // window = guess − 1 times the divisor, and the rest.
        let wide =
            |row: &[u32]| row.iter().rev().fold(0_u128, |n, digit| n << 32 | u128::from(*digit));
        let taken = u128::from(guess - 1) * wide(&divisor);
        assert_eq!(taken + wide(&window), 0x7fff_ffff_8000_0000_u128 << 64);
        assert!(wide(&window) < wide(&divisor));
    }
}
