//! Tests copies from a lying server, which has all published files but not the log's key.

mod scene;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use exitgap_core::evidence::Predecessor;
use exitgap_core::log_folder::MAX_PART_BYTES;

use self::scene::{Log, Server, is_whole_copy};
use super::{Copier, MAX_UNCHECKED_BYTES};

const LIMIT: Duration = Duration::from_mins(1);

/// A skippable frame of this many bytes, which decompressors ignore.
fn skippable(bytes: usize) -> Vec<u8> {
    let length = u32::try_from(bytes).unwrap().to_le_bytes();
    [&[0x50, 0x2a, 0x4d, 0x18][..], &length, &vec![b'x'; bytes]].concat()
}

fn code_of(server: &Server, trusted: bool, copy: &Path) -> Result<(), String> {
    let trusted = if trusted { vec![Log::key().verifier()] } else { Vec::new() };
    let mut copier = Copier::new(server.address().parse().unwrap(), copy, trusted).unwrap();
    copier.update(LIMIT, &|_, _| {}).map_err(|error| format!("{}: {error}", error.code()))
}

#[test]
fn a_log_is_copied_whole_and_nothing_is_requested_that_no_head_commits_to() {
    let server = Server::of(&Log::of_slots(6));
    // Anything could be served at these addresses, because no head commits to it.
    for slot in [0, 1, 3, 4, 5] {
        server.serve(&format!("fills/{}.zst", scene::slot(slot).number()), skippable(1 << 20));
        server.serve(&format!("issued/{}.zst", scene::slot(slot).number()), skippable(1 << 20));
    }
    let copy = tempfile::tempdir().unwrap();
    code_of(&server, true, copy.path()).unwrap();
    let asked = server.asked();
    let fills = format!("fills/{}.zst", scene::slot(2).number());
    let documents: Vec<&String> = asked
        .iter()
        .filter(|file| file.starts_with("fills/") || file.starts_with("issued/"))
        .collect();
    assert_eq!(documents, [&fills]);
    // Hash tiles are computed from the entries.
    assert!(!asked.iter().any(|file| file.starts_with("tile/0")), "{asked:?}");
    assert!(is_whole_copy(copy.path(), &Log::of_slots(6)));

    // The copy continues, and requests only what is new.
    let server = Server::of(&Log::of_slots(9));
    code_of(&server, false, copy.path()).unwrap();
    assert!(!server.asked().contains(&fills));
    assert!(is_whole_copy(copy.path(), &Log::of_slots(9)));
}

#[test]
fn a_log_that_no_trusted_key_signed_is_not_fetched() {
    let server = Server::of(&Log::signed_by(6, 9));
    let copy = tempfile::tempdir().unwrap();
    let refused = code_of(&server, true, copy.path()).unwrap_err();
    assert!(refused.starts_with("signature_not_trusted"), "{refused}");
    assert_eq!(server.asked(), ["checkpoint"]);
    assert_eq!(scene::bytes_in(copy.path()), 0);
    // Control: without a trusted key the log is copied with its own key.
    code_of(&server, false, copy.path()).unwrap();
}

/// A server without the key modifies a file.
type Lie = (&'static str, fn(&Log, &Server), &'static str);

const LIES: [Lie; 14] = [
    (
        "another size is signed by nobody",
        |_, server| server.change_text("checkpoint", "\n6\n", "\n5\n"),
        "signature_not_trusted",
    ),
    (
        "other entries",
        |log, server| {
            let tile = server.file("tile/entries/000.p/6");
            let other = Log::signed_by(log.slots(), 3).file("tile/entries/000.p/6");
            assert_ne!(tile, other);
            server.serve("tile/entries/000.p/6", other);
        },
        "not_as_specified",
    ),
    (
        "another slot's manifest",
        |_, server| {
            server.serve(&scene::manifest_of(3), server.file(&scene::manifest_of(4)));
        },
        "not_as_signed",
    ),
    (
        "a manifest padded with signatures of nobody",
        |log, server| {
            server.serve(&scene::manifest_of(3), log.padded_manifest(3));
        },
        "not_as_signed",
    ),
    (
        "a part of the largest size",
        |log, server| {
            let manifest = log.manifest_with(3, |parts| parts[0].bytes = MAX_PART_BYTES);
            server.serve(&scene::manifest_of(3), manifest);
            server.serve(&format!("parts/{}", log.part_name(3)), vec![b'x'; 1 << 20]);
        },
        "not_as_signed",
    ),
    (
        "other heads under the same leaf",
        |log, server| log.serve_parts(server, 3, Log::other_heads),
        "not_as_signed",
    ),
    (
        "a body of other bytes, as long as it may be",
        |log, server| log.serve_parts(server, 3, Log::other_body),
        "not_as_signed",
    ),
    (
        "a body behind a skippable frame",
        |log, server| log.serve_parts(server, 3, Log::skipped_body),
        "not_as_signed",
    ),
    (
        "a table behind a skippable frame",
        |log, server| log.serve_parts(server, 3, Log::skipped_table),
        "not_as_signed",
    ),
    (
        "bodies of other bytes, as long as they may be, in several slots",
        |log, server| {
            for index in [1, 3, 4] {
                log.serve_parts(server, index, Log::other_body);
            }
        },
        "not_as_signed",
    ),
    (
        "true parts before one of other bytes",
        |log, server| log.serve_parts(server, 3, |part| Log::repacked(part, 9, log.pools() - 1)),
        "not_as_signed",
    ),
    (
        "documents of other bytes, as long as they may be",
        |_, server| {
            server.serve(
                &scene::fills_of(2),
                zstd::encode_all(&scene::noise(4 << 20)[..], 1).unwrap(),
            );
        },
        "not_as_signed",
    ),
    (
        "nothing but a skippable frame for documents",
        |_, server| {
            server.serve(&scene::fills_of(2), skippable(8 << 20));
        },
        "answer_too_large",
    ),
    (
        "documents behind a skippable frame",
        |_, server| {
            let documents = server.file(&scene::fills_of(2));
            server.serve(&scene::fills_of(2), [skippable(1_000), documents].concat());
        },
        "not_as_signed",
    ),
];

