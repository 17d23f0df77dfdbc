use super::super::trie::keccak256;
use super::super::*;
use super::states::{NUMBER, at, block_of};
use crate::evidence::Outcome;
use crate::ids::BlockHash;
use crate::snapshot::BlockRef;

const OTHER: BlockHash = BlockHash([6; 32]);

/// A block and the next block's header.
fn scene(child_after: u64) -> (BlockRef, BlockHeader) {
    let timestamp = at().unix_s() - 12;
    let hash = keccak256(&block_of([3; 32], [4; 32], NUMBER, timestamp));
    let child = block_of(hash, [5; 32], NUMBER + 1, at().unix_s() + child_after);
    (
        BlockRef { hash: BlockHash(hash), number: NUMBER, timestamp },
        BlockHeader::from_rlp(&child).unwrap(),
    )
}

/// The check's result for these sources: `+` has the block, `-` has another, `.` did not answer.
fn judged(said: &str, at_least: Option<usize>) -> StateCheck {
    let (block, child) = scene(1);
    let own = block.hash;
    let source = |(at, said): (usize, char)| {
        let hash = match said {
            '+' => Some(own),
            '-' => Some(OTHER),
            _ => None,
        };
        BlockSource::from_answer(format!("source-{at}"), hash)
    };
    let sources: Vec<BlockSource> = said.chars().enumerate().map(source).collect();
    check_canonical(block, Some(&child), &sources, at_least)
}

#[test]
fn as_many_as_the_reader_asks_must_have_the_block_and_more_than_have_another() {
    let (pass, fail) = ((Outcome::Pass, "ok"), (Outcome::Fail, "other_block"));
    let open = (Outcome::NotChecked, "not_answered");
    for (said, at_least, expected) in [
        // By default all sources must have it.
        ("+", None, pass),
        ("++", None, pass),
        ("+.", None, open),
        ("+-", None, fail),
        ("++-", None, fail),
        ("", None, open),
        // At least this many.
        ("+.", Some(1), pass),
        ("++.", Some(2), pass),
        ("++-", Some(2), pass),
        ("+-.", Some(2), fail),
        ("+-", Some(1), fail),
        ("+--", Some(1), fail),
        ("++--.", Some(2), fail),
        ("+...", Some(2), open),
        // One source contradicts and is outvoted, and the silent source may still answer.
        ("++-.", Some(3), open),
        ("..", Some(1), open),
        ("-.", Some(1), fail),
        // Zero sources confirm nothing.
        (".", Some(0), open),
    ] {
        let check = judged(said, at_least);
        assert_eq!((check.outcome, check.code), expected, "{said} {at_least:?}: {check:?}");
        // Contradicting and silent sources are named.
        for (at, _) in said.char_indices().filter(|(_, said)| *said == '.') {
            let (_, silent) = check.found.split_once("; no answer from ").unwrap();
            assert!(silent.split(", ").any(|name| name == format!("source-{at}")), "{check:?}");
        }
        for (at, _) in said.char_indices().filter(|(_, said)| *said == '-') {
            assert!(check.found.contains(&format!("source-{at} ({OTHER})")), "{check:?}");
        }
    }
}

#[test]
fn a_forged_next_block_confirms_nothing_and_contradicts_nobody() {
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
    // A block with the same parent that the chain does not have.
    let forged = block_of(child.parent.0, [9; 32], NUMBER + 1, at().unix_s() + 1);
    let forged = BlockHeader::from_rlp(&forged).unwrap();
    assert_eq!(forged.parent, child.parent);
    // The sender of the proof can have made it up, so an honest source does not contradict by it.
    assert_eq!(judged(Some(&forged), BlockSaid::Next(child.hash)), open);
    // A source that has both blocks is asked for the block itself, whatever the file says of the next.
    let both = |block| BlockSaid::Both { block, next: child.hash };
    for next in [Some(&child), Some(&forged), None] {
        assert_eq!(judged(next, both(block.hash)), pass);
        assert_eq!(judged(next, both(OTHER)), fail);
    }
    // Without a child, or with a child of another block, an answer about the next block says nothing about this block.
    assert_eq!(judged(None, BlockSaid::Next(child.hash)), open);
    let stranger = block_of([8; 32], [9; 32], NUMBER + 1, at().unix_s() + 1);
    let stranger = BlockHeader::from_rlp(&stranger).unwrap();
    assert_eq!(judged(Some(&stranger), BlockSaid::Next(stranger.hash)), open);
    let later = block_of(child.parent.0, [9; 32], NUMBER + 2, at().unix_s() + 1);
    let later = BlockHeader::from_rlp(&later).unwrap();
    assert_eq!(judged(Some(&later), BlockSaid::Next(later.hash)), open);
    // A forged block fails, even with a valid proof.
    assert_eq!(judged(Some(&child), BlockSaid::Block(OTHER)), fail);
    assert_eq!(judged(None, BlockSaid::Block(block.hash)), pass);
}

