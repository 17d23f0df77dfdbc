//! The outcome of a payment if the service's report or the answer is missing.

use super::*;

#[test]
fn a_service_that_says_failed_gives_nothing_back() {
    let lie = told(offer(&priced(10_000)), false, "insufficient_funds");
    let scene = Scene::new(offer(&priced(10_000)), vec![Ok(lie)]);
    let error = scene.get().unwrap_err();
    assert!(
        error.to_string().contains("insufficient_funds; the same signed payment was sent 3 times"),
        "{error}"
    );
    assert_eq!(code(Err(error)), "payment_refused");
    assert_eq!((scene.sent().len(), scene.spent()), (3, 10_000));
    assert_eq!(scene.signed(), 1);
    assert_eq!(scene.ledger().entries().unwrap()[0].state, State::Sent);
}

#[test]
fn what_is_lost_is_asked_for_again_with_the_same_payment() {
    let pending = told(set(answer(503), "retry-after", Some("1")), false, "settlement_pending");
    let lost = TransportError::Unreachable("connection reset".to_owned());
    let outcomes = vec![Err(lost), Ok(pending.clone()), Ok(told(answer(200), true, ""))];
    let scene = Scene::new(offer(&priced(10_000)), outcomes);
    assert_eq!(scene.get().unwrap().status, 200);
    let sent = scene.sent();
    assert_eq!(sent.len(), 3);
    assert!(sent.iter().all(|header| *header == sent[0]), "one signature");
    assert_eq!(scene.spent(), 10_000);

    // Until it expires; then its outcome is unknown, and it stays counted.
    let scene = Scene::new(offer(&priced(10_000)), vec![Ok(pending)]);
    let error = scene.get().unwrap_err();
    assert!(error.to_string().contains("settlement_pending"), "{error}");
    assert_eq!(code(Err(error)), "payment_unknown");
    let sent = scene.sent();
    assert!((100..=120).contains(&sent.len()), "{}", sent.len());
    assert!(sent.iter().all(|header| *header == sent[0]), "one signature");
    assert_eq!(scene.spent(), 10_000);
}

#[test]
fn a_caller_that_gave_up_gets_the_same_payment_repeated() {
    let scene = Scene::settling(&priced(10_000));
    let paying = scene.paying();
    {
        // The service answers only the second attempt.
        let stuck = Stuck(&scene.shop, RefCell::new(true));
        let signer = LocalSigner::of_hex(KEY).unwrap();
        let paying = PayingTransport::new(&stuck, signer, scene.policy.clone(), scene.ledger());
        let asked = request(URL);
        {
            let mut first = pin!(paying.send(&asked));
            assert!(first.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        *stuck.1.borrow_mut() = false;
        assert_eq!(now(paying.send(&asked)).unwrap().status, 200);
    }
    let sent = scene.sent();
    assert_eq!((sent.len(), scene.spent()), (2, 10_000));
    assert_eq!(sent[0], sent[1]);
    // It was settled and answered: the next request gets a new payment.
    now(paying.send(&request(URL))).unwrap();
    assert_eq!(scene.spent(), 20_000);
}

/// A service that never answers a paid request while it is stuck.
struct Stuck<'a>(&'a Shop, RefCell<bool>);

impl Transport for &Stuck<'_> {
    async fn send(&self, request: &Request) -> Result<Response, TransportError> {
        let answer = (&self.0).send(request).await;
        if *self.1.borrow() && !request.headers.is_empty() {
            core::future::pending::<()>().await;
        }
        answer
    }

    async fn pause(&self, time: Duration) {
        (&self.0).pause(time).await;
    }

    fn random(&self) -> u32 {
        0
    }
}
