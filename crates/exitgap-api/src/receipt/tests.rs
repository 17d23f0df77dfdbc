use base64ct::{Base64UrlUnpadded, Encoding};
use exitgap_core::evidence::Evidence;
use serde_json::{Value, json};

use super::*;
use crate::x402::{Terms, TokenDomain};

const PAGE: &str = include_str!("../../../exitgap-pay/docs/receipt-v1.md");
const VECTOR: &str = include_str!("../../../../tests/vectors/evidence/true_constant_product.json");

fn signer() -> ReceiptSigner {
    ReceiptSigner::from_seed([7; 32])
}

const ANSWER: &[u8] = br#"{"exit_gap_pct":0.42}"#;

fn receipt() -> Receipt {
    Receipt {
        v: RECEIPT_VERSION,
        network: Caip2(8453),
        transaction: Word([0x12; 32]),
        payer: Address([0x19; 20]),
        amount: Units(10_000),
        asset: Address([0x83; 20]),
        resource_url: "https://exitgap.example/v1/exit/ethereum:0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640?size_usd=250000".to_owned(),
        issued_at: 1_795_369_518,
        answer_sha256: Receipt::name_of(ANSWER),
        evidence_url: Some("https://exitgap.example/api/v1/exit/ethereum:0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640?base=token1&slot=5984565&size_usd=250000&method_version=1.0.0".to_owned()),
        snapshot_hash: SnapshotHash([0x5e; 32]),
        method_version: "1.0.0".to_owned(),
    }
}

/// A text with other parts, but a valid signature by the key.
fn signed(header: &str, payload: &str) -> String {
    let encode = Base64UrlUnpadded::encode_string;
    let text = format!("{}.{}", encode(header.as_bytes()), encode(payload.as_bytes()));
    let signature = signer().sign(&text);
    format!("{text}.{}", encode(&signature))
}

fn header() -> Value {
    json!({"alg": "EdDSA", "kid": signer().key().kid(), "typ": "exitgap-receipt"})
}

#[test]
fn what_was_signed_is_read_as_it_was_and_is_of_its_answer_alone() {
    let text = receipt().sign(&signer());
    assert_eq!(text, receipt().sign(&signer()), "the same text each time");
    let read = Receipt::verify(&text, &signer().key()).unwrap();
    assert_eq!(read, receipt());
    read.check_answer(ANSWER).unwrap();
    let other = read.check_answer(b"{\"exit_gap_pct\":0.43}").unwrap_err();
    assert_eq!(other.code(), "receipt_other_answer");
    let domain = TokenDomain { name: "USD Coin".to_owned(), version: "2".to_owned() };
    let Receipt { network, asset, amount, payer, .. } = read.clone();
    let pay_to = Address([0x20; 20]);
    let terms = Terms { network, asset, pay_to, amount, max_timeout_s: 120, domain };
    read.check_payment(&terms, payer).unwrap();
    let others = [
        (Terms { network: Caip2(1), ..terms.clone() }, payer),
        (Terms { asset: pay_to, ..terms.clone() }, payer),
        (Terms { amount: Units(9_999), ..terms.clone() }, payer),
        (terms, pay_to),
    ];
    for (terms, payer) in others {
        let other = read.check_payment(&terms, payer).unwrap_err();
        assert_eq!(other.code(), "receipt_other_payment");
    }
    let without = Receipt { evidence_url: None, ..receipt() };
    assert_eq!(Receipt::verify(&without.sign(&signer()), &signer().key()), Ok(without));
}

#[test]
fn every_changed_character_is_refused() {
    let text = receipt().sign(&signer());
    let key = signer().key();
    for at in 0..text.len() {
        for other in [b'A', b'-', b'.', b'='] {
            let mut bytes = text.clone().into_bytes();
            if bytes[at] == other {
                continue;
            }
            bytes[at] = other;
            let changed = String::from_utf8(bytes).unwrap();
            let refused = Receipt::verify(&changed, &key).unwrap_err();
            let code = refused.code();
            assert!(code.starts_with("receipt_"), "{at} {refused}");
        }
    }
    for length in 0..text.len() {
        assert!(Receipt::verify(&text[..length], &key).is_err(), "{length}");
    }
}

