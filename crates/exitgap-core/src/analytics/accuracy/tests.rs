//! Estimates compared with swaps whose amounts are known to the unit.

use proptest::prelude::*;

use super::*;
use crate::analytics::FigureError;
use crate::analytics::figure::FigurePass;
use crate::analytics::made_up::{observation, pair, pool, ranges, slot};
use crate::exit::{Exit, estimate_error};
use crate::ids::Address;
use crate::pools::{Concentrated, ConstantProduct, Direction, FeeRate, PoolState, Solidly};
use crate::series::Slot;
use crate::snapshot::{BlockRef, Observation};
use crate::units::Percent;
use crate::wide::U256;

pub(super) const SELL: Direction = Direction::ZeroForOne;

/// The state at a slot. The slot's block number grows by ten per slot.
pub(super) fn observed(place: u32, state: &PoolState) -> Observation {
    let of = observation(slot(place), state.clone());
    let block = BlockRef { number: u64::from(place) * 10 + 1_000, ..of.block() };
    let (tokens, oracles) = (of.tokens().clone(), of.oracles().to_vec());
    Observation::new(pool(), of.chain(), block, tokens, state.clone(), oracles, Vec::new()).unwrap()
}

/// A log at the n-th block after a slot's.
pub(super) fn log(after: u32, n: u32, event: PoolEvent) -> PoolLog {
    let block = u64::from(after) * 10 + 1_000 + u64::from(n);
    PoolLog { block, index: n, transaction: [7; 32], parties: [Address([0; 20]); 2], event }
}

/// A swap, and the state after it.
pub(super) fn swap(state: &PoolState, direction: Direction, amount: u64) -> (PoolEvent, PoolState) {
    let fill = state.fill_once(direction, U256::from(amount)).unwrap();
    let after = state.after(direction, &fill);
    let mut amounts = SwapAmounts { sold: [U256::ZERO; 2], bought: [U256::ZERO; 2] };
    amounts.sold[direction.base_index()] = fill.amount_in;
    amounts.bought[direction.quote_index()] = fill.amount_out;
    let price = match &after {
        PoolState::Concentrated(pool) => Some(PriceAfter {
            sqrt_price_x96: pool.sqrt_price_x96(),
            tick: pool.tick(),
            liquidity: pool.liquidity(),
        }),
        _ => None,
    };
    (PoolEvent::Swap(amounts, price), after)
}

/// A pair with as much of each token.
pub(super) fn pair_of(reserve: u128) -> PoolState {
    pair(reserve, reserve)
}

pub(super) fn reserves(state: &PoolState) -> PoolEvent {
    let PoolState::ConstantProduct(pair) = state else { panic!("a pair") };
    PoolEvent::Reserves(pair.reserves())
}

fn start() -> PoolState {
    ranges(0, 5_000_000_000_000, 90_000_000_000_000)
}

