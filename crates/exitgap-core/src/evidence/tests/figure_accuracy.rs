//! The figure file of the accuracy record, for pools with every kind of log between their slots.

use serde_json::{Value, json};

use super::figure::{failed, report_with};
use super::*;
use crate::analytics::FigureError;
use crate::analytics::accuracy::{
    AccuracyPass, AccuracyTerms, AccuracyTermsOf, Fills, PoolEvent, PoolLog, PriceAfter,
    SwapAmounts,
};
use crate::analytics::figure::{FigureCheckName, FigureFills, FigurePass, FigureUse, write_figure};
use crate::analytics::list_standing_slots;
use crate::pools::Direction;

const SELL: Direction = Direction::ZeroForOne;
const BUY: Direction = Direction::OneForZero;

/// A pool's scripted history, block by block. A slot's block has the slot's number.
struct Told {
    scene: Scene,
    state: PoolState,
    /// Logs that no document contains yet.
    logged: Vec<PoolLog>,
    /// The last block that a document covers.
    until: u64,
    documents: Vec<Vec<u8>>,
    places: Vec<u32>,
}

impl Told {
    fn new(state: PoolState) -> Self {
        let id = PoolId::new("anvil".parse().unwrap(), Address([0xaa; 20]));
        let series = Series { id, depths: Vec::new(), snapshots: Vec::new(), heads: Vec::new() };
        let scene = Scene { pools: vec![series], leaves: Vec::new() };
        let until = u64::from(Slot::FIRST.number()) - 1;
        let (logged, documents, places) = (Vec::new(), Vec::new(), Vec::new());
        Self { scene, state, logged, until, documents, places }
    }

    fn place(&self) -> u32 {
        u32::try_from(self.scene.leaves.len()).unwrap()
    }

    /// A log in the block of the next slot.
    fn log(&mut self, transaction: u8, parties: [u8; 2], event: PoolEvent) {
        let block = slot(self.place()).number().into();
        let index = self.logged.iter().filter(|log| log.block == block).count();
        let parties = parties.map(|last| Address([last; 20]));
        let index = u32::try_from(index).unwrap();
        self.logged.push(PoolLog { block, index, transaction: [transaction; 32], parties, event });
    }

    /// A sale as the contract logs it. `more` units went in beyond those that the fill takes.
    fn sell(
        &mut self,
        [transaction, party]: [u8; 2],
        direction: Direction,
        amount: u64,
        more: u64,
    ) {
        let fill = self.state.fill_once(direction, U256::from(amount)).unwrap();
        self.state = self.state.after(direction, &fill);
        let mut amounts = SwapAmounts { sold: [U256::ZERO; 2], bought: [U256::ZERO; 2] };
        amounts.sold[direction.base_index()] = fill.amount_in + U256::from(more);
        amounts.bought[direction.quote_index()] = fill.amount_out;
        self.swap([transaction, party], amounts);
    }

    fn swap(&mut self, [transaction, party]: [u8; 2], amounts: SwapAmounts) {
        let price = match &self.state {
            PoolState::Concentrated(pool) => Some(PriceAfter {
                sqrt_price_x96: pool.sqrt_price_x96(),
                tick: pool.tick(),
                liquidity: pool.liquidity(),
            }),
            PoolState::ConstantProduct(pair) => {
                let reserves = PoolEvent::Reserves(pair.reserves());
                self.log(transaction, [0, 0], reserves);
                None
            }
            other => panic!("{other:?}"),
        };
        self.log(transaction, [party, party], PoolEvent::Swap(amounts, price));
    }

    /// A sale of token 0 to a pair that receives what one raw unit less would, and a part of what the last one adds.
    fn order(&mut self, [transaction, party]: [u8; 2], sold: u64, [part, of]: [i64; 2]) {
        let PoolState::ConstantProduct(pair) = &self.state else { panic!("a pair") };
        let pays = |amount: u64| {
            let fill = self.state.fill_once(SELL, U256::from(amount));
            fill.map_or(0_i64, |fill| fill.amount_out.to_string().parse().unwrap())
        };
        let (less, whole) = (pays(sold - 1), pays(sold));
        let received = u64::try_from(less + (whole - less) / of * part).unwrap();
        let [x, y] = pair.reserves();
        let held = [x + u128::from(sold), y - u128::from(received)];
        self.state = ConstantProduct::new(held, pair.fee()).unwrap().into();
        let sold = [U256::from(sold), U256::ZERO];
        self.swap(
            [transaction, party],
            SwapAmounts { sold, bought: [U256::ZERO, U256::from(received)] },
        );
    }

