//! Claims by several threads and connections, nonces without gaps, and the allowed state transitions.

use exitgap_core::analytics::accuracy::IssuedReceipts;
use exitgap_core::ids::{Address, BlockHash, PoolId, Word};
use exitgap_store::payments::{
    Claim, ClaimToken, Counts, Family, HashReservation, NewPayment, PaymentSettlement, Payments,
    PaymentsError, Sent, State,
};

use crate::scenes::store::Place;

pub const SIGNER: Address = Address([9; 20]);

struct Home(Place);

impl Home {
    fn new() -> Self {
        Self(Place::new("payments.db"))
    }

    fn open(&self) -> Payments {
        Payments::open(&self.0.path).unwrap()
    }
}

pub fn new(key: &str, fingerprint: u8) -> NewPayment {
    NewPayment {
        key: key.to_owned(),
        fingerprint: [fingerprint; 32],
        family: Family::X402V2,
        signed: true,
        payer: Address([1; 20]),
        amount: 10_000,
        identifier: None,
        authorization: vec![1, 2, 3],
        valid_before_s: 2_000,
        since_block: 5,
        answer: b"{\"exit_gap_pct\":0.5}".to_vec(),
        resource_url: "https://exitgap.example/v1/exit/x".to_owned(),
        settled: None,
    }
}

pub fn settled() -> PaymentSettlement {
    PaymentSettlement {
        transaction: Word([7; 32]),
        block: 6,
        block_hash: BlockHash([8; 32]),
        settled_s: 1_010,
    }
}

pub fn sent(nonce: u64, tip: u128) -> Sent {
    let mut hash = [0; 32];
    hash[..8].copy_from_slice(&nonce.to_be_bytes());
    hash[8] = tip.to_le_bytes()[0];
    Sent { nonce, hash: Word(hash), raw: vec![2, 1], max_fee: 100, tip, signed_s: 1_000 }
}

fn token(byte: u8) -> ClaimToken {
    ClaimToken([byte; 16])
}

pub fn settling(payments: &Payments, key: &str, count: u64) -> Sent {
    assert!(matches!(payments.claim(&new(key, 1), token(1), 1_000).unwrap(), Claim::Taken));
    let sign = |nonce| Ok::<_, PaymentsError>(sent(nonce, 1));
    payments.begin_settling((key, token(1)), (SIGNER, count), 1_000, sign).unwrap()
}

#[test]
fn of_many_claims_in_many_connections_one_is_taken_and_the_others_see_it() {
    let home = Home::new();
    let taken: usize = std::thread::scope(|scope| {
        let claims: Vec<_> = (0..8_u8)
            .map(|thread| {
                let home = &home;
                scope.spawn(move || {
                    let payments = home.open();
                    let taken = (0..20_u8).filter(|_| {
                        let claim = payments.claim(&new("k", thread), token(thread), 1_000);
                        matches!(claim.unwrap(), Claim::Taken)
                    });
                    taken.count()
                })
            })
            .collect();
        claims.into_iter().map(|claim| claim.join().unwrap()).sum()
    });
    assert_eq!(taken, 1);
    let found = home.open().payment("k").unwrap().unwrap();
    assert_eq!((found.state, found.amount), (State::Claimed, 10_000));
    assert_eq!(found.answer, new("k", 0).answer);
}

