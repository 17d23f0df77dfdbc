//! The expected results of state proofs for other verifiers: `tests/vectors/proofs/`. This test compares the files with
//! this build, and rewrites them if `EXITGAP_WRITE_VECTORS` is set. The cases are in `cases`.

mod cases;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::super::trie::keccak256;
use super::super::*;
use super::feeds::{Chain, feed, reading, words_of};
use super::states::{SPACING, WIDE, state, ticks};
use crate::analytics::made_up::{observation_of, pool};
use crate::ids::{Address, BlockHash, PoolId, Word};
use crate::pools::{Direction, PoolState};
use crate::series::Slot;
use crate::snapshot::{BlockRef, ChainTag, Fact, Observation, OracleReading, Snapshot};

const CONTRACT: Address = Address([0xaa; 20]);
const MANAGER: Address = Address([0xcc; 20]);
const ID: Word = Word([0x1d; 32]);

type Words = BTreeMap<[u8; 32], Word>;

/// The parts of a snapshot.
#[derive(Clone)]
struct Parts {
    pool: PoolId,
    chain: ChainTag,
    block: BlockRef,
    state: PoolState,
    readings: Vec<OracleReading>,
    facts: Vec<Fact>,
}

impl Parts {
    fn snapshot(&self) -> Snapshot {
        let tokens = observation_of(&pool(), Slot::FIRST, state(7, ticks())).tokens().clone();
        let Self { pool, chain, block, state, readings, facts } = self.clone();
        let made = Observation::new(pool, chain, block, tokens, state, readings, facts);
        Snapshot::new(Slot::FIRST, made.unwrap()).unwrap()
    }
}

/// A pool in a state, its honest snapshot, and the cases for other verifiers.
struct Vector {
    name: &'static str,
    chain: Chain,
    subject: ProofSubject,
    honest: Parts,
    snapshots: Vec<Snapshot>,
    proofs: Vec<Vec<u8>>,
    cases: Vec<Value>,
    /// Cases whose result is not the expected one.
    wrong: Vec<String>,
}

