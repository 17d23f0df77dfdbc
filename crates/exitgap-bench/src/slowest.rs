//! How long can a file keep `verify` busy? A search for slow evidence files.
//!
//! Anyone who sends a file to a verifier may have made it up, so the slowest possible file matters. The search starts
//! from files of every size and kind that the format allows, changes the parameters of an invented pool, and keeps what
//! took longer. None of the files is signed.

use std::hint::black_box;
use std::time::{Duration, Instant};

use exitgap_core::evidence::{MAX_EVIDENCE_BYTES, Policy, verify};
use exitgap_tests::devchain::Rng;
use serde_json::{Value, json};

use crate::BenchError;
use crate::effort::Effort;
use crate::report::Report;

/// Duration of the search.
const SEARCHED: Effort<Duration> = Effort::new(Duration::from_secs(60), Duration::from_secs(1));

/// Number of files from which the search starts, each changed equally often.
const STARTS: u64 = 12;

/// An unsigned file that kept an earlier verifier busy for eleven seconds.
const SLOW: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../exitgap-core/src/evidence/tests/slow.json");

/// Adds `verify.worst_ms` and `verify.files`.
pub fn measure(report: &mut Report) -> Result<(), BenchError> {
    eprintln!("verify: looking for slow files for {} s", SEARCHED.get().as_secs());
    let slow = std::fs::read_to_string(SLOW)
        .map_err(|error| BenchError::Evidence(format!("reading {SLOW}: {error}")))?;
    let template: Value = serde_json::from_str(&slow)
        .map_err(|error| BenchError::Evidence(format!("reading {SLOW}: {error}")))?;
    let mut worst = Worst::default();
    worst.try_file("the slow file of the suite", slow.as_bytes());
    for (name, file) in shapes(&template) {
        worst.try_file(name, &file);
    }
    let (start, mut rng, mut draw) = (Instant::now(), Rng::new(20_260_822), 0);
    while start.elapsed() < SEARCHED.get() {
        let mut best = Pool::draw(&mut rng, draw % STARTS);
        let mut took = worst.try_file("a made-up pool", &best.file(&template));
        let mut without_gain = 0;
        while without_gain < 12 && start.elapsed() < SEARCHED.get() {
            let changed = best.changed(&mut rng);
            let slower = worst.try_file("a made-up pool", &changed.file(&template));
            without_gain += 1;
            if slower > took {
                (best, took, without_gain) = (changed, slower, 0);
            }
        }
        draw += 1;
    }
    eprintln!("verify: the slowest was {}", worst.what);
    report.add("verify.worst_ms", worst.milliseconds);
    #[allow(clippy::cast_precision_loss)] // Thousands.
    report.add("verify.files", worst.files as f64);
    Ok(())
}

/// The slowest file so far.
#[derive(Default)]
struct Worst {
    milliseconds: f64,
    what: String,
    files: u64,
}

impl Worst {
    /// Milliseconds for verifying a file: the minimum of several rounds, because other work on the machine only adds to
    /// it.
    fn try_file(&mut self, name: &str, file: &[u8]) -> f64 {
        let policy = Policy::with_keys(Vec::new());
        let round = || {
            let start = Instant::now();
            black_box(verify(black_box(file), &policy));
            start.elapsed().as_secs_f64() * 1e3
        };
        self.files += 1;
        let mut least = round();
        // A new slowest file must be slow several times.
        for _ in 0..4 {
            if least <= self.milliseconds {
                break;
            }
            least = least.min(round());
        }
        if least > self.milliseconds {
            self.milliseconds = least;
            let report = verify(file, &policy);
            let failed = report.checks.iter().map(|check| check.code).collect::<Vec<_>>();
            self.what = format!("{name} of {} bytes ({})", file.len(), failed.join(", "));
        }
        least
    }
}

/// Files of the maximum size, of every shape that might be slow to parse.
fn shapes(template: &Value) -> Vec<(&'static str, Vec<u8>)> {
    let most = MAX_EVIDENCE_BYTES;
    let with = |path: &str, value: Value| {
        let mut file = template.clone();
        if let Some(place) = file.pointer_mut(path) {
            *place = value;
        }
        file.to_string().into_bytes()
    };
    let room = most - 4_096;
    let rows = |row: Value, bytes: usize| Value::from(vec![row; room / bytes]);
    vec![
        ("brackets", vec![b'['; most]),
        ("a list of lists", [b"[", &b"[],".repeat(most / 3 - 1)[..], b"[]]"].concat()),
        ("a list of numbers", [b"[", &b"1,".repeat(most / 2 - 1)[..], b"1]"].concat()),
        ("an object of escapes", format!("{{\"{}\":1}}", "\\u0001".repeat(room / 6)).into_bytes()),
        ("a long proof", with("/log_proof", "\n— a b".repeat(room / 8).into())),
        ("a long version", with("/request/method_version", "9".repeat(room).into())),
        ("a long number", with("/result/amount_in_raw", "9".repeat(room).into())),
        ("many proof hashes", with("/pool_proof/hashes", rows(json!("A".repeat(44)), 47))),
        ("many ticks out of order", with("/state/ticks", rows(json!([0, "1"]), 8))),
        (
            "many oracles",
            with("/snapshot/oracles", rows(template["snapshot"]["oracles"][0].clone(), 70)),
        ),
        (
            "many retractions",
            with("/head/retracts", rows(json!({"code": "misread", "slot": 5_957_856}), 34)),
        ),
    ]
}

