//! The sample that `exitgap try` shows: a week of the demonstration's market, recorded and signed.
//!
//! The same seed gives the same bytes on every machine: the chain, its blocks' times and the market are derived from the
//! seed, and so is the key. The key therefore signs nothing but this sample.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use alloy::primitives::Address;
use exitgap_chain::{ChainReader, Limits};
use exitgap_core::analytics::decay::DecayTerms;
use exitgap_core::evidence::Base;
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use exitgap_core::tlog::SignerKey;
use exitgap_core::units::GapLimit;
use exitgap_sample::{
    Archive, ArchivedFile, EVIDENCE_FILE, FIGURE_FILE, KEY_FILE, LOG_FOLDER, RECORDED_FILE,
    SIZE_USD,
};
use exitgap_server::config::CheckedConfig;
use exitgap_server::recorder::{Recorder, Source};
use exitgap_store::{LogFolder, Store};

use crate::demo::recorder_config;
use crate::devchain::{DevChain, FIRST_SLOT, Market, Options, SLOT_SECONDS, SLOTS_PER_DAY, World};

/// The seed of the market.
const SEED: u64 = 20_260_822;

/// The seed of the key.
const KEY_SEED: [u8; 32] = *b"exitgap's sample, worth no trust";

/// The key's name, which the log's origin begins with.
const KEY_NAME: &str = "sample.example/exits";

/// Number of days before the other pools are recorded, too, for one more day.
const DAYS_ALONE: u64 = 6;

/// Trades, arbitrage and changes of liquidity happen in one slot of so many. Otherwise the sample would be too large to be
/// embedded. Feeds are renewed often enough for their heartbeats with at most three.
const BUSY_EVERY: u64 = 3;

/// The pools, by their place in [`World::pools`]: one for the whole week, and those of its last day.
const FIRST: usize = 0;
const LATER: [usize; 2] = [1, World::FIRST_V2];

/// Where the sample is made.
#[derive(Debug)]
pub struct Making<'a> {
    /// An empty folder for the store and its log, which is not part of the sample.
    pub work: &'a Path,
    /// The number of slots; fewer than [`WEEK`] for a trial.
    pub slots: u64,
}

/// The number of slots of the sample.
pub const WEEK: u64 = (DAYS_ALONE + 1) * SLOTS_PER_DAY;

/// The files of the sample.
#[derive(Debug)]
pub struct Sample {
    /// The evidence of the sample's number.
    pub evidence: Vec<u8>,
    /// The key that signed the log.
    pub key: Vec<u8>,
    /// The figure file and the log.
    pub recorded: Archive,
}

impl Sample {
    /// Writes the files into a folder, and returns the number of bytes.
    pub fn write_to(&self, folder: &Path) -> io::Result<usize> {
        let recorded = self.recorded.to_compressed()?;
        let files =
            [(EVIDENCE_FILE, &self.evidence), (KEY_FILE, &self.key), (RECORDED_FILE, &recorded)];
        for (name, bytes) in files {
            fs::write(folder.join(name), bytes)?;
        }
        Ok(files.iter().map(|(_, bytes)| bytes.len()).sum())
    }

    /// The names of the files in which a folder differs from this sample. The compression is not compared: another
    /// version of its library may choose other bytes for the same content.
    pub fn differences(&self, folder: &Path) -> Result<Vec<String>, Box<dyn Error>> {
        let mut differing = Vec::new();
        for (name, bytes) in [(EVIDENCE_FILE, &self.evidence), (KEY_FILE, &self.key)] {
            if fs::read(folder.join(name))? != *bytes {
                differing.push(name.to_owned());
            }
        }
        let other = Archive::from_compressed(&fs::read(folder.join(RECORDED_FILE))?)?;
        for [one, two] in [[&self.recorded, &other], [&other, &self.recorded]] {
            let differ =
                one.files().iter().filter(|file| two.file(&file.path) != Some(&file.bytes));
            differing.extend(differ.map(|file| file.path.clone()));
        }
        differing.sort();
        differing.dedup();
        Ok(differing)
    }
}

