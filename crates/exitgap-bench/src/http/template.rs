//! The rows of one generated pool: depths that change randomly, an occasional missing slot, and the derived values that
//! the store would contain.

use std::collections::VecDeque;

use exitgap_core::analytics::median;
use exitgap_core::evidence::LOWEST_DEPTH_SLOTS;
use exitgap_core::series::Slot;
use exitgap_tests::devchain::Rng;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

/// One in this many slots is missing.
const MISSING_EVERY: u32 = 97;

/// The sizes whose gap depends on depth, in dollars.
const SIZES: [i64; 4] = [1_000, 10_000, 100_000, 1_000_000];

/// Rows of the store's first pool.
pub struct Template {
    entries: Vec<Vec<Value>>,
    figures: Vec<Vec<Value>>,
    days: Vec<Vec<Value>>,
}

/// A slot's values for selling one token.
#[derive(Clone, Copy)]
struct Side {
    depth: i64,
    gaps: [i64; 4],
    basis: i64,
}

/// The state of a day so far.
#[derive(Default)]
struct Day {
    recorded: i64,
    missing: i64,
    /// For each recorded slot: its position in the day and its values.
    slots: Vec<(i64, [Side; 2])>,
}

impl Template {
    /// The slots from the second one up to index `last`, which is recorded.
    pub fn new(last: u32) -> Self {
        let mut rng = Rng::new(90);
        let mut template = Self { entries: Vec::new(), figures: Vec::new(), days: Vec::new() };
        let mut window: VecDeque<Option<[Side; 2]>> = VecDeque::new();
        let (mut depth, mut recorded, mut run) = ([3_000_000_i64, 2_000_000], 1_i64, 0_i64);
        let (mut day, mut day_number) = (Day::default(), Slot::FIRST.number() / Slot::PER_DAY);
        for index in 1..=last {
            let number = Slot::FIRST.number() + index;
            for depth in &mut depth {
                let moved = *depth + *depth * rng.bell(20_000) / 1_000_000;
                *depth = moved.clamp(200_000, 20_000_000);
            }
            let is_missing = index % MISSING_EVERY == 13 && index != last;
            let sides = (!is_missing).then(|| depth.map(|depth| Side::of(depth, &mut rng)));
            (recorded, run) = match sides {
                Some(_) => (recorded + 1, 0),
                None => (recorded, run + 1),
            };
            if window.len() == LOWEST_DEPTH_SLOTS as usize {
                window.pop_front();
            }
            window.push_back(sides);
            if number / Slot::PER_DAY != day_number {
                template.days.push(day.row(day_number));
                (day, day_number) = (Day::default(), number / Slot::PER_DAY);
            }
            day.add(number, sides);
            template.add(number, sides, [recorded, run], &window);
        }
        template.days.push(day.row(day_number));
        template
    }

