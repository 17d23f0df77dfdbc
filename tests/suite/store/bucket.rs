//! A log folder in object storage: complete up to its checkpoint at every moment, and never overwritten.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use async_trait::async_trait;
use exitgap_core::log_folder::days::DayManifest;
use exitgap_core::log_folder::{LogFile, Manifest};
use exitgap_core::series::Slot;
use exitgap_core::tlog::{Checkpoint, SignerKey, Tile};
use exitgap_server::bucket::{Brought, Bucket, BucketError};
use exitgap_store::{LogFolder, PublishError, Reader, Store};
use exitgap_tests::folders::copy;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path as Key;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult,
    Result,
};

use crate::scenes::origin::files;
use crate::scenes::store::{BusyPool, key, slot};
use crate::store::folder::{audit, restored_from};
use crate::store::sealing::sealed_store;

/// Object storage that fails after a number of writes.
#[derive(Debug)]
struct Failing {
    objects: InMemory,
    /// Number of writes until all fail; negative for no failures.
    left: AtomicI64,
    /// Whether a failing write is applied.
    applies: bool,
    failed: AtomicU64,
    unconditional: AtomicU64,
    /// Whether a conditional write silently overwrites an existing object.
    ignores_conditions: AtomicBool,
}

impl fmt::Display for Failing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("memory")
    }
}

#[async_trait]
impl ObjectStore for Failing {
    async fn put_opts(&self, at: &Key, bytes: PutPayload, how: PutOptions) -> Result<PutResult> {
        if how.mode == PutMode::Overwrite {
            self.unconditional.fetch_add(1, Ordering::SeqCst);
        }
        let left = self.left.load(Ordering::SeqCst);
        if left > 0 {
            self.left.fetch_sub(1, Ordering::SeqCst);
        }
        if self.ignores_conditions.load(Ordering::SeqCst) {
            return self.objects.put_opts(at, bytes, PutMode::Overwrite.into()).await;
        }
        if left != 0 {
            return self.objects.put_opts(at, bytes, how).await;
        }
        self.failed.fetch_add(1, Ordering::SeqCst);
        if self.applies {
            self.objects.put_opts(at, bytes, how).await?;
        }
        Err(Error::Generic { store: "memory", source: "the harness's fault".into() })
    }

    async fn put_multipart_opts(
        &self,
        at: &Key,
        how: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.objects.put_multipart_opts(at, how).await
    }

    async fn get_opts(&self, at: &Key, how: GetOptions) -> Result<GetResult> {
        self.objects.get_opts(at, how).await
    }

    fn delete_stream(
        &self,
        keys: BoxStream<'static, Result<Key>>,
    ) -> BoxStream<'static, Result<Key>> {
        self.objects.delete_stream(keys)
    }

    fn list(&self, below: Option<&Key>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.objects.list(below)
    }

    async fn list_with_delimiter(&self, below: Option<&Key>) -> Result<ListResult> {
        self.objects.list_with_delimiter(below).await
    }

    async fn copy_opts(&self, from: &Key, to: &Key, how: CopyOptions) -> Result<()> {
        self.objects.copy_opts(from, to, how).await
    }
}

/// A storage with configurable failures, and a bucket in it.
pub struct Scene {
    storage: Arc<Failing>,
    bucket: Bucket,
    runtime: tokio::runtime::Runtime,
}

impl Scene {
    pub fn new(applies: bool) -> Self {
        let storage = Arc::new(Failing {
            objects: InMemory::new(),
            left: AtomicI64::new(-1),
            applies,
            failed: AtomicU64::new(0),
            unconditional: AtomicU64::new(0),
            ignores_conditions: AtomicBool::new(false),
        });
        let bucket = Bucket::over(storage.clone(), "s3://exits/log", "log");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        Self { storage, bucket, runtime }
    }

    /// The claims of slots in the bucket.
    pub fn claims(&self) -> Arc<dyn exitgap_store::claims::Claims> {
        self.bucket.claims()
    }

    /// Selects whether conditional writes overwrite existing objects.
    pub fn ignores_conditions(&self, does: bool) {
        self.storage.ignores_conditions.store(does, Ordering::SeqCst);
    }

    /// Whether the bucket can store claims; a recorder checks this at its start.
    pub fn check_claims(&self) -> std::result::Result<(), BucketError> {
        self.bucket.check_claims()
    }

    /// Number of failed writes.
    pub fn failed(&self) -> u64 {
        self.storage.failed.load(Ordering::SeqCst)
    }

    pub fn fail_after(&self, writes: i64) {
        self.storage.left.store(writes, Ordering::SeqCst);
    }

    pub fn bring(&self, folder: &Path, store: &Path) -> std::result::Result<Brought, BucketError> {
        self.bucket.upload_folder(&LogFolder::new(folder), store)
    }

