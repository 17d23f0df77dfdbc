use super::*;
use crate::exit::terms::Threshold;
use crate::pools::{
    Concentrated, ConstantProduct, Direction, FeeRate, PoolState, Tick, sqrt_ratio_at_tick,
};
use crate::units::UsdPrice;
use crate::wide::{U1024, narrow};
use proptest::prelude::*;

/// The number of teeth that the reference tests before it gives up.
const PLAIN_TEETH: u32 = 1 << 14;

/// A reference that descends tooth by tooth from the bound, without number theory; `None` if there are too many teeth.
struct Plain<'a> {
    exit: &'a Exit,
    threshold: Threshold,
    teeth: u32,
}

/// The reference gave up because there were too many teeth.
struct TooMany;

impl Plain<'_> {
    fn next_below(&mut self, amount: U256, out: U256) -> Option<U256> {
        if out.is_zero() {
            return Some(U256::ZERO);
        }
        self.teeth = self.teeth.checked_sub(1)?;
        Some(self.threshold.largest_input(out).min(amount - U256::ONE))
    }

    fn passes(&self, amount: U256, out: U256) -> bool {
        !out.is_zero() && self.threshold.passes(amount, out)
    }

    fn bound(&self) -> U256 {
        let mut search = Search::new(&self.exit.curve, &self.threshold, Effort::OF_A_QUESTION);
        search.bound().unwrap().amount
    }

    fn largest_amount(&mut self) -> Option<U256> {
        let mut amount = self.bound();
        while !amount.is_zero() {
            let out = self.exit.curve.fill(amount).map_or(U256::ZERO, |fill| fill.amount_out);
            if self.passes(amount, out) {
                break;
            }
            amount = self.next_below(amount, out)?;
        }
        Some(amount)
    }

    fn largest_size(&mut self, bound: U256, step: u64) -> Result<Option<SizeUsd>, TooMany> {
        let mut ceiling = bound;
        loop {
            let micros = self.exit.terms.largest_size_within(ceiling);
            let Ok(size) = SizeUsd::from_micros(micros - micros % step) else {
                return Ok(None);
            };
            let amount = self.exit.terms.amount_in(size).unwrap_or(U256::ZERO);
            let Ok(fill) = self.exit.curve.fill(amount) else { return Ok(None) };
            if self.passes(amount, fill.amount_out) {
                return Ok(Some(size));
            }
            ceiling = self.next_below(amount, fill.amount_out).ok_or(TooMany)?;
        }
    }
}

/// Compares with the reference if that has a result, and returns whether it had one.
fn agrees(exit: &Exit, limit: GapLimit) -> Result<bool, TestCaseError> {
    let mut plain = Plain { exit, threshold: exit.terms.threshold(limit), teeth: PLAIN_TEETH };
    let found = exit.max_size_for(limit);
    let dollars = exit.depth_usd(limit);
    let Some(amount) = plain.largest_amount() else { return Ok(false) };
    let Ok(size) = plain.largest_size(amount, 1) else { return Ok(false) };
    let found = found.unwrap();
    prop_assert_eq!((found.max_amount_in, found.size), (amount, size));
    // The search for a depth starts at the bound, because the largest amount is unknown.
    plain.teeth = PLAIN_TEETH;
    let Ok(size) = plain.largest_size(plain.bound(), 1_000_000) else { return Ok(false) };
    let expected = size.map_or(0, |size| UsdMicros::from(size).whole_dollars());
    match dollars {
        Ok(dollars) => prop_assert_eq!(dollars, expected),
        Err(NotSized::NotExact) => prop_assert!(false, "every kind here is sized"),
        Err(NotSized::Exhausted(exhausted)) => {
            prop_assert_eq!(exhausted.comparisons, Effort::OF_A_DEPTH.comparisons);
            // Bounding a segment takes two comparisons per bit of an amount, and only few segments are searched.
            prop_assert!(PLAIN_TEETH - plain.teeth > Effort::OF_A_DEPTH.comparisons - 2_048);
        }
    }
    Ok(true)
}

