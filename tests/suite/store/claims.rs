//! Slots are claimed in a bucket before they are signed, so that recorders with independent databases produce one
//! history.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use exitgap_core::ids::DocumentHash;
use exitgap_core::log_folder::PartRef;
use exitgap_core::series::MissingReason;
use exitgap_core::tlog::SignerKey;
use exitgap_store::claims::{Claims, ClaimsError};
use exitgap_store::{LogFolder, NewEntry, Reader, RestoreError, Store, StoreError};
use tempfile::TempDir;

use super::bucket::Scene;
use super::postgres::checkpoints;
use crate::scenes::store::{BusyPool, key, slot, store_in};

/// A recorder on its own machine, with its database, its folder, and its readings.
struct Machine {
    home: TempDir,
    store: Store,
    folder: LogFolder,
    pools: [BusyPool; 2],
}

impl Machine {
    fn new(claims: Arc<dyn Claims>) -> Self {
        Self::with(&key(), claims)
    }

    fn with(key: &SignerKey, claims: Arc<dyn Claims>) -> Self {
        let home = TempDir::new().unwrap();
        let mut store = Store::create(store_in(home.path(), "series.db"), key).unwrap();
        store.claim_in(claims);
        let folder = LogFolder::new(home.path().join("log"));
        Self { home, store, folder, pools: [1, 2].map(|pool| BusyPool::new(pool, 4)) }
    }

    fn recorded(&mut self, n: u32) -> Vec<NewEntry> {
        self.pools.each_mut().map(|pool| pool.recorded(slot(n))).into()
    }

    /// Records these slots from its own readings.
    fn records(&mut self, slots: std::ops::Range<u32>) {
        for n in slots {
            let entries = self.recorded(n);
            self.append(n, &entries).unwrap();
        }
    }

    fn missing(&self) -> Vec<NewEntry> {
        let reason = MissingReason::RpcUnavailable;
        self.pools.each_ref().map(|pool| pool.missing(reason)).into()
    }

    fn append(&mut self, n: u32, entries: &[NewEntry]) -> Result<(), Box<StoreError>> {
        self.store.append_slot(slot(n), entries).map(drop).map_err(Box::new)
    }

    fn seals_claimed(&mut self) -> Result<u32, Box<RestoreError>> {
        let mut sealed = 0;
        while self.folder.seal_claimed(&mut self.store).map_err(Box::new)?.is_some() {
            sealed += 1;
        }
        Ok(sealed)
    }

    fn checkpoints(&self) -> Vec<String> {
        checkpoints(&store_in(self.home.path(), "series.db"))
    }
}

#[test]
fn machines_with_databases_of_their_own_make_one_history() {
    let bucket = Scene::new(false);
    let (mut one, mut other) = (Machine::new(bucket.claims()), Machine::new(bucket.claims()));
    one.records(0..3);
    one.folder.publish(one.store.reader()).unwrap();
    // The second machine has no slots and cannot start a history: it seals all slots as the first one claimed them.
    let entries = other.missing();
    let error = other.append(0, &entries).unwrap_err();
    assert!(matches!(*error, StoreError::Claimed { size: 1 }), "{error}");
    assert_eq!(other.checkpoints(), [""; 0]);
    assert_eq!(other.seals_claimed().unwrap(), 3);
    assert_eq!(other.checkpoints(), one.checkpoints());
    // From then on, the first claim of a slot determines its contents, also for slots that no recorder read.
    let entries = other.missing();
    other.append(4, &entries).unwrap();
    let entries = one.recorded(3);
    let error = one.append(3, &entries).unwrap_err();
    assert!(matches!(*error, StoreError::Claimed { size: 4 }), "{error}");
    assert_eq!(one.seals_claimed().unwrap(), 2);
    assert_eq!(one.checkpoints(), other.checkpoints());
    for machine in [&one, &other] {
        machine.folder.publish(machine.store.reader()).unwrap();
        machine.folder.check(machine.store.reader()).unwrap();
        assert_eq!(machine.store.reader().fsck_derived(|_| {}).unwrap().slots, 5);
    }
}

#[test]
fn a_database_that_lost_what_was_published_is_brought_up_to_it() {
    let bucket = Scene::new(false);
    let mut one = Machine::new(bucket.claims());
    one.records(0..4);
    one.folder.publish(one.store.reader()).unwrap();
    // The same machine with the database of a standby that had received only the first slot.
    let mut behind = Machine::new(bucket.claims());
    behind.folder = one.folder.clone();
    assert_eq!(behind.folder.seal_claimed(&mut behind.store).unwrap(), Some(slot(0)));
    let older = behind.folder.check(behind.store.reader()).unwrap_err();
    assert!(older.to_string().contains("older copy"), "{older}");
    assert_eq!(behind.seals_claimed().unwrap(), 3);
    behind.folder.check(behind.store.reader()).unwrap();
    assert_eq!(behind.checkpoints(), one.checkpoints());
}

/// A body may refer to the previous slot, which is not published while the recorder waits for its witnesses.
#[test]
fn claims_are_sealed_one_after_the_other_whoever_waits_for_witnesses() {
    let bucket = Scene::new(false);
    let (mut one, mut other) = (Machine::new(bucket.claims()), Machine::new(bucket.claims()));
    one.records(0..9);
    other.store.await_cosignatures(true);
    assert_eq!(other.seals_claimed().unwrap(), 9);
    assert_eq!(other.checkpoints(), one.checkpoints());
}

