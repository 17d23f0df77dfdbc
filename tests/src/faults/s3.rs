//! Uploads a log to storage that fails in every possible way, in a process that is killed meanwhile.
//!
//! After each kill the bucket is read without the faults: it never has fewer slots than before, every file that its
//! checkpoint commits to exists, and every object has the folder's content. The control uploads the checkpoint first
//! and unconditionally, like a simple copy of a folder.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use exitgap_core::log_folder::{LogFile, MAX_PART_BYTES, Manifest};
use exitgap_core::series::Slot;
use exitgap_core::tlog::{Checkpoint, Tile};
use exitgap_server::bucket::{Bucket, BucketConfig};
use exitgap_store::{LogFolder, Reader, Store};
use object_store::aws::AmazonS3Builder;
use object_store::path::Path as Key;
use object_store::{ClientOptions, ObjectStore, ObjectStoreExt};
use tokio::runtime::Runtime;

use super::home::{Home, audit};
use super::s3_server::{BUCKET, Between, Fault, Moto};
use super::scene::{Scene, key, slot};
use super::writer::command;
use super::{Part, Progress, Result, disk};
use crate::binaries;
use crate::devchain::Rng;

/// One in this many requests has a fault.
const ONE_IN: u64 = 6;

/// Number of slots between kills.
const SLOTS_PER_KILL: u32 = 5;

/// Latest time of a kill after the start of the process.
const LATEST_MS: u64 = 1_500;

/// Time limit until the bucket has everything, once there are no more faults.
const SETTLES_WITHIN: Duration = Duration::from_mins(1);

/// The prefix of the log, and that of the control.
const PREFIX: &str = "log";
const CONTROL_PREFIX: &str = "control";

/// Kills the process that uploads a log to a failing bucket `kills` times.
pub fn run(kills: u64, seed: u64, progress: Progress<'_>) -> Result<Part> {
    let mut part = Part::default();
    for key in ["faults", "kills", "slots", "objects", "differing", "missing", "rolled_back"] {
        part.set(&format!("s3.{key}"), 0_u64);
    }
    let server = Moto::start()?;
    let between = Between::start(server.address(), seed)?;
    let folder = tempfile::TempDir::new()?;
    let home = Home::new(folder.path().join("home"), Scene { pools: 3, positions: 4 });
    std::fs::create_dir(home.folder())?;
    let direct = Direct::new(server.address(), PREFIX)?;
    let mut rng = Rng::new(seed);
    let mut judged = Judged::default();
    home.record_until(1)?;
    between.faults(ONE_IN);
    for done in 0..kills {
        let mirror = Role { home: &home, address: between.address(), careless: false };
        let mut child = command(&mirror.words()).spawn()?;
        // Slots are recorded during the upload.
        let until = u32::try_from(done + 1).unwrap_or(u32::MAX).saturating_mul(SLOTS_PER_KILL);
        for n in home_slots(&home)?..until {
            home.record_until(n + 1)?;
        }
        std::thread::sleep(Duration::from_millis(rng.below(LATEST_MS)));
        child.kill()?;
        child.wait()?;
        part.count("s3.kills");
        judged.judge("s3", &direct, &home, &mut part)?;
        progress("s3", done + 1, kills);
    }
    between.faults(0);
    settle(&between, &home)?;
    let size = judged.judge("s3", &direct, &home, &mut part)?;
    if size != u64::from(home_slots(&home)?) {
        part.problem("s3.missing", format!("{size} slots are there at the end"));
    }
    part.set("s3.slots", size);
    part.set("s3.objects", judged.objects);
    tell_faults(&between, &mut part);
    restored(&home, folder.path(), &server, &mut part)?;
    others(&home, folder.path(), &server, &direct, &mut part)?;
    control(&home, &server, seed, &mut part)?;
    Ok(part)
}

/// Requires that each kind of fault occurred.
fn tell_faults(between: &Between, part: &mut Part) {
    let fired = between.fired();
    part.set("s3.faults", fired.values().sum::<u64>());
    for fault in Fault::ALL {
        let count = fired.get(&fault).copied().unwrap_or(0);
        part.set(&format!("s3.faults_{}", fault.name()), count);
        if count == 0 {
            part.problem("s3.faults_not_fired", fault.name());
        }
    }
}