/// The other inputs of a case.
#[derive(Default)]
struct Asked {
    size: Option<(Direction, &'static str)>,
    blocks: Vec<(&'static str, Option<BlockHash>)>,
}

const NOTHING: Asked = Asked { size: None, blocks: Vec::new() };

fn fact(name: &str, contract: Address) -> Fact {
    let words = vec![Word([0; 32])];
    Fact { name: name.parse().unwrap(), contract, call: "0x1698ee82".to_owned(), words }
}

impl Vector {
    /// A pool with a layout, priced by feeds of a layout, if one is given.
    fn new(of: Layout, kept: Option<FeedLayout>, words: Words, state: PoolState) -> Self {
        Self::running(&[9; 32], of, kept, words, state)
    }

    /// The same, where every contract's code has this hash.
    fn running(
        code_hash: &[u8],
        of: Layout,
        kept: Option<FeedLayout>,
        words: Words,
        state: PoolState,
    ) -> Self {
        let is_managed = of == Layout::UniswapV4;
        let (slug, at) = (pool().chain().clone(), if is_managed { MANAGER } else { CONTRACT });
        let pool = if is_managed {
            PoolId::from_manager_id(slug, ID)
        } else {
            PoolId::new(slug, CONTRACT)
        };
        let ranges = ranges_of(&state, WIDE);
        let feeds: Vec<FeedSubject> =
            kept.map(|kept| vec![feed(kept, 1), feed(kept, 2)]).unwrap_or_default();
        let mut contracts = vec![(at, words)];
        for feed in &feeds {
            let [proxy, aggregator] = words_of(feed);
            contracts.extend([(feed.feed, proxy), (feed.aggregator, aggregator)]);
        }
        let chain = Chain::running(code_hash, &contracts);
        let subject = ProofSubject {
            chain: "eip155:31337".parse().unwrap(),
            address: at,
            id: is_managed.then_some(ID),
            layout: of,
            ranges,
            feeds: feeds.clone(),
        };
        let made = observation_of(&pool, Slot::FIRST, state.clone());
        let hash = BlockHash(keccak256(&chain.header));
        let facts = vec![if is_managed { fact(Fact::POOL_KEY, at) } else { fact(of.code(), at) }];
        let honest = Parts {
            pool,
            chain: made.chain(),
            block: BlockRef { hash, number: 77, timestamp: Slot::FIRST.unix_s() - 12 },
            state,
            readings: if feeds.is_empty() {
                made.oracles().to_vec()
            } else {
                vec![reading(&feeds[0], 0), reading(&feeds[1], 1)]
            },
            facts,
        };
        let (snapshots, proofs) = (vec![honest.snapshot()], vec![chain.file(&subject).unwrap()]);
        Self {
            name: of.code(),
            chain,
            subject,
            honest,
            snapshots,
            proofs,
            cases: Vec::new(),
            wrong: Vec::new(),
        }
    }

    /// Adds a case for a snapshot and a proof that were added before. The proof's bytes are changed to `changed`, and
    /// `codes` are the expected results.
    fn case(&mut self, name: &str, of: [usize; 2], changed: &[u8], asked: &Asked, codes: &str) {
        let (snapshot, proof) = (&self.snapshots[of[0]], &self.proofs[of[1]]);
        let size = asked.size.map(|(direction, size)| (direction, size.parse().unwrap()));
        let read = StateProof::from_bytes(changed);
        let claim = StateClaim::from_snapshot(snapshot, size);
        let mut checks = check_claim(&read, &claim).to_vec();
        if !asked.blocks.is_empty() {
            let sources: Vec<BlockSource> = asked
                .blocks
                .iter()
                .map(|(by, hash)| BlockSource::from_answer(*by, *hash))
                .collect();
            let block = snapshot.observation().block();
            checks.push(check_canonical(block, None, &sources, None));
        }
        checks.extend(check_code(&read, &claim, None));
        let found: Vec<&str> = checks.iter().map(|check| check.code).collect();
        if !codes.is_empty() && found.join(" ") != codes {
            self.wrong.push(format!("{}: {name}: {found:?}", self.name));
        }
        let word = |value: Value| value.as_str().unwrap().to_owned();
        let said = |check: &StateCheck| {
            let document = serde_json::to_value(check).unwrap();
            let [name, outcome] = ["name", "outcome"].map(|of| word(document[of].clone()));
            format!("{name} {outcome} {}", check.code)
        };
        let mut case = json!({
            "name": name, "snapshot": of[0], "proof": of[1],
            "expected": checks.iter().map(said).collect::<Vec<_>>(),
        });
        if changed != proof {
            case["splice"] = splice(proof, changed);
        }
        if let Some((direction, size)) = asked.size {
            case["size"] = json!([direction.base_index(), size]);
        }
        if !asked.blocks.is_empty() {
            let block = |(by, hash): &(&str, Option<BlockHash>)| {
                json!([by, hash.map(|hash| hash.to_string())])
            };
            case["asked"] = asked.blocks.iter().map(block).collect();
        }
        self.cases.push(case);
    }

    /// The honest proof with another snapshot.
    fn lie(&mut self, name: &str, codes: &str, change: impl FnOnce(&mut Parts)) {
        let mut parts = self.honest.clone();
        change(&mut parts);
        self.snapshots.push(parts.snapshot());
        let proof = self.proofs[0].clone();
        self.case(name, [self.snapshots.len() - 1, 0], &proof, &NOTHING, codes);
    }

    /// The honest snapshot with a changed proof.
    fn tampered(&mut self, name: &str, codes: &str, changed: &[u8]) {
        self.case(name, [0, 0], changed, &NOTHING, codes);
    }

    /// The honest snapshot with another proof.
    fn proof(&mut self, name: &str, codes: &str, asked: &Asked, proof: &[u8]) {
        self.proofs.push(proof.to_owned());
        self.case(name, [0, self.proofs.len() - 1], proof, asked, codes);
    }

    fn document(&self) -> Value {
        let file = |snapshot: &Snapshot| {
            let documents = snapshot.to_canonical().unwrap();
            let text = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
            json!({ "snapshot": text(&documents.snapshot), "state": text(&documents.state) })
        };
        json!({
            "pools": self.snapshots.iter().map(|one| one.observation().pool().to_string()).collect::<Vec<_>>(),
            "snapshots": self.snapshots.iter().map(file).collect::<Vec<_>>(),
            "proofs": self.proofs.iter().map(|proof| hex(proof)).collect::<Vec<_>>(),
            "cases": self.cases,
        })
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a text takes what is written to it");
        text
    })
}

/// The difference of two files: the position, the number of bytes to remove, and the bytes to insert.
fn splice(from: &[u8], to: &[u8]) -> Value {
    let same = |(a, b): &(&u8, &u8)| a == b;
    let before = from.iter().zip(to).take_while(same).count();
    let (rest, other) = (&from[before..], &to[before..]);
    let after = rest.iter().rev().zip(other.iter().rev()).take_while(same).count();
    json!([before, rest.len() - after, hex(&other[..other.len() - after])])
}

fn ranges_of(state: &PoolState, range: TickRange) -> Option<RangeSubject> {
    let ranges = super::super::ranges_of(state)?;
    let inside = |tick: &i32| (range.low..=range.high).contains(tick);
    let ticks = ranges.ticks().iter().map(|tick| tick.tick).filter(inside).collect();
    Some(RangeSubject { range, tick_spacing: SPACING, ticks })
}

/// The file with a changed first line.
fn with_line(file: &[u8], change: impl FnOnce(&mut Map<String, Value>)) -> Vec<u8> {
    let end = file.iter().position(|byte| *byte == b'\n').unwrap();
    let mut line: Map<String, Value> = serde_json::from_slice(&file[..end]).unwrap();
    change(&mut line);
    [serde_json::to_vec(&line).unwrap(), file[end..].to_vec()].concat()
}

/// The file with changed headers and nodes. The lengths of all parts except `part` stay the same.
fn with_items(file: &[u8], part: usize, change: impl FnOnce(&mut Vec<Vec<u8>>)) -> Vec<u8> {
    let (line, items) = StateProof::pieces(file).unwrap();
    let mut items: Vec<Vec<u8>> = items.into_iter().map(<[u8]>::to_vec).collect();
    let before = items.concat().len();
    change(&mut items);
    let after = items.concat();
    let whole = [line, &after].concat();
    with_line(&whole, |line| {
        let length = line["lengths"][part].as_u64().unwrap();
        line["lengths"][part] = json!(length + after.len() as u64 - before as u64);
    })
}

#[test]
fn the_vectors_of_proofs_are_these() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/proofs");
    let all = cases::all();
    for vector in &all {
        let path = folder.join(format!("{}.json", vector.name));
        let expected = format!("{}\n", serde_json::to_string(&vector.document()).unwrap());
        if std::env::var_os("EXITGAP_WRITE_VECTORS").is_some() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, &expected).unwrap();
        }
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert!(found == expected, "{}: set EXITGAP_WRITE_VECTORS to write it anew", vector.name);
    }
    let wrong: Vec<_> = all.iter().flat_map(|vector| &vector.wrong).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let files = fs::read_dir(&folder).unwrap().count();
    assert_eq!(files, all.len(), "a vector in the folder is none of these");
}

#[test]
fn a_claim_is_read_back_from_its_bytes_and_from_no_others() {
    for vector in cases::all() {
        for snapshot in &vector.snapshots {
            let claim = StateClaim::from_snapshot(snapshot, None);
            let bytes = claim.to_bytes();
            assert_eq!(StateClaim::from_bytes(&bytes), Some(claim));
            for length in 0..bytes.len() {
                assert_eq!(StateClaim::from_bytes(&bytes[..length]), None, "{length} bytes");
            }
            assert_eq!(StateClaim::from_bytes(&[&bytes[..], &[0]].concat()), None);
        }
    }
}
