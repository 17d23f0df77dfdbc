//! Lists of what is compiled into each product, in the form of `CycloneDX` 1.5 (JSON).

mod tree;
mod valid;

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::release::{Release, Written};
use crate::failure::{Context, Failure, Result};
use crate::{py, test};
use tree::{Package, Packages};

/// The target whose dependencies the native products have; musl and glibc do not differ in them.
const NATIVE: &str = "x86_64-unknown-linux-musl";

/// Something that is distributed, and the packages that it is compiled from.
struct Product {
    name: &'static str,
    manifest: &'static str,
    packages: &'static [&'static str],
    target: &'static str,
}

const PRODUCTS: [Product; 4] = [
    Product {
        name: "exitgap-cli",
        manifest: "Cargo.toml",
        packages: &["exitgap-cli"],
        target: NATIVE,
    },
    Product {
        name: "exitgap-server",
        manifest: "Cargo.toml",
        packages: &["exitgap-server"],
        target: NATIVE,
    },
    // The npm package, and the pages inside the service.
    Product {
        name: "exitgap-wasm",
        manifest: "Cargo.toml",
        packages: &["exitgap-wasm", "exitgap-proof-wasm", "exitgap-web"],
        target: test::WASM,
    },
    Product {
        name: "exitgap-py",
        manifest: py::MANIFEST,
        packages: &["exitgap-py"],
        target: NATIVE,
    },
];

/// Makes a list for each product.
pub fn make(release: &Release) -> Result<Vec<Written>> {
    let mut written = Vec::new();
    for product in &PRODUCTS {
        let manifest = release.root.join(product.manifest);
        let packages =
            Packages::of(release.root, product.manifest, product.packages, product.target)?;
        let lock = manifest.with_file_name("Cargo.lock");
        let lock = fs::read_to_string(&lock).context(format!("reading {}", lock.display()))?;
        let document = document(release, product.name, &packages, &tree::checksums(&lock));
        valid::check(&document).map_err(|why| {
            Failure::new(format!("the list of {} is not valid: {why}", product.name))
        })?;
        let name = format!("{}-{}.cdx.json", product.name, release.version);
        // Its numbers and texts can always be written.
        let text = serde_json::to_string_pretty(&document).unwrap_or_default() + "\n";
        written.push(release.write(&name, text.as_bytes())?);
    }
    Ok(written)
}

fn document(
    release: &Release,
    name: &str,
    packages: &Packages,
    checksums: &BTreeMap<String, String>,
) -> Value {
    let product = format!("release:{name}@{}", release.version);
    let components: Vec<Value> =
        packages.by_url.values().map(|package| component(package, checksums)).collect();
    let mut dependencies = vec![json!({ "ref": product, "dependsOn": packages.roots })];
    dependencies
        .extend(packages.edges.iter().map(|(from, to)| json!({ "ref": from, "dependsOn": to })));
    let mut document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": release.rfc3339(),
            "tools": { "components": [{ "type": "application", "name": "cargo xtask dist", "version": release.version }] },
            "component": {
                "type": "application",
                "bom-ref": product,
                "name": name,
                "version": release.version,
                "licenses": [{ "expression": "MIT OR Apache-2.0" }],
            },
        },
        "components": components,
        "dependencies": dependencies,
    });
    document["serialNumber"] = serial_number(&document.to_string()).into();
    document
}

fn component(package: &Package, checksums: &BTreeMap<String, String>) -> Value {
    let Package { name, version, licence, repository, .. } = package;
    let mut component = json!({
        "type": "library",
        "bom-ref": package.url(),
        "name": name,
        "version": version,
        "purl": package.url(),
    });
    if !licence.is_empty() {
        // The older form of a choice.
        let expression = licence.split('/').map(str::trim).collect::<Vec<_>>().join(" OR ");
        component["licenses"] = json!([{ "expression": expression }]);
    }
    if let Some(checksum) = checksums.get(&format!("{name} {version}")) {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    if !repository.is_empty() {
        component["externalReferences"] = json!([{ "type": "vcs", "url": repository }]);
    }
    component
}

/// A UUID of version 8, from the content.
fn serial_number(text: &str) -> String {
    let mut bytes: Vec<u8> = Sha256::digest(text).to_vec();
    bytes[6] = (bytes[6] & 0x0f) | 0x80;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let hex =
        |part: &[u8]| part.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    let parts = [0..4, 4..6, 6..8, 8..10, 10..16].map(|part| hex(&bytes[part]));
    format!("urn:uuid:{}", parts.join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_each_package_once_with_licence_hash_and_dependencies() {
        let root = crate::workspace::root();
        let release = Release::for_tests(&root);
        let packages = Packages::from_tree(
            "0ours v0.1.0 (/x)\tMIT\t\n1a v1.0.0\tMIT/Apache-2.0\thttps://a.example\n1b v2.0.0\tISC\t\n2a v1.0.0\tMIT/Apache-2.0\thttps://a.example (*)\n",
        );
        let lock =
            "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"r\"\nchecksum = \"0f\"\n";
        let checksums = tree::checksums(&lock.replace("0f", &"0f".repeat(32)));
        let document = document(&release, "ours", &packages, &checksums);
        assert_eq!(valid::check(&document), Ok(()));
        assert_eq!(document, super::document(&release, "ours", &packages, &checksums));
        let components = document["components"].as_array().unwrap();
        assert_eq!(components.len(), 3);
        let a = components.iter().find(|one| one["name"] == "a").unwrap();
        assert_eq!(a["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(a["hashes"][0]["content"], "0f".repeat(32));
        assert_eq!(a["externalReferences"][0]["url"], "https://a.example");
        let dependencies = &document["dependencies"];
        assert_eq!(dependencies[0]["dependsOn"], json!(["pkg:cargo/ours@0.1.0"]));
        let of = |name: &str| {
            let mut all = dependencies.as_array().unwrap().iter();
            all.find(|one| one["ref"] == format!("pkg:cargo/{name}")).unwrap()["dependsOn"].clone()
        };
        assert_eq!(of("ours@0.1.0"), json!(["pkg:cargo/a@1.0.0", "pkg:cargo/b@2.0.0"]));
        assert_eq!(of("b@2.0.0"), json!(["pkg:cargo/a@1.0.0"]));
        assert_eq!(of("a@1.0.0"), json!([]));
    }

    #[test]
    fn the_service_is_compiled_from_what_its_notices_name() {
        let root = crate::workspace::root();
        let packages = Packages::of(&root, "Cargo.toml", &["exitgap-server"], NATIVE).unwrap();
        let notices =
            fs::read_to_string(root.join("crates/exitgap-server/THIRD-PARTY.txt")).unwrap();
        let others = packages.by_url.values().filter(|package| !package.is_ours);
        let mut compared = 0;
        for Package { name, version, .. } in others {
            assert!(notices.contains(&format!("  - {name} {version}\n")), "{name} {version}");
            compared += 1;
        }
        assert!(compared > 100, "{compared}");
    }
}
