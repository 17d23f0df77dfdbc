//! Converts ticks to √prices and back. Source: `TickMath.sol` of Uniswap v3.

use crate::wide::{U256, over};

/// The lowest tick of the contract: a price of about `2^−128`.
pub const MIN_TICK: i32 = -MAX_TICK;
/// The highest tick of the contract: a price of about `2^128`.
pub const MAX_TICK: i32 = 887_272;
/// √price at [`MIN_TICK`], Q64.96.
pub const MIN_SQRT_RATIO: U256 = U256::from_limbs([4_295_128_739, 0, 0, 0]);
/// √price at [`MAX_TICK`], Q64.96.
pub const MAX_SQRT_RATIO: U256 =
    U256::from_limbs([0x5d95_1d52_6398_8d26, 0xefd1_fc6a_5064_8849, 0xfffd_8963, 0]);

/// `2^128 ÷ √1.0001^(2^i)`, each rounded to an integer, as listed in the contract.
const FACTORS: [u128; 20] = [
    0xfffc_b933_bd6f_ad37_aa2d_162d_1a59_4001,
    0xfff9_7272_373d_4132_59a4_6990_580e_213a,
    0xfff2_e50f_5f65_6932_ef12_357c_f3c7_fdcc,
    0xffe5_caca_7e10_e4e6_1c36_24ea_a094_1cd0,
    0xffcb_9843_d60f_6159_c9db_5883_5c92_6644,
    0xff97_3b41_fa98_c081_472e_6896_dfb2_54c0,
    0xff2e_a164_66c9_6a38_43ec_78b3_26b5_2861,
    0xfe5d_ee04_6a99_a2a8_11c4_61f1_969c_3053,
    0xfcbe_86c7_900a_88ae_dcff_c83b_479a_a3a4,
    0xf987_a725_3ac4_1317_6f2b_074c_f781_5e54,
    0xf339_2b08_22b7_0005_940c_7a39_8e4b_70f3,
    0xe715_9475_a2c2_9b74_43b2_9c7f_a6e8_89d9,
    0xd097_f3bd_fd20_22b8_845a_d8f7_92aa_5825,
    0xa9f7_4646_2d87_0fdf_8a65_dc1f_90e0_61e5,
    0x70d8_69a1_56d2_a1b8_90bb_3df6_2baf_32f7,
    0x31be_135f_97d0_8fd9_8123_1505_542f_cfa6,
    0x09aa_508b_5b7a_84e1_c677_de54_f3e9_9bc9,
    0x005d_6af8_dedb_8119_6699_c329_225e_e604,
    0x0000_2216_e584_f5fa_1ea9_2604_1bed_fe98,
    0x0000_0000_048a_1703_91f7_dc42_444e_8fa2,
];

/// `⌊a × b ÷ 2^128⌋`.
fn mul_high(a: u128, b: u128) -> u128 {
    const LOW: u128 = u64::MAX as u128;
    let (a1, a0, b1, b0) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let (high, cross1, cross2, low) = (a1 * b1, a1 * b0, a0 * b1, a0 * b0);
    let middle = (low >> 64) + (cross1 & LOW) + (cross2 & LOW);
    high + (cross1 >> 64) + (cross2 >> 64) + (middle >> 64)
}

/// The √price at `tick` as Q64.96, rounded up like in the contract; `None` outside [`MIN_TICK`]`..=`[`MAX_TICK`].
pub fn sqrt_ratio_at_tick(tick: i32) -> Option<U256> {
    let magnitude = tick.unsigned_abs();
    if magnitude > MAX_TICK.unsigned_abs() {
        return None;
    }
    // 2^128 ÷ √1.0001^|tick| as Q128; `None` represents 2^128 itself.
    let mut ratio: Option<u128> = None;
    for (bit, factor) in FACTORS.iter().enumerate() {
        if magnitude >> bit & 1 == 1 {
            ratio = Some(ratio.map_or(*factor, |ratio| mul_high(ratio, *factor)));
        }
    }
    let Some(ratio) = ratio else {
        return Some(U256::ONE << 96);
    };
    if tick < 0 {
        let rounds_up = u128::from(ratio & 0xffff_ffff != 0);
        return Some(U256::from((ratio >> 32) + rounds_up));
    }
    let inverse = over(U256::MAX, U256::from(ratio));
    let rounds_up = U256::from(u8::from(inverse.as_limbs()[0] & 0xffff_ffff != 0));
    Some((inverse >> 32) + rounds_up)
}

/// The highest tick whose √price is at most `sqrt_price_x96`. For prices outside the contract's bounds, returns the
/// tick at the bound.
pub fn tick_at_sqrt_ratio(sqrt_price_x96: U256) -> i32 {
    // The contract approximates a logarithm and corrects it by comparing. A binary search by comparison finds the same
    // tick in 21 steps.
    let (mut low, mut high) = (MIN_TICK, MAX_TICK);
    while low < high {
        let middle = low + (high - low + 1) / 2;
        if sqrt_ratio_at_tick(middle).is_some_and(|ratio| ratio <= sqrt_price_x96) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_are_the_contracts() {
        assert_eq!(sqrt_ratio_at_tick(MIN_TICK), Some(MIN_SQRT_RATIO));
        assert_eq!(sqrt_ratio_at_tick(MAX_TICK), Some(MAX_SQRT_RATIO));
        assert_eq!(MAX_SQRT_RATIO.to_string(), "1461446703485210103287273052203988822378723970342");
        assert_eq!(sqrt_ratio_at_tick(0), Some(U256::ONE << 96));
        assert_eq!(sqrt_ratio_at_tick(MAX_TICK + 1), None);
        assert_eq!(sqrt_ratio_at_tick(i32::MIN), None);
    }

    #[test]
    fn a_tick_holds_its_own_price_and_no_lower_one() {
        for tick in [MIN_TICK, -500_000, -60, -1, 0, 1, 2, 200_000, MAX_TICK - 1, MAX_TICK] {
            let ratio = sqrt_ratio_at_tick(tick).unwrap();
            assert_eq!(tick_at_sqrt_ratio(ratio), tick);
            if tick > MIN_TICK {
                assert_eq!(tick_at_sqrt_ratio(ratio - U256::ONE), tick - 1);
            }
        }
    }
}
