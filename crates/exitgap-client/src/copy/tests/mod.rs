//! Copies of a log whose server lies. It has everything that was published, and not the log's key.

mod scene;

use std::time::Duration;

use exitgap_core::log_folder::MAX_PART_BYTES;

use self::scene::{Log, Server, is_whole_copy};
use super::Copier;

const LIMIT: Duration = Duration::from_mins(1);

/// A skippable frame of so many bytes, which unpackers pass over.
fn skippable(bytes: usize) -> Vec<u8> {
    let length = u32::try_from(bytes).unwrap().to_le_bytes();
    [&[0x50, 0x2a, 0x4d, 0x18][..], &length, &vec![b'x'; bytes]].concat()
}

fn code_of(server: &Server, trusted: bool, copy: &std::path::Path) -> Result<(), String> {
    let trusted = if trusted { vec![Log::key().verifier()] } else { Vec::new() };
    let mut copier = Copier::new(server.address().parse().unwrap(), copy, trusted).unwrap();
    copier.update(LIMIT, &|_, _| {}).map_err(|error| format!("{}: {error}", error.code()))
}

#[test]
fn a_log_is_copied_whole_and_nothing_is_requested_that_no_head_commits_to() {
    let server = Server::of(&Log::of_slots(6));
    // Whatever could be served at these addresses: no head of them commits to anything.
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
    // Tiles of hashes follow from the entries.
    assert!(!asked.iter().any(|file| file.starts_with("tile/0")), "{asked:?}");
    assert!(is_whole_copy(copy.path(), &Log::of_slots(6)));

    // It continues, and requests only what is new.
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
    // A control: without a trusted key it is copied as what it says it is.
    code_of(&server, false, copy.path()).unwrap();
}

/// What a server without the key makes of a file.
type Lie = (&'static str, fn(&Log, &Server), &'static str);

const LIES: [Lie; 11] = [
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
            let manifest = log.manifest_with(3, |part| part.bytes = MAX_PART_BYTES);
            server.serve(&scene::manifest_of(3), manifest);
            server.serve(&format!("parts/{}", log.part_name(3)), vec![b'x'; 1 << 20]);
        },
        "not_as_signed",
    ),
    (
        "other heads under the same leaf",
        |log, server| log.serve_part(server, 3, Log::other_heads),
        "not_as_signed",
    ),
    (
        "a body of other bytes, as long as it may be",
        |log, server| log.serve_part(server, 3, Log::other_body),
        "not_as_signed",
    ),
    (
        "a body behind a skippable frame",
        |log, server| log.serve_part(server, 3, Log::skipped_body),
        "not_as_signed",
    ),
    (
        "a table behind a skippable frame",
        |log, server| log.serve_part(server, 3, Log::skipped_table),
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

#[test]
fn each_file_that_is_not_signed_is_refused_and_leaves_nothing_on_the_disk() {
    let log = Log::of_slots(6);
    let signed = log.signed_bytes();
    for (what, lie, code) in LIES {
        for trusted in [true, false] {
            let server = Server::of(&log);
            lie(&log, &server);
            let copy = tempfile::tempdir().unwrap();
            let refused = code_of(&server, trusted, copy.path()).unwrap_err();
            assert!(refused.starts_with(code), "{what}: {refused}");
            let here = scene::bytes_in(copy.path());
            assert!(here <= 2 * signed, "{what}: {here} bytes for {signed} that are signed");
            // With the truth the copy continues.
            code_of(&Server::of(&log), trusted, copy.path()).unwrap();
            assert!(is_whole_copy(copy.path(), &log), "{what}");
        }
    }
}
