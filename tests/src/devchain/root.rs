//! Square roots of integers.

use alloy::primitives::U512;

/// The square root, rounded down, by Newton's method from above. The library's own function needs floating point, and
/// with it the feature `std`.
pub fn square_root(number: U512) -> U512 {
    if number.is_zero() {
        return number;
    }
    let mut root = U512::ONE << number.bit_len().div_ceil(2);
    loop {
        let next = (root + number / root) >> 1;
        if next >= root {
            return root;
        }
        root = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_the_largest_number_whose_square_fits() {
        let most = U512::MAX >> 256;
        let edges = [1, 2, 3, 1_000, 65_536].map(U512::from);
        for root in edges.into_iter().chain([U512::ONE << 96, most >> 1, most]) {
            let square = root * root;
            assert_eq!(square_root(square), root);
            assert_eq!(square_root(square - U512::ONE), root - U512::ONE);
            assert_eq!(square_root(square + root), root);
        }
        assert_eq!(square_root(U512::ZERO), U512::ZERO);
        assert_eq!(square_root(U512::MAX), most);
    }
}
