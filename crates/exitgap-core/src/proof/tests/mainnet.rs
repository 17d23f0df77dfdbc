use std::collections::BTreeMap;

use serde_json::Value;

use super::super::assembly::NodePool;
use super::super::header::Account;
use super::super::rlp::{number, text};
use super::super::trie::{InOrder, Walk, keccak256};
use super::super::{BlockHeader, Layout};

const HEADER: &str = include_str!("../vectors/header.json");
const POOL: &str = include_str!("../vectors/pool.json");

fn bytes(value: &Value) -> Vec<u8> {
    let digits = value.as_str().unwrap().strip_prefix("0x").unwrap();
    let even =
        if digits.len().is_multiple_of(2) { digits.to_owned() } else { format!("0{digits}") };
    (0..even.len() / 2)
        .map(|at| u8::from_str_radix(&even[2 * at..2 * at + 2], 16).unwrap())
        .collect()
}

fn word(value: &Value) -> [u8; 32] {
    number(
        bytes(value).iter().copied().skip_while(|byte| *byte == 0).collect::<Vec<_>>().as_slice(),
    )
    .unwrap()
}

fn small(value: &Value) -> u64 {
    u64::from_be_bytes(word(value)[24..].try_into().unwrap())
}

fn nodes(value: &Value) -> Vec<Vec<u8>> {
    value.as_array().unwrap().iter().map(bytes).collect()
}

#[test]
fn a_mainnet_header_says_what_the_node_says_of_it() {
    let vector: Value = serde_json::from_str(HEADER).unwrap();
    let block = &vector["block"];
    let rlp = bytes(&vector["header_rlp"]);
    let header = BlockHeader::from_rlp(&rlp).unwrap();
    assert_eq!(header.hash.to_string(), block["hash"]);
    assert_eq!(header.parent.to_string(), block["parentHash"]);
    assert_eq!(header.state_root, word(&block["stateRoot"]));
    assert_eq!(header.number, small(&block["number"]));
    assert_eq!(header.timestamp, small(&block["timestamp"]));
    // With any bit changed, it is another block, or not a header.
    for at in 0..rlp.len() {
        let mut changed = rlp.clone();
        changed[at] ^= 1 << (at % 8);
        assert_ne!(
            BlockHeader::from_rlp(&changed).map(|header| header.hash),
            Some(header.hash),
            "{at}"
        );
    }
    for cut in [0, 1, rlp.len() - 1] {
        assert_eq!(BlockHeader::from_rlp(&rlp[..cut]), None);
    }
    // The account in the same answer, and its only word.
    let proof = &vector["proof"];
    let account_nodes = nodes(&proof["accountProof"]);
    let account_key = keccak256(&bytes(&proof["address"]));
    let (met, found) =
        NodePool::from_nodes(&account_nodes).in_order(header.state_root, &[account_key]).unwrap();
    assert!(!met.is_empty());
    let account = Account::from_rlp(found[0].unwrap()).unwrap();
    assert_eq!(account.storage_root, word(&proof["storageHash"]));
    let storage = &proof["storageProof"][0];
    let key = keccak256(&word(&storage["key"]));
    let storage_nodes = nodes(&storage["proof"]);
    let (_, found) =
        NodePool::from_nodes(&storage_nodes).in_order(account.storage_root, &[key]).unwrap();
    assert_eq!(number::<32>(text(found[0].unwrap()).unwrap()).unwrap(), word(&storage["value"]));
}

/// A key of the trie and its word.
type KeyAndWord = ([u8; 32], [u8; 32]);

/// The pool's words in `POOL`: the root, the keys in order with their words, and the nodes of the walk.
fn mainnet_words() -> ([u8; 32], Vec<KeyAndWord>, Vec<u8>) {
    let vector: Value = serde_json::from_str(POOL).unwrap();
    let pool = &vector["pool"];
    let mut words = BTreeMap::new();
    let mut all = Vec::new();
    for entry in pool["storageProof"].as_array().unwrap() {
        words.insert(keccak256(&word(&entry["key"])), word(&entry["value"]));
        all.extend(nodes(&entry["proof"]));
    }
    let root = word(&pool["storageHash"]);
    let keys: Vec<[u8; 32]> = words.keys().copied().collect();
    let (met, _) = NodePool::from_nodes(&all).in_order(root, &keys).unwrap();
    (root, words.into_iter().collect(), met)
}

/// Whether a walk through exactly these nodes finds these words.
fn holds(root: [u8; 32], words: &[KeyAndWord], nodes: &[u8]) -> bool {
    let mut walk = Walk::new(root, InOrder(nodes));
    let found = words.iter().all(|(key, word)| match walk.value(key) {
        Ok(None) => *word == [0; 32],
        Ok(Some(leaf)) => text(leaf).and_then(number::<32>) == Some(*word),
        Err(_) => false,
    });
    found && walk.into_nodes().0.is_empty()
}

#[test]
fn the_words_of_a_mainnet_pool_are_where_the_layout_says() {
    let vector: Value = serde_json::from_str(POOL).unwrap();
    let pool = &vector["pool"];
    let address = keccak256(&bytes(&pool["address"]));
    let accounts = nodes(&pool["accountProof"]);
    let (_, found) =
        NodePool::from_nodes(&accounts).in_order(word(&pool["stateRoot"]), &[address]).unwrap();
    assert_eq!(
        Account::from_rlp(found[0].unwrap()).unwrap().storage_root,
        word(&pool["storageHash"])
    );
    let key_of = |name: &str| {
        let all = pool["storageProof"].as_array().unwrap();
        word(&all.iter().find(|one| one["name"] == name).unwrap()["key"])
    };
    let places = Layout::UniswapV3.ranges(None).unwrap();
    assert_eq!((places.price, places.liquidity), (key_of("slot0"), key_of("liquidity")));
    assert_eq!(places.tick(195_820), key_of("tick195820"));
    assert_eq!([places.bitmap(76), places.bitmap(-249)], [key_of("word76"), key_of("word-249")]);
    let (root, words, nodes) = mainnet_words();
    assert_eq!(words.len(), 7);
    assert!(holds(root, &words, &nodes));
}

#[test]
fn no_changed_byte_of_a_proof_and_no_other_word_is_accepted() {
    let (root, words, nodes) = mainnet_words();
    for at in 0..nodes.len() {
        for bit in [at % 8, (at + 3) % 8] {
            let mut changed = nodes.clone();
            changed[at] ^= 1 << bit;
            assert!(!holds(root, &words, &changed), "byte {at}");
        }
    }
    for at in 0..words.len() {
        for byte in 0..32 {
            let mut other = words.clone();
            other[at].1[byte] ^= 1;
            assert!(!holds(root, &other, &nodes));
        }
    }
    // Missing, additional, duplicate and reordered nodes.
    assert!(!holds(root, &words, &nodes[..nodes.len() - 1]));
    assert!(!holds(root, &words, &[&nodes[..], &[0x80]].concat()));
    assert!(!holds(root, &words, &[&nodes[..], &nodes[..]].concat()));
    let mut turned = words.clone();
    turned.swap(0, 1);
    assert!(!holds(root, &turned, &nodes), "the keys must ascend");
    assert!(!holds(root, &[words[0], words[0]], &nodes), "and none comes twice");
}