#[test]
fn numbers_are_given_once_without_holes_and_never_below_the_chains() {
    let home = Home::new();
    let mut nonces: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let home = &home;
                scope.spawn(move || {
                    let payments = home.open();
                    let each = (0..5).map(|n| settling(&payments, &format!("{thread}-{n}"), 3));
                    each.map(|sent| sent.nonce).collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    nonces.sort_unstable();
    assert_eq!(nonces, (3..23).collect::<Vec<_>>());
    let payments = home.open();
    assert_eq!(settling(&payments, "later", 40).nonce, 40);
    let unfilled: Vec<u64> = payments
        .pending_transactions(SIGNER, 20)
        .unwrap()
        .iter()
        .map(|(_, sent)| sent.nonce)
        .collect();
    assert_eq!(unfilled, [20, 21, 22, 40]);
}

#[test]
fn what_cannot_be_signed_takes_no_number_and_leaves_the_claim() {
    let home = Home::new();
    let payments = home.open();
    payments.claim(&new("k", 1), token(1), 1_000).unwrap();
    let refused = PaymentsError::ClaimLost { key: "of the signer".to_owned() };
    let begun = payments.begin_settling(("k", token(1)), (SIGNER, 0), 1_000, |_| Err(refused));
    assert!(matches!(begun, Err(PaymentsError::ClaimLost { key }) if key == "of the signer"));
    assert_eq!(payments.payment("k").unwrap().unwrap().state, State::Claimed);
    assert_eq!(payments.sent_for("k").unwrap(), []);
    // Another claimant's token, and a claim that has expired.
    let sign = |nonce| Ok::<_, PaymentsError>(sent(nonce, 1));
    let begun = payments.begin_settling(("k", token(2)), (SIGNER, 0), 1_000, sign);
    assert!(matches!(begun, Err(PaymentsError::ClaimLost { .. })));
    assert_eq!(payments.tidy(1_061, 900).unwrap(), 1);
    let begun = payments.begin_settling(("k", token(1)), (SIGNER, 0), 1_061, sign);
    assert!(matches!(begun, Err(PaymentsError::ClaimLost { .. })));
    assert_eq!(payments.sent_for("k").unwrap(), [], "no number was given");
}

#[test]
fn what_is_handed_over_stays_open_until_the_chain_says() {
    let home = Home::new();
    let payments = home.open();
    payments.claim(&new("k", 1), token(1), 1_000).unwrap();
    let lost = payments.hand_over("k", token(2)).unwrap_err();
    assert!(matches!(lost, PaymentsError::ClaimLost { .. }), "{lost}");
    payments.hand_over("k", token(1)).unwrap();
    assert_eq!(payments.payment("k").unwrap().unwrap().state, State::Settling);
    assert_eq!(payments.sent_for("k").unwrap(), []);
    assert_eq!(payments.tidy(99_999, 900).unwrap(), 0);
    assert_eq!(payments.open_payments().unwrap().len(), 1);
    assert!(payments.settle("k", settled()).unwrap());
}

#[test]
fn states_go_where_they_may_only() {
    let home = Home::new();
    let payments = home.open();
    assert!(!payments.settle("k", settled()).unwrap());
    let first = settling(&payments, "k", 0);
    payments.release("k", token(1)).unwrap();
    assert_eq!(payments.tidy(99_999, 900).unwrap(), 0, "what may have been sent is not given up");
    assert!(!payments.orphan("k").unwrap());
    payments.replace("k", SIGNER, &sent(0, 2), 1_030).unwrap();
    assert_eq!(payments.sent_for("k").unwrap().len(), 2);
    let newest = payments.pending_transactions(SIGNER, 0).unwrap();
    assert_eq!((newest.len(), newest[0].1.tip, first.tip), (1, 2, 1));
    assert!(payments.settle("k", settled()).unwrap());
    assert!(!payments.settle("k", settled()).unwrap());
    assert!(!payments.fail("k").unwrap());
    let found = payments.payment("k").unwrap().unwrap();
    assert_eq!((found.state, found.settled), (State::Settled, Some(settled())));
    assert_eq!(payments.unchecked_payments(5).unwrap(), []);
    assert_eq!(payments.unchecked_payments(6).unwrap().len(), 1);
    assert!(payments.orphan("k").unwrap());
    assert_eq!(payments.open_payments().unwrap().len(), 1);
    let again = PaymentSettlement { block: 9, settled_s: 5_000, ..settled() };
    assert!(payments.settle("k", again).unwrap());
    let found = payments.payment("k").unwrap().unwrap().settled.unwrap();
    assert_eq!(
        (found.block, found.settled_s),
        (9, 1_010),
        "it was answered when it was first settled"
    );
    payments.mark_rechecked("k").unwrap();
    assert_eq!(payments.unchecked_payments(99).unwrap(), []);

    settling(&payments, "f", 0);
    assert!(payments.fail("f").unwrap());
    assert!(matches!(payments.claim(&new("f", 2), token(2), 1_000).unwrap(), Claim::Taken));
    let counts = payments.counts().unwrap();
    assert_eq!(counts, Counts { claimed: 1, settled: 1, ..Counts::default() });
}

#[test]
fn a_payers_signature_outranks_a_claim_without_one_and_nothing_outranks_it() {
    let home = Home::new();
    let payments = home.open();
    let with = |fingerprint, signed| NewPayment {
        family: Family::Transfer,
        settled: Some(settled()),
        signed,
        ..new("tx", fingerprint)
    };
    let claim = |new: &NewPayment| payments.claim(new, token(1), 1_000).unwrap();
    assert!(matches!(claim(&with(1, false)), Claim::Taken));
    assert!(matches!(claim(&with(2, false)), Claim::Held(_)));
    assert!(matches!(claim(&with(2, true)), Claim::Taken));
    assert!(matches!(claim(&with(2, true)), Claim::Held(_)));
    assert!(matches!(claim(&with(3, true)), Claim::Held(_)));
    assert!(matches!(claim(&with(1, false)), Claim::Held(_)));
    let found = payments.payment("tx").unwrap().unwrap();
    assert_eq!((found.fingerprint, found.signed, found.state), ([2; 32], true, State::Settled));
}

#[test]
fn who_comes_first_with_a_hash_is_first_and_leases_pass_on() {
    let home = Home::new();
    let payments = home.open();
    let reserve =
        |fingerprint, now| payments.reserve(Word([5; 32]), [fingerprint; 32], now).unwrap();
    let place = |fingerprint, now| reserve(fingerprint, now).place;
    assert_eq!([place(1, 100), place(2, 101), place(1, 102), place(3, 103)], [0, 1, 0, 2]);
    assert_eq!(reserve(1, 500), HashReservation { place: 0, since_s: 100 });
    payments.tidy(1_001, 900).unwrap();
    assert_eq!([place(2, 1_001), place(1, 1_002)], [0, 2]);

    let lease = |holder, now| payments.lease("sweep", token(holder), 15, now).unwrap();
    assert!(lease(1, 100));
    assert!(!lease(2, 114));
    assert!(lease(1, 114));
    assert!(!lease(2, 128));
    assert!(lease(2, 129));
    assert!(!lease(1, 130));
}

#[test]
fn a_price_stays_in_force_for_those_it_was_offered_to() {
    let home = Home::new();
    let payments = home.open();
    assert_eq!(payments.prices_since(0).unwrap(), [0_u128; 0]);
    for (amount, now) in [(10, 100), (10, 150), (20, 200), (10, 300)] {
        payments.set_price(amount, now).unwrap();
    }
    assert_eq!(payments.prices_since(100).unwrap(), [10, 20, 10]);
    assert_eq!(payments.prices_since(199).unwrap(), [10, 20, 10]);
    assert_eq!(payments.prices_since(200).unwrap(), [10, 20]);
    assert_eq!(payments.prices_since(300).unwrap(), [10]);
}

#[test]
fn a_receipt_is_kept_as_it_was_first_and_goes_with_its_claim() {
    let home = Home::new();
    let payments = home.open();
    assert!(payments.keep_receipt("k", "a.b.c", &pool()).is_err(), "there is no such payment");
    let with = |fingerprint, signed| NewPayment {
        settled: Some(settled()),
        signed,
        ..new("k", fingerprint)
    };
    payments.claim(&with(1, false), token(1), 1_000).unwrap();
    assert_eq!(payments.receipt("k").unwrap(), None);
    assert_eq!(payments.keep_receipt("k", "a.b.c", &pool()).unwrap(), "a.b.c");
    assert_eq!(home.open().keep_receipt("k", "d.e.f", &pool()).unwrap(), "a.b.c");
    assert!(payments.orphan("k").unwrap() && payments.settle("k", settled()).unwrap());
    assert_eq!(payments.receipt("k").unwrap().as_deref(), Some("a.b.c"));
    // The payer signed for another request, so it has another answer and another receipt.
    payments.claim(&with(2, true), token(2), 1_000).unwrap();
    assert_eq!(payments.receipt("k").unwrap(), None);
    // Heads commit to every issued receipt, whatever became of the payment, and only once.
    assert_eq!(payments.keep_receipt("k", "g.h.i", &pool()).unwrap(), "g.h.i");
    let [first, second] = ["a.b.c", "g.h.i"].map(IssuedReceipts::receipt_of);
    let due = |limit| payments.uncommitted_receipts(limit).unwrap();
    assert_eq!(due(9), [(pool(), first), (pool(), second)]);
    assert_eq!(due(1), [(pool(), first)]);
    home.open().mark_committed(&[first]).unwrap();
    assert_eq!(due(9), [(pool(), second)]);
    // A receipt that is returned again, or signed again by another process, is not due again.
    payments.mark_committed(&[second]).unwrap();
    assert_eq!(payments.keep_receipt("k", "g.h.i", &pool()).unwrap(), "g.h.i");
    assert_eq!(payments.receipt("k").unwrap().as_deref(), Some("g.h.i"));
    assert_eq!(due(9), []);
}

pub fn pool() -> PoolId {
    "ethereum:0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640".parse().unwrap()
}