    /// Downloads the objects into a folder.
    pub fn fetch(&self, folder: &LogFolder) -> std::result::Result<u64, BucketError> {
        self.bucket.fetch(folder, |_, _| {})
    }

    pub fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        self.runtime.block_on(async {
            let listed: Vec<ObjectMeta> =
                self.storage.objects.list(None).map(Result::unwrap).collect().await;
            let mut objects = BTreeMap::new();
            for object in listed {
                let found = self.storage.objects.get(&object.location).await.unwrap();
                let name = object.location.as_ref().strip_prefix("log/").unwrap().to_owned();
                objects.insert(name, found.bytes().await.unwrap().to_vec());
            }
            objects
        })
    }

    pub fn put(&self, name: &str, bytes: &[u8]) {
        let bytes = bytes.to_vec().into();
        self.runtime
            .block_on(self.storage.objects.put(&Key::from(format!("log/{name}")), bytes))
            .unwrap();
    }

    /// Whether the bucket contains a whole day, verified by reading it back.
    pub fn check_day(&self, day: &DayManifest) -> std::result::Result<(), BucketError> {
        self.bucket.check_day(day)
    }

    pub fn remove(&self, name: &str) {
        let key = Key::from(format!("log/{name}"));
        self.runtime.block_on(self.storage.objects.delete(&key)).unwrap();
    }

    /// Number of slots that the bucket's checkpoint covers. Requires that everything it commits to exists.
    fn whole(&self) -> u64 {
        let objects = self.objects();
        let Some(note) = objects.get("checkpoint") else { return 0 };
        let (checkpoint, _) = Checkpoint::from_note(core::str::from_utf8(note).unwrap()).unwrap();
        let has = |file: LogFile| {
            let name = file.to_string();
            objects.get(&name).unwrap_or_else(|| panic!("{name} of {} slots", checkpoint.size))
        };
        let first = checkpoint.origin.first_slot().number();
        has(LogFile::VerifierKey);
        for index in 0..u32::try_from(checkpoint.size).unwrap() {
            let manifest = has(LogFile::Slot(Slot::new((first + index).into()).unwrap()));
            for part in Manifest::from_bytes(manifest).unwrap().parts {
                has(LogFile::Part(part.sha256));
            }
        }
        Tile::grown(0, checkpoint.size).for_each(|tile| drop(has(LogFile::Tile(tile)).clone()));
        checkpoint.size
    }
}

fn publish(folder: &Path, store: &Path) {
    LogFolder::new(folder).publish(&Reader::open(store).unwrap()).unwrap();
}

#[test]
fn cut_off_after_any_write_the_bucket_is_whole_and_the_next_round_goes_on() {
    for applies in [false, true] {
        let (home, path) = sealed_store();
        let folder = home.path().join("log");
        let scene = Scene::new(applies);
        let mut store = Store::open(&path, &key()).unwrap();
        let (mut rounds, mut size) = (0, 0);
        for slots in [11, 13, 14] {
            store.fill_until(slot(slots)).unwrap();
            publish(&folder, &path);
            let mut writes = 0;
            loop {
                scene.fail_after(writes);
                let brought = scene.bring(&folder, &path);
                let now = scene.whole();
                assert!(now >= size, "{now} slots after {size}");
                size = now;
                (writes, rounds) = (writes + 1, rounds + 1);
                assert!(rounds < 1_000, "it comes no further");
                if brought.is_ok() {
                    break;
                }
            }
            assert_eq!(size, u64::from(slots));
            scene.fail_after(-1);
            assert_eq!(scene.bring(&folder, &path).unwrap(), Brought { size, slots: 0 });
        }
        let failed = scene.storage.failed.load(Ordering::SeqCst);
        assert!(failed > 10, "the fault was done {failed} times");
        assert_eq!(scene.objects(), files(&folder).into_iter().collect(), "all of it, and no more");
        assert_eq!(scene.storage.unconditional.load(Ordering::SeqCst), 0);
    }
}

/// An older checkpoint, restored by anyone with write access, and a bucket without space: later uploads repair both.
#[test]
fn an_older_checkpoint_that_was_put_back_and_what_a_full_bucket_lacks_are_made_good() {
    let (home, path) = sealed_store();
    let folder = home.path().join("log");
    let scene = Scene::new(false);
    let mut store = Store::open(&path, &key()).unwrap();
    publish(&folder, &path);
    assert_eq!(scene.bring(&folder, &path).unwrap().size, 11);
    let older = scene.objects()["checkpoint"].clone();
    scene.fail_after(0);
    for slots in [20, 30, 40] {
        store.fill_until(slot(slots)).unwrap();
        publish(&folder, &path);
        scene.bring(&folder, &path).unwrap_err();
        assert_eq!(scene.whole(), 11);
    }
    assert!(scene.failed() >= 3);
    scene.fail_after(-1);
    assert_eq!(scene.bring(&folder, &path).unwrap(), Brought { size: 40, slots: 29 });
    let newest = scene.objects();
    scene.put("checkpoint", &older);
    assert_eq!(scene.bring(&folder, &path).unwrap(), Brought { size: 40, slots: 29 });
    assert_eq!(scene.objects(), newest);
}

