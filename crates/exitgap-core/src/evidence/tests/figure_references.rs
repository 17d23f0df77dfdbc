//! Files of the figures that separate the oracle's lag from missing liquidity: both versions, and both depths of a week.

use serde_json::{Value, json};

#[cfg(not(target_family = "wasm"))]
use super::figure::is_vector;
use super::figure::{deep_pair, failed, file_of, moving, report_on_all, two_venues};
use super::*;
use crate::analytics::Reference;
use crate::analytics::depths::DepthsTerms;
use crate::analytics::exposure::{ExposureTerms, Liquidation};
use crate::analytics::stress::{Shock, StressTerms};

fn exposure(reference: Option<Reference>) -> (Scene, Vec<u8>) {
    let (scene, venues) = two_venues([moving, deep_pair], Base::Token0);
    let figure = ExposureTerms {
        venues,
        from: slot(0),
        to: slot(11),
        cascade: "1500".parse().unwrap(),
        liquidation: Liquidation { bonus_e8: 5_000_000, protocol_fee_e8: 0, fall_e8: 20_000_000 },
        reference,
    };
    let bytes = file_of(&scene, &figure);
    (scene, bytes)
}

#[test]
fn a_file_is_of_the_version_that_its_parameters_are_of() {
    let mut causes = Vec::new();
    for reference in [Reference::Oracle, Reference::Mid] {
        let (scene, bytes) = exposure(Some(reference));
        let report = report_on_all(&scene, &bytes);
        assert_eq!(report.verdict, Verdict::Valid, "{report:#?}");
        let value: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(
            (&value["figure"], &value["parameters"]["reference"]),
            (&json!("exposure/2"), &json!(reference.code()))
        );
        causes.push(value["result"]["causes"].clone());
        let told = |change: &dyn Fn(&mut Value)| {
            let mut value = value.clone();
            change(&mut value);
            failed(&report_on_all(&scene, &canonical(&value))).map(|(_, code)| code)
        };
        let other = if reference == Reference::Mid { "oracle" } else { "mid" };
        let changed = told(&|value| value["parameters"]["reference"] = json!(other));
        assert_eq!(changed, Some("result_mismatch"));
        for wrong in [json!("middle"), json!(null), json!(1)] {
            let changed = told(&|value| value["parameters"]["reference"] = wrong.clone());
            assert_eq!(changed, Some("format_invalid"), "{wrong}");
        }
        // Version 1 has no reference, and version 2 has one.
        let older = told(&|value| value["figure"] = json!("exposure/1"));
        assert_eq!(older, Some("format_invalid"));
        let without = |value: &mut Value| {
            drop(value["parameters"].as_object_mut().unwrap().remove("reference"));
        };
        assert_eq!(told(&without), Some("format_invalid"));
        let more = told(&|value| value["result"]["causes"]["thin_book_slots"] = json!(77));
        assert_eq!(more, Some("result_mismatch"));
    }
    assert_eq!(causes[0], causes[1]);
    let (scene, bytes) = exposure(None);
    assert_eq!(report_on_all(&scene, &bytes).verdict, Verdict::Valid);
    let value: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!((&value["figure"], value["result"].get("causes")), (&json!("exposure/1"), None));
}

fn stress(reference: Reference) -> (Scene, Vec<u8>) {
    let (scene, venues) = two_venues([moving, deep_pair], Base::Token1);
    let figure = StressTerms {
        venues,
        from: slot(0),
        to: slot(11),
        size: "1500".parse().unwrap(),
        shock: Shock { haircut_e8: 35_000_000, fall_e8: 12_500_000 },
        limit: Some("1".parse().unwrap()),
        after: None,
        reference: Some(reference),
    };
    let bytes = file_of(&scene, &figure);
    (scene, bytes)
}

#[test]
fn a_stress_of_the_second_version_is_recomputed() {
    let (scene, bytes) = stress(Reference::Mid);
    assert_eq!(report_on_all(&scene, &bytes).verdict, Verdict::Valid);
    let value: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(value["figure"], "stress/2");
    let worst = &value["result"]["worst"][0];
    assert_eq!(worst["gap_pct"], worst["gap_from_mid_pct"]);
    assert_ne!(worst["gap_pct"], worst["gap_from_oracle_pct"]);
    assert!(value["result"]["causes"]["thin_book_slots"].is_u64());
}

fn depths() -> (Scene, Vec<u8>) {
    let (scene, _) = two_venues([moving, deep_pair], Base::Token0);
    let pool = scene.pools[0].id.clone();
    let bytes = file_of(&scene, &DepthsTerms { pool, from: slot(2), to: slot(11) });
    (Scene { pools: vec![scene.pools[0].clone()], ..scene }, bytes)
}

/// Vectors for verifiers in other languages.
#[cfg(not(target_family = "wasm"))]
#[test]
fn the_vectors_of_references_and_depths_are_these() {
    for reference in [Reference::Oracle, Reference::Mid] {
        let (scene, bytes) = exposure(Some(reference));
        is_vector(&format!("exposure_2_{}", reference.code()), &scene, &bytes);
        let (scene, bytes) = stress(reference);
        is_vector(&format!("stress_2_{}", reference.code()), &scene, &bytes);
    }
    let (scene, bytes) = depths();
    is_vector("depths", &scene, &bytes);
}

#[test]
fn both_depths_of_a_week_are_recomputed_and_bound() {
    let (scene, bytes) = depths();
    let report = report_on_all(&scene, &bytes);
    assert_eq!(report.verdict, Verdict::Valid, "{report:#?}");
    let value: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(value["figure"], "depths/1");
    for place in ["lowest_book_usd", "lowest_depth_usd", "largest_lead_pct", "median_book_usd"] {
        let mut changed = value.clone();
        changed["result"]["token0"][place] = json!("1");
        let report = report_on_all(&scene, &canonical(&changed));
        assert_eq!(failed(&report).map(|(_, code)| code), Some("result_mismatch"), "{place}");
    }
    let mut changed = value;
    changed["parameters"]["from"] = json!(slot(11).number() + 1);
    let report = report_on_all(&scene, &canonical(&changed));
    assert_eq!(failed(&report).map(|(_, code)| code), Some("format_invalid"));
}
