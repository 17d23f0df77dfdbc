//! A log's folder with a changed head or document, in which every hash was made anew: parts, leaves, tiles and checkpoints,
//! these signed by a stranger, or with the true signatures.

use exitgap_core::evidence::{Head, SlotLeaf};
use exitgap_core::log_folder::{Manifest, PartRef, Table};
use exitgap_core::tlog::{Checkpoint, Frontier, Hash, SignerKey, Tile, TileKind, push_entry, root};
use serde_json::Value;

use super::forged_change::{below, change_value, one};
use super::forged_kind::Changed;
use super::forged_tree::Tree;
use crate::canonical::to_canonical_json;
use crate::devchain::Rng;

/// How the changed log is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Signed {
    /// With the signatures of the true checkpoints.
    AsBefore,
    /// By a key of the same name that the reader does not trust.
    ByStranger,
}

/// The slots of a log.
struct Slots {
    names: Vec<String>,
    manifests: Vec<Manifest>,
}

impl Slots {
    fn read(tree: &Tree) -> Option<Self> {
        let names: Vec<String> =
            tree.keys().filter(|name| name.starts_with("slots/")).cloned().collect();
        let manifests: Option<Vec<Manifest>> =
            names.iter().map(|name| Manifest::from_bytes(&tree[name]).ok()).collect();
        Some(Self { names, manifests: manifests? })
    }
}

/// Changes a head of a slot, and makes everything fit that commits to it.
pub fn seal_again(tree: &Tree, rng: &mut Rng) -> Option<Changed> {
    let mut slots = Slots::read(tree)?;
    let how = *one(rng, &[Signed::AsBefore, Signed::ByStranger]);
    let at = below(rng, slots.manifests.len());
    let mut files = Vec::new();
    let what = change_slot(tree, &mut slots.manifests[at], rng, &mut files)?;
    sign_from(tree, &mut slots, at, how, &mut files)?;
    let what = format!("slot {at}: {what}; sealed: {how:?}");
    Some(Changed { files, ..Changed::new(0, Vec::new(), what) })
}

type Files = Vec<(String, Option<Vec<u8>>)>;

/// Changes a head or the leaf of a slot, and names its part and its heads' root anew.
fn change_slot(
    tree: &Tree,
    manifest: &mut Manifest,
    rng: &mut Rng,
    files: &mut Files,
) -> Option<String> {
    let mut leaf: Value = serde_json::from_slice(&manifest.leaf).ok()?;
    if rng.once_in(4) {
        let what = change_value(rng, &mut leaf, None);
        manifest.leaf = to_canonical_json(&leaf)?;
        return Some(format!("leaf {what}"));
    }
    let place = below(rng, manifest.parts.len());
    let part = manifest.parts[place].clone();
    let file = &tree[&part.path()];
    let unpack = |packed: &[u8], _: usize| zstd::decode_all(packed).map_err(|e| e.to_string());
    let (mut table, from) = part.read_table(file, unpack).ok()?;
    let bodies = &file[usize::try_from(from).ok()?..];
    let what = change_table(&mut table, rng)?;
    let packed = zstd::encode_all(&table.to_bytes().ok()?[..], 1).ok()?;
    let length = u32::try_from(packed.len()).ok()?.to_be_bytes();
    let bytes = [&length[..], &packed, bodies].concat();
    let sha256 = PartRef::hash_of(&bytes);
    let length = bytes.len() as u64;
    let pools = u32::try_from(table.heads.len()).ok()?;
    let named = PartRef { sha256, bytes: length, pools, ..part.clone() };
    files.push((part.path(), None));
    files.push((named.path(), Some(bytes)));
    manifest.parts[place] = named;
    let hashes = heads_of(tree, manifest, place, &table)?;
    leaf["root"] = root(&hashes).to_string().into();
    leaf["pools"] = hashes.len().into();
    manifest.leaf = to_canonical_json(&leaf)?;
    Some(what)
}

/// The leaf hashes of a slot's heads, of which one part has another table.
fn heads_of(tree: &Tree, manifest: &Manifest, place: usize, table: &Table) -> Option<Vec<Hash>> {
    let mut hashes = Vec::new();
    for (at, part) in manifest.parts.iter().enumerate() {
        if at == place {
            hashes.extend(table.heads.iter().map(|head| Head::leaf_of(head)));
            continue;
        }
        let unpack = |packed: &[u8], _: usize| zstd::decode_all(packed).map_err(|e| e.to_string());
        let (table, _) = part.read_table(tree.get(&part.path())?, unpack).ok()?;
        hashes.extend(table.heads.iter().map(|head| Head::leaf_of(head)));
    }
    Some(hashes)
}

/// Changes a value of a head, or the heads as a list.
fn change_table(table: &mut Table, rng: &mut Rng) -> Option<String> {
    let at = below(rng, table.heads.len());
    match rng.below(6) {
        0 if table.heads.len() > 1 => {
            drop(table.heads.remove(at));
            Some(format!("head {at} removed"))
        }
        1 => {
            let head = table.heads[at].clone();
            table.heads.push(head);
            Some(format!("head {at} repeated"))
        }
        2 => {
            let frame = table.frames.get_mut(0)?;
            frame.state = frame.state.saturating_sub(1).max(1);
            Some("the length of a state".to_owned())
        }
        _ => {
            let mut head: Value = serde_json::from_slice(&table.heads[at]).ok()?;
            let what = change_value(rng, &mut head, None);
            table.heads[at] = to_canonical_json(&head)?;
            Some(format!("head {at} {what}"))
        }
    }
}

/// Builds the tree anew, with tiles and the checkpoints from a slot on.
fn sign_from(
    tree: &Tree,
    slots: &mut Slots,
    from: usize,
    how: Signed,
    files: &mut Files,
) -> Option<()> {
    let (mut grown, mut entries, mut hashes) = (Frontier::default(), Vec::new(), Vec::new());
    for (at, manifest) in slots.manifests.iter_mut().enumerate() {
        let leaf = SlotLeaf::leaf_of(&manifest.leaf);
        grown.push(leaf);
        hashes.extend(leaf.0);
        if !push_entry(&mut entries, &manifest.leaf) {
            return None;
        }
        if at < from {
            continue;
        }
        let (before, _) = Checkpoint::from_note(&manifest.checkpoint).ok()?;
        let checkpoint = Checkpoint { root: grown.root(), ..before };
        manifest.checkpoint = sign(&manifest.checkpoint, &checkpoint, how)?;
        files.push((slots.names[at].clone(), Some(manifest.to_bytes().ok()?)));
    }
    let size = slots.manifests.len() as u64;
    for (kind, bytes) in [(TileKind::Level(0), hashes), (TileKind::Entries, entries)] {
        let path = Tile::new(kind, 0, size)?.path();
        if tree.contains_key(&path) {
            files.push((path, Some(bytes)));
        }
    }
    let last = slots.manifests.last()?.checkpoint.clone();
    files.push(("checkpoint".to_owned(), Some(last.into_bytes())));
    Some(())
}

fn sign(before: &str, checkpoint: &Checkpoint, how: Signed) -> Option<String> {
    let text = checkpoint.to_text();
    match how {
        Signed::AsBefore => Some(format!("{text}\n{}", before.rsplit_once("\n\n")?.1)),
        Signed::ByStranger => {
            let name = checkpoint.origin.to_string();
            SignerKey::from_seed(&name, [9; 32]).ok()?.sign(&text).ok()
        }
    }
}