/// Uploads everything that is left.
fn settle(between: &Between, home: &Home) -> Result<()> {
    let bucket = bucket(between.address(), PREFIX)?;
    let until = Instant::now() + SETTLES_WITHIN;
    loop {
        match bucket.upload_folder(&home.log_folder(), &home.store()) {
            Ok(_) => return Ok(()),
            Err(error) if Instant::now() > until => return Err(error.into()),
            Err(_) => std::thread::sleep(Duration::from_millis(200)),
        }
    }
}

/// A folder and a store restored from the bucket alone equal the log.
fn restored(home: &Home, place: &Path, server: &Moto, part: &mut Part) -> Result<()> {
    let folder = LogFolder::new(place.join("fetched"));
    bucket(server.address(), PREFIX)?.fetch(&folder, |_, _| {})?;
    let log = Reader::open(home.store())?.log()?.ok_or("the store has no log")?;
    audit(folder.path(), &log.keys[0].to_string())?;
    let path = place.join("fetched.db");
    let mut store = Store::create(&path, &key())?;
    let slots = folder.restore(&mut store, |_, _| {})?;
    part.set("s3.restored_slots", slots);
    let ours = Reader::open(home.store())?.published_checkpoint(slots)?;
    if ours.is_none() || store.reader().published_checkpoint(slots)? != ours {
        part.problem("s3.differing", "a store that was restored from the bucket is another");
    }
    Ok(())
}

/// An older copy, and another history of the same log, change nothing in the bucket.
fn others(
    home: &Home,
    place: &Path,
    server: &Moto,
    direct: &Direct,
    part: &mut Part,
) -> Result<()> {
    let slots = home_slots(home)?;
    let bucket = bucket(server.address(), PREFIX)?;
    let before = direct.objects()?;
    let older = Home::new(place.join("older"), home.scene());
    std::fs::create_dir(older.folder())?;
    older.record_until(slots - 3)?;
    // The same log up to three slots before its end, followed by three slots in which everything is missing.
    let forked = Home::new(place.join("forked"), home.scene());
    std::fs::create_dir(forked.folder())?;
    forked.record_until(slots - 3)?;
    let mut store = forked.open_or_create()?;
    store.fill_until(slot(slots + 2))?;
    forked.log_folder().publish(store.reader())?;
    drop(store);
    for (name, other, said) in
        [("older", &older, "older copy"), ("forked", &forked, "not this log's history")]
    {
        let refused = bucket.upload_folder(&other.log_folder(), &other.store());
        let words = refused.as_ref().map_or_else(ToString::to_string, |_| "taken".to_owned());
        if words.contains(said) && direct.objects()? == before {
            part.count(&format!("s3.{name}_refused"));
        } else {
            part.problem("s3.differing", format!("{name}: {words}"));
        }
    }
    Ok(())
}

/// Control: a copy of the folder with the checkpoint first and unconditionally must be detected by the same kills and
/// checks. Also, an older copy's checkpoint put over the newest, and a part with other bytes, must be detected.
fn control(home: &Home, server: &Moto, seed: u64, part: &mut Part) -> Result<()> {
    let direct = Direct::new(server.address(), CONTROL_PREFIX)?;
    let between = Between::start(server.address(), seed)?;
    between.faults(ONE_IN);
    let mut rng = Rng::new(seed);
    let mut found = Part::default();
    let mut judged = Judged::default();
    for _ in 0..8 {
        let mirror = Role { home, address: between.address(), careless: true };
        let mut child = command(&mirror.words()).spawn()?;
        std::thread::sleep(Duration::from_millis(rng.between(150, 600)));
        child.kill()?;
        child.wait()?;
        judged.judge("control", &direct, home, &mut found)?;
    }
    let before = home.store();
    let then = Reader::open(before)?.published_checkpoint(2)?.ok_or("no checkpoint")?;
    direct.put("checkpoint", then.into_bytes())?;
    judged.judge("control", &direct, home, &mut found)?;
    let objects = direct.objects()?;
    let part_name = objects.keys().find(|name| name.starts_with("parts/")).ok_or("no part")?;
    direct.put(part_name, b"other".to_vec())?;
    judged.judge("control", &direct, home, &mut found)?;
    for (kind, least) in [("missing", 1), ("rolled_back", 1), ("differing", 1)] {
        let count = found.number(&format!("control.{kind}"));
        part.set(&format!("s3.control_{kind}"), count);
        if count < least {
            part.problem("s3.control", format!("the control is not found out: {kind}"));
        }
    }
    Ok(())
}