#[test]
fn where_nothing_moved_the_error_is_zero_and_where_it_did_it_is_known() {
    let first = start();
    let (one, after_one) = swap(&first, SELL, 5_000_000_000);
    let (two, after_two) = swap(&after_one, SELL, 5_000_000_000);
    let mut scan = AccuracyScan::new();
    scan.add_slot(slot(0), observed(0, &first), &[]).unwrap();
    // The only swap of its interval: nothing moved between slot and swap, so the estimate is exact.
    scan.add_slot(slot(1), observed(1, &after_one), &[log(0, 3, one.clone())]).unwrap();
    // Two more swaps, one directly after the other.
    let (three, after_three) = swap(&after_two, SELL, 5_000_000_000);
    let both = [log(1, 1, two), log(1, 2, three)];
    scan.add_slot(slot(2), observed(2, &after_three), &both).unwrap();
    let told = scan.finish();
    assert_eq!((told.swaps, told.compared, told.slots), (3, 3, 3));
    assert_eq!((told.stretches, told.stretches_incomplete), (2, 0));
    let newest = &told.ages[0];
    assert_eq!((newest.older_slots, newest.n, newest.exact_n), (0, 3, 2));
    // The third was estimated without the effect of the second. Its error is the price move that the second caused.
    let direction = SELL;
    let estimated =
        after_one.fill_once(direction, U256::from(5_000_000_000_u64)).unwrap().amount_out;
    let received =
        after_two.fill_once(direction, U256::from(5_000_000_000_u64)).unwrap().amount_out;
    let amounts = [estimated, received];
    let expected =
        estimate_error(&observed(1, &after_one), direction, U256::from(5_000_000_000_u64), amounts);
    assert_eq!((newest.worst, newest.abs_error_q95), (expected, expected));
    assert!(expected.unwrap() > Percent(0), "reality was worse");
    let worst = &told.worst[0];
    assert_eq!((worst.block, worst.index, worst.slot), (1_012, 2, slot(1)));
    assert_eq!([worst.estimated_out, worst.amount_out], amounts);
    assert_eq!(worst.size_usd.whole_dollars(), 10_000, "5,000 tokens of two dollars");
    // The estimate that is one slot older was made from the first state.
    assert_eq!((told.ages[1].older_slots, told.ages[1].n), (1, 2));
    assert!(told.ages[1].worst > newest.worst);
    let [size] = &told.sizes[..] else { panic!("one size and direction: {:?}", told.sizes) };
    assert_eq!((size.from_usd, size.direction, size.errors.n), (10_000, SELL, 3));
    assert!(!told.enough && !told.live);
}

#[test]
fn a_log_that_is_absent_doubled_or_changed_is_noticed() {
    let first = start();
    let (one, middle) = swap(&first, SELL, 7_000_000_000);
    let mint = PoolEvent::Liquidity { lower: -600, upper: 600, delta: 1_000_000_000 };
    let PoolState::Concentrated(pool) = &middle else { panic!("ranges") };
    let mut ticks = pool.ticks().to_vec();
    for (at, net) in [(-600, 1_000_000_000), (600, -1_000_000_000)] {
        let place = ticks.partition_point(|tick| tick.tick < at);
        ticks.insert(place, crate::pools::Tick::new(at, net));
    }
    let active = pool.liquidity() + 1_000_000_000;
    let minted: PoolState = Concentrated::new(
        pool.sqrt_price_x96(),
        pool.tick(),
        active,
        pool.fee_pips(),
        pool.tick_spacing(),
        ticks,
    )
    .unwrap()
    .into();
    let (two, last) = swap(&minted, Direction::OneForZero, 3_000_000_000);
    let all = [log(0, 1, one.clone()), log(0, 2, mint.clone()), log(0, 3, two.clone())];
    let told = |logs: &[PoolLog]| {
        let mut scan = AccuracyScan::new();
        scan.add_slot(slot(0), observed(0, &first), &[]).unwrap();
        scan.add_slot(slot(1), observed(1, &last), logs).unwrap();
        let told = scan.finish();
        (told.compared, told.not_compared.fills_incomplete, told.stretches_incomplete)
    };
    assert_eq!(told(&all), (2, 0, 0));
    for absent in 0..3 {
        let mut logs = all.to_vec();
        logs.remove(absent);
        let (compared, incomplete, stretches) = told(&logs);
        let left = if absent == 1 { 2 } else { 1 };
        assert_eq!((compared, incomplete, stretches), (0, left, 1), "{absent}");
    }
    let changed = |change: fn(&mut SwapAmounts, &mut PriceAfter)| {
        let mut logs = all.to_vec();
        if let PoolEvent::Swap(amounts, Some(price)) = &mut logs[2].event {
            change(amounts, price);
        }
        told(&logs).2
    };
    assert_eq!(changed(|_, price| price.tick += 1), 1);
    assert_eq!(changed(|_, price| price.liquidity += 1), 1);
    assert_eq!(changed(|_, price| price.sqrt_price_x96 += U256::ONE), 1);
    // A burn of more liquidity than there is, and logs of another kind of pool.
    let burn = PoolEvent::Liquidity { lower: -600, upper: 600, delta: -2_000_000_000 };
    assert_eq!(told(&[all.as_slice(), &[log(0, 4, burn)]].concat()).2, 1);
    assert_eq!(told(&[all.as_slice(), &[log(0, 4, PoolEvent::Reserves([1, 1]))]].concat()).2, 1);
    let nothing = PoolEvent::Liquidity { lower: 0, upper: 60, delta: 0 };
    assert_eq!(told(&[all.as_slice(), &[log(0, 4, nothing)]].concat()).2, 0, "it settles fees");
}

