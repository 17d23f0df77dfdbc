//! `exitgap audit` with published files that were damaged later: missing, truncated, changed, of another slot, or
//! decompressing without end.

use std::fs;
use std::path::Path;

use exitgap_core::ids::BlockHash;
use exitgap_core::log_folder::Manifest;
use exitgap_core::tlog::SignerKey;
use serde_json::Value;

use crate::cli::audit::{Published, SLOTS, exitgap};
use crate::scenes::log::{
    Log, MISSING, ORIGIN, RETRACTED_AT, SlotFiles, manifest_file, packed_part, pool, signer,
};

/// Damages one published file and requires that `audit` reports this fault.
#[track_caller]
fn damage(file: &str, change: impl FnOnce(&mut Vec<u8>), code: &str, index: Option<u32>) {
    let published = Published::of(&Log::honest(SLOTS));
    let path = published.file(file);
    let mut bytes = fs::read(&path).unwrap();
    change(&mut bytes);
    fs::write(&path, bytes).unwrap();
    let (found, at, _) = published.fault(&[]);
    assert_eq!((found.as_str(), at), (code, index));
}

/// Replaces a text only in the files of slot `index`; nothing else refers to it.
#[track_caller]
fn damage_text(index: u32, from: &str, to: &str, code: &str) {
    let log = Log::honest(SLOTS);
    let published = Published::of(&log);
    let (mut files, mut changes) = (log.files(index), 0);
    let mut change = |bytes: &mut Vec<u8>| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        if changes == 0 && text.contains(from) {
            changes += 1;
            *bytes = text.replacen(from, to, 1).into_bytes();
        }
    };
    change(&mut files.leaf);
    files.heads.iter_mut().for_each(&mut change);
    for body in &mut files.bodies {
        change(&mut body.documents.snapshot);
        change(&mut body.documents.state);
    }
    let mut checkpoint = files.checkpoint.into_bytes();
    change(&mut checkpoint);
    files.checkpoint = String::from_utf8(checkpoint).unwrap();
    assert_eq!(changes, 1, "the change must happen");
    files.write(&published.log(), index);
    let (found, at, _) = published.fault(&[]);
    assert_eq!((found.as_str(), at), (code, Some(index)));
}

/// The path of the part file of a slot.
fn part_file(published: &Published, index: u32) -> String {
    let manifest = fs::read(published.file(&manifest_file(index))).unwrap();
    Manifest::from_bytes(&manifest).unwrap().parts[0].path()
}

#[test]
fn a_log_of_full_tiles_is_replayed_and_each_of_its_tiles_matters() {
    let published = Published::of(&Log::honest(300));
    assert_eq!(published.report(&[], 0)["slots"], 300);
    for (file, code, at) in [
        ("tile/0/000", "tile_mismatch", Some(255)),
        ("tile/0/001.p/44", "tile_mismatch", Some(299)),
        ("tile/1/000.p/1", "tile_mismatch", None),
        ("tile/entries/000", "leaf_entry_mismatch", Some(255)),
        ("tile/entries/001.p/44", "leaf_entry_mismatch", Some(299)),
    ] {
        let path = published.file(file);
        let bytes = fs::read(&path).unwrap();
        let mut changed = bytes.clone();
        *changed.last_mut().unwrap() ^= 1;
        fs::write(&path, changed).unwrap();
        assert_eq!(published.fault(&[]), (code.to_owned(), at, None), "{file}");
        fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        assert_eq!(published.fault(&[]).0, "tile_invalid", "{file}");
        fs::remove_file(&path).unwrap();
        assert_eq!(published.fault(&[]).0, "file_absent", "{file}");
        fs::write(&path, bytes).unwrap();
    }
    // If the log has grown since its checkpoint, its tiles are wider, and the audit accepts them.
    let wider = Published::of(&Log::honest(301));
    for file in ["tile/0/001.p", "tile/entries/001.p"] {
        fs::remove_dir_all(published.file(file)).unwrap();
        fs::rename(wider.file(file), published.file(file)).unwrap();
    }
    assert_eq!(published.report(&[], 0)["slots"], 300);
}