#[test]
fn tiles_that_filled_up_are_brought_and_their_narrower_ones_removed() {
    let (home, path) = sealed_store();
    let folder = home.path().join("log");
    let scene = Scene::new(false);
    let mut store = Store::open(&path, &key()).unwrap();
    for slots in [255, 256, 257, 600] {
        store.fill_until(slot(slots)).unwrap();
        publish(&folder, &path);
        let brought = scene.bring(&folder, &path).unwrap();
        assert_eq!((brought.size, scene.whole()), (slots.into(), slots.into()));
    }
    // If the folder continued meanwhile, a partial tile is the beginning of the wider one that exists there.
    let later = Scene::new(false);
    assert_eq!(later.bring(&folder, &path).unwrap(), Brought { size: 600, slots: 600 });
    let narrower = |name: &&String| name.contains(".p/");
    let names: Vec<String> = scene.objects().keys().filter(narrower).cloned().collect();
    let wanted: Vec<String> =
        Tile::grown(0, 600).filter(|tile| !tile.is_full()).map(|tile| tile.path()).collect();
    for name in &wanted {
        assert!(names.contains(name), "{name}");
    }
    assert!(!names.iter().any(|name| name.starts_with("tile/0/000.p/")), "{names:?}");
    for (name, bytes) in later.objects().iter().filter(|(name, _)| *name != "checkpoint") {
        let tile = name.parse::<LogFile>();
        let ours = match tile.unwrap() {
            LogFile::Tile(tile) => LogFolder::new(&folder).tile(tile).unwrap().unwrap(),
            file => fs::read(folder.join(file.to_string())).unwrap(),
        };
        assert_eq!(&ours, bytes, "{name}");
    }
}

#[test]
fn what_is_beside_the_log_comes_too_and_what_changes_is_replaced() {
    let (home, path) = sealed_store();
    let folder = home.path().join("log");
    publish(&folder, &path);
    let scene = Scene::new(false);
    let peer = "peers/00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    let proof = "proofs/anvil:0x00000000000000000000000000000000000000aa/5957856.egp";
    let write = |name: &str, bytes: &[u8]| {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    };
    write(proof, b"a proof");
    write("anchors/anvil/20687", b"anchors");
    write(&format!("{peer}/checkpoint"), b"one");
    write(&format!("{peer}/5957856.json"), b"{}");
    write(&format!("{peer}/.aside-1"), b"half");
    scene.bring(&folder, &path).unwrap();
    write(&format!("{peer}/checkpoint"), b"two");
    write("default-bases", b"");
    write("superseded-by", b"exitgap.example/next/5957900\n");
    scene.bring(&folder, &path).unwrap();
    let objects = scene.objects();
    assert_eq!(objects[proof], b"a proof");
    assert_eq!(objects["anchors/anvil/20687"], b"anchors");
    assert_eq!(objects[&format!("{peer}/checkpoint")], b"two");
    assert_eq!(objects["superseded-by"], b"exitgap.example/next/5957900\n");
    assert!(!objects.keys().any(|name| name.contains("aside")));
    // An object that was written once is not written again.
    write(proof, b"another");
    let beside = scene.bring(&folder, &path);
    assert!(beside.is_ok(), "what the bucket has under this name is not asked for again");
    assert_eq!(scene.objects()[proof], b"a proof");
}

