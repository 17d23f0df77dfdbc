//! Parsing, and the errors of invalid input.

use base64ct::{Base64, Encoding};
use exitgap_core::ids::{Caip2, Word};
use serde_json::{Value, json};

use super::*;

const VECTORS: &str = include_str!("../../../../tests/vectors/x402/payments.json");

fn vector(name: &str) -> String {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    vectors[name].as_str().unwrap().to_owned()
}

fn priced(chain_id: u64) -> PricedOffer {
    PricedOffer {
        terms: Terms {
            network: Caip2(chain_id),
            asset: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913".parse().unwrap(),
            pay_to: "0x209693bc6afc0c5328ba36faf03c514ef312287c".parse().unwrap(),
            amount: Units(10_000),
            max_timeout_s: 120,
            domain: TokenDomain { name: "USD Coin".to_owned(), version: "2".to_owned() },
        },
        currency: "USDC".to_owned(),
        decimals: 6,
        url: "https://exitgap.example/v1/exit/ethereum:0x88e6?size_usd=250000".to_owned(),
        description: "what this size fills at now".to_owned(),
        error: "payment required".to_owned(),
    }
}

/// A 402 as a service sends it, for changes by tests.
struct Sent {
    headers: Vec<(&'static str, String)>,
    body: Value,
}

impl Sent {
    fn of(priced: &PricedOffer) -> Self {
        let mut body = json!({"code": "payment_required", "status": 402});
        if let Some(members) = priced.body_members() {
            let members = serde_json::to_value(members).unwrap();
            body.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        }
        Self { headers: priced.headers().to_vec(), body }
    }

    fn set(mut self, name: &'static str, value: &str) -> Self {
        self.headers.retain(|(other, _)| *other != name);
        self.headers.push((name, value.to_owned()));
        self
    }