/// A swap with arbitrary amounts, preceded by the log of the reserves that it leaves.
fn traded(held: &mut [u128; 2], sold: [u64; 2], bought: [u64; 2]) -> [PoolEvent; 2] {
    for token in 0..2 {
        held[token] = held[token] + u128::from(sold[token]) - u128::from(bought[token]);
    }
    let [sold, bought] = [sold, bought].map(|amounts| amounts.map(U256::from));
    [PoolEvent::Reserves(*held), PoolEvent::Swap(SwapAmounts { sold, bought }, None)]
}

/// The result of a pass over one interval of a pair.
fn of_pair(events: &[PoolEvent]) -> AccuracyResult {
    let start = [4_000_000_000_000_u128, 5_000_000_000_000];
    let last = events.iter().rev().find_map(|event| match event {
        PoolEvent::Reserves(held) => Some(*held),
        _ => None,
    });
    let of = |held: [u128; 2]| {
        let fee = FeeRate { numerator: 3, denominator: 1_000 };
        PoolState::from(ConstantProduct::new(held, fee).unwrap())
    };
    let mut scan = AccuracyScan::new();
    scan.add_slot(slot(0), observed(0, &of(start)), &[]).unwrap();
    let logs: Vec<_> = (1..)
        .zip(events)
        .map(|(n, event)| PoolLog { index: n, ..log(0, 1, event.clone()) })
        .collect();
    scan.add_slot(slot(1), observed(1, &of(last.unwrap_or(start))), &logs).unwrap();
    scan.finish()
}

#[test]
fn a_pair_is_followed_by_its_reserves_and_every_swap_is_counted() {
    let mut held = [4_000_000_000_000_u128, 5_000_000_000_000];
    let of = |amounts: [u64; 2]| amounts.map(U256::from);
    let mut events = traded(&mut held, [9_000_000_000, 0], [0, 11_000_000_000]).to_vec();
    // Both tokens in, nothing in, and more in than the slot's estimate can fill.
    events.extend(traded(&mut held, [5, 5], [4, 0]));
    events.extend(traded(&mut held, [0, 0], [0, 1]));
    events.extend(traded(&mut held, [u64::MAX, 0], [0, 1]));
    held = [held[0] + 700, held[1] + 900];
    events.extend([PoolEvent::Reserves(held), PoolEvent::Deposit(of([700, 900]))]);
    // Someone sends a hundred of the first token to the pair before the withdrawal. Only the reserves after it show
    // that.
    held = [held[0] - 300, held[1] - 500];
    events.extend([PoolEvent::Reserves(held), PoolEvent::Withdrawal(of([400, 500]))]);
    held[0] += 8;
    events.push(PoolEvent::Reserves(held));
    let told = of_pair(&events);
    let not = told.not_compared;
    assert_eq!((told.stretches_incomplete, told.swaps), (0, 4));
    assert_eq!((not.two_sided, not.zero, not.fills_incomplete), (1, 1, 0));
    let others = not.estimate_refused + not.out_of_range;
    assert_eq!(told.compared + not.two_sided + not.zero + others, told.swaps, "all of them");
    // Without the log of reserves, no change is explained; without the swap or withdrawal, the reserves are not
    // explained. If both reserves rose, the change can be a gift: a deposit, and a swap with both tokens in.
    for absent in 0..events.len() - 1 {
        let is_gift = [3, 9].contains(&absent);
        let told = of_pair(&[&events[..absent], &events[absent + 1..]].concat());
        let incomplete = u32::from(!is_gift);
        assert_eq!(told.stretches_incomplete, incomplete, "{absent}: {:?}", events[absent]);
        assert!(is_gift || told.compared == 0);
    }
    for swap in 0..4 {
        let without = [&events[..swap * 2], &events[swap * 2 + 2..]].concat();
        assert_eq!(of_pair(&without).stretches_incomplete, 1, "{swap}");
    }
    // One reserve grew and the other fell, and no log of a swap explains it.
    assert_eq!(
        of_pair(&[PoolEvent::Reserves([4_000_000_000_009, 4_999_999_999_998])])
            .stretches_incomplete,
        1
    );
}