/// An invented concentrated pool, with its oracles and a size.
#[derive(Debug, Clone)]
struct Pool {
    /// Number of initialised ticks; even.
    ticks: i64,
    spacing: i64,
    /// The first one, in tick spacings.
    first: i64,
    /// The position of the price, as a share of the ticks in thousandths.
    price_at: i64,
    /// Number of digits of all ticks' liquidity, and of what every second one adds.
    digits: [i64; 2],
    fee_pips: i64,
    decimals: [i64; 2],
    oracle_decimals: i64,
    /// The distance of the oracle from the pool's price, in millionths.
    off: i64,
    /// Number of digits of the size, in micro-dollars.
    size_digits: i64,
}

/// The contract's last tick.
const MAX_TICK: i64 = 887_272;

impl Pool {
    fn draw(rng: &mut Rng, start: u64) -> Self {
        let mut between = |low: u64, high: u64| rng.between(low, high).cast_signed();
        Self {
            ticks: [2, 4, 200, 3_000, 30_000, 65_536][usize::try_from(start % 6).unwrap_or(0)],
            spacing: between(1, 60),
            first: -between(1, 40_000),
            price_at: between(0, 1_000),
            digits: [between(1, 33), between(1, 30)],
            fee_pips: between(0, 20_000),
            decimals: [between(0, 18), between(0, 18)],
            oracle_decimals: between(0, 24),
            off: between(0, 60_000) - 30_000,
            size_digits: between(5, 15),
        }
    }

    /// The same with one change.
    fn changed(&self, rng: &mut Rng) -> Self {
        let other = Self::draw(rng, 0);
        let mut next = self.clone();
        let nudge = rng.between(0, 2_000).cast_signed() - 1_000;
        match rng.between(0, 11) {
            0 => next.ticks = (self.ticks + 2 * (nudge / 4)).clamp(2, 65_536) & !1,
            1 => next.spacing = other.spacing,
            2 => next.first = other.first,
            3 => next.first += nudge,
            4 => next.price_at = other.price_at,
            5 => next.digits = other.digits,
            6 => next.fee_pips = other.fee_pips,
            7 => next.decimals = other.decimals,
            8 => next.oracle_decimals = other.oracle_decimals,
            9 => next.off = other.off,
            10 => next.off += nudge / 20,
            _ => next.size_digits = other.size_digits,
        }
        next
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)] // Any number will do.
    fn file(&self, template: &Value) -> Vec<u8> {
        let most = (MAX_TICK / self.spacing) * 2;
        let ticks = self.ticks.min(most) & !1;
        let first = self.first.clamp(-(most / 2), most / 2 - ticks);
        let [base, added] = self.digits.map(|digits| 10_i128.pow(digits.unsigned_abs() as u32));
        // The maximum liquidity per tick that the contract allows.
        let allowed = (i128::MAX / most.max(1) as i128) / 4;
        let (base, added) = (base.min(allowed), added.min(allowed));
        let mut active = 0;
        let rows: Vec<(i64, i128)> = (0..ticks)
            .map(|at| {
                let net = match at {
                    0 => base,
                    _ if at == ticks - 1 => -active,
                    _ if at % 2 == 1 => added,
                    _ => -added,
                };
                active += net;
                ((first + at) * self.spacing, net)
            })
            .filter(|(_, net)| *net != 0)
            .collect();
        let last = (first + ticks - 1) * self.spacing;
        let from = first * self.spacing;
        let tick =
            (from + (last - from) * self.price_at / 1_000).clamp(-MAX_TICK + 1, MAX_TICK - 1);
        let liquidity: i128 = rows.iter().filter(|(at, _)| *at <= tick).map(|(_, net)| net).sum();
        let price = 1.0001_f64.powi(i32::try_from(tick).unwrap_or(0));
        let root = exitgap_core::pools::sqrt_ratio_at_tick(i32::try_from(tick).unwrap_or(0));
        let scale =
            10_f64.powi((self.decimals[0] - self.decimals[1] + self.oracle_decimals) as i32);
        let worth = (price * scale * (1.0 + self.off as f64 / 1e6)).clamp(1.0, 1e30);
        let mut file = template.clone();
        let size = 10_u64.pow(self.size_digits.unsigned_abs() as u32);
        file["request"]["size_usd"] = (size / 1_000_000).max(1).to_string().into();
        let snapshot = &mut file["snapshot"];
        snapshot["oracles"][0]["answer"] = (worth as u128).to_string().into();
        snapshot["oracles"][0]["decimals"] = self.oracle_decimals.into();
        for (token, decimals) in self.decimals.into_iter().enumerate() {
            snapshot["tokens"][token]["decimals"] = decimals.into();
        }
        let rows: Vec<Value> =
            rows.into_iter().map(|(at, net)| json!([at, net.to_string()])).collect();
        let state = json!({
            "v": 1, "protocol": "concentrated_liquidity", "fee_pips": self.fee_pips,
            "tick": tick, "tick_spacing": self.spacing, "ticks": rows,
            "liquidity": liquidity.to_string(),
            "sqrt_price_x96": root.map(|root| root.to_string()),
        });
        let named = exitgap_core::pools::PoolState::hash_of(state.to_string().as_bytes());
        snapshot["state"] = named.to_string().into();
        file["state"] = state;
        file.to_string().into_bytes()
    }
}
