use std::collections::BTreeMap;

use super::super::trie::{WalkError, keccak256};
use super::super::*;
use super::states::block_of;
use super::tries::{Drawn, Trie, encode, string};
use crate::ids::{BlockHash, Caip2};

const CHAIN: Caip2 = Caip2(1);
const DAY: u32 = 20_800;

/// A block whose history contract has these hashes.
struct Held {
    header: Vec<u8>,
    nodes: Vec<Vec<u8>>,
}

/// The test chain's hash at a number for which no header is made.
fn hash_at(number: u64) -> BlockHash {
    BlockHash(keccak256(&number.to_be_bytes()))
}

/// A block whose history contract has these hashes, among other accounts and words, so that the trie has paths of
/// several nodes.
fn held(chain: Caip2, number: u64, hashes: &BTreeMap<u64, BlockHash>) -> Held {
    let mut words: BTreeMap<[u8; 32], Vec<u8>> =
        (0..60).map(|n| (keccak256(&[1, n]), string(&[n + 1; 32]))).collect();
    for (block, hash) in hashes {
        // The trie stores a word without its leading zeros.
        let zeros = hash.0.iter().take_while(|byte| **byte == 0).count();
        words.insert(keccak256(&history_slot(chain, *block)), string(&hash.0[zeros..]));
    }
    let storage = Trie::new(&words);
    let account = encode(&[string(&[1]), string(&[]), string(&storage.root), string(&[9; 32])]);
    let mut accounts: BTreeMap<[u8; 32], Vec<u8>> =
        (0..50).map(|n| (keccak256(&[n]), vec![0xc1, n])).collect();
    accounts.insert(keccak256(&HISTORY_CONTRACT.0), account);
    let accounts = Trie::new(&accounts);
    let header = block_of([7; 32], accounts.root, number, 1_800_000_000 + number);
    Held { header, nodes: [accounts.nodes, storage.nodes].concat() }
}

fn hashes(blocks: &[u64]) -> BTreeMap<u64, BlockHash> {
    blocks.iter().map(|block| (*block, hash_at(*block))).collect()
}

fn file(held: &[(&Held, &[u64])]) -> Result<Vec<u8>, AnchorError> {
    let hops: Vec<HopParts<'_>> = held
        .iter()
        .map(|(held, blocks)| HopParts { header: &held.header, blocks, nodes: &held.nodes })
        .collect();
    Anchors::file(CHAIN, DAY, &hops)
}

fn of(header: &[u8]) -> BlockHash {
    BlockHash(keccak256(header))
}

#[test]
fn a_day_is_proven_from_one_block_and_days_lead_back_to_each_other() {
    // The end of the first day, then a hop of the second day that leads to it.
    let first = held(CHAIN, 20_000, &hashes(&[15_000, 17_000, 19_999]));
    let first_file = file(&[(&first, &[15_000, 17_000, 19_999])]).unwrap();
    let mut between = hashes(&[21_000]);
    between.insert(20_000, of(&first.header));
    let between = held(CHAIN, 26_000, &between);
    let mut last = hashes(&[27_000, 30_000]);
    last.insert(26_000, of(&between.header));
    let last = held(CHAIN, 30_500, &last);
    let second_file =
        file(&[(&last, &[26_000, 27_000, 30_000]), (&between, &[20_000, 21_000])]).unwrap();
    let (one, two) =
        (Anchors::from_bytes(&first_file).unwrap(), Anchors::from_bytes(&second_file).unwrap());
    assert_eq!((two.from.number, two.hash(30_500)), (30_500, Some(of(&last.header))));
    assert_eq!(two.hash(20_000), Some(of(&first.header)));
    assert_eq!([two.hash(21_000), two.hash(21_001)], [Some(hash_at(21_000)), None]);
    assert_eq!(two.blocks().count(), 5);
    let trusted = of(&last.header);
    let followed = AnchorChain::follow(CHAIN, trusted, vec![one.clone(), two.clone()]).unwrap();
    assert_eq!(followed.hash(17_000), Some(hash_at(17_000)));
    assert_eq!((followed.hash(17_001), followed.from.number), (None, 30_500));

    // Another trusted block; a missing day in between; a first day of another history; another chain's day.
    let wrong = AnchorChain::follow(CHAIN, hash_at(5), vec![one.clone(), two.clone()]);
    assert!(matches!(wrong, Err(AnchorChainError::NotTrusted { number: 30_500, .. })), "{wrong:?}");
    let far = held(CHAIN, 40_000, &hashes(&[39_000]));
    let far = Anchors::from_bytes(&file(&[(&far, &[39_000])]).unwrap()).unwrap();
    let gap = AnchorChain::follow(CHAIN, far.from.hash, vec![one.clone(), far]);
    assert_eq!(gap, Err(AnchorChainError::Gap { day: DAY, number: 20_000 }));
    let forged = held(CHAIN, 20_000, &hashes(&[15_000, 17_001]));
    let forged = Anchors::from_bytes(&file(&[(&forged, &[15_000, 17_001])]).unwrap()).unwrap();
    let forged = AnchorChain::follow(CHAIN, trusted, vec![forged, two.clone()]);
    assert!(matches!(forged, Err(AnchorChainError::OtherBlock { number: 20_000, .. })));
    let other = AnchorChain::follow(Caip2(8_453), trusted, vec![two]);
    assert!(matches!(other, Err(AnchorChainError::OtherChain { found: CHAIN, .. })), "{other:?}");
    assert_eq!(AnchorChain::follow(CHAIN, trusted, Vec::new()), Err(AnchorChainError::Empty));
}