/// What copying ends with, and the most bytes that were on the disk meanwhile.
fn code_and_most_bytes(server: &Server, trusted: bool, copy: &Path) -> (Result<(), String>, u64) {
    let has_ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let looking = scope.spawn(|| {
            let mut most = 0;
            while !has_ended.load(Ordering::Relaxed) {
                most = scene::used_bytes(copy).max(most);
                std::thread::sleep(Duration::from_millis(2));
            }
            most.max(scene::used_bytes(copy))
        });
        let code = code_of(server, trusted, copy);
        has_ended.store(true, Ordering::Relaxed);
        (code, looking.join().unwrap())
    })
}

#[test]
fn each_file_that_is_not_signed_is_refused_and_is_never_on_the_disk() {
    // A slot of six pools can have more than is in memory at once.
    for (log, keys) in [(Log::of_slots(6), &[true, false][..]), (Log::of_pools(6, 6), &[true])] {
        let signed = log.signed_bytes();
        for (what, lie, code) in LIES {
            for trusted in keys.iter().copied() {
                let server = Server::of(&log);
                lie(&log, &server);
                let copy = tempfile::tempdir().unwrap();
                let (refused, most) = code_and_most_bytes(&server, trusted, copy.path());
                let refused = refused.unwrap_err();
                assert!(refused.starts_with(code), "{what}: {refused}");
                assert!(most <= 2 * signed, "{what}: {most} bytes for {signed} that are signed");
                // With the true files the copy continues.
                code_of(&Server::of(&log), trusted, copy.path()).unwrap();
                assert!(is_whole_copy(copy.path(), &log), "{what}");
            }
        }
    }
}

#[test]
fn true_files_of_a_slot_that_is_refused_do_not_add_up() {
    let log = Log::of_pools(4, 6);
    let copy = tempfile::tempdir().unwrap();
    let mut used = Vec::new();
    for level in 1..9 {
        let server = Server::of(&log);
        log.serve_parts(&server, 3, |part| Log::repacked(part, level, 5));
        let refused = code_of(&server, true, copy.path()).unwrap_err();
        assert!(refused.starts_with("not_as_signed"), "{refused}");
        used.push(scene::used_bytes(copy.path()));
    }
    assert!(used.iter().all(|bytes| *bytes == used[0]), "{used:?}");
    code_of(&Server::of(&log), true, copy.path()).unwrap();
    assert!(is_whole_copy(copy.path(), &log));
}

#[test]
fn a_slot_with_more_than_is_in_memory_at_once_is_copied() {
    let log = Log::of_large_pools(2, 6);
    let server = Server::of(&log);
    let copy = tempfile::tempdir().unwrap();
    let (copied, most) = code_and_most_bytes(&server, true, copy.path());
    copied.unwrap();
    assert!(is_whole_copy(copy.path(), &log));
    let here = scene::bytes_in(copy.path());
    assert!(here > 2 * MAX_UNCHECKED_BYTES, "{here}");
    assert!(most < here + (5 << 20), "{most}, of which {here} stay");
}

