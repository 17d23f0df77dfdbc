//! `exitgap audit` on files damaged after they were published: absent, cut, changed, of
//! another slot, or made to decompress without end.

use std::fs;
use std::path::Path;

use exitgap_core::ids::BlockHash;
use exitgap_core::tlog::SignerKey;
use serde_json::Value;

use crate::cli::audit::{Published, SLOTS, exitgap};
use crate::scenes::log::{Log, ORIGIN, RETRACTED_AT, bundle_file, signer, write_bundle};

/// Damages one published file, and asks what `audit` names.
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

/// Replaces a text in the bundle of slot `index` only, which nothing else knows of.
#[track_caller]
fn damage_line(index: u32, from: &str, to: &str, code: &str) {
    let log = Log::honest(SLOTS);
    let published = Published::of(&log);
    let lines = String::from_utf8(log.bundle(index)).unwrap();
    let changed = lines.replacen(from, to, 1);
    assert_ne!(changed, lines, "the change must happen");
    write_bundle(&published.log(), index, changed.as_bytes());
    let (found, at, _) = published.fault(&[]);
    assert_eq!((found.as_str(), at), (code, Some(index)));
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
    // The tiles of a log that grew since its checkpoint are wider, and serve as well.
    let wider = Published::of(&Log::honest(301));
    for file in ["tile/0/001.p", "tile/entries/001.p"] {
        fs::remove_dir_all(published.file(file)).unwrap();
        fs::rename(wider.file(file), published.file(file)).unwrap();
    }
    assert_eq!(published.report(&[], 0)["slots"], 300);
}

#[test]
fn damaged_files_are_named() {
    let bundle = bundle_file(5);
    damage(&bundle, |bytes| bytes.truncate(bytes.len() / 2), "bundle_compression", Some(5));
    damage(&bundle, |bytes| bytes.truncate(bytes.len() - 1), "bundle_compression", Some(5));
    damage(&bundle, Vec::clear, "bundle_compression", Some(5));
    damage(&bundle, |bytes| bytes[0] ^= 1, "bundle_compression", Some(5));
    // An empty frame whose header asks for two gigabytes of memory.
    let greedy = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 1, 0, 0];
    damage(&bundle, |bytes| *bytes = greedy, "bundle_compression", Some(5));
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
    // What others take for the log's key is nobody's but the one trusted.
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
    fs::remove_file(published.file(&bundle)).unwrap();
    assert_eq!(published.fault(&[]), ("file_absent".to_owned(), Some(5), None));

    damage_line(5, "\"pools\":2", "\"pools\":1", "leaf_entry_mismatch");
    damage_line(5, "\"height\":5", "\"height\":6", "heads_root_mismatch");
    damage_line(5, "{\"block\"", "{ \"block\"", "snapshot_hash_mismatch");
    damage_line(5, "{\"checkpoint\"", "{ \"checkpoint\"", "checkpoint_mismatch");
    // A retraction without its second hash is no head at all.
    let canonical = format!("\"canonical\":\"{}\",", BlockHash([7; 32]));
    damage_line(RETRACTED_AT, &canonical, "", "head_invalid");
    damage_line(5, "\\n6\\n", "\\n7\\n", "checkpoint_mismatch");
    let log = Log::honest(SLOTS);
    write_bundle(&published.log(), 5, &[log.bundle(5), b"{}\n".to_vec()].concat());
    assert_eq!(published.fault(&[]).0, "bundle_goes_on");
    // A whole bundle of the slot before, where this slot's should stand.
    write_bundle(&published.log(), 5, &log.bundle(4));
    assert_eq!(published.fault(&[]).0, "leaf_entry_mismatch");
}

/// Validly signed, yet it is not the state of this log after this slot.
#[test]
fn checkpoints_in_bundles_are_those_of_their_slots() {
    let log = Log::honest(SLOTS);
    let published = Published::of(&log);
    let lines = String::from_utf8(log.bundle(5)).unwrap();
    let (lines, _) = lines.trim_end().rsplit_once('\n').unwrap();
    let fault = |note: &str| {
        let last = serde_json::json!({ "checkpoint": note });
        write_bundle(&published.log(), 5, format!("{lines}\n{last}\n").as_bytes());
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
    // Extension lines are signed with the rest, and mean nothing.
    let extended = resigned(format!("{text}\npredecessor exitgap.example/log/5957856 9 {root}\n"));
    let last = serde_json::json!({ "checkpoint": extended });
    write_bundle(&published.log(), 5, format!("{lines}\n{last}\n").as_bytes());
    assert_eq!(published.report(&[], 0)["verdict"], "valid");
    // Signatures of others beside the log's own are ignored.
    let witness = SignerKey::from_seed("witness", [44; 32]).unwrap();
    let witness = witness.sign(&format!("{text}\n")).unwrap();
    let cosigned = format!("{own}{}\n", witness.trim_end().rsplit('\n').next().unwrap());
    let last = serde_json::json!({ "checkpoint": cosigned });
    write_bundle(&published.log(), 5, format!("{lines}\n{last}\n").as_bytes());
    assert_eq!(published.report(&[], 0)["verdict"], "valid");
}

/// A byte of the origin line.
const IN_ORIGIN: usize = 12;

#[test]
fn every_changed_byte_of_a_bundle_is_noticed() {
    let published = Published::of(&Log::honest(6));
    let path = published.file(&bundle_file(4));
    let bytes = fs::read(&path).unwrap();
    let plain = zstd::decode_all(&bytes[..]).unwrap();
    let mut noticed = 0;
    for at in (0..bytes.len()).step_by(11) {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        // Some bits of the format mean nothing: the content is then the same.
        let same = zstd::decode_all(&changed[..]).is_ok_and(|lines| lines == plain);
        fs::write(&path, changed).unwrap();
        let code = published.run(&[]).status.code();
        assert_eq!(code, Some(if same { 0 } else { 6 }), "byte {at}");
        noticed += usize::from(!same);
    }
    assert!(noticed > 50, "{noticed}");
}

#[test]
fn bombs_end_at_their_limit() {
    let published = Published::of(&Log::honest(SLOTS));
    let bomb = |lines: &mut dyn std::io::Read| {
        let file = fs::File::create(published.file(&bundle_file(5))).unwrap();
        zstd::stream::copy_encode(lines, file, 3).unwrap();
        assert!(fs::metadata(published.file(&bundle_file(5))).unwrap().len() < 1 << 20);
        published.fault(&[])
    };
    let endless = || std::io::Read::take(std::io::repeat(b'a'), 4 << 30);
    assert_eq!(bomb(&mut endless()), ("bundle_line_too_long".to_owned(), Some(5), None));
    let leaf = Log::honest(6).leaf(5);
    let after_leaf = [leaf, b"\n".to_vec()].concat();
    let mut later = std::io::Read::chain(&after_leaf[..], endless());
    assert_eq!(bomb(&mut later), ("bundle_line_too_long".to_owned(), Some(5), None));
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