/// Swaps that stop at an output or at a price: their amounts can differ from those of a sale by a few units.
#[test]
fn a_swap_that_ends_at_an_output_or_a_price_is_one_that_the_contract_makes() {
    let first = start();
    let (sale, after) = swap(&first, SELL, 7_000_000_500);
    let PoolEvent::Swap(sold, Some(price)) = sale else { panic!("a swap") };
    let complete = |amounts: SwapAmounts, price: PriceAfter| {
        let PoolState::Concentrated(pool) = &after else { panic!("ranges") };
        let PriceAfter { sqrt_price_x96, tick, liquidity } = price;
        let (fee, spacing, ticks) = (pool.fee_pips(), pool.tick_spacing(), pool.ticks().to_vec());
        let last = Concentrated::new(sqrt_price_x96, tick, liquidity, fee, spacing, ticks).unwrap();
        let mut scan = AccuracyScan::new();
        scan.add_slot(slot(0), observed(0, &first), &[]).unwrap();
        let log = log(0, 1, PoolEvent::Swap(amounts, Some(price)));
        scan.add_slot(slot(1), observed(1, &last.into()), &[log]).unwrap();
        scan.finish().stretches_incomplete == 0
    };
    let with = |more_in: i64, less_out: u64| {
        let mut amounts = sold;
        let by = U256::from(more_in.unsigned_abs());
        amounts.sold[0] = if more_in < 0 { amounts.sold[0] - by } else { amounts.sold[0] + by };
        amounts.bought[1] -= U256::from(less_out);
        amounts
    };
    assert!(complete(sold, price));
    // Accepted: one or two units more in than the price needs, or one unit less out.
    assert!(complete(with(1, 0), price) && complete(with(2, 1), price));
    assert!(!complete(with(-1, 0), price), "as much is not had for less");
    assert!(!complete(with(40, 0), price), "nobody pays forty units for nothing");
    assert!(!complete(with(0, 40), price), "nor leaves them");
    let further =
        PriceAfter { sqrt_price_x96: price.sqrt_price_x96 - (price.sqrt_price_x96 >> 30), ..price };
    assert!(!complete(sold, further), "nor moves the price further than paid for");
}

