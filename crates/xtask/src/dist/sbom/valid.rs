//! The rules of `CycloneDX` 1.5 that a list of ours could break.

use std::collections::BTreeSet;

use serde_json::Value;

/// The first rule that a document breaks.
pub fn check(document: &Value) -> Result<(), String> {
    for (field, expected) in [("bomFormat", "CycloneDX"), ("specVersion", "1.5")] {
        if document[field] != expected {
            return Err(format!("{field} is not {expected}"));
        }
    }
    if document["version"].as_u64().is_none_or(|version| version == 0) {
        return Err("version is not a positive number".to_owned());
    }
    if !document["serialNumber"].as_str().is_some_and(is_serial_number) {
        return Err("serialNumber is not urn:uuid: and a UUID".to_owned());
    }
    let metadata = &document["metadata"];
    if !metadata["timestamp"].as_str().is_some_and(|time| time.len() == 20 && time.ends_with('Z')) {
        return Err("metadata.timestamp is not a time in UTC".to_owned());
    }
    let mut references = BTreeSet::new();
    let components = document["components"].as_array().ok_or("components is not a list")?;
    for component in std::iter::once(&metadata["component"]).chain(components) {
        let reference = check_component(component)?;
        if !references.insert(reference) {
            return Err(format!("{reference} is listed a second time"));
        }
    }
    let dependencies = document["dependencies"].as_array().ok_or("dependencies is not a list")?;
    for dependency in dependencies {
        let on = dependency["dependsOn"].as_array().ok_or("dependsOn is not a list")?;
        for reference in std::iter::once(&dependency["ref"]).chain(on) {
            if !reference.as_str().is_some_and(|reference| references.contains(reference)) {
                return Err(format!("{reference} is not a component"));
            }
        }
    }
    Ok(())
}

/// The reference of a component, which has what each needs.
fn check_component(component: &Value) -> Result<&str, String> {
    for field in ["type", "name", "version", "bom-ref"] {
        if component[field].as_str().is_none_or(str::is_empty) {
            return Err(format!("a component has no {field}: {component}"));
        }
    }
    let reference = component["bom-ref"].as_str().unwrap_or_default();
    let is_library = component["type"] == "library";
    if is_library && !component["purl"].as_str().is_some_and(|url| url.starts_with("pkg:cargo/")) {
        return Err(format!("{reference} has no purl"));
    }
    for hash in component["hashes"].as_array().into_iter().flatten() {
        let content = hash["content"].as_str().unwrap_or_default();
        if hash["alg"] != "SHA-256" || content.len() != 64 || !content.bytes().all(is_hexadecimal) {
            return Err(format!("{reference} has a hash that is not SHA-256"));
        }
    }
    for licence in component["licenses"].as_array().into_iter().flatten() {
        if licence["expression"].as_str().is_none_or(|text| text.is_empty() || text.contains('/')) {
            return Err(format!("{reference} has a licence that is not an SPDX expression"));
        }
    }
    Ok(reference)
}

fn is_hexadecimal(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

fn is_serial_number(text: &str) -> bool {
    let Some(id) = text.strip_prefix("urn:uuid:") else { return false };
    let lengths: Vec<usize> = id.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12] && id.bytes().all(|byte| byte == b'-' || is_hexadecimal(byte))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_broken_rule_is_named() {
        let hash = json!([{ "alg": "SHA-256", "content": "00".repeat(32) }]);
        let right = json!({
            "bomFormat": "CycloneDX",
            "specVersion": "1.5",
            "version": 1,
            "serialNumber": "urn:uuid:00000000-0000-8000-8000-000000000000",
            "metadata": {
                "timestamp": "2026-01-02T03:04:05Z",
                "component": { "type": "application", "name": "x", "version": "1", "bom-ref": "x" },
            },
            "components": [{
                "type": "library", "name": "a", "version": "1", "bom-ref": "a", "purl": "pkg:cargo/a@1", "hashes": hash,
                "licenses": [{ "expression": "MIT" }],
            }],
            "dependencies": [{ "ref": "x", "dependsOn": ["a"] }],
        });
        assert_eq!(check(&right), Ok(()));
        for (place, value, why) in [
            ("/bomFormat", json!("SPDX"), "bomFormat is not"),
            ("/specVersion", json!("1.4"), "specVersion is not"),
            ("/version", json!(0), "version is not"),
            ("/serialNumber", json!("urn:uuid:0"), "serialNumber is not"),
            ("/metadata/timestamp", json!("2026"), "timestamp is not"),
            ("/metadata/component/name", json!(""), "has no name"),
            ("/components", json!({}), "components is not"),
            ("/components/0/version", json!(1), "has no version"),
            ("/components/0/purl", json!("a"), "a has no purl"),
            ("/components/0/bom-ref", json!("x"), "x is listed a second time"),
            ("/components/0/hashes/0/content", json!("0"), "not SHA-256"),
            ("/components/0/licenses/0/expression", json!("MIT/ISC"), "not an SPDX expression"),
            ("/dependencies/0/ref", json!("y"), "\"y\" is not a component"),
            ("/dependencies/0/dependsOn/0", json!("b"), "\"b\" is not a component"),
        ] {
            let mut wrong = right.clone();
            *wrong.pointer_mut(place).unwrap() = value;
            let found = check(&wrong).unwrap_err();
            assert!(found.contains(why), "{place}: {found}");
        }
    }
}
