//! The answers that the reference shows: real ones, of a recorded scene, and each is what its address is said to answer.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use exitgap_core::series::Slot;
use exitgap_tests::devchain::{FIRST_SLOT, World};
use serde_json::{Map, Value, json};

use crate::scenes::chain::scene;
use crate::scenes::service::{Service, configured_with, record_in};
use crate::scenes::share::{Stands, say, share, tables};

const FILE: &str = "crates/exitgap-server/docs/examples.json";

/// Where the service of the examples is said to be.
const BASE: &str = "https://api.example.org";

/// Addresses whose answers are documents and that have no example here, and why.
const WITHOUT: [(&str, &str); 4] = [
    ("readPayments", "nothing has a price"),
    ("listAlerts", "the owner's"),
    ("readAlert", "the owner's"),
    ("listAlertEvents", "the owner's"),
];

const TERMS: &str = r#"{"v": 1, "kind": "on_days", "calendar": "XNYS", "cutoff_before_close_s": 3600, "settlement_days": [1, 2],
  "fee_pct": "0.05", "eligibility": "whoever passed the issuer's checks", "source": "https://issuer.example/terms",
  "read_on": "2026-08-20"}"#;

/// Lists of an example are cut to two entries, and its slot was sealed a minute ago.
fn cut(value: &mut Value) {
    match value {
        Value::Array(all) => {
            all.truncate(2);
            all.iter_mut().for_each(cut);
        }
        Value::Object(members) => {
            for (name, member) in members {
                cut(member);
                if name.ends_with("snapshot_age_s") {
                    *member = json!(60);
                }
            }
        }
        _ => {}
    }
}

/// What does not fit a schema of the document, by its place.
fn misfits(document: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    if let Some(name) = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next()) {
        return misfits(document, &document["components"]["schemas"][name], value, at);
    }
    let mut found = Vec::new();
    for part in schema["allOf"].as_array().into_iter().flatten() {
        found.extend(misfits(document, part, value, at));
    }
    if let Some(parts) = schema["oneOf"].as_array().or(schema["anyOf"].as_array())
        && !parts.iter().any(|part| misfits(document, part, value, at).is_empty())
    {
        found.push(format!("{at}: none of the kinds that it may be"));
    }
    let is_of = |kind: &Value| match kind.as_str().unwrap_or_default() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        other => panic!("{at}: a type {other}"),
    };
    let types = &schema["type"];
    let fits = match types.as_array() {
        Some(all) => all.iter().any(is_of),
        None => types.is_null() || is_of(types),
    };
    if !fits {
        found.push(format!("{at}: {value} is not of {types}"));
    }
    if let Some(values) = schema["enum"].as_array()
        && !values.contains(value)
    {
        found.push(format!("{at}: {value} is none of {values:?}"));
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        if value.is_object() && value.get(name.as_str().unwrap()).is_none() {
            found.push(format!("{at}: without {name}"));
        }
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(member) = value.get(name) {
            found.extend(misfits(document, inner, member, &format!("{at}.{name}")));
        }
    }
    for (place, entry) in value.as_array().into_iter().flatten().enumerate() {
        if schema["items"].is_object() {
            found.extend(misfits(document, &schema["items"], entry, &format!("{at}[{place}]")));
        }
    }
    found
}

/// A schema that knows its fields notices one that it does not have.
#[test]
fn a_misfit_is_noticed() {
    let document = json!({"components": {"schemas": {"One": {
        "type": "object", "required": ["a"],
        "properties": {"a": {"type": ["integer", "null"]}, "b": {"type": "array", "items": {"enum": ["x"]}}},
    }}}});
    let schema = json!({"allOf": [{"$ref": "#/components/schemas/One"}]});
    let of = |value: Value| misfits(&document, &schema, &value, "").len();
    assert_eq!(of(json!({"a": null, "b": ["x", "x"]})), 0);
    for wrong in [
        json!({"b": []}),
        json!({"a": "1"}),
        json!({"a": 1.5}),
        json!({"a": 1, "b": ["y"]}),
        json!([]),
    ] {
        assert!(of(wrong.clone()) > 0, "{wrong}");
    }
}