#[test]
fn what_is_out_of_order_or_of_another_kind_is_refused() {
    let first = start();
    let mut scan = AccuracyScan::new();
    scan.add_slot(slot(3), observed(3, &first), &[]).unwrap();
    let mut code = |place: u32, logs: &[PoolLog]| {
        scan.add_slot(slot(place), observed(place, &first), logs).map_err(|error| error.code())
    };
    assert_eq!(code(3, &[]), Err("figure_slot_order"));
    assert_eq!(code(2, &[]), Err("figure_slot_order"));
    let (event, _) = swap(&first, SELL, 1_000_000);
    let at = |after, n| log(after, n, event.clone());
    assert_eq!(code(4, &[at(3, 2), at(3, 1)]), Err("log_order"));
    assert_eq!(code(4, &[at(3, 2), at(3, 2)]), Err("log_order"));
    assert_eq!(code(4, &[at(2, 9)]), Err("log_order"));
    // A transaction that continues after another one.
    let of = |n: u32, transaction: u8| PoolLog {
        block: 1_031,
        transaction: [transaction; 32],
        ..at(3, n)
    };
    assert_eq!(code(4, &[of(1, 1), of(2, 2), of(3, 1)]), Err("log_order"));
    assert!(
        events::first_out_of_order(
            &[of(1, 1), of(2, 2), PoolLog { block: 1_032, ..of(3, 1) }],
            1_030,
            1_040
        )
        .is_none()
    );
    assert_eq!(code(4, &[at(4, 1)]), Err("log_order"));
    assert_eq!(code(4, &[]), Ok(()));
    let fee = FeeRate { numerator: 5, denominator: 10_000 };
    let stable = Solidly::new(true, [U256::from(1_u64 << 50); 2], [6, 6], fee).unwrap();
    let other = observed(0, &PoolState::Solidly(stable));
    let refused = AccuracyScan::new().add_slot(slot(0), other, &[]).unwrap_err();
    assert_eq!(refused.code(), "figure_unsupported_kind");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Replay accepts every sale, and only swaps after the first of an interval have an error.
    #[test]
    fn every_sale_is_found_and_the_first_of_a_stretch_is_exact(
        sales in prop::collection::vec((any::<bool>(), 1_000_u64..40_000_000_000, 1_u32..4), 1..20),
        is_pair in any::<bool>(),
    ) {
        let first = if is_pair { pair(1 << 42, 1 << 42) } else { start() };
        let (mut state, mut scan) = (first.clone(), AccuracyScan::new());
        scan.add_slot(slot(0), observed(0, &first), &[]).unwrap();
        let (mut place, mut logs, mut stretches) = (0, Vec::new(), 0_u32);
        for (sells, amount, stretch) in sales {
            let direction = if sells { SELL } else { Direction::OneForZero };
            let (event, after) = swap(&state, direction, amount);
            let n = u32::try_from(logs.len()).unwrap() + 1;
            if is_pair {
                logs.push(log(place, n, reserves(&after)));
            }
            logs.push(PoolLog { index: n + 100, ..log(place, n, event) });
            state = after;
            // An interval ends at random, or when its blocks are used up.
            if stretch == 1 || logs.len() > 7 {
                place += 1;
                scan.add_slot(slot(place), observed(place, &state), &logs).unwrap();
                logs.clear();
                stretches += 1;
            }
        }
        let told = scan.finish();
        prop_assert_eq!(told.stretches_incomplete, 0);
        prop_assert_eq!(told.compared, told.swaps);
        prop_assert_eq!(told.stretches, stretches);
        prop_assert!(told.ages[0].exact_n >= stretches.min(told.swaps));
        prop_assert_eq!(told.sizes.iter().map(|size| size.errors.n).sum::<u32>(), told.compared);
        for one in &told.worst {
            let at: Slot = one.slot;
            prop_assert!(at >= slot(0) && Exit::from_pool(&observed(0, &first), one.direction).direction() == one.direction);
        }
    }
}

/// A log by a given party, in a block, in a given transaction.
fn by(index: u32, who: u8, transaction: u8, event: PoolEvent) -> PoolLog {
    let (who, transaction) = (Address([who; 20]), [transaction; 32]);
    PoolLog { block: 1_001, index, transaction, parties: [who, Address([9; 20])], event }
}

