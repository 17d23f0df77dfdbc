use super::*;

fn contract(n: u8) -> Contract {
    format!("anvil:0x{}", format!("{n:02x}").repeat(20)).parse().unwrap()
}

fn slot(n: u32) -> Slot {
    Slot::new(u64::from(Slot::FIRST.number() + n)).unwrap()
}

/// A line and nodes: each an item of the chain's encoding.
fn file(line: &str, nodes: &[&[u8]]) -> Vec<u8> {
    let mut file = format!("{line}\n").into_bytes();
    for node in nodes {
        file.push(0x80 + u8::try_from(node.len()).unwrap());
        file.extend_from_slice(node);
    }
    file
}

fn named(of: u8, at: u32) -> ProofName {
    ProofName { contract: contract(of), slot: slot(at), reach: Reach::Figures }
}

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("proofs.db")
    }

    fn open(&self) -> Proofs {
        Proofs::open(&self.path()).unwrap()
    }
}

#[test]
fn what_is_kept_is_handed_out_byte_for_byte_and_each_node_is_kept_once() {
    let home = Home::new();
    let proofs = home.open();
    let first = file("{\"a\":1}", &[b"root", b"branch", b"leaf"]);
    let second = file("{\"a\":2}", &[b"root", b"branch", b"other leaf"]);
    let of_first = [(contract(1), first.clone()), (contract(2), second.clone())];
    assert_eq!(proofs.keep(slot(0), &of_first).unwrap(), 2);
    assert_eq!(proofs.keep(slot(0), &of_first).unwrap(), 0, "one a contract and slot");
    let before = proofs.kept().unwrap();
    assert_eq!(before.proofs, 2);
    proofs.keep(slot(1), &[(contract(1), first.clone())]).unwrap();
    let after = proofs.kept().unwrap();
    assert_eq!(after.proofs, 3);
    assert!(after.bytes - before.bytes < 80, "only what names its nodes is new: {after:?}");
    drop(proofs);
    let proofs = home.open();
    for (of, at, expected) in [(1, 0, &first), (2, 0, &second), (1, 1, &first)] {
        assert_eq!(proofs.pin_file(&named(of, at)).unwrap().as_ref(), Some(expected));
    }
    assert_eq!(proofs.pin_file(&named(3, 0)).unwrap(), None);
    assert_eq!(proofs.pin_file(&named(1, 2)).unwrap(), None);
}

#[test]
fn nothing_of_a_slot_is_kept_where_one_is_no_proof() {
    let home = Home::new();
    let proofs = home.open();
    let good = (contract(1), file("{}", &[b"node"]));
    for bad in [&b"no line"[..], b"{}\n\x85abc", b"{}\n\xc2a"] {
        let both = [good.clone(), (contract(2), bad.to_vec())];
        assert!(matches!(proofs.keep(slot(0), &both), Err(ProofsError::NoProof)));
    }
    assert_eq!(proofs.kept().unwrap(), KeptProofs { proofs: 0, bytes: 0 });
}

#[test]
fn what_is_old_is_thinned_to_hours_and_days_and_what_was_asked_for_stays() {
    let home = Home::new();
    let proofs = home.open();
    let of = |n: u32| file("{}", &[b"root", format!("leaf {n}").as_bytes()]);
    for n in 0..30 {
        proofs.keep(slot(n), &[(contract(1), of(n))]).unwrap();
    }
    assert_eq!(proofs.pin_file(&named(1, 5)).unwrap(), Some(of(5)));
    let days = |days: u32| slot(days * Slot::PER_DAY);
    assert_eq!(proofs.thin(days(7)).unwrap(), ThinReport::default(), "seven days are whole");
    let first = i64::from(slot(0).number());
    let left = |every: i64| {
        (0..30).filter(move |n| (first + n) % every == 0 || *n == 5).collect::<Vec<i64>>()
    };
    let have = |proofs: &Proofs| {
        let has = |n: &i64| proofs.file(&named(1, u32::try_from(*n).unwrap())).unwrap().is_some();
        (0..30).filter(has).collect::<Vec<i64>>()
    };
    let gone = 30 - left(HOUR.into()).len() as u64;
    assert_eq!(proofs.thin(days(8)).unwrap(), ThinReport { proofs: gone, nodes: gone });
    assert_eq!(have(&proofs), left(HOUR.into()));
    assert_eq!(proofs.thin(days(8)).unwrap(), ThinReport::default(), "and once is enough");
    proofs.thin(days(92)).unwrap();
    assert_eq!(have(&proofs), left(Slot::PER_DAY.into()));
    // The remaining proofs are complete.
    for n in have(&proofs) {
        let n = u32::try_from(n).unwrap();
        assert_eq!(proofs.pin_file(&named(1, n)).unwrap(), Some(of(n)));
    }
}