    fn add(
        &mut self,
        number: u32,
        sides: Option<[Side; 2]>,
        [recorded, run]: [i64; 2],
        window: &VecDeque<Option<[Side; 2]>>,
    ) {
        let depths =
            |token: usize| window.iter().map(move |slot| slot.map(|side| side[token].depth));
        let lowest = [0, 1].map(|token| {
            let known = depths(token).enumerate().filter_map(|(at, depth)| Some((depth?, at)));
            known.min().map_or((0, 0), |(depth, at)| (depth, window.len() - 1 - at))
        });
        let medians = [0, 1].map(|token| {
            let mut depths: Vec<i64> = depths(token).flatten().collect();
            median(&mut depths).unwrap_or(0)
        });
        let missing = window.iter().filter(|slot| slot.is_none()).count();
        let or_null = |value: Option<i64>| value.map_or(Value::Null, Value::Integer);
        let integer = |number: usize| Value::Integer(i64::try_from(number).unwrap_or(i64::MAX));
        let slot = Value::Integer(number.into());
        let mut hash = vec![0x5a; 32];
        hash[..4].copy_from_slice(&number.to_be_bytes());
        self.entries.push(vec![
            Value::Integer(1),
            slot.clone(),
            sides.map_or(Value::Null, |_| Value::Blob(hash.clone())),
            sides.map_or(Value::Text("rpc_unavailable".to_owned()), |_| Value::Null),
            Value::Integer(recorded),
            Value::Integer(run),
            or_null(sides.map(|sides| sides[0].depth)),
            or_null(sides.map(|sides| sides[1].depth)),
            Value::Integer(lowest[0].0),
            Value::Integer(lowest[1].0),
            Value::Text("1.0.0".to_owned()),
            // No swap logs and no receipts.
            Value::Null,
            Value::Null,
            Value::Blob(hash),
        ]);
        let mut row = vec![Value::Integer(1), slot, or_null(sides.map(|_| 0))];
        for token in 0..2 {
            for size in 0..4 {
                row.push(or_null(sides.map(|sides| sides[token].gaps[size])));
            }
            row.push(or_null(sides.map(|sides| sides[token].basis)));
            // The depth.
            row.push(or_null(sides.map(|sides| sides[token].depth)));
        }
        row.push(integer(missing));
        row.extend(medians.map(Value::Integer));
        row.extend(lowest.map(|(_, back)| integer(back)));
        self.figures.push(row);
    }

    /// Writes the rows.
    pub fn write(self, connection: &mut Connection) -> rusqlite::Result<()> {
        let transaction = connection.transaction()?;
        for (table, rows) in
            [("entry", self.entries), ("figures", self.figures), ("day", self.days)]
        {
            let marks = vec!["?"; rows.first().map_or(0, Vec::len)].join(", ");
            let sql = format!("INSERT OR REPLACE INTO {table} VALUES ({marks})");
            let mut insert = transaction.prepare(&sql)?;
            for row in rows {
                insert.execute(params_from_iter(row))?;
            }
        }
        transaction.commit()
    }
}

impl Side {
    fn of(depth: i64, rng: &mut Rng) -> Self {
        let basis = rng.bell(100_000);
        // Two percent at the depth, and roughly proportional elsewhere, in millionths of a percent.
        let gaps = SIZES.map(|size| basis + 50_000 + 1_950_000 * size / depth);
        Self { depth, gaps, basis }
    }
}

impl Day {
    fn add(&mut self, number: u32, sides: Option<[Side; 2]>) {
        match sides {
            Some(sides) => {
                self.recorded += 1;
                self.slots.push(((number % Slot::PER_DAY).into(), sides));
            }
            None => self.missing += 1,
        }
    }

    fn row(&self, number: u32) -> Vec<Value> {
        let or_null = |value: Option<i64>| value.map_or(Value::Null, Value::Integer);
        let last = self.slots.last();
        let mut row = vec![number.into(), 1, self.recorded, self.missing, 0];
        let mut row: Vec<Value> = row.drain(..).map(Value::Integer).collect();
        row.push(or_null(last.map(|(at, _)| *at)));
        for token in 0..2 {
            let lowest = self.slots.iter().map(|(at, sides)| (sides[token].depth, *at)).min();
            row.push(or_null(lowest.map(|(depth, _)| depth)));
            row.push(or_null(lowest.map(|(_, at)| at)));
            for size in 0..4 {
                let gaps = || self.slots.iter().map(|(at, sides)| (sides[token].gaps[size], *at));
                let worst = gaps().max_by_key(|(gap, at)| (*gap, -at));
                row.push(or_null(last.map(|(_, sides)| sides[token].gaps[size])));
                row.push(or_null(worst.map(|(gap, _)| gap)));
                row.push(or_null(worst.map(|(_, at)| at)));
                // Every size can be filled.
                row.push(or_null(last.map(|_| 0)));
                row.extend([Value::Null, Value::Null]);
            }
        }
        row.push(Value::Blob(vec![0; 32]));
        row
    }
}