    fn read(&self) -> Result<Offers, X402Error> {
        let find = |name: &str| {
            let found = self.headers.iter().find(|(other, _)| *other == name);
            found.map(|(_, value)| value.as_str())
        };
        Offers::from_response(find, self.body.to_string().as_bytes())
    }
}

fn encoded(value: &Value) -> String {
    Base64::encode_string(value.to_string().as_bytes())
}

fn decoded(text: &str) -> Value {
    serde_json::from_slice(&Base64::decode_vec(text).unwrap()).unwrap()
}

#[test]
fn an_offer_is_read_as_it_was_written() {
    let (priced, unnamed) = (priced(8453), priced(31337));
    let offers = Sent::of(&priced).read().unwrap();
    let [v2, v1] = [&offers.v2, &offers.v1].map(|all| all[0].as_ref().unwrap());
    assert_eq!((&v2.terms, v2.version()), (&priced.terms, Version::V2));
    assert_eq!((&v1.terms, v1.version()), (&priced.terms, Version::V1));
    let plain = offers.plain.unwrap();
    assert_eq!(
        (plain.amount.as_str(), plain.currency.as_str(), plain.network, plain.recipient),
        ("0.01", "USDC", Caip2(8453), priced.terms.pay_to)
    );
    // Proxies cut off headers larger than 4 KB.
    let bytes: usize = priced.headers().iter().map(|(name, value)| name.len() + value.len()).sum();
    assert!(bytes < 2048, "{bytes}");
    // A chain without a name in version 1 is offered only in version 2.
    let offers = Sent::of(&unnamed).read().unwrap();
    assert_eq!((offers.v2.len(), offers.v1.len()), (1, 0));
    assert!(v1_name(Caip2(31337)).is_none());
    assert_eq!(network_of_v1_name("base-sepolia"), Some(Caip2(84532)));
}

#[test]
fn a_402_that_offers_nothing_is_no_error_and_half_an_offer_is_one() {
    let nothing = Offers::from_response(|_| None, b"<html>").unwrap();
    assert!(nothing.v1.is_empty() && nothing.v2.is_empty() && nothing.plain.is_none());
    let only = |name: &str| (name == X_PAYMENT_AMOUNT).then_some("0.01");
    let missing = X402Error::Missing { field: X_PAYMENT_CURRENCY };
    assert_eq!(Offers::from_response(only, b"").unwrap_err(), missing);
}

#[test]
fn what_cannot_be_read_is_refused_by_name() {
    let sent = || Sent::of(&priced(8453));
    let error = |sent: Sent| sent.read().unwrap_err();
    let required = || decoded(&priced(8453).headers()[0].1);
    let with = |change: &dyn Fn(&mut Value)| {
        let mut value = required();
        change(&mut value);
        error(sent().set(PAYMENT_REQUIRED, &encoded(&value)))
    };
    let what = PAYMENT_REQUIRED;
    assert_eq!(error(sent().set(what, "****")), X402Error::NotBase64 { what });
    let long = "A".repeat(MAX_HEADER_BYTES + 4);
    let too_long = X402Error::TooLong { what, found: long.len(), most: MAX_HEADER_BYTES };
    assert_eq!(error(sent().set(what, &long)), too_long);
    assert!(matches!(error(sent().set(what, "bm8=")), X402Error::NotJson { .. }));
    let version = X402Error::Version { what, found: 3, expected: 2 };
    assert_eq!(with(&|value| value["x402Version"] = json!(3)), version);
    assert_eq!(with(&|value| value["accepts"] = json!([])), X402Error::Accepts { found: 0 });
    let many = vec![required()["accepts"][0].clone(); MAX_ACCEPTS + 1];
    let found = X402Error::Accepts { found: MAX_ACCEPTS + 1 };
    assert_eq!(with(&|value| value["accepts"] = json!(many)), found);

    let mut body = sent();
    body.body["padding"] = json!("x".repeat(MAX_BODY_BYTES));
    assert!(matches!(error(body), X402Error::TooLong { what: "body", .. }));
    for wrong in ["1e-2", "NaN", "0,01", "-0.01", ".01", "0.", "", "00.01", "0.01 "] {
        let refused = error(sent().set(X_PAYMENT_AMOUNT, wrong));
        assert!(matches!(refused, X402Error::Amount { field: X_PAYMENT_AMOUNT, .. }), "{wrong}");
    }
    let refused = error(sent().set(X_PAYMENT_NETWORK, "base"));
    assert_eq!(refused, X402Error::Network { found: "base".to_owned() });
    let refused = error(sent().set(X_PAYMENT_RECIPIENT, "0x12"));
    assert!(matches!(refused, X402Error::Hex { field: X_PAYMENT_RECIPIENT, .. }));
}

#[test]
fn a_way_to_pay_that_is_not_ours_leaves_the_others() {
    let entry = |field: &str, value: Value| {
        let mut required = decoded(&priced(8453).headers()[0].1);
        let mut other = required["accepts"][0].clone();
        other[field] = value;
        required["accepts"].as_array_mut().unwrap().insert(0, other);
        let sent = Sent::of(&priced(8453)).set(PAYMENT_REQUIRED, &encoded(&required));
        let mut offers = sent.read().unwrap();
        assert!(offers.v2[1].is_ok());
        offers.v2.remove(0).unwrap_err()
    };
    assert!(matches!(entry("scheme", json!("upto")), X402Error::Scheme { .. }));
    assert!(matches!(entry("network", json!("solana:5eykt4Us")), X402Error::Network { .. }));
    assert!(matches!(entry("payTo", json!("0X12")), X402Error::Hex { field: "payTo", .. }));
    assert!(matches!(entry("asset", json!("EPjF")), X402Error::Hex { field: "asset", .. }));
    assert_eq!(entry("extra", Value::Null), X402Error::Domain);
    assert_eq!(entry("extra", json!({"name": "USDC", "version": ""})), X402Error::Domain);
    for seconds in [0, 86_401] {
        assert!(matches!(entry("maxTimeoutSeconds", json!(seconds)), X402Error::Seconds { .. }));
    }
    // A JSON number is not accepted as an amount, because a JSON reader may have rounded it.
    assert!(matches!(entry("amount", json!(10000)), X402Error::NotJson { .. }));
    for wrong in ["1e3", "NaN", "-1", "+1", "0x10", "1.0", "", " 1", "007", "Infinity"] {
        let refused = entry("amount", json!(wrong));
        let found = wrong.to_owned();
        assert_eq!(refused, X402Error::Amount { field: "amount", found }, "{wrong}");
    }
    let beyond = "340282366920938463463374607431768211456";
    assert!(matches!(entry("amount", json!(beyond)), X402Error::Amount { .. }));
}

#[test]
fn amounts_are_exact() {
    let exact = 9_007_199_254_740_993_u128;
    assert_eq!(exact.to_string().parse(), Ok(Units(exact)));
    assert_eq!(serde_json::to_value(Units(exact)).unwrap(), json!("9007199254740993"));
    assert_eq!(Units(exact).in_tokens(6), "9007199254.740993");
    for (text, units) in [("0", 0), ("1", 1_000_000), ("0.000001", 1), ("12.5", 12_500_000)] {
        assert_eq!(Units::of_tokens("limit", text, 6), Ok(Units(units)));
        assert_eq!(Units(units).in_tokens(6), text);
    }
    for wrong in ["0.0000001", "1.", "1e2", "-1", "340282366920938463463374607431768211455"] {
        assert!(Units::of_tokens("limit", wrong, 6).is_err(), "{wrong}");
    }
}

#[test]
fn payments_of_the_official_clients_are_read() {
    let v2 = Payment::of_v2_header(&vector("payment_signature")).unwrap();
    let v1 = Payment::of_v1_header(&vector("x_payment")).unwrap();
    assert_eq!((v1.version, v2.version), (Version::V1, Version::V2));
    assert_eq!([&v1, &v2].map(Payment::network_name), ["base-sepolia", "eip155:84532"]);
    let payer = vector("payer").to_ascii_lowercase();
    for payment in [&v1, &v2] {
        let Payment { authorization, signature, network, .. } = payment;
        assert_eq!(
            (authorization.from.to_string(), authorization.value),
            (payer.clone(), Units(10_000))
        );
        assert_eq!((signature.len(), *network), (65, Caip2(84532)));
        assert!(authorization.valid_before_s > authorization.valid_after_s);
    }
    assert_eq!(v2.accepted.unwrap().amount, v2.authorization.value);
    assert_eq!((v2.identifier, v1.accepted), (None, None));
}

#[test]
fn a_payment_is_read_as_it_was_written() {
    let offers = Sent::of(&priced(8453)).read().unwrap();
    let mut payment = Payment::of_v2_header(&vector("payment_signature")).unwrap();
    payment.authorization.value = Units(u128::MAX);
    for offer in [offers.v1, offers.v2].into_iter().flatten().map(Result::unwrap) {
        let (name, value) = payment.authorization.to_header(&offer, &payment.signature);
        let find = |asked: &str| (asked == name).then_some(value.as_str());
        let Some(RequestPayment::Payment(read)) = RequestPayment::find(find).unwrap() else {
            panic!("{name}")
        };
        assert_eq!(read.authorization, payment.authorization);
        assert_eq!((read.version, &read.signature), (offer.version(), &payment.signature));
        assert_eq!(read.accepted.is_some(), offer.version() == Version::V2);
    }
}

#[test]
fn payments_that_are_none_are_refused_by_name() {
    let good = decoded(&vector("payment_signature"));
    let with = |path: &str, value: Value| {
        let mut payment = good.clone();
        *payment.pointer_mut(path).unwrap() = value;
        Payment::of_v2_header(&encoded(&payment)).unwrap_err()
    };
    let authorization =
        |field: &str, value: Value| with(&format!("/payload/authorization/{field}"), value);
    assert!(matches!(with("/x402Version", json!(1)), X402Error::Version { found: 1, .. }));
    assert!(matches!(with("/accepted/scheme", json!("upto")), X402Error::Scheme { .. }));
    assert!(matches!(authorization("value", json!(10000)), X402Error::NotJson { .. }));
    assert!(matches!(
        authorization("value", json!("1e4")),
        X402Error::Amount { field: "value", .. }
    ));
    assert!(matches!(authorization("nonce", json!("0x12")), X402Error::Hex { field: "nonce", .. }));
    let beyond = authorization("validBefore", json!("18446744073709551616"));
    assert!(matches!(beyond, X402Error::Seconds { field: "validBefore", .. }));
    for signature in ["0x", "0x1", "ab", "0xzz", &format!("0x{}", "00".repeat(4097))] {
        let refused = with("/payload/signature", json!(signature));
        assert!(matches!(refused, X402Error::Hex { field: "signature", .. }), "{refused}");
    }
    let short = json!({"info": {"required": false, "id": "short"}});
    let refused = with("/extensions/payment-identifier", short);
    assert!(matches!(refused, X402Error::Identifier { .. }));
    let mut named = good.clone();
    named["extensions"]["payment-identifier"]["info"]["id"] = json!("request-0123456789");
    let read = Payment::of_v2_header(&encoded(&named)).unwrap();
    assert_eq!(read.identifier.as_deref(), Some("request-0123456789"));

    let both = |name: &str| [PAYMENT_SIGNATURE, X_PAYMENT].contains(&name).then_some("");
    let twice = X402Error::Twice { first: PAYMENT_SIGNATURE, second: X_PAYMENT };
    assert_eq!(RequestPayment::find(both).unwrap_err(), twice);
    assert_eq!(RequestPayment::find(|_| None), Ok(None));
}

#[test]
fn proofs_are_a_hash_and_perhaps_a_claim() {
    let hash = Word([0xab; 32]);
    for claim in [None, Some([7; 65])] {
        let proof = Proof { transaction: hash, claim };
        assert_eq!(Proof::of_header(&proof.to_header()), Ok(proof));
    }
    for wrong in [31, 33, 96, 98] {
        let text = format!("0x{}", "ab".repeat(wrong));
        assert!(matches!(Proof::of_header(&text), Err(X402Error::Hex { .. })), "{wrong}");
    }
}

#[test]
fn settlements_are_read_as_they_were_written() {
    let pending = Settlement {
        success: false,
        error_reason: Some("settlement_pending".to_owned()),
        transaction: format!("0x{}", "12".repeat(32)),
        network: "eip155:8453".to_owned(),
        payer: None,
    };
    assert_eq!(Settlement::of_header(&pending.to_header()), Ok(pending.clone()));
    let document = decoded(&pending.to_header());
    assert_eq!(document["errorReason"], "settlement_pending");
    assert!(document.get("payer").is_none());
    assert_eq!(Settlement::header_name(Version::V1), "x-payment-response");
    assert_eq!(Settlement::header_name(Version::V2), "payment-response");
}