#[test]
fn a_file_that_is_something_else_is_refused_and_damage_is_named() {
    let home = Home::new();
    crate::db::payments::make_version(&home.path(), 1);
    let refused = Proofs::open(&home.path()).unwrap_err().to_string();
    assert!(refused.contains("not a state-proof database"), "{refused}");
    let home = Home::new();
    let proofs = home.open();
    proofs.keep(slot(0), &[(contract(1), file("{}", &[b"node"]))]).unwrap();
    proofs.db().write_transaction(|rows| Ok::<_, ProofsError>(rows.delete_node(1)?)).unwrap();
    let damaged = proofs.pin_file(&named(1, 0));
    assert!(matches!(damaged, Err(ProofsError::Damaged { .. })), "{damaged:?}");
}

#[test]
fn what_is_kept_for_ever_is_published_once_and_never_thinned() {
    let home = Home::new();
    let proofs = home.open();
    let of = |n: u32| file("{}", &[b"root", format!("leaf {n}").as_bytes()]);
    for n in 0..4 {
        proofs.keep(slot(n), &[(contract(1), of(n))]).unwrap();
    }
    assert!(proofs.to_publish(9).unwrap().is_empty());
    let whole = ProofName { reach: Reach::Whole, ..named(1, 1) };
    proofs.keep_for_ever(&whole, &of(77)).unwrap();
    proofs.pin_file(&named(1, 2)).unwrap();
    // A missing proof cannot become permanent, and one that is already permanent does not count.
    assert_eq!(
        proofs.let_stay(&[named(1, 3), named(1, 3), named(2, 3), whole.clone()]).unwrap(),
        1
    );
    let due = [whole.clone(), named(1, 2), named(1, 3)];
    assert_eq!(proofs.to_publish(9).unwrap(), due);
    assert_eq!(proofs.to_publish(2).unwrap(), due[..2]);
    proofs.mark_published(&whole).unwrap();
    assert_eq!(proofs.to_publish(9).unwrap(), due[1..]);
    // Both proofs of a slot exist, each under its name, and the first one stored stays.
    proofs.keep_for_ever(&whole, &of(78)).unwrap();
    assert_eq!(proofs.file(&whole).unwrap(), Some(of(77)));
    assert_eq!(proofs.file(&named(1, 1)).unwrap(), Some(of(1)));
    proofs.thin(slot(100 * Slot::PER_DAY)).unwrap();
    for (name, n) in [(whole, 77), (named(1, 2), 2), (named(1, 3), 3)] {
        assert_eq!(proofs.file(&name).unwrap(), Some(of(n)), "{name}");
    }
    assert_eq!(proofs.file(&named(1, 1)).unwrap(), None, "the control: what may go is gone");
}

#[test]
fn a_file_of_the_first_version_is_taken_over_with_what_was_asked_for() {
    let home = Home::new();
    // Its body has no nodes, only a line.
    let line = [&0_u32.to_be_bytes()[..], b"{}\n"].concat();
    let body = zstd::bulk::compress(&line, EFFORT).unwrap();
    let contracts = [contract(1), contract(2)].map(|one| one.to_string());
    let at = i64::from(slot(0).number());
    let of_each = contracts.each_ref().map(String::as_str);
    crate::db::proofs::make_first_version(&home.path(), of_each, at, &body);
    for _ in 0..2 {
        let proofs = home.open();
        assert_eq!(proofs.kept().unwrap().proofs, 2);
        assert_eq!(proofs.file(&named(2, 0)).unwrap().unwrap(), b"{}\n");
        assert_eq!(proofs.to_publish(9).unwrap(), [named(1, 0)], "what was asked for stays");
    }
}
