//! The container image: the static service in an otherwise empty root, as an OCI image layout in one archive, which
//! `docker load` reads, too.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::archive::{C_LIBRARY_NOTICE, c_library_notice};
use super::formats::{Tree, gzip, tar};
use super::programs::{Programs, SERVER};
use super::release::{Release, Written};
use crate::failure::{Context, Failure, Result};

/// The user of the service, and the folder of its data, as in the container file.
pub const USER: u32 = 10_001;
const HOME: &str = "var/lib/exitgap";

/// The name that the image has after it was loaded, as the compose file expects it.
const NAME: &str = "localhost/exitgap:latest";

/// Where the service looks for CA certificates.
const CERTIFICATES: &str = "etc/ssl/certs/ca-certificates.crt";

/// Those that Mozilla trusts, a file each, as Debian's package ca-certificates installs them. The bundle of the machine that
/// builds is not used: it also has certificates that its owner added.
const MOZILLA: &str = "/usr/share/ca-certificates/mozilla";

/// The fewest that there must be.
const LEAST_CERTIFICATES: usize = 50;

/// Makes the image.
pub fn make(release: &Release, programs: &Programs) -> Result<Written> {
    let layer = tar::pack(&root(release, programs)?, "", release.time_s)?;
    let packed = gzip::pack(&layer);
    let created = release.rfc3339();
    let config = config(release, programs, &digest(&layer));
    let config = config.to_string().into_bytes();
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": descriptor("application/vnd.oci.image.config.v1+json", &config),
        "layers": [descriptor("application/vnd.oci.image.layer.v1.tar+gzip", &packed)],
        "annotations": { "org.opencontainers.image.created": created },
    });
    let manifest = manifest.to_string().into_bytes();
    let mut entry = descriptor("application/vnd.oci.image.manifest.v1+json", &manifest);
    entry["platform"] = json!({ "architecture": programs.platform.architecture, "os": "linux" });
    entry["annotations"] = json!({
        "io.containerd.image.name": NAME,
        "org.opencontainers.image.ref.name": "latest",
    });
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [entry],
    });
    // What `docker load` reads.
    let docker = json!([{
        "Config": blob(&config),
        "RepoTags": [NAME],
        "Layers": [blob(&packed)],
    }]);
    let mut layout = Tree::default();
    for bytes in [packed, config, manifest] {
        layout.file(&blob(&bytes), 0o644, bytes);
    }
    layout.text("index.json", index.to_string());
    layout.text("manifest.json", docker.to_string());
    layout.text("oci-layout", r#"{"imageLayoutVersion":"1.0.0"}"#);
    let name = format!("exitgap-image-{}-{}.tar", release.version, programs.platform.name);
    release.write(&name, &tar::pack(&layout, "", release.time_s)?)
}

/// The files of the image.
fn root(release: &Release, programs: &Programs) -> Result<Tree> {
    let mut root = Tree::default();
    root.file(&format!("usr/local/bin/{SERVER}"), 0o755, programs.server.clone());
    root.text("etc/passwd", format!("root:x:0:0::/:/\nexitgap:x:{USER}:{USER}::/{HOME}:/\n"));
    root.text("etc/group", format!("root:x:0:\nexitgap:x:{USER}:\n"));
    root.file(CERTIFICATES, 0o644, certificates(Path::new(MOZILLA))?);
    root.folder(HOME, 0o700, USER);
    root.folder("tmp", 0o1777, USER);
    let documents = "usr/share/doc/exitgap";
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        root.text(&format!("{documents}/{name}"), release.read(name)?);
    }
    let notices = release.read("crates/exitgap-server/THIRD-PARTY.txt")?;
    root.text(&format!("{documents}/THIRD-PARTY.txt"), notices);
    let notice = c_library_notice(programs.c_library);
    root.text(&format!("{documents}/{C_LIBRARY_NOTICE}"), notice);
    root.text(&format!("{documents}/BUILT-WITH.txt"), programs.built_with.clone());
    Ok(root)
}

/// All certificates of a folder in one file, in the order of their names.
fn certificates(folder: &Path) -> Result<Vec<u8>> {
    let reading =
        format!("reading {}, which Debian's package ca-certificates installs", folder.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).context(&reading)? {
        paths.push(entry.context(&reading)?.path());
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "crt"));
    paths.sort();
    if paths.len() < LEAST_CERTIFICATES {
        let found = paths.len();
        return Err(Failure::new(format!("{} has only {found} certificates", folder.display()))
            .remedy("install Debian's package ca-certificates"));
    }
    let mut bundle = Vec::new();
    for path in paths {
        bundle.extend(fs::read(path).context(&reading)?);
        if bundle.last() != Some(&b'\n') {
            bundle.push(b'\n');
        }
    }
    Ok(bundle)
}

/// How the image runs, as the container file says it.
fn config(release: &Release, programs: &Programs, layer: &str) -> Value {
    json!({
        "created": release.rfc3339(),
        "architecture": programs.platform.architecture,
        "os": "linux",
        "config": {
            "User": format!("{USER}:{USER}"),
            "ExposedPorts": { "8080/tcp": {} },
            "Env": [
                "PATH=/usr/local/bin",
                format!("HOME=/{HOME}"),
                "EXITGAP_HTTP_LISTEN=0.0.0.0:8080",
            ],
            "Entrypoint": [SERVER],
            "Cmd": ["serve", "--config", format!("/{HOME}/exitgap.toml")],
            "Volumes": { format!("/{HOME}"): {} },
            "WorkingDir": format!("/{HOME}"),
            "Labels": {
                "org.opencontainers.image.title": "exitgap",
                "org.opencontainers.image.description": "Records exit prices of on-chain pools, and serves them with proofs",
                "org.opencontainers.image.version": release.version,
                "org.opencontainers.image.revision": release.commit,
                "org.opencontainers.image.created": release.rfc3339(),
                "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
            },
            "StopSignal": "SIGTERM",
        },
        "rootfs": { "type": "layers", "diff_ids": [layer] },
        "history": [{ "created": release.rfc3339(), "created_by": "cargo xtask dist" }],
    })
}

