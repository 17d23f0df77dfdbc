//! The container image: the static service in an otherwise empty root, as an OCI image layout in one archive, which
//! `docker load` reads, too.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::archive::{C_LIBRARY_NOTICE, c_library_notice};
use super::formats::{Tree, gzip, tar};
use super::programs::{Programs, SERVER};
use super::release::{Release, Written};
use crate::failure::{Context, Result};

/// The user of the service, and the folder of its data, as in the container file.
pub const USER: u32 = 10_001;
const HOME: &str = "var/lib/exitgap";

/// The name that the image has after it was loaded, as the compose file expects it.
const NAME: &str = "localhost/exitgap:latest";

/// The authorities' certificates: of the machine that builds, and where the service looks for them.
const AUTHORITIES: &str = "/etc/ssl/certs/ca-certificates.crt";

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
    let authorities = std::fs::read(AUTHORITIES).context(format!(
        "reading {AUTHORITIES}, which Debian's package ca-certificates installs"
    ))?;
    root.file(AUTHORITIES.trim_start_matches('/'), 0o644, authorities);
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