#[test]
fn a_hop_reaches_as_far_as_the_ring_and_no_further() {
    let lowest = 100_000 - 8_191;
    let top = held(CHAIN, 100_000, &hashes(&[lowest, 99_999]));
    assert!(file(&[(&top, &[lowest, 99_999])]).is_ok());
    // The word for the block below the lowest has the hash of the newest block, because the ring wrapped around.
    let beyond = AnchorError::BeyondRing { block: lowest - 1, from: 100_000, ring: 8_191 };
    assert_eq!(history_slot(CHAIN, lowest - 1), history_slot(CHAIN, 99_999));
    assert_eq!(file(&[(&top, &[lowest - 1])]), Err(beyond));
    for block in [100_000, 100_001] {
        assert!(matches!(file(&[(&top, &[block])]), Err(AnchorError::BeyondRing { .. })));
    }
    // On Arbitrum chains the ring is longer, so the same word belongs to another block.
    let arbitrum = Caip2(42_161);
    let below = 1_000_000 - 393_168;
    let top = held(arbitrum, 1_000_000, &hashes(&[below]));
    let far = HopParts { header: &top.header, blocks: &[below], nodes: &top.nodes };
    let read =
        Anchors::from_bytes(&Anchors::file(arbitrum, DAY, std::slice::from_ref(&far)).unwrap())
            .unwrap();
    assert_eq!(read.hash(below), Some(hash_at(below)));
    let past = HopParts { blocks: &[below - 1], ..far.clone() };
    let past = Anchors::file(arbitrum, DAY, &[past]);
    assert!(matches!(past, Err(AnchorError::BeyondRing { ring: 393_168, .. })), "{past:?}");
    assert!(matches!(
        Anchors::file(CHAIN, DAY, &[far]),
        Err(AnchorError::BeyondRing { ring: 8_191, .. })
    ));
    // A block without a hash in the contract; a chain without the contract.
    let top = held(CHAIN, 100_000, &hashes(&[99_999]));
    assert_eq!(file(&[(&top, &[99_998])]), Err(AnchorError::NotKept { block: 99_998 }));
    let accounts: BTreeMap<[u8; 32], Vec<u8>> =
        (0..9).map(|n| (keccak256(&[n]), vec![0xc1, n])).collect();
    let accounts = Trie::new(&accounts);
    let header = block_of([7; 32], accounts.root, 100_000, 1);
    let bare = Held { header, nodes: accounts.nodes };
    assert_eq!(file(&[(&bare, &[99_999])]), Err(AnchorError::NoHistory { hop: 0 }));
}

/// A file of one hop, split into its line, its header, its account nodes and its storage nodes.
fn pieces(blocks: &[u64], held: &Held) -> (Vec<u8>, Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let whole = file(&[(held, blocks)]).unwrap();
    let (_, items) = StateProof::pieces(&whole).unwrap();
    let storage = of_storage(&items);
    let (accounts, words) = (&items[1..storage], &items[storage..]);
    let owned = |items: &[&[u8]]| items.iter().map(|item| item.to_vec()).collect();
    (items[0].to_vec(), owned(accounts), owned(words))
}

/// The index of the first storage node: after the account's leaf, whose value has four fields.
fn of_storage(items: &[&[u8]]) -> usize {
    let leaf = items[1..].iter().position(|node| node.windows(32).any(|part| part == [9; 32]));
    leaf.unwrap() + 2
}