#[test]
fn damaged_files_are_named() {
    let manifest = manifest_file(5);
    damage(&manifest, |bytes| bytes.truncate(bytes.len() / 2), "manifest_invalid", Some(5));
    damage(&manifest, |bytes| bytes.truncate(bytes.len() - 1), "manifest_invalid", Some(5));
    damage(&manifest, Vec::clear, "manifest_invalid", Some(5));
    damage(&manifest, |bytes| bytes.push(b'\n'), "manifest_invalid", Some(5));
    damage(&manifest, |bytes| bytes.resize(3 << 20, b' '), "file_too_large", Some(5));
    let part = part_file(&Published::of(&Log::honest(SLOTS)), 5);
    damage(&part, |bytes| bytes.truncate(bytes.len() / 2), "part_hash_mismatch", Some(5));
    damage(&part, Vec::clear, "part_hash_mismatch", Some(5));
    damage(&part, |bytes| bytes[9] ^= 1, "part_hash_mismatch", Some(5));
    damage(&part, |bytes| bytes.push(0), "file_too_large", Some(5));
    let longer = |bytes: &mut Vec<u8>| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let (before, rest) = text.split_once("{\"bytes\":").unwrap();
        *bytes = format!("{before}{{\"bytes\":1{rest}").into_bytes();
    };
    damage(&manifest, longer, "part_invalid", Some(5));
    damage("checkpoint", |bytes| bytes[IN_ORIGIN] ^= 2, "signature_forged", None);
    let by_another = |bytes: &mut Vec<u8>| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let (text, _) = text.rsplit_once("\n\n").unwrap();
        let other = SignerKey::from_seed(ORIGIN, [43; 32]).unwrap();
        *bytes = other.sign(&format!("{text}\n")).unwrap().into_bytes();
    };
    damage("checkpoint", by_another, "signature_not_trusted", None);
    let last = |bytes: &mut Vec<u8>| {
        let at = bytes.len() - 10;
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
    };
    damage("checkpoint", last, "signature_forged", None);
    // Only the trusted key counts as the log's key, whatever other keys with its name exist.
    let other_key = SignerKey::from_seed(ORIGIN, [43; 32]).unwrap().verifier().to_string();
    damage(
        "verifier-key",
        |bytes| *bytes = other_key.into_bytes(),
        "verifier_key_not_trusted",
        None,
    );
    let other_name = SignerKey::from_seed("other/log/5958856", [42; 32]).unwrap().verifier();
    let added = |bytes: &mut Vec<u8>| bytes.extend(format!("{other_name}\n").into_bytes());
    damage("verifier-key", added, "verifier_key_not_trusted", None);
    damage("verifier-key", |bytes| bytes[3] ^= 1, "verifier_key_invalid", None);
    damage("verifier-key", Vec::clear, "verifier_key_invalid", None);
    let published = Published::of(&Log::honest(SLOTS));
    fs::remove_file(published.file("verifier-key")).unwrap();
    assert_eq!(published.fault(&[]), ("file_absent".to_owned(), None, None));
    let published = Published::of(&Log::honest(SLOTS));
    fs::remove_file(published.file(&part)).unwrap();
    assert_eq!(published.fault(&[]), ("file_absent".to_owned(), Some(5), None));
    fs::remove_file(published.file(&manifest)).unwrap();
    assert_eq!(published.fault(&[]), ("file_absent".to_owned(), Some(5), None));
    fs::create_dir(published.file("bundles")).unwrap();
    assert_eq!(published.fault(&[]), ("older_folder".to_owned(), Some(5), None));

    damage_text(5, "\"pools\":2", "\"pools\":1", "leaf_entry_mismatch");
    damage_text(5, "\"height\":5", "\"height\":6", "heads_root_mismatch");
    damage_text(5, "{\"block\"", "{ \"block\"", "snapshot_hash_mismatch");
    // A head with a retraction that lacks the second hash is invalid.
    let canonical = format!("\"canonical\":\"{}\",", BlockHash([7; 32]));
    damage_text(RETRACTED_AT, &canonical, "", "head_invalid");
    damage_text(5, "\n6\n", "\n7\n", "checkpoint_mismatch");
    // The complete files of the previous slot in place of this slot's.
    let log = Log::honest(SLOTS);
    log.files(4).write(&published.log(), 5);
    assert_eq!(published.fault(&[]).0, "leaf_entry_mismatch");
}

