//! The worked example of `log-folder-v1.md`: the files of a slot on the page are complete, and an audit can read them.
//! `EXITGAP_WRITE_VECTORS=1` rewrites the example.

use std::fs;
use std::path::Path;

use exitgap_core::evidence::Head;
use exitgap_core::log_folder::{FrameRef, Manifest, Table};

use crate::cli::audit::Published;
use crate::scenes::log::{Log, MISSING, manifest_file, slot};

/// A Zstandard frame with one uncompressed block, which a reader can build by hand.
fn raw_frame(content: &[u8]) -> Vec<u8> {
    let length = content.len();
    let sizes = match u8::try_from(length) {
        Ok(length) => vec![0x20, length],
        Err(_) => [&[0x60][..], &u16::try_from(length - 256).unwrap().to_le_bytes()].concat(),
    };
    let block = u32::try_from(length << 3 | 1).unwrap().to_le_bytes();
    [&[0x28, 0xb5, 0x2f, 0xfd][..], &sizes, &block[..3], content].concat()
}

#[test]
fn the_pages_example_is_a_slot_of_a_log() {
    let log = Log::honest(3);
    let published = Published::of(&log);
    let files = log.files(MISSING);
    let [body] = &files.bodies[..] else { panic!("one of two pools is recorded") };
    let packed = raw_frame(&body.joined());
    let [bytes, snapshot, state] =
        [packed.len(), body.documents.snapshot.len(), body.documents.state.len()]
            .map(|length| u32::try_from(length).unwrap());
    let frames = vec![FrameRef { back: 0, bytes, snapshot, state }];
    let table = Table { heads: files.heads.clone(), frames }.to_bytes().unwrap();
    let packed_table = raw_frame(&table);
    let length = u32::try_from(packed_table.len()).unwrap().to_be_bytes();
    let part = [&length[..], &packed_table, &packed].concat();
    files.write_with(&published.log(), MISSING, &part);
    assert_eq!(published.report(&[], 0)["verdict"], "valid");

    let manifest = fs::read(published.file(&manifest_file(MISSING))).unwrap();
    let named = &Manifest::from_bytes(&manifest).unwrap().parts[0];
    assert_eq!(Head::hash_of(&part).0, named.sha256.0);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let example = format!(
        "A log of two pools, its second slot, in which the first pool is missing. `{}`:\n\n\
         ```json\n{}```\n\n\
         The part begins with `{}`, the length of its packed table; that one and the body are here frames of one \
         block that is not packed, so that they can be made by hand: `{}`, then the table, `{}`, then the snapshot of \
         {snapshot} bytes and its state of {state}. The table:\n\n\
         ```json\n{}```\n",
        manifest_file(MISSING),
        text(&manifest),
        hex(&length),
        hex(&packed_table[..packed_table.len() - table.len()]),
        hex(&packed[..packed.len() - body.joined().len()]),
        text(&table),
    );
    assert_eq!(slot(MISSING).number(), 5_958_857);
    let page =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/exitgap-core/docs/log-folder-v1.md");
    let found = fs::read_to_string(&page).unwrap();
    let (before, after) = found.split_once("\n## Example\n\n").expect("the section is there");
    if std::env::var_os("EXITGAP_WRITE_VECTORS").is_some() {
        fs::write(&page, format!("{before}\n## Example\n\n{example}")).unwrap();
        return;
    }
    assert_eq!(after, example);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