fn spelled(
    blocks: &[u64],
    header: &[u8],
    accounts: &[Vec<u8>],
    storage: &[Vec<u8>],
    chain: &str,
) -> Vec<u8> {
    let (accounts, storage) = (accounts.concat(), storage.concat());
    let numbers: Vec<String> = blocks.iter().map(u64::to_string).collect();
    let line = format!(
        "{{\"block\":\"{}\",\"chain\":\"{chain}\",\"day\":{DAY},\"hops\":[{{\"blocks\":[{}],\"lengths\":[{},{},{}]}}],\"v\":1}}\n",
        of(header),
        numbers.join(","),
        header.len(),
        accounts.len(),
        storage.len()
    );
    [line.as_bytes(), header, &accounts, &storage].concat()
}

#[test]
fn nodes_that_are_changed_cut_doubled_reordered_or_over_are_refused() {
    let blocks = [99_000, 99_500, 99_700, 99_999];
    let top = held(CHAIN, 100_000, &hashes(&blocks));
    let (header, accounts, storage) = pieces(&blocks, &top);
    let read = |accounts: &[Vec<u8>], storage: &[Vec<u8>]| {
        Anchors::from_bytes(&spelled(&blocks, &header, accounts, storage, "eip155:1"))
    };
    // As a control, the pieces together give the original file.
    let whole = file(&[(&top, &blocks)]).unwrap();
    assert_eq!(spelled(&blocks, &header, &accounts, &storage, "eip155:1"), whole);
    assert_eq!(read(&accounts, &storage).unwrap(), Anchors::from_bytes(&whole).unwrap());

    for at in 0..storage.len() {
        let mut cut = storage.clone();
        cut.remove(at);
        assert!(matches!(read(&accounts, &cut), Err(AnchorError::Storage { hop: 0, .. })));
        let mut doubled = storage.clone();
        doubled.insert(at, storage[at].clone());
        let doubled = read(&accounts, &doubled);
        let refused = matches!(
            doubled,
            Err(AnchorError::Storage { hop: 0, .. } | AnchorError::Surplus { hop: 0 })
        );
        assert!(refused, "{doubled:?}");
        let mut changed = storage.clone();
        *changed[at].last_mut().unwrap() ^= 1;
        let wrong = ProofError::Storage(WalkError::Hash);
        assert!(
            read(&accounts, &changed) == Err(AnchorError::Storage { hop: 0, error: wrong })
                || changed[at].len() < 2
        );
        if at + 1 < storage.len() {
            let mut reordered = storage.clone();
            reordered.swap(at, at + 1);
            assert!(matches!(read(&accounts, &reordered), Err(AnchorError::Storage { .. })));
        }
    }
    let surplus = [&storage[..], &[vec![0xc1, 0x05]]].concat();
    assert_eq!(read(&accounts, &surplus), Err(AnchorError::Surplus { hop: 0 }));
    let surplus = [&accounts[..], &[vec![0xc1, 0x05]]].concat();
    assert_eq!(read(&surplus, &storage), Err(AnchorError::Surplus { hop: 0 }));
    let cut = read(&accounts[1..], &storage);
    assert_eq!(cut, Err(AnchorError::Account { hop: 0, error: WalkError::Hash }));
    // The nodes for these blocks do not prove other blocks.
    let other = spelled(&[99_001, 99_501, 99_701], &header, &accounts, &storage, "eip155:1");
    assert!(matches!(Anchors::from_bytes(&other), Err(AnchorError::Storage { .. })));
    // For a chain with a longer ring, other words are read.
    let arbitrum = spelled(&blocks, &header, &accounts, &storage, "eip155:42161");
    assert!(matches!(Anchors::from_bytes(&arbitrum), Err(AnchorError::Storage { .. })));
}

