//! Modified evidence: every byte of a file, and every field of it, one at a time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use exitgap_core::evidence::{Base, Policy, Verdict, verify};
use exitgap_core::units::SizeUsd;
use exitgap_store::Store;
use serde_json::Value;

use super::scene::{BusyPool, key, slot};
use super::tamper_tree::{Edit, Node};
use super::{Part, Progress, Result, memory_folder};
use crate::devchain::Rng;

/// The requested size, in dollars. One unit of the token sold is worth about 25 millionths.
const SIZE_USD: &str = "1000.000123";
/// Decimals of the tokens and of the oracle's answer.
const DECIMALS: u8 = 8;
/// Time limit for rejecting a modified file: a guard against unbounded loops, a thousand times what a valid file takes.
const SLOWEST_US: u64 = 5_000_000;

/// Modifies the evidence of a pool of `2 × positions` ticks: `bits` bits of every byte of its snapshot, all eight of
/// every other byte, and every field in every way; at most about `most` changes of each of these two kinds, evenly
/// spread.
pub fn run(
    positions: i32,
    bits: u8,
    most: usize,
    seed: u64,
    progress: Progress<'_>,
) -> Result<Part> {
    let file = Evidence::of(positions)?;
    let mut part = Part::default();
    for key in ["count", "still_true", "accepted", "panicked", "bytes_flipped", "fields_changed"] {
        part.set(&format!("tamper.{key}"), 0_u64);
    }
    part.set("tamper.file_bytes", file.bytes.len());
    part.set("tamper.ticks", positions * 2);
    part.set("tamper.bits_per_state_byte", bits);
    part.set("tamper.bits_per_other_byte", 8_u64);
    let mut slowest_us = 0;
    file.flip_bytes(bits, most, &mut Rng::new(seed), &mut part, &mut slowest_us, progress)?;
    file.change_fields(most, &mut part, &mut slowest_us, progress)?;
    part.set("tamper.slowest_ms", slowest_us / 1_000);
    if slowest_us > SLOWEST_US {
        part.problem("tamper.slow", format!("a changed file took {} ms", slowest_us / 1_000));
    }
    Ok(part)
}

/// A valid evidence file, and the trusted keys.
struct Evidence {
    bytes: Vec<u8>,
    policy: Policy,
    value: Value,
}

impl Evidence {
    fn of(positions: i32) -> Result<Self> {
        let folder = memory_folder()?;
        let mut store = Store::create(folder.path().join("series.db"), &key())?;
        let mut pool = BusyPool::new(1, positions);
        pool.decimals = DECIMALS;
        for n in 0..3 {
            store.append_slot(slot(n), &[pool.recorded(slot(n))])?;
        }
        let reader = store.reader();
        let size: SizeUsd = SIZE_USD.parse()?;
        let bytes = reader.evidence(&pool.id, Base::Token0, slot(2), size)?;
        let log = reader.log()?.ok_or("the store has no log")?;
        let policy = Policy::with_keys(log.keys);
        if verify(&bytes, &policy).verdict != Verdict::Valid {
            return Err("the evidence is not valid before anything was changed".into());
        }
        let value = serde_json::from_slice(&bytes)?;
        Ok(Self { bytes, policy, value })
    }

    fn flip_bytes(
        &self,
        bits: u8,
        most: usize,
        rng: &mut Rng,
        part: &mut Part,
        slowest_us: &mut u64,
        progress: Progress<'_>,
    ) -> Result<()> {
        let mut state = Vec::new();
        Node::of(self.value["state"].clone()).write(&mut state);
        let begin = self.bytes.windows(state.len()).position(|part| part == state);
        let begin = begin.ok_or("the file does not hold its state")?;
        let state = begin..begin + state.len();
        let mut flips = Vec::new();
        for at in 0..self.bytes.len() {
            let count = if state.contains(&at) { u64::from(bits) } else { 8 };
            let first = rng.below(8);
            flips.extend((first..first + count).map(|bit| (at, 1_u8 << (bit % 8))));
        }
        // Always include the size, because a change of it may leave the file true.
        let size = format!("\"size_usd\":\"{SIZE_USD}\"");
        let size_at = self.bytes.windows(size.len()).position(|part| part == size.as_bytes());
        let size_at = size_at.ok_or("the file does not hold its size")?;
        let step = (flips.len() / most.max(1)).max(1);
        let mut chosen = Vec::new();
        for (index, (at, bit)) in flips.into_iter().enumerate() {
            if index % step == 0 || (size_at..size_at + size.len()).contains(&at) {
                chosen.push((at, bit));
            }
        }
        let of = chosen.len() as u64;
        let mut changed = self.bytes.clone();
        for (done, (at, bit)) in chosen.into_iter().enumerate() {
            changed[at] ^= bit;
            self.judge(&changed, &format!("byte {at} with {bit:#04x} flipped"), part, slowest_us);
            changed[at] ^= bit;
            part.count("tamper.bytes_flipped");
            progress("tamper (bytes)", done as u64 + 1, of);
        }
        Ok(())
    }