#[test]
fn a_key_is_added_only_if_it_signed_and_one_dishonest_answer_does_not_stay() {
    let log = Log::of_slots(6);
    let other = Log::signed_by(6, 9);
    let honest = log.file("verifier-key");
    let both = [honest.clone(), other.file("verifier-key")].concat();
    let copy = tempfile::tempdir().unwrap();
    let key_file = copy.path().join("verifier-key");
    code_of(&Server::of(&log), false, copy.path()).unwrap();

    // The other log is not the one whose key is here: nothing but its checkpoint is requested.
    let server = Server::of(&other);
    let refused = code_of(&server, false, copy.path()).unwrap_err();
    assert!(refused.starts_with("signature_not_trusted"), "{refused}");
    assert_eq!(server.asked(), ["checkpoint"]);

    // A key that did not sign is not added, whether or not a key is trusted.
    for trusted in [false, true] {
        let server = Server::of(&log);
        server.serve("verifier-key", both.clone());
        let refused = code_of(&server, trusted, copy.path()).unwrap_err();
        assert!(refused.starts_with("not_as_signed"), "{refused}");
        assert!(refused.contains("which did not sign the newest checkpoint"), "{refused}");
        assert_eq!(fs::read(&key_file).unwrap(), honest);
        code_of(&Server::of(&log), trusted, copy.path()).unwrap();
    }

    // One that signed next to the log's is added.
    let server = Server::of(&log);
    server.serve("verifier-key", both.clone());
    let note = String::from_utf8(log.file("checkpoint")).unwrap();
    let signed_twice = scene::key(9).sign_beside(&note).unwrap().into_bytes();
    server.serve("checkpoint", signed_twice.clone());
    code_of(&server, false, copy.path()).unwrap();
    assert_eq!(fs::read(&key_file).unwrap(), both);
    // It stays: it signed.
    server.serve("verifier-key", honest.clone());
    let refused = code_of(&server, false, copy.path()).unwrap_err();
    assert!(refused.starts_with("other_log"), "{refused}");

    // Where no key was known, all of them are taken; one that never signed goes with the next honest answer.
    let first = tempfile::tempdir().unwrap();
    let server = Server::of(&log);
    server.serve("verifier-key", both.clone());
    code_of(&server, false, first.path()).unwrap();
    assert_eq!(fs::read(first.path().join("verifier-key")).unwrap(), both);
    code_of(&Server::of(&log), false, first.path()).unwrap();
    assert!(is_whole_copy(first.path(), &log));
}

#[test]
fn the_newest_successor_counts_and_a_bad_one_is_not_kept() {
    let log = Log::of_slots(6);
    let server = Server::of(&log);
    let copy = tempfile::tempdir().unwrap();
    let file = copy.path().join("superseded-by");
    for bad in ["", "\n", "no end", "two words\n", "two\nlines\n", "control\u{7}\n"] {
        server.serve("superseded-by", bad.as_bytes().to_vec());
        let refused = code_of(&server, true, copy.path()).unwrap_err();
        assert!(refused.starts_with("not_as_specified"), "{bad:?}: {refused}");
        assert!(!file.exists(), "{bad:?}");
    }
    for good in ["exitgap.example/b/5957857\n", "exitgap.example/c\n"] {
        server.serve("superseded-by", good.as_bytes().to_vec());
        code_of(&server, true, copy.path()).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), good);
    }
    server.remove("superseded-by");
    code_of(&server, true, copy.path()).unwrap();
    assert!(is_whole_copy(copy.path(), &log));
}

#[test]
fn a_predecessor_is_the_one_that_the_first_leaf_commits_to() {
    let copy = tempfile::tempdir().unwrap();
    let of = |size| {
        let origin = "exitgap.example/before/5957856".parse().unwrap();
        Predecessor { origin, size, root: exitgap_core::tlog::Hash([3; 32]) }
    };
    let log = Log::that_succeeds(6, &of(7));
    let server = Server::of(&log);
    server.serve("predecessor", of(8).to_document().into_bytes());
    let refused = code_of(&server, true, copy.path()).unwrap_err();
    assert!(refused.starts_with("not_as_signed"), "{refused}");
    assert!(!copy.path().join("predecessor").exists());
    let server = Server::of(&log);
    code_of(&server, true, copy.path()).unwrap();
    assert!(is_whole_copy(copy.path(), &log));
    // It is not requested again, unless another is in its place.
    code_of(&server, true, copy.path()).unwrap();
    let asked = || server.asked().iter().filter(|file| *file == "predecessor").count();
    assert_eq!(asked(), 1);
    fs::write(copy.path().join("predecessor"), of(9).to_document()).unwrap();
    code_of(&server, true, copy.path()).unwrap();
    assert_eq!(asked(), 2);
    assert!(is_whole_copy(copy.path(), &log));
    // A log that commits to none has none, whatever is served.
    let (log, copy) = (Log::of_slots(6), tempfile::tempdir().unwrap());
    let server = Server::of(&log);
    server.serve("predecessor", of(7).to_document().into_bytes());
    code_of(&server, true, copy.path()).unwrap();
    assert!(!server.asked().iter().any(|file| file == "predecessor"));
    assert!(is_whole_copy(copy.path(), &log));
}