#[test]
fn refusals_name_what_is_wrong() {
    let key = signer().key();
    let code = |text: &str| Receipt::verify(text, &key).unwrap_err().code();
    let payload = serde_json::to_string(&receipt()).unwrap();
    let with = |field: &str, value: Value| {
        let mut header = header();
        header[field] = value;
        signed(&header.to_string(), &payload)
    };
    // The header's members may be in any order.
    Receipt::verify(&signed(&header().to_string(), &payload), &key).unwrap();
    for alg in ["none", "HS256", "ES256K", "eddsa", ""] {
        assert_eq!(code(&with("alg", json!(alg))), "receipt_algorithm", "{alg}");
    }
    let unsigned = with("alg", json!("none"));
    let unsigned = &unsigned[..=unsigned.rfind('.').unwrap()];
    assert_eq!(code(unsigned), "receipt_algorithm");
    assert_eq!(code(&with("typ", json!("JWT"))), "receipt_kind");
    assert_eq!(code(&with("kid", json!("another"))), "receipt_other_key");
    assert_eq!(code(&with("crit", json!(["exp"]))), "receipt_malformed");
    let stranger = ReceiptSigner::from_seed([8; 32]);
    assert_eq!(code(&receipt().sign(&stranger)), "receipt_other_key");
    // Another key signs under the key's name.
    let text = signed(&header().to_string(), &payload);
    let (start, _) = text.rsplit_once('.').unwrap();
    let forged = format!("{start}.{}", Base64UrlUnpadded::encode_string(&stranger.sign(start)));
    assert_eq!(code(&forged), "receipt_signature");
    assert_eq!(
        code(&format!("{start}.{}", &text[start.len() + 1..text.len() - 2])),
        "receipt_signature"
    );
    for wrong in
        ["", "a", "a.b", "a.b.c.d", "****.e30.e30", &format!("{text}="), &format!(" {text}")]
    {
        assert_eq!(code(wrong), "receipt_malformed", "{wrong:?}");
    }
    assert_eq!(code(&"e".repeat(MAX_RECEIPT_BYTES + 1)), "receipt_too_large");
    // Texts that the key itself signed in another form.
    let header = header().to_string();
    let changed = |from: &str, to: &str| {
        assert!(payload.contains(from), "{from}");
        signed(&header, &payload.replacen(from, to, 1))
    };
    assert_eq!(code(&changed("\"v\":1", "\"v\":2")), "receipt_version");
    assert_eq!(code(&changed("\"v\":1", "\"v\":1,\"more\":1")), "receipt_malformed");
    assert_eq!(code(&changed("\"v\":1,", "\"v\":1, ")), "receipt_malformed");
    assert_eq!(code(&changed("\"10000\"", "10000")), "receipt_malformed");
    assert_eq!(code(&signed(&header, "[]")), "receipt_malformed");
    assert_eq!(code(&signed("{}", &payload)), "receipt_algorithm");
}

#[test]
fn evidence_is_of_the_snapshot_and_of_the_question() {
    let vector: Value = serde_json::from_str(VECTOR).unwrap();
    let bytes = vector["evidence"].as_str().unwrap().as_bytes();
    let evidence = Evidence::from_bytes(bytes);
    let snapshot = evidence.snapshot().unwrap();
    let asked = evidence.statement().unwrap().request.clone();
    let url = format!(
        "https://exitgap.example/api/v1/exit/{}?base={}&slot={}&size_usd={}&method_version={}",
        asked.pool,
        asked.base.code(),
        asked.slot,
        asked.size_usd,
        asked.method_version
    );
    let of = Receipt {
        snapshot_hash: snapshot.to_canonical().unwrap().hash(),
        evidence_url: Some(url.clone()),
        ..receipt()
    };
    of.check_evidence(&evidence).unwrap();
    let without = Receipt { evidence_url: None, ..of.clone() };
    without.check_evidence(&evidence).unwrap();
    let other_size = url.replace("size_usd=", "size_usd=1");
    let other = Receipt { evidence_url: Some(other_size), ..of.clone() };
    assert_eq!(other.check_evidence(&evidence).unwrap_err().code(), "receipt_other_evidence");
    let other = Receipt { snapshot_hash: SnapshotHash([1; 32]), ..of.clone() };
    assert_eq!(other.check_evidence(&evidence).unwrap_err().code(), "receipt_other_snapshot");
    for other in [&b""[..], b"{}", &bytes[..bytes.len() / 2]] {
        let refused = of.check_evidence(&Evidence::from_bytes(other)).unwrap_err();
        assert_eq!(refused.code(), "evidence_unreadable");
    }
}

