use super::super::trie::keccak;
use super::super::*;
use super::states::{NUMBER, at, block_of};
use crate::evidence::Outcome;
use crate::ids::BlockHash;
use crate::snapshot::BlockRef;

const OTHER: BlockHash = BlockHash([6; 32]);

/// A block, and the header of the one after it.
fn scene(child_after: u64) -> (BlockRef, BlockHeader) {
    let timestamp = at().unix_s() - 12;
    let hash = keccak(&block_of([3; 32], [4; 32], NUMBER, timestamp));
    let child = block_of(hash, [5; 32], NUMBER + 1, at().unix_s() + child_after);
    (
        BlockRef { hash: BlockHash(hash), number: NUMBER, timestamp },
        BlockHeader::read(&child).unwrap(),
    )
}

/// What comes of sources: `+` has the block, `-` another, `.` said nothing.
fn judged(said: &str, at_least: Option<usize>) -> StateCheck {
    let (block, child) = scene(1);
    let own = block.hash;
    let source = |(at, said): (usize, char)| {
        let hash = match said {
            '+' => Some(own),
            '-' => Some(OTHER),
            _ => None,
        };
        BlockSource::asked(format!("source-{at}"), hash)
    };
    let sources: Vec<BlockSource> = said.chars().enumerate().map(source).collect();
    check_canonical(block, Some(&child), &sources, at_least)
}

#[test]
fn as_many_as_the_reader_asks_must_have_the_block_and_more_than_have_another() {
    let (pass, fail) = ((Outcome::Pass, "ok"), (Outcome::Fail, "other_block"));
    let open = (Outcome::NotChecked, "not_answered");
    for (said, at_least, expected) in [
        // All of them, where nothing else is said.
        ("+", None, pass),
        ("++", None, pass),
        ("+.", None, open),
        ("+-", None, fail),
        ("++-", None, fail),
        ("", None, open),
        // So many.
        ("+.", Some(1), pass),
        ("++.", Some(2), pass),
        ("++-", Some(2), pass),
        ("+-.", Some(2), fail),
        ("+-", Some(1), fail),
        ("+--", Some(1), fail),
        ("++--.", Some(2), fail),
        ("+...", Some(2), open),
        // One contradicts and is outvoted, and the one that is silent may still come.
        ("++-.", Some(3), open),
        ("..", Some(1), open),
        ("-.", Some(1), fail),
        // Nothing is confirmed by nobody.
        (".", Some(0), open),
    ] {
        let check = judged(said, at_least);
        assert_eq!((check.outcome, check.code), expected, "{said} {at_least:?}: {check:?}");
        // Whoever contradicts is named.
        for (at, _) in said.char_indices().filter(|(_, said)| *said == '-') {
            assert!(check.found.contains(&format!("source-{at} ({OTHER})")), "{check:?}");
        }
    }
}

#[test]
fn the_next_block_names_its_parent_and_a_forged_one_is_told() {
    let (block, child) = scene(1);
    let judged = |child: Option<&BlockHeader>, said| {
        let check = check_canonical(
            block,
            child,
            &[BlockSource { name: "anchors".to_owned(), said }],
            None,
        );
        (check.outcome, check.code)
    };
    let (pass, fail) = ((Outcome::Pass, "ok"), (Outcome::Fail, "other_block"));
    let open = (Outcome::NotChecked, "not_answered");
    assert_eq!(judged(Some(&child), BlockSaid::Next(child.hash)), pass);
    // A child of the same parent that the chain does not have.
    let forged = block_of(child.parent.0, [9; 32], NUMBER + 1, at().unix_s() + 1);
    let forged = BlockHeader::read(&forged).unwrap();
    assert_eq!(forged.parent, child.parent);
    assert_eq!(judged(Some(&forged), BlockSaid::Next(child.hash)), fail);
    // Without a child, or by one of another block, what is said of the next block says nothing of this one.
    assert_eq!(judged(None, BlockSaid::Next(child.hash)), open);
    let stranger = block_of([8; 32], [9; 32], NUMBER + 1, at().unix_s() + 1);
    let stranger = BlockHeader::read(&stranger).unwrap();
    assert_eq!(judged(Some(&stranger), BlockSaid::Next(stranger.hash)), open);
    let later = block_of(child.parent.0, [9; 32], NUMBER + 2, at().unix_s() + 1);
    let later = BlockHeader::read(&later).unwrap();
    assert_eq!(judged(Some(&later), BlockSaid::Next(later.hash)), open);
    // A forged block, whatever its proof says.
    assert_eq!(judged(Some(&child), BlockSaid::Block(OTHER)), fail);
    assert_eq!(judged(None, BlockSaid::Block(block.hash)), pass);
}

#[test]
fn one_sentence_says_how_far_it_leads() {
    let of = |name, outcome, found: &str| StateCheck {
        name,
        outcome,
        code: "ok",
        expected: String::new(),
        found: found.to_owned(),
        unproven: Vec::new(),
    };
    let [header, state] = [StateCheckName::Header, StateCheckName::PoolState];
    let said = |outcomes: [Outcome; 2], canonical: Option<StateCheck>| {
        let checks = [of(header, outcomes[0], "h"), of(state, outcomes[1], "s")];
        trust_left(&checks.into_iter().chain(canonical).collect::<Vec<_>>())
    };
    let (pass, both) = (Outcome::Pass, [Outcome::Pass; 2]);
    let confirmed = said(both, Some(judged("++-", Some(2))));
    for words in ["Confirmed by the chain: ", "2 of 3: source-0, source-1; another by source-2 ("] {
        assert!(confirmed.contains(words), "{confirmed}");
    }
    for (sentence, begins) in [
        (said(both, None), "Proven down from the block's hash: "),
        (said(both, Some(judged("+.", None))), "Proven down from the block's hash: "),
        (said([pass, Outcome::NotChecked], Some(judged("+", None))), "Not proven: "),
        (said([pass, Outcome::Fail], Some(judged("+", None))), "Not so: "),
        (said(both, Some(judged("+-", None))), "The chain does not have this block, "),
    ] {
        assert!(sentence.starts_with(begins), "{sentence}");
        assert_eq!(sentence.matches(". ").count(), 0, "one sentence: {sentence}");
    }
}