/// Parts whose hash equals their name, but whose contents are invalid.
#[test]
fn parts_hold_what_their_manifest_and_their_heads_say() {
    let log = Log::honest(SLOTS);
    let published = Published::of(&log);
    let whole = log.files(5);
    let fault = |files: &SlotFiles, part: &[u8]| {
        files.write_with(&published.log(), 5, part);
        let (code, at, _) = published.fault(&[]);
        assert_eq!(at, Some(5));
        code
    };
    let plain = |files: &SlotFiles| fault(files, &files.part());
    let changed = |change: &dyn Fn(&mut SlotFiles)| {
        let mut files = whole.clone();
        change(&mut files);
        files
    };
    assert_eq!(plain(&changed(&|files| files.first = pool(1))), "part_invalid");
    assert_eq!(plain(&changed(&|files| files.bodies.truncate(1))), "part_invalid");
    assert_eq!(plain(&changed(&|files| drop(files.heads.pop()))), "manifest_invalid");
    let swapped = changed(&|files| files.bodies.swap(0, 1));
    assert_eq!(plain(&swapped), "snapshot_hash_mismatch");
    for part in [&[0, 0, 0, 1, 0][..], &[0, 0, 0, 9, 1], &[0xff; 40], &packed_part(b"none", b"")] {
        assert_eq!(fault(&whole, part), "part_invalid");
    }
    // A table whose decompression needs two gigabytes of memory, and one that never ends.
    let greedy = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 1, 0, 0];
    assert_eq!(fault(&whole, &[&[0, 0, 0, 9][..], &greedy].concat()), "part_invalid");
    let endless = std::io::Read::take(std::io::repeat(b'a'), 4 << 30);
    let bomb = zstd::encode_all(endless, 3).unwrap();
    let length = u32::try_from(bomb.len()).unwrap().to_be_bytes();
    assert_eq!(fault(&whole, &[&length[..], &bomb].concat()), "part_invalid");
    // A body that is longer or shorter than the table says.
    for by in [1, -1] {
        let mut files = whole.clone();
        files.bodies[0].says_more = by;
        assert_eq!(plain(&files), "body_invalid", "{by}");
    }
    let mut part = whole.part();
    part.pop();
    assert_eq!(fault(&whole, &part), "part_invalid");
    plain_again(&published, &whole);
}

/// Requires that only the damage was reported, not an error of the test's own writer.
fn plain_again(published: &Published, whole: &SlotFiles) {
    whole.write(&published.log(), 5);
    assert_eq!(published.report(&[], 0)["verdict"], "valid");
}

/// Bodies may refer to earlier bodies: up to three steps, and only to existing bodies of the same pool.
#[test]
fn bodies_refer_to_earlier_ones_of_their_pool_and_are_found_from_anywhere() {
    let log = Log::honest(SLOTS);
    let published = Published::of(&log);
    // The second pool is recorded in every slot until it retires.
    let body = |index: u32, base: Option<u32>| {
        let mut files = log.files(index);
        let base_of = |base: u32| log.files(base).bodies.pop().unwrap().joined();
        let body = files.bodies.last_mut().unwrap();
        body.base = base.map(|base| (index - base, base_of(base)));
        files
    };
    let put = |index: u32, base: Option<u32>| body(index, base).write(&published.log(), index);
    let found = || published.fault(&[]);
    for (index, base) in [(3, 2), (4, 3), (5, 4), (6, 4), (7, 2)] {
        put(index, Some(base));
        assert_eq!(published.report(&[], 0)["verdict"], "valid", "{index}");
    }
    put(6, Some(5));
    assert_eq!(found(), ("body_invalid".to_owned(), Some(6), Some(1)));
    put(6, None);
    // The base is changed: a body that refers to it no longer decompresses to the snapshot that its head names.
    let mut other = body(5, Some(4));
    let (_, base) = other.bodies.last_mut().unwrap().base.as_mut().unwrap();
    base.reverse();
    other.write(&published.log(), 5);
    assert_eq!((found().1, found().2), (Some(5), Some(1)));
    put(5, Some(4));
    assert_eq!(published.report(&[], 0)["verdict"], "valid");
    // A base before the start of the log, and a base in a slot where the first pool is missing.
    let mut files = log.files(3);
    let first = log.files(0).bodies[0].joined();
    for (back, code) in [(4, "file_absent"), (3 - MISSING, "body_invalid")] {
        files.bodies[0].base = Some((back, first.clone()));
        files.write(&published.log(), 3);
        assert_eq!(found(), (code.to_owned(), Some(3), Some(0)), "{back}");
    }
    files.bodies[0].base = Some((3, first));
    files.write(&published.log(), 3);
    assert_eq!(published.report(&[], 0)["verdict"], "valid");
}