#[test]
fn keys_are_read_in_each_form_that_they_are_handed_on_in() {
    let key = signer().key();
    let jwk = serde_json::to_string(&key.to_jwk()).unwrap();
    let document = format!("{{\"price\":\"0.01\",\"receipt_key\":{jwk}}}");
    for text in [key.to_string(), jwk.clone(), document, format!("{key}\n")] {
        assert_eq!(ReceiptKey::from_text(&text), Ok(key.clone()), "{text}");
    }
    let weak = format!("{}A", "A".repeat(42));
    for wrong in ["", "A", &weak, "{}", "{\"receipt_key\":1}", &format!("{key}A")] {
        assert_eq!(ReceiptKey::from_text(wrong), Err(ReceiptKeyError::NotAKey), "{wrong:?}");
    }
    let refused = |from: &str, to: &str| ReceiptKey::from_text(&jwk.replace(from, to)).unwrap_err();
    let other_name = refused(&key.kid(), "me");
    assert!(matches!(other_name, ReceiptKeyError::Name { .. }), "{other_name}");
    for (from, to) in [("OKP", "EC"), ("Ed25519", "X25519"), ("EdDSA", "none")] {
        assert!(matches!(refused(from, to), ReceiptKeyError::Kind { .. }), "{to}");
    }
    // RFC 8037, A.3, gives this key this name.
    let example: ReceiptKey = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo".parse().unwrap();
    assert_eq!(example.kid(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
}

#[test]
fn a_signers_file_is_read_as_it_was_written_and_a_logs_key_is_refused_by_name() {
    let text = signer().to_secret_text();
    assert_eq!(ReceiptSigner::of_secret_text(&format!("{text}\n")).unwrap().key(), signer().key());
    assert!(!format!("{:?}", signer()).contains("Bwc"));
    let refused = |text: &str| ReceiptSigner::of_secret_text(text).unwrap_err();
    let log = exitgap_core::tlog::SignerKey::from_seed("example.org/exits", [7; 32]).unwrap();
    assert_eq!(refused(&log.to_secret_text()), ReceiptKeyError::OfALog);
    let x = signer().key().to_string();
    let other = ReceiptSigner::from_seed([8; 32]).key().to_string();
    assert_eq!(refused(&text.replace(&x, &other)), ReceiptKeyError::Halves);
    for wrong in ["", "{}", &"11".repeat(32), &text.replace("\"d\"", "\"e\"")] {
        assert_eq!(refused(wrong), ReceiptKeyError::NotAKey, "{wrong}");
    }
}

/// The code block of the format page that follows a line.
fn example(after: &str) -> &'static str {
    let (_, rest) = PAGE.split_once(after).unwrap_or_else(|| panic!("{after}"));
    rest.split("```").nth(1).unwrap().split_once('\n').unwrap().1.trim_end()
}

#[test]
fn the_format_is_what_its_page_says() {
    let key: ReceiptJwk = serde_json::from_str(example("The key:")).unwrap();
    assert_eq!(key, signer().key().to_jwk());
    assert_eq!(example("The answer ("), std::str::from_utf8(ANSWER).unwrap());
    let payload = serde_json::to_string(&receipt()).unwrap();
    assert_eq!(example("The payload:"), payload);
    let text: String = example("The receipt (").lines().collect();
    assert_eq!(text, receipt().sign(&signer()));
    for field in serde_json::from_str::<Value>(&payload).unwrap().as_object().unwrap().keys() {
        assert!(PAGE.contains(&format!("| `{field}` |")), "{field}");
    }
}