#[test]
fn what_stands_around_a_swap_is_flagged_and_excludes_nothing() {
    let sale = |direction: Direction| {
        let mut amounts = SwapAmounts { sold: [U256::ZERO; 2], bought: [U256::ZERO; 2] };
        amounts.sold[direction.base_index()] = U256::from(5_u8);
        amounts.bought[direction.quote_index()] = U256::from(4_u8);
        PoolEvent::Swap(amounts, None)
    };
    let (sell, buy) = (sale(SELL), sale(Direction::OneForZero));
    let range = |delta| PoolEvent::Liquidity { lower: -60, upper: 60, delta };
    let flags = |logs: &[PoolLog], place: usize| flags::flags_of(logs)[place];
    let plain = SwapFlags::default();
    // Two swaps in one transaction, one in another.
    let logs = [by(1, 1, 1, sell.clone()), by(2, 1, 1, sell.clone()), by(3, 2, 2, sell.clone())];
    let told: Vec<bool> = (0..3).map(|place| flags(&logs, place).same_tx).collect();
    assert_eq!(told, [true, true, false]);
    // Liquidity that was added before and removed after. Flagged only for one owner and one range.
    let jit = |owner: u8, last| {
        let logs = [by(1, 5, 1, range(7)), by(2, 1, 2, sell.clone()), by(3, owner, 3, range(last))];
        flags(&logs, 1)
    };
    assert_eq!(jit(5, -7), SwapFlags { jit: true, ..plain });
    assert_eq!([jit(6, -7), jit(5, 7)], [plain; 2]);
    // One party bought before and sold after. Not flagged when it is two transactions further away.
    let around = |between: u32, last: &PoolEvent| {
        let mut logs = vec![by(1, 5, 1, buy.clone())];
        for n in 0..between {
            logs.push(by(2 + n, 7, 20 + u8::try_from(n).unwrap(), PoolEvent::Reserves([1, 1])));
        }
        logs.push(by(10, 1, 2, sell.clone()));
        let mut end = by(11, 5, 3, last.clone());
        end.parties[1] = Address([8; 20]);
        logs.push(end);
        flags(&logs, 1 + between as usize)
    };
    assert_eq!(around(1, &sell), SwapFlags { sandwich_suspected: true, ..plain });
    assert_eq!([around(2, &sell), around(0, &buy)], [plain; 2], "too far; both the same way");
    let other_block = PoolLog { block: 1_002, ..by(1, 5, 3, sell.clone()) };
    let logs = [by(1, 5, 1, buy), by(2, 1, 2, sell), other_block];
    assert_eq!(flags(&logs, 1), plain);
}