/// The names of everything in a value, lists as their first entries have them.
fn shape(value: &Value, at: &str, into: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                into.push(format!("{at}.{name}"));
                shape(member, &format!("{at}.{name}"), into);
            }
        }
        Value::Array(all) => {
            all.iter().take(1).for_each(|one| shape(one, &format!("{at}[]"), into));
        }
        _ => {}
    }
}

/// What each address is asked, by its operation.
fn questions(
    pool: &str,
    share_pool: &str,
    weth: &str,
    wbtc: &str,
    slot: Slot,
) -> Vec<(&'static str, String)> {
    let number = slot.number();
    vec![
        ("listPools", "/v1/pools?limit=1".to_owned()),
        ("estimateExit", format!("/v1/exit/{pool}?size_usd=10000")),
        ("maxExitSize", format!("/v1/size/{pool}?gap_pct=1")),
        ("simulateOrders", format!("/v1/simulate/{pool}?size_usd=10000&orders=2")),
        ("readLadder", format!("/v1/ladder/{pool}")),
        ("readHistory", format!("/v1/history/{pool}?size_usd=1000&interval=5m&limit=1")),
        ("readStress", format!("/v1/stress/{pool}?size_usd=1000&limit_pct=1")),
        ("readFragility", "/v1/fragility?limit=1".to_owned()),
        (
            "scorePortfolio",
            format!("/v1/portfolio?position={pool}:1000&position={share_pool}:1000"),
        ),
        ("compareRoutes", format!("/v1/routes/anvil/{weth}?size_usd=10000")),
        ("readMarketHours", format!("/v1/hours/{share_pool}?size_usd=10000")),
        ("readDepthDecay", format!("/v1/decay/{pool}?move_pct=0.01&within_slots=1")),
        ("scoreLiquidationExposure", format!("/v1/exposure?venue={pool}&cascade_usd=10000")),
        (
            "readVenueStress",
            format!(
                "/v1/stress?venue={pool}&size_usd=10000&haircut_pct=40&fall_pct=10&limit_pct=1"
            ),
        ),
        ("listShocks", "/v1/shocks".to_owned()),
        ("listEquities", "/v1/equities".to_owned()),
        ("readEquity", format!("/v1/equities/anvil/{wbtc}?size_usd=5000")),
        ("readRedemption", format!("/v1/redemption/{pool}?size_usd=10000&base=WETH")),
        ("listAccuracy", "/v1/accuracy?limit=1".to_owned()),
        ("readAccuracy", format!("/v1/accuracy/{pool}")),
        (
            "evaluateAlert",
            format!("/v1/alerts/backtest/{pool}?kind=gap_above&size_usd=10000&pct=0.01"),
        ),
        ("listCapabilities", "/v1/capabilities".to_owned()),
        ("readSlotStatus", format!("/api/v1/status/{pool}?slot={number}")),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn the_examples_are_answers_and_each_is_as_its_address_is_described() {
    let (chain, world) = scene().await;
    let due = FIRST_SLOT * 300 + 30 * 86_400;
    say(&chain, Stands { now: 1_500_000, next: 3_000_000, since: due, paused: false }).await;
    let [weth, wbtc] =
        [world.assets[World::WETH].token.address, share(&world)].map(|one| format!("{one:#x}"));
    let (first, share_pool) = (world.pools[0].pool.address, world.pools[2].pool.address);
    let at = |place: u64| Slot::new(FIRST_SLOT + place).unwrap();
    let more = format!(
        "{}\n[[redemption]]\nchain = \"anvil\"\ntoken = \"{weth}\"\nterms = \"terms.json\"\n\n[[shock]]\nname = \"first-hour\"\n\
         about = \"a sale of much\"\npool = \"anvil:{first:#x}\"\nbase = \"WETH\"\nfrom = \"{}\"\nto = \"{}\"\nmove_pct = \"0.01\"\n\
         within_slots = 1\n",
        tables(&world, "scaled_ui", "raw", share_pool),
        at(0),
        at(5),
    );
    let folder = configured_with(&chain, &world, &more);
    fs::write(folder.path().join("terms.json"), TERMS).unwrap();
    let recorded = record_in(&chain, world, folder, 6).await;
    let limits = [("EXITGAP_HTTP_RATE_PER_MINUTE", "100000")];
    let service = Service::start(recorded.folder.path(), &["--no-record"], &limits);
    let document = service.get("/v1/openapi.json").found();
    let rows: BTreeMap<String, Value> = document["paths"]
        .as_object()
        .unwrap()
        .values()
        .filter_map(|item| item.get("get"))
        .map(|operation| (operation["operationId"].as_str().unwrap().to_owned(), operation.clone()))
        .collect();
    let (pool, share_pool) = (recorded.pool(0), recorded.pool(2));
    let asked = questions(&pool, &share_pool, &weth, &wbtc, recorded.last);
    // Every address that answers a document has an example, or is named with the reason.
    let schema_of = |operation: &Value| {
        operation["responses"]["200"]["content"]["application/json"]["schema"].clone()
    };
    for (id, operation) in &rows {
        let is_document = schema_of(operation)["$ref"].is_string();
        let is_told =
            asked.iter().any(|(of, _)| of == id) || WITHOUT.iter().any(|(of, _)| of == id);
        assert!(!is_document || is_told, "{id} has no example");
    }
    let here = format!("http://{}", service.address);
    let mut examples = Map::new();
    for (id, target) in asked {
        let mut answer = service.get(&target).found();
        let operation =
            rows.get(id).unwrap_or_else(|| panic!("{id} is no operation: {:?}", rows.keys()));
        let fits = misfits(&document, &schema_of(operation), &answer, id);
        assert_eq!(fits, Vec::<String>::new(), "{target}");
        cut(&mut answer);
        let answer = answer.to_string().replace(&here, BASE);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        examples.insert(id.to_owned(), json!({"request": target, "answer": answer}));
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    if std::env::var_os("EXITGAP_WRITE_EXAMPLES").is_some() {
        let text = serde_json::to_string_pretty(&Value::Object(examples.clone())).unwrap();
        fs::write(root.join(FILE), text + "\n").unwrap();
    }
    let kept: Map<String, Value> = serde_json::from_str(&super::document(FILE)).unwrap();
    assert_eq!(kept.keys().collect::<Vec<_>>(), examples.keys().collect::<Vec<_>>());
    for (id, example) in &kept {
        let schema = schema_of(&rows[id]);
        let fits = misfits(&document, &schema, &example["answer"], id);
        assert_eq!(fits, Vec::<String>::new(), "the example that is kept");
        let shown = &rows[id]["responses"]["200"]["content"]["application/json"]["example"];
        assert_eq!(shown, &example["answer"], "{id}: the reference shows it");
        let [mut is, mut was] = [Vec::new(), Vec::new()];
        shape(&examples[id]["answer"], "", &mut is);
        shape(&example["answer"], "", &mut was);
        assert_eq!(is, was, "{id}: EXITGAP_WRITE_EXAMPLES makes it anew");
    }
    let page = String::from_utf8(service.get("/docs").body).unwrap();
    assert_eq!(page.matches("<summary>An answer</summary>").count(), kept.len());
    let asked = kept["readStress"]["request"].as_str().unwrap().replace('&', "&amp;");
    assert!(page.contains(&format!("curl '{here}{asked}'")), "{asked}");
    assert_eq!(service.end(), Some(0));
}