/// Number of slots in the home's store.
fn home_slots(home: &Home) -> Result<u32> {
    super::home::next_slot(&Reader::open(home.store())?)
}

/// The bucket as configured in the service.
pub fn bucket(address: SocketAddr, prefix: &str) -> Result<Bucket> {
    let file = tempfile::NamedTempFile::new()?;
    let lines = "access_key_id = \"harness\"\nsecret_access_key = \"harness\"\n";
    std::fs::write(file.path(), lines)?;
    let config = BucketConfig {
        url: Some(format!("s3://{BUCKET}/{prefix}")),
        endpoint: Some(format!("http://{address}")),
        region: Some("us-east-1".to_owned()),
        allow_http: true,
        credentials_file: Some(file.path().to_owned()),
        claims: false,
    };
    let plan = config.plan().map_err(|(key, why)| format!("{key}: {why}"))?;
    Ok(Bucket::open(&plan.ok_or("no bucket")?)?)
}

/// Direct access to the bucket's objects, without faults.
struct Direct {
    store: Arc<dyn ObjectStore>,
    prefix: &'static str,
    runtime: Runtime,
}

impl Direct {
    fn new(address: SocketAddr, prefix: &'static str) -> Result<Self> {
        // Opening a bucket like the service does selects this process's TLS provider.
        bucket(address, prefix)?;
        let builder = AmazonS3Builder::new()
            .with_bucket_name(BUCKET)
            .with_region("us-east-1")
            .with_endpoint(format!("http://{address}"))
            .with_access_key_id("harness")
            .with_secret_access_key("harness")
            .with_allow_http(true)
            .with_client_options(ClientOptions::new().with_allow_http(true));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self { store: Arc::new(builder.build()?), prefix, runtime })
    }

    /// Every object with the prefix, by its file name.
    fn objects(&self) -> Result<BTreeMap<String, Vec<u8>>> {
        use futures_util::TryStreamExt;
        self.runtime.block_on(async {
            let prefix = Key::from(self.prefix);
            let listed: Vec<_> = self.store.list(Some(&prefix)).try_collect().await?;
            let mut objects = BTreeMap::new();
            for object in listed {
                let bytes = self.store.get(&object.location).await?.bytes().await?;
                let name = object.location.as_ref();
                let name = name.strip_prefix(self.prefix).unwrap_or(name).trim_start_matches('/');
                objects.insert(name.to_owned(), bytes.to_vec());
            }
            Ok(objects)
        })
    }

    fn put(&self, name: &str, bytes: Vec<u8>) -> Result<()> {
        let path = Key::from(format!("{}/{name}", self.prefix));
        self.runtime.block_on(self.store.put(&path, bytes.into()))?;
        Ok(())
    }
}

/// What was seen of a bucket so far.
#[derive(Default)]
struct Judged {
    size: u64,
    objects: u64,
    /// Objects that were already compared with the folder: they must never change.
    known: HashMap<String, Vec<u8>>,
}

impl Judged {
    /// Compares the bucket with the folder; returns the number of slots that its checkpoint covers.
    fn judge(&mut self, kind: &str, direct: &Direct, home: &Home, part: &mut Part) -> Result<u64> {
        let objects = direct.objects()?;
        let reader = Reader::open(home.store())?;
        let size = match objects.get("checkpoint") {
            Some(note) => {
                let note = String::from_utf8(note.clone())?;
                let (checkpoint, _) = Checkpoint::from_note(&note)?;
                if reader.published_checkpoint(checkpoint.size)?.as_ref() != Some(&note) {
                    part.problem(&format!("{kind}.differing"), "the checkpoint is not the log's");
                }
                missing(kind, &objects, &checkpoint, part)?;
                checkpoint.size
            }
            None => 0,
        };
        if size < self.size {
            let words = format!("{size} slots after {}", self.size);
            part.problem(&format!("{kind}.rolled_back"), words);
        }
        self.size = size;
        for (name, bytes) in &objects {
            self.same(kind, name, bytes, home, part)?;
        }
        self.objects = objects.len() as u64;
        Ok(size)
    }