fn digest(bytes: &[u8]) -> String {
    format!("sha256:{:x}", Sha256::digest(bytes))
}

/// The path of a blob in the layout.
fn blob(bytes: &[u8]) -> String {
    format!("blobs/sha256/{:x}", Sha256::digest(bytes))
}

fn descriptor(media_type: &str, bytes: &[u8]) -> Value {
    json!({ "mediaType": media_type, "digest": digest(bytes), "size": bytes.len() })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::workspace;

    /// The content of the archive's entry with this path.
    fn content<'a>(entries: &'a [(String, Vec<u8>)], path: &str) -> &'a [u8] {
        let begin = format!("{path} (");
        let found = entries.iter().find(|(about, _)| about.starts_with(&begin));
        &found.unwrap_or_else(|| panic!("{path} is not in the archive")).1
    }

    #[test]
    fn certificates_are_in_the_order_of_their_names_and_not_few() {
        let folder = std::env::temp_dir().join(format!("exitgap-ca-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for number in (0..LEAST_CERTIFICATES).rev() {
            fs::write(folder.join(format!("{number:03}.crt")), format!("{number:03}")).unwrap();
        }
        fs::write(folder.join("own.pem"), "not one of them").unwrap();
        let bundle = String::from_utf8(certificates(&folder).unwrap()).unwrap();
        let names: Vec<String> =
            (0..LEAST_CERTIFICATES).map(|number| format!("{number:03}")).collect();
        let expected = names.join("\n") + "\n";
        assert_eq!(bundle, expected);
        fs::remove_file(folder.join("000.crt")).unwrap();
        let refused = certificates(&folder).unwrap_err().to_string();
        assert!(refused.contains("only 49 certificates"), "{refused}");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn every_blob_has_the_hash_that_names_it_and_the_root_has_a_user_who_owns_its_folders() {
        if !Path::new(MOZILLA).exists() {
            eprintln!("not tried: this machine has no {MOZILLA}");
            return;
        }
        let root = workspace::root();
        let (release, folder) = Release::in_folder(&root, "image");
        let written = make(&release, &Programs::for_tests()).unwrap();
        assert_eq!(written.name, "exitgap-image-1.2.3-x86_64-linux.tar");
        let packed = fs::read(folder.join(&written.name)).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        let entries = tar::entries(&packed).unwrap();
        let json = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
        let of = |descriptor: &Value| {
            let hash = descriptor["digest"].as_str().unwrap().strip_prefix("sha256:").unwrap();
            let bytes = content(&entries, &format!("blobs/sha256/{hash}")).to_vec();
            assert_eq!(digest(&bytes), descriptor["digest"]);
            assert_eq!(descriptor["size"], bytes.len());
            bytes
        };
        let index = json(content(&entries, "index.json"));
        let manifest = json(&of(&index["manifests"][0]));
        let config = json(&of(&manifest["config"]));
        let layer = gzip::unpack(&of(&manifest["layers"][0])).unwrap();
        assert_eq!(config["rootfs"]["diff_ids"], json!([digest(&layer)]));
        assert_eq!(config["config"]["User"], "10001:10001");
        let docker = json(content(&entries, "manifest.json"));
        assert_eq!(docker[0]["RepoTags"], json!(["localhost/exitgap:latest"]));
        content(&entries, docker[0]["Config"].as_str().unwrap());
        content(&entries, docker[0]["Layers"][0].as_str().unwrap());
        let files = tar::entries(&layer).unwrap();
        for (path, mode) in [("tmp/", "0001777"), ("var/lib/exitgap/", "0000700")] {
            let (about, _) =
                files.iter().find(|(about, _)| about.starts_with(&format!("{path} ("))).unwrap();
            let expected = format!("mode {mode}, user 0023421, group 0023421");
            assert!(about.contains(&expected), "{about}");
        }
        assert!(!content(&files, "etc/ssl/certs/ca-certificates.crt").is_empty());
        assert!(content(&files, "usr/local/bin/exitgap-server").starts_with(b"#!"));
    }

    #[test]
    fn the_image_runs_as_the_container_files() {
        let root = workspace::root();
        let file =
            fs::read_to_string(root.join("crates/exitgap-server/deploy/Containerfile")).unwrap();
        let last = file.rsplit("\nFROM ").next().unwrap();
        let of = |instruction: &str| {
            let begin = format!("{instruction} ");
            last.lines().find_map(|line| line.strip_prefix(&begin)).unwrap().to_owned()
        };
        let list = |instruction: &str| serde_json::from_str::<Value>(&of(instruction)).unwrap();
        let config = config(&Release::for_tests(&root), &Programs::for_tests(), "sha256:0");
        let config = &config["config"];
        assert_eq!(config["Entrypoint"], list("ENTRYPOINT"));
        assert_eq!(config["Cmd"], list("CMD"));
        assert_eq!(config["WorkingDir"], of("WORKDIR"));
        assert_eq!(config["StopSignal"], of("STOPSIGNAL"));
        assert_eq!(config["User"], format!("{0}:{0}", of("USER")));
        assert!(config["Env"].as_array().unwrap().contains(&of("ENV").into()));
        assert!(config["ExposedPorts"].get(format!("{}/tcp", of("EXPOSE"))).is_some());
        assert!(config["Volumes"].get(of("VOLUME")).is_some());
    }
}
