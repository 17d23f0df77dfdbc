//! `exitgap audit` with documents that heads commit to: the pools' logged fills, and the paid estimates.

use std::fs;

use exitgap_core::analytics::accuracy::{CommittedDocument, Fills, IssuedReceipts};
use exitgap_core::evidence::Commits;
use exitgap_core::ids::{DocumentHash, Word};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::audit::{Published, SLOTS};
use crate::scenes::log::{FIRST, Log, pool, slot};

/// The report of `audit` on a log whose heads of the first pool commit to these documents, by slot index.
fn committed<D: CommittedDocument>(
    documents: &[(u32, Vec<u8>)],
    commitment: fn(DocumentHash) -> Commits,
    ends: i32,
) -> Value {
    let mut log = Log::honest(SLOTS);
    for (index, canonical) in documents {
        log.head(*index).commits = commitment(DocumentHash(Sha256::digest(canonical).into()));
    }
    log.link();
    let published = Published::of(&log);
    for (index, canonical) in documents {
        let file = published.log().join(D::file(slot(*index)).to_string());
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let line = D::line(slot(*index), canonical).unwrap();
        fs::write(file, zstd::encode_all(&line[..], 1).unwrap()).unwrap();
    }
    published.report(&[], ends)
}

#[test]
fn documents_that_heads_commit_to_are_of_their_pool_and_follow_each_other() {
    let issued = |number| {
        let issued = IssuedReceipts { pool: pool(number), receipts: vec![Word([7; 32])] };
        vec![(3, issued.to_canonical().unwrap())]
    };
    let issued = |number, ends| {
        committed::<IssuedReceipts>(&issued(number), IssuedReceipts::commitment, ends)
    };
    assert_eq!(issued(0, 0)["verdict"], "valid");
    let fault = &issued(1, 6)["fault"];
    assert_eq!(
        (&fault["code"], &fault["slot"]),
        (&json!("issued_of_another_pool"), &json!(FIRST + 3))
    );
    let fills = |number: usize, blocks: [[u64; 2]; 2], ends| {
        let document = |[after_block, to_block]: [u64; 2]| {
            let contract = pool(number).contract().clone();
            Fills { contract, after_block, to_block, logs: Vec::new() }.to_canonical().unwrap()
        };
        let documents = [(3, document(blocks[0])), (5, document(blocks[1]))];
        committed::<Fills>(&documents, Fills::commitment, ends)
    };
    assert_eq!(fills(0, [[10, 20], [20, 30]], 0)["verdict"], "valid");
    let cases =
        [(1, [[10, 20], [20, 30]], 3), (0, [[10, 20], [21, 30]], 5), (0, [[10, 20], [19, 30]], 5)];
    for (number, blocks, index) in cases {
        let fault = &fills(number, blocks, 6)["fault"];
        let expected = (&json!("fills_do_not_follow"), &json!(FIRST + index));
        assert_eq!((&fault["code"], &fault["slot"]), expected, "{blocks:?}");
    }
}

/// What `audit` says of a log whose first pool's head of a slot commits to a document, which stands in a file of these bytes.
fn in_file(make: fn(&[u8]) -> Vec<u8>, ends: i32) -> Value {
    let mut log = Log::honest(SLOTS);
    let contract = pool(0).contract().clone();
    let document = Fills { contract, after_block: 10, to_block: 20, logs: Vec::new() };
    let canonical = document.to_canonical().unwrap();
    log.head(3).commits = Fills::commitment(DocumentHash(Sha256::digest(&canonical).into()));
    log.link();
    let published = Published::of(&log);
    let file = published.log().join(Fills::file(slot(3)).to_string());
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, make(&Fills::line(slot(3), &canonical).unwrap())).unwrap();
    published.report(&[], ends)
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(bytes, 3).unwrap()
}