    /// Liquidity added to the range of 600 ticks, or removed from it.
    fn provide(&mut self, transaction: u8, owner: u8, delta: i128) {
        let PoolState::Concentrated(pool) = &self.state else { panic!("ranges") };
        let mut ticks = pool.ticks().to_vec();
        for (at, net) in [(-600, delta), (600, -delta)] {
            let tick = ticks.iter_mut().find(|tick| tick.tick == at).unwrap();
            tick.liquidity_net += net;
            tick.liquidity_gross = tick.liquidity_gross.checked_add_signed(delta).unwrap();
        }
        let active = pool.liquidity().checked_add_signed(delta).unwrap();
        let (price, tick, spacing) = (pool.sqrt_price_x96(), pool.tick(), pool.tick_spacing());
        self.state =
            Concentrated::new(price, tick, active, pool.fee_pips(), spacing, ticks).unwrap().into();
        let event = PoolEvent::Liquidity { lower: -600, upper: 600, delta };
        self.log(transaction, [owner, 0], event);
    }

    /// Logs new reserves, and then the event that the pair logs for the change, if any.
    fn reserves(&mut self, transaction: u8, reserves: [u128; 2], says: Option<PoolEvent>) {
        let PoolState::ConstantProduct(pair) = &self.state else { panic!("a pair") };
        self.state = ConstantProduct::new(reserves, pair.fee()).unwrap().into();
        self.log(transaction, [0, 0], PoolEvent::Reserves(reserves));
        if let Some(event) = says {
            self.log(transaction, [5, 5], event);
        }
    }

    /// Seals the slot. Its head commits to the logs up to the block of the previous slot. If `is_read` is false, those
    /// could not be read, and the document starts after them.
    fn seal(&mut self, is_recorded: bool, is_read: bool) {
        let at = slot(self.place());
        let pool = self.scene.pools[0].id.clone();
        let to_block = u64::from(at.number()) - 1;
        let mut commits = Commits::default();
        if to_block > self.until {
            let (after_block, logs) = if is_read {
                let count = self.logged.partition_point(|log| log.block <= to_block);
                (self.until, self.logged.drain(..count).collect())
            } else {
                self.logged.retain(|log| log.block > to_block);
                (to_block, Vec::new())
            };
            let contract = pool.contract().clone();
            let fills = Fills { contract, after_block, to_block, logs };
            let document = fills.to_canonical().unwrap();
            commits = Fills::commitment(Fills::hash_of(&document));
            self.documents.push(document);
            self.places.push(self.place());
            self.until = to_block;
        }
        let seen = is_recorded.then(|| snapshot(&pool, self.state.clone(), at));
        let seen = seen.as_ref().ok_or(MissingReason::ChainLagging);
        extend_committing(&mut self.scene.pools[0], at, seen, commits);
        let (hashes, commits) = (self.scene.head_hashes(self.place()), Commits::default());
        let leaf = SlotLeaf { slot: at, pools: 1, root: root(&hashes), commits };
        self.scene.leaves.push(leaf.to_canonical().unwrap());
    }

    fn terms(&self, from: u32) -> AccuracyTerms {
        self.terms_of(from)
    }

    /// The parameters of a version of the rules.
    fn terms_of<const VERSION: u8>(&self, from: u32) -> AccuracyTermsOf<VERSION> {
        let pool = self.scene.pools[0].id.clone();
        let last = slot(self.place() - 1);
        AccuracyTermsOf { pool, from: slot(from), to: last, until: last }
    }

    /// The figure file of a period.
    fn file<const VERSION: u8>(
        &self,
        terms: &AccuracyTermsOf<VERSION>,
    ) -> Result<Vec<u8>, FigureError> {
        let heads = self.scene.pools[0].heads.iter();
        let heads: Vec<Head> = heads.map(|bytes| Head::from_canonical(bytes).unwrap()).collect();
        let from = terms.from.number() - Slot::FIRST.number();
        let own = self.places.iter().zip(&self.documents).filter(|(place, _)| **place >= from);
        let mut documents = own.clone().map(|(_, document)| document);
        let mut pass = AccuracyPass::new(terms.clone())?;
        let mut uses = Vec::new();
        let within = |at: &Slot| (terms.from..=terms.to).contains(at);
        for (at, snapshot) in list_standing_slots(&heads).into_iter().filter(|(at, _)| within(at)) {
            let found = self.scene.documents(0, at).unwrap();
            let read = Snapshot::of_pool(&terms.pool, &found.snapshot, &found.state).unwrap();
            pass.add_snapshot(&terms.pool, at, read.observation().clone())?;
            while pass.wants_fills() {
                let next = documents.next();
                pass.take_fills(next.map(|bytes| Fills::from_canonical(bytes).unwrap()))?;
            }
            uses.push(FigureUse { pool: terms.pool.clone(), slot: at, snapshot });
        }
        let fills = own.map(|(place, bytes)| FigureFills {
            document: Fills::hash_of(bytes),
            pool: terms.pool.clone(),
            slot: slot(*place),
        });
        let windows = [self.scene.window_of(0, 0..heads.len())];
        Ok(write_figure(terms, &windows, &uses, fills.collect(), &pass.finish()?).unwrap())
    }
}