    fn same(
        &mut self,
        kind: &str,
        name: &str,
        bytes: &[u8],
        home: &Home,
        part: &mut Part,
    ) -> Result<()> {
        let Ok(file) = name.parse::<LogFile>() else {
            part.problem(&format!("{kind}.differing"), format!("{name} is no file of a log"));
            return Ok(());
        };
        if let Some(known) = self.known.get(name) {
            if known != bytes {
                part.problem(&format!("{kind}.differing"), format!("{name} was changed"));
            }
            return Ok(());
        }
        let folder = home.log_folder();
        let ours = match file {
            LogFile::Checkpoint => return Ok(()),
            LogFile::Tile(tile) => folder.tile(tile)?,
            file => folder.file(&file, MAX_PART_BYTES)?,
        };
        if ours.as_deref() != Some(bytes) {
            part.problem(&format!("{kind}.differing"), format!("{name} is not the folder's"));
        }
        self.known.insert(name.to_owned(), bytes.to_vec());
        Ok(())
    }
}

/// The missing files that a checkpoint commits to.
fn missing(
    kind: &str,
    objects: &BTreeMap<String, Vec<u8>>,
    checkpoint: &Checkpoint,
    part: &mut Part,
) -> Result<()> {
    let mut wanted = vec![LogFile::VerifierKey];
    let first = u64::from(checkpoint.origin.first_slot().number());
    for index in 0..checkpoint.size {
        let file = LogFile::Slot(Slot::new(first + index)?);
        if let Some(manifest) = objects.get(&file.to_string()) {
            let parts = Manifest::from_bytes(manifest)?.parts;
            wanted.extend(parts.iter().map(|part| LogFile::Part(part.sha256)));
        }
        wanted.push(file);
    }
    wanted.extend(Tile::grown(0, checkpoint.size).map(LogFile::Tile));
    let absent = wanted.iter().find(|file| !objects.contains_key(&file.to_string()));
    if let Some(absent) = absent {
        let words = format!("{absent} of {} slots", checkpoint.size);
        part.problem(&format!("{kind}.missing"), words);
    }
    Ok(())
}

/// The process that uploads a folder to a bucket.
struct Role<'a> {
    home: &'a Home,
    address: SocketAddr,
    careless: bool,
}

impl Role<'_> {
    fn words(&self) -> Vec<String> {
        let program = binaries::path("faults").display().to_string();
        let mut words = vec![program, "mirror".to_owned()];
        words.extend(["--home".to_owned(), self.home.folder().display().to_string()]);
        words.extend(["--server".to_owned(), self.address.to_string()]);
        words.extend(self.careless.then(|| "--careless".to_owned()));
        words
    }
}

/// How a folder is brought into a bucket.
#[derive(Debug, clap::Args)]
pub struct Course {
    /// The home whose folder it is.
    #[arg(long)]
    home: PathBuf,
    /// Where the bucket is asked.
    #[arg(long)]
    server: SocketAddr,
    /// The checkpoint first, and nothing conditional.
    #[arg(long)]
    careless: bool,
}

/// Uploads repeatedly, until killed.
pub fn mirror(course: &Course) -> Result<()> {
    let home = Home::new(&course.home, Scene { pools: 0, positions: 0 });
    if course.careless {
        let direct = Direct::new(course.server, CONTROL_PREFIX)?;
        loop {
            // Failures are retried in the next round.
            let _ = copy(&direct, &home);
        }
    }
    let bucket = bucket(course.server, PREFIX)?;
    loop {
        // Failures are retried, as in the service.
        let _ = bucket.upload_folder(&home.log_folder(), &home.store());
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn copy(direct: &Direct, home: &Home) -> Result<()> {
    let log = home.log();
    direct.put("checkpoint", std::fs::read(log.join("checkpoint"))?)?;
    for (path, bytes) in disk::files(&log)? {
        direct.put(&path.display().to_string(), bytes)?;
    }
    Ok(())
}
