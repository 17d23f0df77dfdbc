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
        assert_eq!(proofs.asked(&contract(of), slot(at)).unwrap().as_ref(), Some(expected));
    }
    assert_eq!(proofs.asked(&contract(3), slot(0)).unwrap(), None);
    assert_eq!(proofs.asked(&contract(1), slot(2)).unwrap(), None);
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
    assert_eq!(proofs.asked(&contract(1), slot(5)).unwrap(), Some(of(5)));
    let days = |days: u32| slot(days * Slot::PER_DAY);
    assert_eq!(proofs.thin(days(7)).unwrap(), Thinned::default(), "seven days are whole");
    let first = i64::from(slot(0).number());
    let left = |every: i64| {
        (0..30).filter(move |n| (first + n) % every == 0 || *n == 5).collect::<Vec<i64>>()
    };
    let have = |proofs: &Proofs| {
        let has = |n: &i64| {
            let at = slot(u32::try_from(*n).unwrap());
            let db = proofs.db().read(|rows| {
                Ok::<_, ProofsError>(rows.proof(&contract(1).to_string(), at.number().into())?)
            });
            db.unwrap().is_some()
        };
        (0..30).filter(has).collect::<Vec<i64>>()
    };
    let gone = 30 - left(HOUR.into()).len() as u64;
    assert_eq!(proofs.thin(days(8)).unwrap(), Thinned { proofs: gone, nodes: gone });
    assert_eq!(have(&proofs), left(HOUR.into()));
    assert_eq!(proofs.thin(days(8)).unwrap(), Thinned::default(), "and once is enough");
    proofs.thin(days(92)).unwrap();
    assert_eq!(have(&proofs), left(Slot::PER_DAY.into()));
    // What is left is whole.
    for n in have(&proofs) {
        let n = u32::try_from(n).unwrap();
        assert_eq!(proofs.asked(&contract(1), slot(n)).unwrap(), Some(of(n)));
    }
}

#[test]
fn a_file_that_is_something_else_is_refused_and_damage_is_named() {
    let home = Home::new();
    crate::db::payments::make_first_version(&home.path());
    let refused = Proofs::open(&home.path()).unwrap_err().to_string();
    assert!(refused.contains("no database of state proofs"), "{refused}");
    let home = Home::new();
    let proofs = home.open();
    proofs.keep(slot(0), &[(contract(1), file("{}", &[b"node"]))]).unwrap();
    proofs.db().write(|rows| Ok::<_, ProofsError>(rows.delete_node(1)?)).unwrap();
    let damaged = proofs.asked(&contract(1), slot(0));
    assert!(matches!(damaged, Err(ProofsError::Damaged { .. })), "{damaged:?}");
}