fn wide() -> PoolState {
    let (outer, inner) = (40_000_000_000, 60_000_000_000);
    let ticks = vec![
        Tick::new(-6_000, outer),
        Tick::new(-600, inner),
        Tick::new(600, -inner),
        Tick::new(6_000, -outer),
    ];
    let price = sqrt_ratio_at_tick(3).unwrap();
    Concentrated::new(price, 3, 100_000_000_000, 3_000, 60, ticks).unwrap().into()
}

/// A single swap, two swaps in one transaction, liquidity added just for one swap, a swap between two of another party,
/// sizes from cents to hundreds of thousands, a swap across a tick, one that stopped at a price, one of zero, and
/// missing logs.
fn ranges() -> Told {
    let mut told = Told::new(wide());
    told.seal(true, true);
    told.sell([1, 9], SELL, 4_000, 0);
    told.sell([1, 9], BUY, 2_500_000, 0);
    told.seal(true, true);
    told.provide(2, 3, 9_000_000_000);
    told.sell([3, 9], SELL, 60_000_000, 0);
    told.provide(4, 3, -9_000_000_000);
    told.seal(true, true);
    told.sell([5, 8], BUY, 900_000_000, 0);
    told.sell([6, 7], BUY, 50_000_000, 0);
    told.sell([7, 8], SELL, 880_000_000, 0);
    told.seal(true, true);
    told.sell([8, 9], SELL, 70_000, 0);
    told.seal(false, true);
    told.sell([9, 9], SELL, 5_100_000_000, 0);
    told.seal(true, true);
    told.sell([10, 9], BUY, 5_000_000_000, 1);
    told.swap([11, 9], SwapAmounts { sold: [U256::from(9_u8); 2], bought: [U256::from(8_u8); 2] });
    told.swap([12, 9], SwapAmounts { sold: [U256::ZERO; 2], bought: [U256::ZERO; 2] });
    told.seal(true, true);
    // No document contains the swaps of this slot.
    told.sell([13, 9], SELL, 1_000_000, 0);
    told.seal(true, true);
    told.seal(true, false);
    told.sell([14, 9], SELL, 12, 0);
    told.seal(true, true);
    told.sell([15, 9], BUY, 300_000, 0);
    told.seal(true, true);
    told.seal(true, true);
    told
}

/// The same for a pair: swaps, gifts, deposits and withdrawals.
fn reserves() -> Told {
    let fee = FeeRate { numerator: 3, denominator: 1_000 };
    let mut told = Told::new(ConstantProduct::new([9_000_000_000; 2], fee).unwrap().into());
    told.seal(true, true);
    told.sell([1, 9], SELL, 20_000_000, 0);
    told.seal(true, true);
    let PoolState::ConstantProduct(pair) = &told.state else { panic!("a pair") };
    let [x, y] = pair.reserves();
    let put = PoolEvent::Deposit([U256::from(5_000_u32); 2]);
    told.reserves(2, [x + 5_000, y + 5_000], Some(put));
    told.reserves(3, [x + 5_001, y + 5_000], None);
    told.sell([4, 9], BUY, 1_000, 0);
    told.seal(true, true);
    let PoolState::ConstantProduct(pair) = &told.state else { panic!("a pair") };
    let [x, y] = pair.reserves();
    let taken = PoolEvent::Withdrawal([U256::from(800_u32); 2]);
    told.reserves(5, [x - 800, y - 800], Some(taken));
    told.seal(true, true);
    told.sell([6, 9], SELL, 1_000_000_000, 0);
    told.seal(true, true);
    told.seal(true, true);
    told
}