#[test]
fn storage_that_makes_an_object_twice_holds_no_claims() {
    let bucket = Scene::new(false);
    for ignores in [false, false, true, true, false] {
        bucket.ignores_conditions(ignores);
        let checked = bucket.check_claims();
        assert_eq!(checked.is_err(), ignores);
        if let Err(error) = checked {
            assert!(
                error.to_string().contains("s3://exits/log/claims/0 could be created twice"),
                "{error}"
            );
            assert_eq!(error.code(), "made_twice");
        }
    }
}

/// Number of signatures.
static SIGNED: AtomicU32 = AtomicU32::new(0);

#[test]
fn what_cannot_be_claimed_is_not_signed_and_what_may_be_claimed_is_sealed_so() {
    for applies in [false, true] {
        let bucket = Scene::new(applies);
        let mut one = Machine::new(bucket.claims());
        one.store = one.store.telling_signed(|_| {
            SIGNED.fetch_add(1, Ordering::SeqCst);
        });
        let entries = one.recorded(0);
        one.append(0, &entries).unwrap();
        let signed = SIGNED.load(Ordering::SeqCst);
        // The part is uploaded and the claim fails: either it is not written, or it is written without a response.
        bucket.fail_after(1);
        let entries = one.recorded(1);
        let error = one.append(1, &entries).unwrap_err();
        assert!(matches!(*error, StoreError::NotClaimed { size: 2, .. }), "{error}");
        assert!(bucket.failed() > 0);
        assert_eq!(SIGNED.load(Ordering::SeqCst), signed, "nothing is signed that is not claimed");
        assert_eq!(one.checkpoints().len(), 1);
        bucket.fail_after(-1);
        // The next slot records this one as missing, unless it was already claimed otherwise.
        let later = one.recorded(2);
        let appended = one.append(2, &later);
        if applies {
            let error = appended.unwrap_err();
            assert!(matches!(*error, StoreError::Claimed { size: 2 }), "{error}");
            assert_eq!(one.seals_claimed().unwrap(), 1);
            assert!(!one.store.append_slot(slot(1), &entries).unwrap().written);
            one.append(2, &later).unwrap();
        } else {
            appended.unwrap();
            assert!(one.append(1, &entries).is_err());
        }
        assert_eq!(one.checkpoints().len(), 3);
        let reader = Reader::open(store_in(one.home.path(), "series.db")).unwrap();
        assert_eq!(reader.fsck(|_| {}).unwrap().slots, 3);
    }
}

/// Claims that someone with write access has changed.
struct Altered {
    claims: Arc<dyn Claims>,
    /// How many slots later the returned claim is.
    later: u64,
    how: fn(Vec<u8>) -> Vec<u8>,
    parts: fn(Vec<u8>) -> Vec<u8>,
}

impl Claims for Altered {
    fn find(&self, size: u64) -> Result<Option<Vec<u8>>, ClaimsError> {
        Ok(self.claims.find(size + self.later)?.map(self.how))
    }

    fn part(&self, part: &PartRef) -> Result<Vec<u8>, ClaimsError> {
        self.claims.part(part).map(self.parts)
    }

    fn put(
        &self,
        size: u64,
        claim: &[u8],
        parts: &[(DocumentHash, &[u8])],
    ) -> Result<bool, ClaimsError> {
        self.claims.put(size, claim, parts)
    }
}

fn as_it_is(bytes: Vec<u8>) -> Vec<u8> {
    bytes
}

fn cut(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len() - 1);
    bytes
}

#[test]
fn only_who_has_the_logs_key_says_what_is_signed_next() {
    let bucket = Scene::new(false);
    let mut one = Machine::new(bucket.claims());
    one.records(0..2);
    let foreign = Scene::new(false);
    let other_key = SignerKey::from_seed(key().verifier().name(), [99; 32]).unwrap();
    let mut stranger = Machine::with(&other_key, foreign.claims());
    let entries = stranger.missing();
    stranger.append(0, &entries).unwrap();
    let altered = |how, parts| Arc::new(Altered { claims: bucket.claims(), later: 0, how, parts });
    let of_another = Altered { later: 1, how: as_it_is, parts: as_it_is, claims: bucket.claims() };
    let cases: [(Arc<dyn Claims>, &str); 8] = [
        (Arc::new(of_another), "its note belongs to a different claim"),
        (foreign.claims(), "it is not signed by any key of the log"),
        (altered(cut, as_it_is), "its note belongs to a different claim"),
        (altered(|bytes| bytes[..3].to_vec(), as_it_is), "it is truncated"),
        (altered(|_| vec![0xff; 1_000], as_it_is), "it is truncated"),
        (altered(|_| [0; 4].into(), as_it_is), "note"),
        (
            altered(
                |mut bytes| {
                    // The size in the note that the key signed.
                    let at = bytes.windows(3).position(|bytes| bytes == b"\n1\n").unwrap();
                    bytes[at + 1] = b'2';
                    bytes
                },
                as_it_is,
            ),
            "its note belongs to a different claim",
        ),
        (altered(as_it_is, cut), "has different content"),
    ];
    for (claims, why) in cases {
        let mut other = Machine::new(claims);
        let error = other.seals_claimed().unwrap_err();
        let RestoreError::Store(StoreError::NotClaimed { size: 1, source }) = &*error else {
            panic!("{why}: {error}");
        };
        assert!(source.to_string().contains(why), "{why}: {source}");
        assert_eq!(other.checkpoints(), [""; 0]);
    }
}