/// A pool of any depth and price, from dust to the contract's bounds.
pub(in crate::exit) fn any_pool() -> impl Strategy<Value = PoolState> {
    let fee = prop::sample::select(vec![0_u32, 100, 500, 2_500, 2_777, 3_000, 10_000, 40_001]);
    let number =
        |bits: u32| (1..=bits).prop_flat_map(|bits: u32| (1_u128 << (bits - 1))..(1 << bits));
    let ranges = prop::collection::vec((-40_i32..40, 1_i32..300, number(110)), 0..4);
    (any::<bool>(), number(112), number(112), fee, -600_000_i32..600_000, ranges).prop_map(
        |(pair, first, second, fee_pips, tick, ranges)| {
            if pair {
                let fee = FeeRate { numerator: fee_pips.into(), denominator: 1_000_000 };
                let reserves = [first, second].map(|n| n.min(ConstantProduct::MAX_RESERVE));
                let pair = ConstantProduct::new(reserves, fee).unwrap();
                return PoolState::ConstantProduct(pair);
            }
            let mut nets = std::collections::BTreeMap::<i32, i128>::new();
            let centre = tick.div_euclid(60);
            let whole = (-14_000 - centre, 28_000, first >> 2);
            for (low, width, liquidity) in ranges.into_iter().chain([whole]) {
                let liquidity = i128::try_from(liquidity + 1).unwrap();
                *nets.entry((centre + low) * 60).or_default() += liquidity;
                *nets.entry((centre + low + width) * 60).or_default() -= liquidity;
            }
            let nets = nets.into_iter().filter(|(_, net)| *net != 0);
            let ticks: Vec<_> =
                nets.map(|(tick, liquidity_net)| Tick::new(tick, liquidity_net)).collect();
            let started = ticks.iter().filter(|net| net.tick <= tick);
            let active =
                u128::try_from(started.map(|net| net.liquidity_net).sum::<i128>()).unwrap();
            let low = sqrt_ratio_at_tick(tick).unwrap();
            let room = sqrt_ratio_at_tick(tick + 1).unwrap() - low;
            let price = low + U256::from(second) % room;
            let pool = Concentrated::new(price, tick, active, fee_pips, 60, ticks).unwrap();
            PoolState::Concentrated(pool)
        },
    )
}

/// An exit whose oracle price is within a few percent of the pool's price; `None` if no oracle price with 18 decimals
/// is.
fn near_par(pool: &PoolState, direction: Direction, decimals: [u8; 2], off: u32) -> Option<Exit> {
    let mid = pool.curve(direction).mid();
    let ten = |exponent: u8| U256::from(10).pow(U256::from(exponent));
    let (base, quote) = (direction.base_index(), direction.quote_index());
    let up = U1024::from(mid.numerator) * U1024::from(ten(decimals[base]));
    let down = U1024::from(mid.denominator) * U1024::from(ten(decimals[quote]));
    let price = up * U1024::from(ten(18)) * U1024::from(off) / (down * U1024::from(1_000_000_u32));
    let price = narrow(price).filter(|price| *price > U256::from(1_000))?;
    let mut prices = [UsdPrice::product(&[(ten(18), 18)]).ok()?; 2];
    prices[base] = UsdPrice::product(&[(price, 18)]).ok()?;
    Some(Exit::new(pool, direction, decimals, prices))
}