/// The same swaps as of [`ranges`], and then orders for an output: alone in a slot, and after a swap that moved the price
/// much and one that moved it a little.
fn ranges_with_orders() -> Told {
    let mut told = ranges();
    told.sell([20, 9], SELL, 70_000, 1);
    told.seal(true, true);
    told.sell([21, 9], SELL, 40_000_000, 0);
    told.sell([22, 9], BUY, 900, 1);
    told.sell([23, 9], BUY, 40_000_000, 0);
    told.sell([24, 9], SELL, 50_000, 1);
    told.seal(true, true);
    told.seal(true, true);
    told
}

/// A pair in which a raw unit of token 0 is worth about a million of token 1, with orders for an output: in the middle of
/// their bracket, at its lower end, below it, of one raw unit, and after a swap that moved the price.
fn reserves_with_orders() -> Told {
    let fee = FeeRate { numerator: 3, denominator: 1_000 };
    let mut told =
        Told::new(ConstantProduct::new([9_000_000, 9_000_000_000_000], fee).unwrap().into());
    told.seal(true, true);
    for (transaction, sold, [part, of]) in
        [(1, 100, [1, 3]), (2, 70, [0, 1]), (3, 50, [-1, 2]), (4, 1, [1, 2])]
    {
        told.order([transaction, 9], sold, [part, of]);
        told.seal(true, true);
    }
    told.sell([5, 9], SELL, 1, 0);
    told.order([6, 9], 30, [1, 2]);
    told.sell([7, 9], SELL, 300, 0);
    told.order([8, 9], 20_000, [1, 2]);
    told.seal(true, true);
    told.seal(true, true);
    told
}