impl Making<'_> {
    /// Plays the market, records it, and returns the files.
    pub async fn make(&self) -> Result<Sample, Box<dyn Error>> {
        let key = SignerKey::from_seed(KEY_NAME, KEY_SEED)?;
        let genesis_timestamp = FIRST_SLOT * SLOT_SECONDS - 3600;
        let options = Options { prune_history: Some(64), genesis_timestamp, ..Options::default() };
        let chain = DevChain::start(options).await?;
        let world = World::deploy(&chain).await?;
        let mut market = Market::new(&chain, &world, SEED).await?;
        let end = FIRST_SLOT + self.slots;
        let more = end.min(FIRST_SLOT + DAYS_ALONE * SLOTS_PER_DAY);
        market.play_slot(FIRST_SLOT - 1).await?;
        let pools: Vec<usize> = std::iter::once(FIRST).chain(LATER).collect();
        for (slots, pools) in [(FIRST_SLOT..more, &pools[..1]), (more..end, &pools[..])] {
            if slots.is_empty() {
                continue;
            }
            let mut recorder = self.recorder(&chain, &world, pools, &key)?;
            for number in slots {
                let slot = Slot::new(number)?;
                if number % BUSY_EVERY == 0 {
                    market.play_slot(number).await?;
                } else {
                    chain.mine(slot.unix_s() - 2, &[]).await?;
                    chain.mine(slot.unix_s() + 1, &[]).await?;
                }
                let report = recorder.record_slot(slot).await?;
                if !report.missing.is_empty() {
                    return Err(format!("slot {number} lacks pools: {report:?}").into());
                }
            }
            recorder.publish_in(LogFolder::new(self.log()))?;
            recorder.close()?;
        }
        self.files(world.pools[FIRST].pool.address, Slot::new(end - 1)?, &key)
    }

    fn log(&self) -> PathBuf {
        self.work.join("log")
    }

    fn store(&self) -> PathBuf {
        self.work.join("exitgap.db")
    }

    /// A recorder of these pools, on the existing store or a new one.
    fn recorder(
        &self,
        chain: &DevChain,
        world: &World,
        pools: &[usize],
        key: &SignerKey,
    ) -> Result<Recorder<ChainReader>, Box<dyn Error>> {
        let pools = pools.iter().map(|index| world.pools[*index].clone()).collect();
        let part = World { assets: world.assets.clone(), pools };
        let config = self.work.join("exitgap.toml");
        fs::write(&config, recorder_config(chain, &part))?;
        let checked = CheckedConfig::from_file(&config)?;
        let store = self.store();
        let store =
            if store.exists() { Store::open(&store, key) } else { Store::create(&store, key) };
        let sources = Source::of_plan(&checked.plan, &Limits::default());
        Ok(Recorder::new(store?, sources, Duration::from_mins(1)))
    }

    /// The files of the recorded series up to `last`: evidence and figure are of the first pool.
    fn files(&self, pool: Address, last: Slot, key: &SignerKey) -> Result<Sample, Box<dyn Error>> {
        let store = Store::open(self.store(), key)?;
        let pool: PoolId = format!("anvil:{pool:#x}").parse()?;
        let default = store.reader().pool(&pool)?.ok_or("the first pool is not recorded")?;
        let base = Base::from(default.default_base);
        let evidence = store.reader().evidence(&pool, base, last, SIZE_USD.parse()?)?;
        let figure = store.reader().figure_file(&week(pool, base, last)?)?;
        store.close()?;
        let mut files = vec![ArchivedFile { path: FIGURE_FILE.to_owned(), bytes: figure }];
        add_files(&self.log(), LOG_FOLDER, &mut files)?;
        let key = fs::read(self.log().join(KEY_FILE))?;
        Ok(Sample { evidence, key, recorded: Archive::new(files) })
    }
}

/// Adds the files below a folder, with paths that begin with `path`.
fn add_files(folder: &Path, path: &str, files: &mut Vec<ArchivedFile>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = format!("{path}/{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            add_files(&entry.path(), &path, files)?;
        } else {
            files.push(ArchivedFile { path, bytes: fs::read(entry.path())? });
        }
    }
    Ok(())
}

/// How the first pool's depth shrank after price moves, in the whole series.
fn week(pool: PoolId, base: Base, last: Slot) -> Result<DecayTerms, Box<dyn Error>> {
    let from = Slot::new(FIRST_SLOT)?;
    // One percent, within half an hour. The last slots are needed to see what followed a move.
    let within_slots = 6;
    let to = Slot::new(u64::from(last.number()) - u64::from(within_slots))?;
    Ok(DecayTerms { pool, base, from, to, move_e8: 1_000_000, within_slots, gap: GapLimit::DEPTH })
}