/// The signature is valid, but the checkpoint is not the log's state after this slot.
#[test]
fn checkpoints_in_manifests_are_those_of_their_slots() {
    let log = Log::honest(SLOTS);
    let published = Published::of(&log);
    let put = |note: &str| {
        SlotFiles { checkpoint: note.to_owned(), ..log.files(5) }.write(&published.log(), 5);
    };
    let fault = |note: &str| {
        put(note);
        let report = published.report(&[], 6);
        let detail = report["fault"]["detail"].as_str().unwrap().to_owned();
        (published.fault(&[]).0, detail)
    };
    let mismatch = |note: &str, of: &str| {
        let (code, detail) = fault(note);
        assert_eq!(code, "checkpoint_mismatch");
        assert!(detail.contains(&format!(": {of} is ")), "{detail}");
    };
    let own = log.checkpoint(6);
    let (text, _) = own.rsplit_once("\n\n").unwrap();
    let resigned = |text: String| signer().sign(&text).unwrap();
    mismatch(&log.checkpoint(5), "size");
    mismatch(&log.checkpoint(7), "size");
    let other = Log::honest(7).leaves(6)[0].to_string();
    let root = text.rsplit('\n').next().unwrap();
    mismatch(&resigned(format!("{}\n", text.replace(root, &other))), "root");
    mismatch(&resigned(format!("{}\n", text.replace("example", "invalid"))), "origin");
    let stranger = SignerKey::from_seed(ORIGIN, [43; 32]).unwrap();
    assert_eq!(fault(&stranger.sign(&format!("{text}\n")).unwrap()).0, "signature_not_trusted");
    // The signature covers extension lines, but they have no meaning.
    let extended = resigned(format!("{text}\npredecessor exitgap.example/log/5957856 9 {root}\n"));
    put(&extended);
    assert_eq!(published.report(&[], 0)["verdict"], "valid");
    // Signatures of others next to the log's own are ignored.
    let witness = SignerKey::from_seed("witness", [44; 32]).unwrap();
    let witness = witness.sign(&format!("{text}\n")).unwrap();
    let cosigned = format!("{own}{}\n", witness.trim_end().rsplit('\n').next().unwrap());
    put(&cosigned);
    assert_eq!(published.report(&[], 0)["verdict"], "valid");
}

/// The position of a byte in the origin line.
const IN_ORIGIN: usize = 12;

#[test]
fn every_changed_byte_of_a_slots_files_is_noticed() {
    let published = Published::of(&Log::honest(6));
    let mut noticed = 0;
    for file in [manifest_file(4), part_file(&published, 4)] {
        let path = published.file(&file);
        let bytes = fs::read(&path).unwrap();
        for at in (0..bytes.len()).step_by(11) {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at % 8);
            fs::write(&path, changed).unwrap();
            assert_eq!(published.run(&[]).status.code(), Some(6), "{file}, byte {at}");
            noticed += 1;
        }
        fs::write(&path, bytes).unwrap();
    }
    assert!(noticed > 100, "{noticed}");
}

#[test]
fn what_is_no_log_is_not_read() {
    let refused = |log: &Path| {
        let output = exitgap(&["audit", log.to_str().unwrap(), "--json"]);
        assert_eq!(output.status.code(), Some(5));
        let problem: Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!(problem["code"], "source_unreadable");
        problem["detail"].as_str().unwrap().to_owned()
    };
    let published = Published::of(&Log::honest(3));
    assert!(refused(&published.file("no-such-folder")).contains("verifier-key"));
    fs::write(published.file("checkpoint"), "no checkpoint").unwrap();
    assert!(refused(&published.log()).contains("checkpoint"));
    fs::remove_file(published.file("verifier-key")).unwrap();
    assert!(refused(&published.log()).contains("verifier-key"));
}