fn read(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

#[test]
fn a_record_is_recomputed_from_its_file() {
    let told = ranges();
    let bytes = told.file(&told.terms(0)).unwrap();
    let report = report_with(&told.scene, &bytes, &told.documents);
    assert_eq!(report.verdict, Verdict::Valid, "{report:#?}");
    let result = &read(&bytes)["result"];
    // No document contains the newest block yet.
    assert_eq!((&result["have_slots"], &result["slots_waiting"]), (&json!(10), &json!(1)));
    assert_eq!((&result["stretches"], &result["stretches_incomplete"]), (&json!(9), &json!(1)));
    let not = &result["not_compared"];
    assert_eq!((&not["two_sided"], &not["zero"]), (&json!(1), &json!(1)), "{not}");
    assert_eq!((&result["swaps"], &result["compared"]), (&json!(13), &json!(11)), "{result}");
    let flagged = &result["flagged"];
    assert_eq!(flagged, &json!({"jit": 1, "same_tx": 2, "sandwich_suspected": 1}));
    assert!(result["by_age"][0]["errors"]["exact_n"].as_u64().unwrap() >= 4, "{result}");
    let newest = result["newest"].as_array().unwrap();
    assert_eq!((newest.len(), &newest[0]["amount_in"]), (11, &json!("4000")));

    let of_pair = reserves();
    let bytes = of_pair.file(&of_pair.terms(0)).unwrap();
    let report = report_with(&of_pair.scene, &bytes, &of_pair.documents);
    assert_eq!(report.verdict, Verdict::Valid, "{report:#?}");
    let result = &read(&bytes)["result"];
    assert_eq!((&result["compared"], &result["stretches_incomplete"]), (&json!(3), &json!(0)));
}

#[test]
fn both_versions_of_a_record_are_valid_and_version_1_has_the_fields_that_it_had() {
    let told = reserves_with_orders();
    let [one, two] = [told.file(&told.terms_of::<1>(0)), told.file(&told.terms_of::<2>(0))]
        .map(|bytes| bytes.unwrap());
    for bytes in [&one, &two] {
        let report = report_with(&told.scene, bytes, &told.documents);
        assert_eq!(report.verdict, Verdict::Valid, "{report:#?}");
    }
    let [one, two] = [one, two].map(|bytes| read(&bytes));
    assert_eq!((&one["figure"], &two["figure"]), (&json!("accuracy/1"), &json!("accuracy/2")));
    let errors = |file: &Value| file["result"]["by_age"][0]["errors"].clone();
    assert_eq!(errors(&two)["bracketed_n"], json!(4), "{}", errors(&two));
    assert_eq!((&errors(&one)["exact_n"], &errors(&two)["exact_n"]), (&json!(1), &json!(1)));
    let agreements: Vec<&str> = two["result"]["newest"]
        .as_array()
        .unwrap()
        .iter()
        .map(|swap| swap["agreement"].as_str().unwrap())
        .collect();
    assert_eq!(
        agreements,
        [
            "bracketed",
            "bracketed",
            "differs",
            "bracketed",
            "exact",
            "bracketed",
            "differs",
            "differs"
        ]
    );
    // Every field of version 1 is in version 2, which has four more.
    let names =
        |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    let added = |one: &Value, two: &Value| -> Vec<String> {
        let one = names(one);
        names(two).into_iter().filter(|name| !one.contains(name)).collect()
    };
    assert_eq!(added(&one["result"], &two["result"]), ["judged_slots"]);
    assert_eq!(added(&errors(&one), &errors(&two)), ["bracketed_n", "worst_for_seller_pct"]);
    let swap = |file: &Value| file["result"]["worst"][0].clone();
    assert_eq!(added(&swap(&one), &swap(&two)), ["agreement"]);
    // The result of one version is not a result of the other.
    let mut other = one.clone();
    other["figure"] = json!("accuracy/2");
    let report = report_with(&told.scene, &canonical(&other), &told.documents);
    assert_eq!(failed(&report).map(|(_, code)| code), Some("result_mismatch"));
}

#[test]
fn a_document_that_is_absent_another_or_left_out_is_noticed() {
    let told = ranges();
    let bytes = told.file(&told.terms(0)).unwrap();
    let some = &told.documents[..told.documents.len() - 2];
    let report = report_with(&told.scene, &bytes, some);
    assert_eq!(report.verdict, Verdict::Incomplete);
    assert_eq!(report.check(FigureCheckName::Snapshots).unwrap().code, "snapshots_absent");

    let changed = |change: &dyn Fn(&mut Value)| {
        let mut value = read(&bytes);
        change(&mut value);
        let report = report_with(&told.scene, &canonical(&value), &told.documents);
        failed(&report).map(|(_, code)| code)
    };
    for (what, code) in [
        (
            &(|value: &mut Value| drop(value["fills"].as_array_mut().unwrap().remove(2)))
                as &dyn Fn(&mut Value),
            "fills_mismatch",
        ),
        (&|value| value["fills"].as_array_mut().unwrap().swap(0, 1), "fills_mismatch"),
        (&|value| drop(value.as_object_mut().unwrap().remove("fills")), "fills_mismatch"),
        (&|value| value["result"]["compared"] = json!(12), "result_mismatch"),
        (&|value| value["parameters"]["from"] = json!(0), "format_invalid"),
        (&|value| value["figure"] = json!("decay/1"), "format_invalid"),
    ] {
        assert_eq!(changed(what), Some(code), "{code}");
    }
    // A document other than the one that the head commits to.
    let mut verifier =
        crate::analytics::figure::FigureVerifier::new(&bytes, &[signer().verifier()]);
    verifier.add_snapshot(told.scene.documents(0, slot(0)).as_ref());
    verifier.take_fills(Some(&told.documents[1]));
    let report = verifier.finish();
    assert_eq!(failed(&report), Some((FigureCheckName::Snapshots, "fills_hash_mismatch")));
    // A figure that uses no documents must not name any.
    let terms = told.terms(0);
    for (to, until, code) in [
        (31 * 288, 31 * 288, "figure_period"),
        (9, 8, "figure_parameter"),
        (9, 9 + 289, "figure_parameter"),
    ] {
        let terms = AccuracyTerms { to: slot(to), until: slot(until), ..terms.clone() };
        assert_eq!(AccuracyPass::new(terms).unwrap_err().code(), code);
    }
}

/// Vectors for verifiers in other languages.
#[cfg(not(target_family = "wasm"))]
#[test]
fn the_vectors_of_accuracy_are_these() {
    are_vectors::<1>(["accuracy", "accuracy_later", "accuracy_pair"], ranges, reserves);
    let names = ["accuracy_2", "accuracy_2_later", "accuracy_2_pair"];
    are_vectors::<2>(names, ranges_with_orders, reserves_with_orders);
}

/// Vectors of a version: a pool of ranges, a part of its period, and a pair.
#[cfg(not(target_family = "wasm"))]
fn are_vectors<const VERSION: u8>(names: [&str; 3], ranges: fn() -> Told, pair: fn() -> Told) {
    let scenes = [(ranges(), 0), (ranges(), 3), (pair(), 0)];
    for (name, (told, from)) in names.into_iter().zip(scenes) {
        // The later period ends before the heads that commit to its last logs.
        let all = told.terms_of::<VERSION>(from);
        let to = if from > 0 { slot(told.place() - 4) } else { all.to };
        let bytes = told.file(&AccuracyTermsOf { to, ..all }).unwrap();
        figure::is_vector_with(name, &told.scene, &bytes, &told.documents);
    }
}