#[test]
fn nothing_that_is_published_is_written_over() {
    let (home, path) = sealed_store();
    let folder = home.path().join("log");
    publish(&folder, &path);
    let copies = [home.path().join("older.db"), home.path().join("older")];
    fs::copy(&path, &copies[0]).unwrap();
    copy(&folder, &copies[1]).unwrap();
    let mut store = Store::open(&path, &key()).unwrap();
    store.fill_until(slot(13)).unwrap();
    publish(&folder, &path);
    let scene = Scene::new(false);
    scene.bring(&folder, &path).unwrap();
    let before = scene.objects();
    let refused = |folder: &Path, store: &Path| {
        let error = scene.bring(folder, store).unwrap_err();
        assert_eq!(scene.objects(), before, "{error}");
        assert_eq!(error.code(), "contradicts", "{error}");
        let at_start = scene.bucket.check(&Reader::open(store).unwrap());
        assert_eq!(at_start.unwrap_err().to_string(), error.to_string());
        match error {
            BucketError::Contradicts(error) => error,
            error => panic!("{error}"),
        }
    };
    assert_eq!(scene.bucket.check(&Reader::open(&path).unwrap()).unwrap(), 13);
    // An older copy, and a history with the same key and other contents.
    let older = refused(&copies[1], &copies[0]);
    assert!(matches!(older, PublishError::StoreOlder { published: 13, found: 11, .. }), "{older}");
    let recorded = |name: &str, key: &SignerKey, slots: u32| {
        let [store, folder] = ["db", "log"].map(|end| home.path().join(format!("{name}.{end}")));
        let mut second = Store::create(&store, key).unwrap();
        second.append_slot(slot(0), &[BusyPool::new(1, 5).recorded(slot(0))]).unwrap();
        second.fill_until(slot(slots)).unwrap();
        publish(&folder, &store);
        (folder, store)
    };
    let (folder_of, store_of) = recorded("rewritten", &key(), 20);
    let rewritten = refused(&folder_of, &store_of);
    assert!(matches!(rewritten, PublishError::Rewritten { size: 13, .. }), "{rewritten}");
    let stranger = SignerKey::from_seed("exitgap.example/other", [8; 32]).unwrap();
    let (folder_of, store_of) = recorded("other", &stranger, 20);
    let other = refused(&folder_of, &store_of);
    assert!(matches!(other, PublishError::OtherLog { .. }), "{other}");

    // An existing object with other bytes stays, and the error names it.
    store.fill_until(slot(14)).unwrap();
    publish(&folder, &path);
    let manifest = LogFile::Slot(slot(13)).to_string();
    scene.put(&manifest, b"something else");
    let error = scene.bring(&folder, &path).unwrap_err();
    assert!(error.code() == "differs" && error.to_string().contains(&manifest), "{error}");
    assert_eq!(scene.objects()[&manifest], b"something else");
    assert_eq!(scene.whole(), 13);
    scene.remove(&manifest);
    // The recorder also does not continue from an invalid or oversized checkpoint.
    let newest = before["checkpoint"].clone();
    scene.put("checkpoint", b"none");
    assert_eq!(scene.bring(&folder, &path).unwrap_err().code(), "contradicts");
    scene.put("checkpoint", &vec![b'x'; 2 << 20]);
    assert_eq!(scene.bring(&folder, &path).unwrap_err().code(), "too_large");
    scene.put("checkpoint", &newest);
    assert_eq!(scene.bring(&folder, &path).unwrap(), Brought { size: 14, slots: 1 });
    assert_eq!(scene.whole(), 14);
}

#[test]
fn a_store_is_restored_from_the_bucket_alone_also_a_slot_its_checkpoint_does_not_cover_yet() {
    let (home, path) = sealed_store();
    let folder = home.path().join("log");
    publish(&folder, &path);
    let scene = Scene::new(false);
    scene.bring(&folder, &path).unwrap();
    let mut store = Store::open(&path, &key()).unwrap();
    store.fill_until(slot(12)).unwrap();
    publish(&folder, &path);
    // Everything except the checkpoint is uploaded, because the checkpoint comes last.
    let mut writes = 0;
    while !scene.objects().contains_key(&LogFile::Slot(slot(11)).to_string()) {
        writes += 1;
        scene.fail_after(writes);
        assert!(scene.bring(&folder, &path).is_err());
    }
    assert_eq!(scene.whole(), 11);
    let fetched = LogFolder::new(home.path().join("fetched"));
    let files = scene.bucket.fetch(&fetched, |_, _| {}).unwrap();
    assert_eq!(files, scene.objects().len() as u64);
    assert_eq!(scene.bucket.fetch(&fetched, |_, _| {}).unwrap(), 0, "it is there");
    let (restored, again) = restored_from(&fetched, &home.path().join("again.db"));
    assert_eq!(restored, Ok(12));
    assert_eq!(
        again.reader().published_checkpoint(12).unwrap(),
        store.reader().published_checkpoint(12).unwrap()
    );
    // Both the folder and the bucket can continue.
    drop(again);
    let again = home.path().join("again.db");
    fetched.check(&Reader::open(&again).unwrap()).unwrap();
    publish(fetched.path(), &again);
    assert_eq!(audit(fetched.path(), &again)["verdict"], "valid");
    scene.fail_after(-1);
    assert_eq!(scene.bring(fetched.path(), &again).unwrap(), Brought { size: 12, slots: 1 });
    assert_eq!(scene.whole(), 12);

    // A part whose hash does not match its name is rejected.
    let part = scene.objects().into_keys().find(|name| name.starts_with("parts/")).unwrap();
    scene.put(&part, b"another");
    let other = LogFolder::new(home.path().join("garbled"));
    let error = scene.bucket.fetch(&other, |_, _| {}).unwrap_err();
    assert!(error.to_string().contains("hash does not match its name"), "{error}");
    assert!(!other.has(&LogFile::Checkpoint).unwrap());
}
