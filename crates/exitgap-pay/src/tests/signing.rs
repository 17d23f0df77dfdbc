//! What is signed, how it is sent, and what is recorded about it.

use base64ct::{Base64, Encoding};
use exitgap_api::x402::{PAYMENT_REQUIRED, PAYMENT_SIGNATURE, Payment, Units, X_PAYMENT};
use serde_json::Value;

use super::*;

const VECTORS: &str = include_str!("../../../../tests/vectors/x402/payments.json");

#[test]
fn typed_data_is_signed_as_the_official_clients_sign_it() {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    let text = |name: &str| vectors[name].as_str().unwrap();
    let signer = LocalSigner::of_hex(text("key")).unwrap();
    assert_eq!(signer.address().to_string(), text("payer").to_ascii_lowercase());
    let payments = [
        (Payment::of_v2_header(text("payment_signature")), text("payment_signature_hash")),
        (Payment::of_v1_header(text("x_payment")), text("x_payment_hash")),
    ];
    for (payment, hash) in payments {
        let Payment { authorization, signature, network, .. } = payment.unwrap();
        let usdc = Asset::known().into_iter().find(|asset| asset.network == network).unwrap();
        let data = TypedData { network, asset: usdc.address, domain: usdc.domain, authorization };
        assert_eq!(exitgap_core::ids::Word(data.hash()).to_string(), hash);
        assert_eq!(now(signer.sign(&data)).unwrap().to_vec(), signature);
        let json = data.to_json();
        assert_eq!(json["domain"]["chainId"], 84532);
        assert_eq!(json["message"]["value"], "10000");
    }
    assert!(!format!("{signer:?}").contains("11111"));
    for wrong in
        ["", "0x11", &KEY[..65], &format!("{KEY}1"), &KEY.replace('1', "g"), &"0".repeat(64)]
    {
        assert!(LocalSigner::of_hex(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn an_offer_is_paid_once_and_written_down() {
    let scene = Scene::settling(&priced(10_000));
    let paying = scene.paying();
    assert_eq!(now(paying.send(&request(URL))).unwrap().status, 200);
    let [(name, value)] = &scene.sent()[..] else { panic!("one payment") };
    assert_eq!(*name, PAYMENT_SIGNATURE);
    let payment = Payment::of_v2_header(value).unwrap();
    assert_eq!(payment.accepted.unwrap(), priced(10_000).terms);
    assert_eq!(payment.authorization.value, Units(10_000));
    assert_eq!(payment.authorization.valid_before_s, START_MS / 1000 + 120);
    // The service's own fields are returned unchanged.
    let sent: Value = serde_json::from_slice(&Base64::decode_vec(value).unwrap()).unwrap();
    assert_eq!(sent["resource"]["url"], URL);
    assert_eq!(sent["extensions"]["payment-identifier"]["info"]["required"], false);

    let [paid] = &paying.take_paid()[..] else { panic!("one payment") };
    assert_eq!((paid.status, paid.transaction.is_some()), (200, true));
    assert!(paying.take_paid().is_empty());
    let entries = scene.ledger().entries().unwrap();
    assert_eq!(entries.len(), 1);
    assert_eq!((entries[0].state, &entries[0].reserved.id), (State::Settled, &paid.id));
    assert_eq!(entries[0].reserved.path, "/v1/exit/ethereum:0x88e6");
    assert_eq!(scene.spent(), 10_000);
    // A request without a payment requirement gets no payment.
    scene.shop.unpaid.borrow_mut()[0] = answer(200);
    assert_eq!(scene.get().unwrap().status, 200);
    assert_eq!((scene.sent().len(), scene.spent()), (1, 10_000));
}

#[test]
fn an_offer_of_version_1_alone_is_paid_in_version_1() {
    let scene = Scene::settling(&priced(10_000));
    let alone = set(offer(&priced(10_000)), PAYMENT_REQUIRED, None);
    scene.shop.unpaid.borrow_mut()[0] = alone;
    scene.get().unwrap();
    let [(name, value)] = &scene.sent()[..] else { panic!("one payment") };
    assert_eq!(*name, X_PAYMENT);
    assert_eq!(Payment::of_v1_header(value).unwrap().network, base());
}

/// A device on which no one presses the button.
struct Refuses;
impl Signer for Refuses {
    fn address(&self) -> Address {
        Address([9; 20])
    }
    async fn sign(&self, _: &TypedData) -> Result<[u8; 65], String> {
        Err("the button was not pressed".to_owned())
    }
}

#[test]
fn a_signer_that_refuses_costs_nothing() {
    let scene = Scene::settling(&priced(10_000));
    let paying = PayingTransport::new(&scene.shop, Refuses, scene.policy.clone(), scene.ledger());
    let error = now(paying.send(&request(URL))).unwrap_err();
    assert!(error.to_string().contains("the button was not pressed"), "{error}");
    assert_eq!(code(Err(error)), "signer_failed");
    assert_eq!((scene.sent().len(), scene.spent()), (0, 0));
    assert_eq!(scene.ledger().entries().unwrap()[0].state, State::Released);
}
