//! `exitgap audit` on documents that heads commit to: what pools logged, and which estimates were paid for.

use std::fs;

use exitgap_core::analytics::accuracy::{CommittedDocument, Fills, IssuedReceipts};
use exitgap_core::evidence::Commits;
use exitgap_core::ids::{DocumentHash, Word};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::audit::{Published, SLOTS};
use crate::scenes::log::{FIRST, Log, pool, slot};

/// What `audit` says of a log whose heads of the first pool commit to these documents, by the slots' indices.
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