    fn change_fields(
        &self,
        most: usize,
        part: &mut Part,
        slowest_us: &mut u64,
        progress: Progress<'_>,
    ) -> Result<()> {
        let tree = Node::of(self.value.clone());
        let mut bytes = Vec::new();
        tree.write(&mut bytes);
        if bytes != self.bytes {
            return Err("the file is not written as it is read".into());
        }
        let edits = Edit::all();
        let places = tree.places();
        let all = places.len() * edits.len();
        let step = (all / most.max(1)).max(1);
        for index in (0..all).step_by(step) {
            let (place, edit) = (&places[index / edits.len()], &edits[index % edits.len()]);
            let mut changed = tree.clone();
            if changed.edit(place, edit) {
                bytes.clear();
                changed.write(&mut bytes);
                self.judge(&bytes, &format!("{edit:?} at {place:?}"), part, slowest_us);
                part.count("tamper.fields_changed");
            }
            progress("tamper (fields)", (index / step) as u64 + 1, (all / step) as u64);
        }
        Ok(())
    }

    /// Verifies a modified file, which may be valid only if it is true.
    fn judge(&self, changed: &[u8], what: &str, part: &mut Part, slowest_us: &mut u64) {
        part.count("tamper.count");
        let begun = Instant::now();
        let verdict = catch_unwind(AssertUnwindSafe(|| verify(changed, &self.policy).verdict));
        *slowest_us =
            (*slowest_us).max(u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX));
        match verdict {
            Err(_) => part.problem("tamper.panicked", what),
            Ok(Verdict::Valid) if changed == self.bytes => {
                part.problem("tamper.unchanged", format!("{what} changed nothing"));
            }
            Ok(Verdict::Valid) => match self.why_true(changed) {
                Some(why) => {
                    part.count("tamper.still_true");
                    if part.notes.is_empty() {
                        part.note(format!("tamper: accepted and still true, such as {why}"));
                    }
                }
                None => part.problem("tamper.accepted", what),
            },
            Ok(_) => {}
        }
    }

    /// Why a modified file is still true: its size is different but rounds down to the same amount, recomputed here,
    /// and nothing else differs.
    fn why_true(&self, changed: &[u8]) -> Option<String> {
        let value: Value = serde_json::from_slice(changed).ok()?;
        let text = value["request"]["size_usd"].as_str()?;
        let mut with_size = self.value.clone();
        with_size["request"]["size_usd"] = text.into();
        let amount = value["result"]["amount_in_raw"].as_str()?;
        let floored = self.amount_in(text)?;
        (with_size == value && text != SIZE_USD && floored.to_string() == amount).then(|| {
            format!("size_usd {text} floors to the same amount_in_raw {amount} as {SIZE_USD}")
        })
    }

    /// ⌊size ÷ price⌋ in units of the token.
    fn amount_in(&self, size_usd: &str) -> Option<u128> {
        let (whole, fraction) = size_usd.split_once('.').unwrap_or((size_usd, ""));
        let micro: u128 = format!("{whole}{fraction:0<6}").parse().ok()?;
        let oracles = self.value["snapshot"]["oracles"].as_array()?;
        let of_token0 = |oracle: &&Value| oracle["role"] == "token_usd" && oracle["token"] == 0;
        let price = oracles.iter().find(of_token0)?;
        let answer: u128 = price["answer"].as_str()?.parse().ok()?;
        // Both decimals are 8: micro × 10^8 × 10^8 ÷ (answer × 10^6).
        Some(micro * 10_u128.pow(2 * u32::from(DECIMALS) - 6) / answer)
    }
}