/// The bytes before a frame's first block: the length of its content takes one of them, or more.
fn header_bytes(frame: &[u8]) -> usize {
    5 + [1, 2, 4, 8][usize::from(frame[4] >> 6)]
}

/// Bytes that unpackers pass over.
const SKIPPABLE: [u8; 11] = *b"\x50\x2a\x4d\x18\x03\x00\x00\x00xyz";

#[test]
fn a_file_of_documents_has_those_that_heads_commit_to_and_nothing_else() {
    type Change = fn(&[u8]) -> Vec<u8>;

    assert_eq!(in_file(packed, 0)["verdict"], "valid");
    let cases: [(Change, &str); 6] = [
        (|line| packed(&line.repeat(2)), "fills_not_committed"),
        (|line| packed(&[line, b"x"].concat()), "fills_not_committed"),
        (|line| [&SKIPPABLE[..], &packed(line)].concat(), "fills_invalid"),
        (|line| [&packed(line)[..], &SKIPPABLE].concat(), "fills_invalid"),
        (|line| [&packed(line)[..], b"x"].concat(), "fills_invalid"),
        (
            |line| {
                // Many empty blocks before the only one.
                let frame = packed(line);
                let (header, rest) = frame.split_at(header_bytes(&frame));
                [header, &[0_u8; 3].repeat(1_000), rest].concat()
            },
            "fills_invalid",
        ),
    ];
    for (number, (make, code)) in cases.into_iter().enumerate() {
        let report = in_file(make, 6);
        let fault = &report["fault"];
        assert_eq!((&fault["code"], &fault["slot"]), (&json!(code), &json!(FIRST + 3)), "{number}");
    }
    // A file of a slot whose heads commit to nothing.
    for (name, code) in [("fills", "fills_not_committed"), ("issued", "issued_not_committed")] {
        let published = Published::of(&Log::honest(SLOTS));
        let folder = published.log().join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{}.zst", FIRST + 2)), packed(b"anything\n")).unwrap();
        let report = published.report(&[], 6);
        let fault = &report["fault"];
        assert_eq!((&fault["code"], &fault["slot"]), (&json!(code), &json!(FIRST + 2)));
    }
}

#[test]
fn files_that_nothing_signed_commits_to_are_listed() {
    let published = Published::of(&Log::honest(SLOTS));
    assert_eq!(published.report(&[], 0).get("unsigned"), None);
    let beyond = format!("slots/{}.jsonl", FIRST + SLOTS);
    let part = format!("parts/{}", "7".repeat(64));
    let unsigned = ["default-bases", "letter", &part, &beyond, "superseded-by"];
    for file in unsigned.iter().chain(&["days/checkpoint", "anchors/anvil/20687"]) {
        let path = published.log().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "exitgap.example/successor/5957857\n").unwrap();
    }
    // A tile that the log had when it was smaller, and two that it never had.
    let (hashes, entries) = ("tile/0/000.p", "tile/entries/000.p");
    let read = |name: &str| fs::read(published.log().join(name)).unwrap();
    let had = read(&format!("{hashes}/{SLOTS}"))[..32].to_vec();
    let [forged, empty] = [format!("{hashes}/2"), format!("{entries}/1")];
    for (file, bytes) in [(&format!("{hashes}/1"), &had[..]), (&forged, &[7; 64]), (&empty, &[])] {
        fs::write(published.log().join(file), bytes).unwrap();
    }
    let unsigned = [&unsigned[..], &[&forged, &empty]].concat();
    let report = published.report(&[], 0);
    let expected = json!({"count": 7, "names": unsigned, "checked_elsewhere": 2});
    assert_eq!((&report["verdict"], &report["unsigned"]), (&json!("valid"), &expected));
    let text = published.text();
    assert!(
        text.contains("its successor is exitgap.example/successor/5957857 (unsigned)"),
        "{text}"
    );
    assert!(text.contains("superseded-by, 2 more: no signature covers these files"), "{text}");
}