/// The loss of an infinitely small sale, in millionths of a percent, rounded down.
fn marginal_loss(exit: &Exit) -> i64 {
    let fee = exit.curve.least_fee();
    let basis = 100_000_000 - exit.terms.basis(exit.curve.mid()).map_or(0, |basis| basis.0);
    let kept = basis * i128::from(fee.denominator - fee.numerator) / i128::from(fee.denominator);
    i64::try_from(100_000_000 - kept).unwrap_or(0) - 1
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_descent_answers_what_testing_every_tooth_does(
        pool in any_pool(),
        zero_for_one: bool,
        decimals in prop::sample::select(vec![[18, 18], [18, 6], [6, 18], [6, 6], [0, 8], [8, 0]]),
        off in 900_000_u32..1_100_000,
        above in prop_oneof![-2_i64..4, 0_i64..3_000, 0_i64..20_000_000],
    ) {
        let direction = if zero_for_one { Direction::ZeroForOne } else { Direction::OneForZero };
        let Some(exit) = near_par(&pool, direction, decimals, off) else { return Ok(()) };
        // The distance above the loss of an infinitely small sale.
        let marginal = marginal_loss(&exit);
        let limit = (marginal + above).clamp(-100_000_000, 100_000_000);
        agrees(&exit, GapLimit::from_millionths(limit).unwrap())?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn as_much_of_a_curve_as_a_question_needs_gives_the_answers_of_the_whole(
        pool in any_pool(),
        zero_for_one: bool,
        decimals in prop::sample::select(vec![[18, 18], [18, 6], [6, 18], [0, 8]]),
        off in 500_000_u32..1_100_000,
        limit in 0_i64..60_000_000,
        micros in prop_oneof![10_000_u64..1_000_000_000_000_000, Just(u64::MAX)],
    ) {
        let direction = if zero_for_one { Direction::ZeroForOne } else { Direction::OneForZero };
        let Some(whole) = near_par(&pool, direction, decimals, off) else { return Ok(()) };
        let limit = GapLimit::from_millionths(limit).unwrap();
        let start = Exit::for_depth(&pool, direction, whole.terms.clone(), limit, None);
        prop_assert_eq!(start.depth_usd(limit), whole.depth_usd(limit));
        let size = SizeUsd::from_micros(micros).unwrap_or(SizeUsd::MAX);
        let start = Exit::for_size(&pool, direction, whole.terms.clone(), size);
        prop_assert_eq!(start.estimate(size), whole.estimate(size));
        let both = Exit::for_depth(&pool, direction, whole.terms.clone(), limit, Some(size));
        prop_assert_eq!(both.depth_usd(limit), whole.depth_usd(limit));
        prop_assert_eq!(both.estimate(size), whole.estimate(size));
    }
}

#[test]
fn a_question_near_the_price_follows_the_curve_no_further() {
    let nets = (1..200).flat_map(|at| [(-60 * at, 1_i128 << 60), (60 * at, -(1_i128 << 60))]);
    let mut ticks: Vec<_> =
        nets.map(|(tick, liquidity_net)| Tick::new(tick, liquidity_net)).collect();
    ticks.sort_by_key(|net| net.tick);
    let price = sqrt_ratio_at_tick(0).unwrap();
    let pool = Concentrated::new(price, 0, 199 << 60, 3_000, 60, ticks).unwrap();
    let pool = PoolState::Concentrated(pool);
    let dollar = UsdPrice::product(&[(U256::ONE, 0)]).unwrap();
    for direction in Direction::BOTH {
        let whole = Exit::new(&pool, direction, [18, 18], [dollar; 2]);
        let (steps, terms) = (whole.curve.segment_count(), whole.terms.clone());
        assert!(steps > 190, "{steps}");
        let depth = Exit::for_depth(&pool, direction, terms.clone(), GapLimit::DEPTH, None);
        assert!(depth.curve.segment_count() <= 16);
        assert!(depth.depth_usd(GapLimit::DEPTH).unwrap() > 1);
        let cent = Exit::for_size(&pool, direction, terms.clone(), SizeUsd::MIN);
        assert!(cent.curve.segment_count() <= 16);
        let too_much = Exit::for_size(&pool, direction, terms, SizeUsd::MAX);
        assert_eq!(too_much.curve.segment_count(), steps);
    }
}

/// Ticks of a pool for which a search by teeth alone tested a million amounts without success: liquidity up to `2^121`
/// at a price of about `2^96` units bought per unit sold.
const DEEP_TICKS: [(i32, i128); 22] = [
    (670_510, 224_852_650_030_872_305_672_037_724),
    (670_530, 16_662_335_993_883_220_468_883_494_310),
    (670_550, -16_887_188_643_914_084_090_129_557_275),
    (670_570, -8_684_398_219_661),
    (670_580, 12_456_882_517_415_374_970_061_493_077_928),
    (670_590, 1_892_656_136_748_373_236_779_747_389_889_938),
    (670_610, -1_905_113_019_265_788_611_743_642_174_987_418),
    (670_620, 123_117_154_418_345_255_392_660_048_198_050),
    (670_630, 566_108_705_911_742_519_965_806_690_018_765),
    (670_640, -577_571_042_015_218_655_606_416_044_188_544),
    (670_660, -107_608_335_410_061_672_607_529_528_392_047),
    (670_680, -4_046_482_904_806_982_711_193_690_965_235),
    (670_700, 76_487_517_809_653_604_293_679_464_292),
    (670_720, 1_917_416_926_747_583_750_632_294_651_814_336),
    (670_730, -1_917_493_414_265_393_728_956_557_242_712_366),
    (670_750, 31_360_182_034_995_409_601_615),
    (670_760, -31_359_924_852_341_841_648_611),
    (670_770, -396_902_178_866_482_558),
    (670_790, 1_917_569_901_783_203_986_719_870_430_669_504),
    (670_800, -1_917_569_901_783_203_986_719_870_430_669_504),
    (670_810, 1_949_483_041_391_465_307_141_234_457),
    (670_820, -1_949_483_041_391_465_307_141_677_700),
];

#[test]
fn a_limit_just_above_the_pools_own_price_is_answered() {
    let ticks = DEEP_TICKS.map(|(tick, liquidity_net)| Tick::new(tick, liquidity_net)).to_vec();
    let price = "28867863802711646074581393395578672057553451".parse().unwrap();
    let pool = Concentrated::new(price, 670_617, 6_166_735_735_546, 500, 10, ticks).unwrap();
    let usd =
        |answer: u128, decimals| UsdPrice::product(&[(U256::from(answer), decimals)]).unwrap();
    let usd = [usd(76_276_498_042_476_242_121_991, 9), usd(612_320_644, 14)];
    let pool = PoolState::Concentrated(pool);
    let exit = Exit::new(&pool, Direction::ZeroForOne, [12, 22], usd);
    let limit: GapLimit = "-6.447897".parse().unwrap();
    let max = exit.max_size_for(limit).unwrap();
    let threshold = exit.terms.threshold(limit);
    let passes = |amount| {
        let fill = exit.curve.fill(amount).unwrap();
        threshold.passes(fill.amount_in, fill.amount_out)
    };
    assert!(passes(max.max_amount_in));
    let next = (1..20_000_u32).find(|more| passes(max.max_amount_in + U256::from(*more)));
    assert_eq!(next, None, "above {}", max.max_amount_in);
}

#[test]
fn tokens_of_eighteen_decimals_are_answered_a_millionth_of_a_percent_above_the_fee() {
    for fee_pips in [100_u32, 500, 3_000, 10_000] {
        for depth in [5_000_000 * 10_u128.pow(18), 100_000_000 * 10_u128.pow(18)] {
            let net = i128::try_from(depth).unwrap();
            let ticks = [(-887_200, net), (887_200, -net)];
            let ticks = ticks.map(|(tick, liquidity_net)| Tick::new(tick, liquidity_net)).to_vec();
            let price = sqrt_ratio_at_tick(0).unwrap();
            let pool = Concentrated::new(price, 0, depth, fee_pips, 200, ticks).unwrap();
            let fee = FeeRate { numerator: fee_pips.into(), denominator: 1_000_000 };
            let pair = ConstantProduct::new([depth; 2], fee).unwrap();
            for pool in [PoolState::Concentrated(pool), PoolState::ConstantProduct(pair)] {
                let par = [UsdPrice::product(&[(U256::ONE, 0)]).unwrap(); 2];
                let exit = Exit::new(&pool, Direction::ZeroForOne, [18, 18], par);
                let limit = GapLimit::from_millionths(i64::from(fee_pips) * 100 + 1).unwrap();
                let max = exit.max_size_for(limit).unwrap();
                let threshold = exit.terms.threshold(limit);
                let estimate = exit.estimate(max.size.unwrap()).unwrap();
                assert!(threshold.passes(max.max_amount_in, max.max_amount_out));
                assert!(threshold.passes(estimate.amount_in, estimate.amount_out));
            }
        }
    }
}