/// The flags of a swap, computed literally as the documentation defines them.
fn flags_by_the_page(logs: &[PoolLog], place: usize) -> SwapFlags {
    let swap = &logs[place];
    let here = |log: &&PoolLog| log.block == swap.block;
    let before: Vec<&PoolLog> = logs[..place].iter().filter(here).collect();
    let after: Vec<&PoolLog> = logs[place + 1..].iter().filter(here).collect();
    let is_swap = |log: &&&PoolLog| matches!(log.event, PoolEvent::Swap(..));
    let of = |log: &PoolLog| match log.event {
        PoolEvent::Liquidity { lower, upper, delta } => Some((log.parties[0], lower, upper, delta)),
        _ => None,
    };
    let left = |a, b| match (of(a), of(b)) {
        (Some((a, l, u, put)), Some((b, m, v, taken))) => {
            (a, l, u) == (b, m, v) && put > 0 && taken < 0
        }
        _ => false,
    };
    let near = |logs: &mut dyn Iterator<Item = &&PoolLog>| -> Vec<(Direction, Address)> {
        let mut seen: Vec<[u8; 32]> = Vec::new();
        let mut found = Vec::new();
        for log in logs.filter(|log| log.transaction != swap.transaction) {
            if !seen.contains(&log.transaction) {
                seen.push(log.transaction);
            }
            if seen.len() > 2 {
                break;
            }
            if let PoolEvent::Swap(amounts, _) = &log.event
                && let Some(direction) = amounts.direction()
            {
                found.extend(log.parties.iter().map(|party| (direction, *party)));
            }
        }
        found.into_iter().filter(|(_, party)| *party != Address([0; 20])).collect()
    };
    let (earlier, later) = (near(&mut before.iter().rev()), near(&mut after.iter()));
    SwapFlags {
        same_tx: before
            .iter()
            .chain(&after)
            .filter(is_swap)
            .any(|log| log.transaction == swap.transaction),
        jit: before.iter().any(|come| after.iter().any(|gone| left(come, gone))),
        sandwich_suspected: earlier
            .iter()
            .any(|(way, who)| later.iter().any(|(back, other)| back != way && who == other)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn flags_are_those_of_the_page(
        drawn in prop::collection::vec((0_u8..5, 0_u8..3, 0_u8..3, any::<bool>(), any::<bool>()), 1..40),
    ) {
        let mut logs: Vec<PoolLog> = Vec::new();
        let (mut block, mut transaction) = (1_001, 0_u8);
        for (index, (kind, who, other, same, next)) in (0..).zip(drawn) {
            block += u64::from(next && index % 7 == 0);
            transaction += u8::from(!same || logs.last().is_some_and(|last| last.block != block));
            let mut amounts = SwapAmounts { sold: [U256::ZERO; 2], bought: [U256::ZERO; 2] };
            amounts.sold[usize::from(kind == 0)] = U256::from(5_u8);
            amounts.bought[usize::from(kind != 0)] = U256::from(u8::from(same || next));
            let event = match kind {
                0..=1 => PoolEvent::Swap(amounts, None),
                2..=3 => PoolEvent::Liquidity { lower: -60, upper: 60, delta: if kind == 2 { 5 } else { -5 } },
                _ => PoolEvent::Reserves([1, 1]),
            };
            let parties = [Address([who; 20]), Address([other; 20])];
            logs.push(PoolLog { block, index, transaction: [transaction; 32], parties, event });
        }
        let told = flags::flags_of(&logs);
        prop_assert_eq!(told.len(), logs.len());
        for (place, log) in logs.iter().enumerate() {
            if matches!(log.event, PoolEvent::Swap(..)) {
                prop_assert_eq!(told[place], flags_by_the_page(&logs, place), "{}", place);
            }
        }
    }
}

/// The maximum number of logs is accepted, and one more is refused: for waiting logs and for all logs of a period.
#[test]
fn a_period_has_so_many_logs() {
    let (from, to) = (slot(0), slot(20));
    let state = pair(1_000_000, 1_000_000);
    let events = |count: usize, block: u64| {
        let log = |index| PoolLog { block, ..by(index, 1, 1, PoolEvent::Reserves([1, 1])) };
        (0..u32::try_from(count).unwrap()).map(log).collect::<Vec<_>>()
    };
    let document = |after: u64, count: usize| Fills {
        contract: pool().contract().clone(),
        after_block: after,
        to_block: after + 1,
        logs: events(count, after + 1),
    };
    let whole = MAX_LOGS_HELD / MAX_FILLS_LOGS;
    let seen_at = |place: u32, number: u64| {
        let of = observed(place, &state);
        let block = BlockRef { number, ..of.block() };
        let (tokens, oracles) = (of.tokens().clone(), of.oracles().to_vec());
        Observation::new(pool(), of.chain(), block, tokens, state.clone(), oracles, Vec::new())
            .unwrap()
    };
    let new = || {
        let terms = AccuracyTerms { pool: pool(), from, to, until: to };
        let mut pass = AccuracyPass::new(terms).unwrap();
        pass.add_snapshot(&pool(), slot(0), seen_at(0, 1_000)).unwrap();
        pass.take_fills(Some(document(999, 0))).unwrap();
        pass
    };
    // All logs belong to one slot far ahead.
    let mut pass = new();
    pass.add_snapshot(&pool(), slot(1), seen_at(1, 1_000_000)).unwrap();
    for n in 0..whole as u64 {
        pass.take_fills(Some(document(1_000 + n, MAX_FILLS_LOGS))).unwrap();
    }
    let after = 1_000 + whole as u64;
    assert_eq!(pass.take_fills(Some(document(after, 1))).unwrap_err(), FigureError::TooManyLogs);
    // The same number, slot by slot, up to the maximum for a period.
    let mut pass = new();
    let mut after = 1_000;
    for place in 1..=u32::try_from(MAX_LOGS / MAX_LOGS_HELD).unwrap() {
        pass.add_snapshot(&pool(), slot(place), seen_at(place, after + whole as u64)).unwrap();
        for _ in 0..whole {
            pass.take_fills(Some(document(after, MAX_FILLS_LOGS))).unwrap();
            after += 1;
        }
        assert!(!pass.wants_fills());
    }
    pass.add_snapshot(&pool(), slot(19), seen_at(19, after + 1)).unwrap();
    let refused = pass.take_fills(Some(document(after, 1))).unwrap_err();
    assert_eq!((refused.code(), refused), ("figure_too_many_logs", FigureError::TooManyLogs));
}

#[test]
fn fills_have_one_spelling_and_bounds() {
    let first = start();
    let (sold, _) = swap(&first, SELL, 5_000_000_000);
    let amounts = [U256::from(3_u8), U256::MAX];
    let events = [
        sold,
        PoolEvent::Liquidity { lower: -600, upper: 600, delta: -1_000 },
        PoolEvent::Reserves([u128::MAX, 1]),
        PoolEvent::Deposit(amounts),
        PoolEvent::Withdrawal(amounts),
        swap(&pair(1_000_000, 1_000_000), SELL, 500).0,
    ];
    let logs: Vec<PoolLog> = (1..).zip(events).map(|(n, event)| by(n, 3, 4, event)).collect();
    let contract = pool().contract().clone();
    let fills = Fills { contract, after_block: 1_000, to_block: 1_010, logs };
    let bytes = fills.to_canonical().unwrap();
    assert_eq!(Fills::from_canonical(&bytes).unwrap(), fills);
    let text = String::from_utf8(bytes.clone()).unwrap();
    let empty = Fills { after_block: 1_010, logs: Vec::new(), ..fills.clone() };
    assert_eq!(Fills::from_canonical(&empty.to_canonical().unwrap()).unwrap(), empty);
    assert_ne!(Fills::hash_of(&bytes), Fills::hash_of(&empty.to_canonical().unwrap()));
    let refused = |text: &str| Fills::from_canonical(text.as_bytes()).unwrap_err().to_string();
    for (from, to, why) in [
        ("\"index\":2", "\"index\":1", "log 1: out of order"),
        ("\"block\":1001,\"deposit", "\"block\":1011,\"deposit", "log 3: out of order"),
        ("\"lower\":-600", "\"lower\":600", "log 1: outside the bounds of a pool"),
        ("\"lower\":-600", "\"lower\":-999999", "log 1: outside the bounds of a pool"),
        ("\"after_block\":1000", "\"after_block\":1011", "block 1011 is after 1010"),
        ("\"reserves\":[", "\"reservs\":[", "unknown field `reservs`"),
        ("\"to_block\"", " \"to_block\"", "not canonical"),
        ("\"v\":1", "\"v\":2", "version"),
        ("\"deposit\":[", "\"withdrawal\":[\"1\",\"1\"],\"deposit\":[", "not canonical"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        assert!(refused(&changed).contains(why), "{from}: {}", refused(&changed));
    }
    let line = Fills::line(slot(7), &bytes).unwrap();
    let told = Fills::from_line(&line).unwrap();
    assert_eq!(told, (slot(7), fills.clone(), Fills::hash_of(&bytes)));
    assert!(Fills::from_line(&bytes).unwrap_err().to_string().contains("missing field"));
    let two = text.replacen("\"index\":5,", "\"deposit\":[\"1\",\"1\"],\"index\":5,", 1);
    assert!(refused(&two).contains("log 4: not one of the five kinds"), "{}", refused(&two));
    let many = vec![fills.logs[0].clone(); MAX_FILLS_LOGS + 1];
    let why = Fills { logs: many, ..fills }.to_canonical().unwrap_err().to_string();
    assert!(why.contains("4097 logs are more than the maximum of 4096"), "{why}");
}
