//! Creates many v3 pools at once, for measuring a recorder.

use alloy::primitives::U256;

use super::{DevChain, MintedPosition, Pool, PoolSpec, PositionSpec, Result, Rng, sqrt_price_x96};

/// Fees and their tick spacings.
const TIERS: [(u32, i32); 4] = [(100, 1), (500, 10), (3000, 60), (10_000, 200)];

/// Deploys `count` v3 pools with separate tokens, each with `positions` overlapping positions (so up to twice as many
/// initialised ticks), from a seed.
///
/// All pools share one quote token; each other token has a pool of every fee. The node hashes its whole state for every
/// block, which takes approximately (on two cores): with 100 pools of 20 positions, 1 s for deployment and then 0.1 s
/// per block; of 100 positions, 6 s and 0.25 s; of 600 positions, 40 s and 1.2 s.
pub async fn many_v3_pools(
    chain: &DevChain,
    count: usize,
    positions: usize,
    seed: u64,
) -> Result<Vec<(Pool, Vec<MintedPosition>)>> {
    let mut rng = Rng::new(seed);
    let names: Vec<String> =
        (0..count.div_ceil(TIERS.len())).map(|index| format!("T{index}")).collect();
    let mut kinds = vec![("QUOTE", 6)];
    kinds.extend(names.iter().map(|name| (name.as_str(), 18)));
    let tokens = chain.create_tokens(&kinds).await?;
    let quote = &tokens[0];
    let specs: Vec<PoolSpec> = (0..count)
        .map(|index| {
            let token = &tokens[1 + index / TIERS.len()];
            let (fee, spacing) = TIERS[index % TIERS.len()];
            let price = U256::from(rng.between(1, 5000));
            let (one, worth) = (token.units(1), quote.units(1) * price);
            let token_is_0 = token.address < quote.address;
            let (amount0, amount1) = if token_is_0 { (one, worth) } else { (worth, one) };
            let sqrt_price_x96 = sqrt_price_x96(amount1, amount0);
            PoolSpec {
                token_a: token.address,
                token_b: quote.address,
                fee,
                sqrt_price_x96,
                positions: (0..positions)
                    .map(|_| {
                        let tick = near_tick(sqrt_price_x96);
                        let middle = tick.div_euclid(spacing) + small(rng.bell(400));
                        let half = small(rng.between(1, 300).cast_signed());
                        let size = U256::from(rng.between(1, 1000));
                        PositionSpec {
                            tick_lower: (middle - half) * spacing,
                            tick_upper: (middle + half) * spacing,
                            amount0: amount0 * size,
                            amount1: amount1 * size,
                        }
                    })
                    .collect(),
            }
        })
        .collect();
    chain.create_v3_pools(&specs).await
}

/// A tick near the price's, without the contract's arithmetic, because positions only have to be approximately there:
/// log₂ of the price by repeated squaring, then × 1/log₂(1.0001) = 6931.8….
fn near_tick(sqrt_price_x96: U256) -> i32 {
    let mut position = sqrt_price_x96;
    let bits = 255 - i32::try_from(position.leading_zeros()).unwrap_or(0);
    // Mantissa in [1, 2) as 64-bit fixed point.
    position = if bits >= 63 {
        position >> (bits - 63).cast_unsigned()
    } else {
        position << (63 - bits).cast_unsigned()
    };
    let mut mantissa: u128 = position.to();
    let mut log2 = i64::from(bits - 96) << 32;
    for bit in (0..32).rev() {
        mantissa = (mantissa * mantissa) >> 63;
        if mantissa >> 64 != 0 {
            mantissa >>= 1;
            log2 += 1_i64 << bit;
        }
    }
    // 2 × log₂(√price) × 6931.8183…, the factor with 16 fractional bits.
    let ticks = (i128::from(log2) * 2 * 454_283_648) >> 48;
    i32::try_from(ticks).unwrap_or(0)
}

/// Random draws are far smaller than this; the bound makes the conversion total.
fn small(value: i64) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_ticks_are_near() {
        // 1.0001^t for t = 0, 69318 (1024) and -69319.
        let one = U256::from(1) << 96;
        for (root, tick) in
            [(one, 0), (one * U256::from(32), 69_318), (one / U256::from(32), -69_319)]
        {
            assert!((near_tick(root) - tick).abs() <= 1, "{}", near_tick(root));
        }
    }
}