/// The checks of a proof, and the result of asking for its block.
fn checks_of(outcomes: [Outcome; 2], canonical: Option<StateCheck>) -> Vec<StateCheck> {
    let names = [StateCheckName::Header, StateCheckName::PoolState];
    let of = |(name, outcome)| StateCheck {
        name,
        outcome,
        code: "ok",
        expected: String::new(),
        found: String::new(),
        unproven: Vec::new(),
        settled: Vec::new(),
    };
    names.into_iter().zip(outcomes).map(of).chain(canonical).collect()
}

#[test]
fn one_sentence_says_how_far_it_leads_and_whom_that_leaves_to_be_trusted() {
    let (pass, open, fail) = (Outcome::Pass, Outcome::NotChecked, Outcome::Fail);
    let (both, has) = ([pass; 2], |said| Some(judged(said, None)));
    let (operator, somebody) =
        ("operator's statement that the chain", "party's statement that the chain");
    let together = "the nodes you asked do not collude";
    for (checks, says, code, begins, left) in [
        (Vec::new(), ChainSays::Nothing, "signed", "Signed by the operator; ", operator),
        (checks_of([open; 2], None), ChainSays::Uncovered, "signed", "Not proven: ", operator),
        (
            checks_of([pass, open], has("+")),
            ChainSays::Uncovered,
            "signed",
            "Not proven: ",
            operator,
        ),
        (
            checks_of(both, None),
            ChainSays::Proven,
            "proof",
            "Proven from the block hash down: ",
            somebody,
        ),
        (
            checks_of(both, has("+.")),
            ChainSays::Proven,
            "proof",
            "Proven from the block hash down: ",
            somebody,
        ),
        (
            checks_of(both, has("++")),
            ChainSays::Confirmed,
            "block",
            "Confirmed by the chain: ",
            together,
        ),
        (
            checks_of([pass, fail], has("+")),
            ChainSays::OtherState,
            "contradicted",
            "Contradicted: ",
            "differs from what was signed",
        ),
        (
            checks_of([fail, open], None),
            ChainSays::OtherState,
            "contradicted",
            "Contradicted: ",
            "differs from what was signed",
        ),
        (
            checks_of(both, has("+-")),
            ChainSays::OtherBlock,
            "contradicted",
            "Contradicted: ",
            "does not have",
        ),
    ] {
        assert_eq!(ChainSays::from_checks(&checks), says);
        assert_eq!(ChainSays::of_code(says.code()), Some(says));
        for (witnessed, dated) in [
            (None, "the operator's statement about when"),
            (Some(pass), "your witnesses do not collude"),
            (Some(open), "the operator's statement about when"),
        ] {
            let witnesses = witnessed.map(WitnessesSay::from_outcome).unwrap_or_default();
            let rung = Rung { chain: says, witnesses };
            let sentence = rung.sentence();
            assert!(sentence.starts_with(begins) && sentence.contains(left), "{sentence}");
            assert!(
                sentence.ends_with('.') && sentence.matches('.').count() == 1,
                "one sentence: {sentence}"
            );
            let is_contradicted = code == "contradicted";
            assert_eq!(sentence.contains(dated), !is_contradicted, "{sentence}");
            let expected = match (code, witnessed) {
                ("block", Some(Outcome::Pass)) => "block_and_witnesses",
                ("signed" | "proof", Some(Outcome::Pass)) => "witnesses",
                (code, _) => code,
            };
            assert_eq!(rung.code(), expected, "{sentence}");
        }
        let forged = Rung { chain: says, witnesses: WitnessesSay::from_outcome(fail) };
        assert_eq!(forged.code(), "contradicted");
        assert!(forged.sentence().starts_with("Contradicted: "), "{}", forged.sentence());
    }
    assert_eq!(ChainSays::of_code("certain"), None);
}