#[test]
fn no_other_bytes_are_the_same_anchors() {
    let blocks = [99_000, 99_500, 99_999];
    let top = held(CHAIN, 100_000, &hashes(&blocks));
    let whole = file(&[(&top, &blocks)]).unwrap();
    let honest = Anchors::from_bytes(&whole).unwrap();
    let mut drawn = Drawn(11);
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1 << (drawn.next() % 8);
        // The day, and a chain with the same ring, are only names. The proven blocks are the same, or the file is
        // invalid.
        if let Ok(read) = Anchors::from_bytes(&changed) {
            let mut named = read.clone();
            (named.chain, named.day) = (honest.chain, honest.day);
            assert_eq!(named, honest, "byte {at}");
            assert!(read.chain != honest.chain || read.day != honest.day, "byte {at}");
        }
    }
    for wrong in [&whole[..whole.len() - 1], &[&whole[..], &[0]].concat(), b"{}\n", b"no line"] {
        assert!(matches!(
            Anchors::from_bytes(wrong),
            Err(AnchorError::Shape(_) | AnchorError::Line(_))
        ));
    }
    let large = vec![b'x'; MAX_ANCHOR_BYTES + 1];
    assert!(matches!(Anchors::from_bytes(&large), Err(AnchorError::TooLarge { .. })));
    for (blocks, why) in [(&[][..], "none"), (&[99_500, 99_000], "order")] {
        assert!(matches!(file(&[(&top, blocks)]), Err(AnchorError::Shape(_))), "{why}");
    }
    let twice = AnchorError::Storage { hop: 0, error: ProofError::Storage(WalkError::Order) };
    assert_eq!(file(&[(&top, &[99_000; 2])]), Err(twice));
    assert!(matches!(file(&[]), Err(AnchorError::Shape(_))));
    let many = vec![(&top, &blocks[..]); MAX_HOPS + 1];
    assert!(matches!(file(&many), Err(AnchorError::Shape(_))));
    let many: Vec<u64> = (95_000..).take(MAX_ANCHORED_BLOCKS + 1).collect();
    let top = held(CHAIN, 100_000, &hashes(&many));
    assert!(matches!(file(&[(&top, &many)]), Err(AnchorError::Shape(_))));
    // The maximum number is accepted.
    file(&[(&top, &many[1..])]).unwrap();
}

#[test]
fn a_hop_begins_where_the_one_before_it_led() {
    let low = held(CHAIN, 95_000, &hashes(&[90_000]));
    let mut words = hashes(&[99_000]);
    words.insert(95_000, of(&low.header));
    let top = held(CHAIN, 100_000, &words);
    assert!(file(&[(&top, &[95_000, 99_000]), (&low, &[90_000])]).is_ok());
    // A different header, and a header that is proven under another number.
    let other = held(CHAIN, 95_000, &hashes(&[90_001]));
    let found = file(&[(&top, &[95_000, 99_000]), (&other, &[90_001])]);
    let expected = of(&low.header);
    let named = AnchorError::OtherHeader { hop: 1, expected, found: of(&other.header) };
    assert_eq!(found, Err(named));
    let top = held(CHAIN, 100_000, &BTreeMap::from([(95_001, of(&low.header))]));
    let found = file(&[(&top, &[95_001]), (&low, &[90_000])]);
    assert_eq!(found, Err(AnchorError::OtherNumber { hop: 1, expected: 95_001, found: 95_000 }));
    let none = Held { header: vec![0xc0], nodes: Vec::new() };
    assert_eq!(file(&[(&none, &[1])]), Err(AnchorError::Header { hop: 0 }));
}

#[test]
fn hops_are_planned_so_that_each_leads_to_the_next() {
    let one = plan_hops(CHAIN, 100_000, [99_000, 92_000, 99_000]);
    assert_eq!(one, Some(vec![(100_000, vec![92_000, 99_000])]));
    // A day of a chain with a block every two seconds, backwards from its end.
    let wanted: Vec<u64> = (0..288).map(|slot| 1_000_000 + slot * 150).collect();
    let planned = plan_hops(Caip2(8_453), 1_043_200, wanted.iter().copied()).unwrap();
    assert_eq!(planned.len(), 6);
    for (at, (from, blocks)) in planned.iter().enumerate() {
        assert!(blocks.is_sorted_by(|a, b| a < b) && blocks.iter().all(|block| block < from));
        assert!(from - blocks[0] <= 8_191);
        assert!(planned.get(at + 1).is_none_or(|(next, _)| *next == blocks[0]));
    }
    let has = |block: &u64| planned.iter().any(|(_, blocks)| blocks.contains(block));
    assert!(wanted.iter().all(has));
    assert_eq!(plan_hops(Caip2(42_161), 400_000, [10_000]).unwrap().len(), 1);
    // Nothing to prove, a block that is not older, and more hops than allowed.
    assert_eq!(plan_hops(CHAIN, 100_000, []), None);
    assert_eq!(plan_hops(CHAIN, 100_000, [100_000]), None);
    assert_eq!(plan_hops(CHAIN, 1_000_000, [1]), None);
}
