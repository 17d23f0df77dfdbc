//! Checks the files for operators without containers: the compose file, what Prometheus and Grafana read, and the workflow of the
//! forge. No container is started, and the programs are not run with these variables.

use std::path::Path;

use serde_json::Value;

use super::{Diagnostic, yaml};
use crate::COMMANDS;
use crate::failure::{Context, Result};

const FOLDER: &str = "crates/exitgap-server/deploy";
const COMPOSE: &str = "crates/exitgap-server/deploy/compose.yaml";
const PROMETHEUS: &str = "crates/exitgap-server/deploy/prometheus.yml";
const WORKFLOW: &str = ".github/workflows/ci.yaml";

/// The file that an operator makes: the first lines of the compose file say how.
const CONFIGURATION: &str = "./exitgap.toml";

/// The job that the rules and the dashboard name.
const JOB: &str = "exitgap";

/// What is wrong with the files.
pub fn findings(root: &Path) -> Result<Vec<Diagnostic>> {
    let mut found = Vec::new();
    let folder = root.join(FOLDER);
    for entry in std::fs::read_dir(&folder).context(format!("reading {FOLDER}"))?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        // The rules contain Prometheus' templates, whose reader is Prometheus; the suite checks them.
        let extension = Path::new(&name).extension().and_then(|extension| extension.to_str());
        if matches!(extension, Some("yml" | "yaml")) && name != "prometheus-rules.yml" {
            found.extend(document(root, &format!("{FOLDER}/{name}")).err());
        }
    }
    let mut check =
        |path: &str, of_document: &dyn Fn(&Value) -> Vec<String>| match document(root, path) {
            Ok(document) => {
                found.extend(
                    of_document(&document).into_iter().map(|why| Diagnostic::error(path, why)),
                );
            }
            Err(finding) if !found.contains(&finding) => found.push(finding),
            Err(_) => {}
        };
    check(COMPOSE, &|document| in_compose(document, &folder));
    check(PROMETHEUS, &|document| in_prometheus(document, &folder));
    check(WORKFLOW, &in_workflow);
    Ok(found)
}

fn document(root: &Path, path: &str) -> std::result::Result<Value, Diagnostic> {
    let text = std::fs::read_to_string(root.join(path));
    let text = text.map_err(|error| Diagnostic::error(path, error.to_string()))?;
    yaml::read(&text).map_err(|why| Diagnostic::error(path, why))
}

/// Services with images that are not pinned, and files, volumes and services that do not exist.
fn in_compose(document: &Value, folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let Some(services) = document["services"].as_object() else {
        return vec!["it has no `services`".to_owned()];
    };
    for (name, service) in services {
        let image = service["image"].as_str().unwrap_or_default();
        let is_ours = image == "localhost/exitgap";
        let is_pinned =
            image.rsplit_once(':').is_some_and(|(_, tag)| tag != "latest" && !tag.contains('/'));
        if !is_ours && !is_pinned {
            found.push(format!("`{name}`: the image `{image}` has no version"));
        }
        let files = service["env_file"].as_str().into_iter().chain(mounted(service));
        for file in files {
            let is_volume = document["volumes"].get(file).is_some();
            if !is_volume && file != CONFIGURATION && !folder.join(file).is_file() {
                found.push(format!("`{name}`: `{file}` is neither a file nor a volume"));
            }
        }
        for other in service["depends_on"].as_object().into_iter().flat_map(|all| all.keys()) {
            if !services.contains_key(other) {
                found.push(format!("`{name}` depends on `{other}`, which does not exist"));
            }
        }
        for port in service["ports"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !port.starts_with("127.0.0.1:") {
                found.push(format!("`{name}`: the port {port} is open to other machines"));
            }
        }
    }
    found
}

/// The sources of what a service mounts.
fn mounted(service: &Value) -> impl Iterator<Item = &str> {
    let volumes = service["volumes"].as_array().into_iter().flatten().filter_map(Value::as_str);
    volumes.map(|volume| volume.split(':').next().unwrap_or_default())
}

/// Files of rules that do not exist, and another job than the one that the rules name.
fn in_prometheus(document: &Value, folder: &Path) -> Vec<String> {
    let files = document["rule_files"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let absent = files.filter(|file| !folder.join(file).is_file());
    let mut found: Vec<String> = absent.map(|file| format!("`{file}` does not exist")).collect();
    let jobs = document["scrape_configs"].as_array().into_iter().flatten();
    let jobs: Vec<&str> = jobs.filter_map(|job| job["job_name"].as_str()).collect();
    if jobs != [JOB] {
        found.push(format!("its jobs are {jobs:?}, and not only `{JOB}`"));
    }
    found
}

/// Commands of the workflow that are not the project's own.
fn in_workflow(document: &Value) -> Vec<String> {
    let jobs = document["jobs"].as_object().into_iter().flatten();
    let steps = jobs.flat_map(|(_, job)| job["steps"].as_array().into_iter().flatten());
    let commands: Vec<&str> = steps.filter_map(|step| step["run"].as_str()).collect();
    if commands.is_empty() {
        return vec!["it runs nothing".to_owned()];
    }
    let is_own = |command: &&&str| {
        let xtask = command
            .strip_prefix("cargo xtask ")
            .map(|rest| rest.split(' ').next().unwrap_or_default());
        let is_simple = !command.contains(['\n', ';', '|', '&', '`', '>']);
        **command == ".ci/run"
            || (is_simple && xtask.is_some_and(|name| COMMANDS.iter().any(|one| one.name == name)))
    };
    let others = commands.iter().filter(|command| !is_own(command));
    others
        .map(|command| format!("`{command}` is not `.ci/run` or one command of `cargo xtask`"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    fn compose(text: &str) -> Vec<String> {
        in_compose(&yaml::read(text).unwrap(), &workspace::root().join(FOLDER))
    }

    #[test]
    fn the_committed_files_pass() {
        assert_eq!(findings(&workspace::root()).unwrap(), []);
    }

    #[test]
    fn each_mistake_in_a_compose_file_is_found_and_named() {
        let right = "services:\n  a:\n    image: localhost/exitgap\n    env_file: server.env\n    volumes:\n      - a:/x\n      \
                     - ./grafana.json:/y:ro\n      - ./exitgap.toml:/z:ro\n    ports:\n      - \
                     127.0.0.1:1:1\n  b:\n    image: x/y:1.2\n    depends_on:\n      a: {}\nvolumes:\n  a: {}\n";
        assert_eq!(compose(right), Vec::<String>::new());
        for (from, to, why) in [
            ("x/y:1.2", "x/y", "the image `x/y` has no version"),
            ("x/y:1.2", "x/y:latest", "has no version"),
            ("server.env", "other.env", "`other.env` is neither"),
            ("./grafana.json", "./grafana.xml", "`./grafana.xml` is neither"),
            ("./exitgap.toml", "./none.toml", "none.toml` is neither"),
            ("volumes:\n  a: {}\n", "volumes:\n  b: {}\n", "`a` is neither"),
            ("      a: {}\nvol", "      c: {}\nvol", "depends on `c`"),
            ("127.0.0.1:1:1", "8080:1", "open to other machines"),
        ] {
            let found = compose(&right.replace(from, to));
            assert!(found.len() == 1 && found[0].contains(why), "{why}: {found:?}");
        }
    }

    #[test]
    fn a_workflow_that_does_something_by_itself_is_found() {
        let of = |run: &str| {
            in_workflow(
                &serde_json::json!({"jobs": {"a": {"steps": [{"uses": "x"}, {"run": run}]}}}),
            )
        };
        assert_eq!(of(".ci/run"), Vec::<String>::new());
        assert_eq!(of("cargo xtask test --all --part ${{ matrix.part }}"), Vec::<String>::new());
        for wrong in [
            "make",
            "cargo test",
            "cargo xtask tset",
            "cargo xtask test | tail",
            "cargo xtask test; id",
        ] {
            assert_eq!(of(wrong).len(), 1, "{wrong}");
        }
        assert_eq!(in_workflow(&serde_json::json!({})).len(), 1);
    }

    #[test]
    fn another_job_or_an_absent_file_of_rules_is_found() {
        let folder = workspace::root().join(FOLDER);
        let of = |text: &str| in_prometheus(&yaml::read(text).unwrap(), &folder).len();
        let right =
            "rule_files:\n  - prometheus-rules.yml\nscrape_configs:\n  - job_name: exitgap\n";
        assert_eq!(of(right), 0);
        assert_eq!(of(&right.replace("-rules", "-rulez")), 1);
        assert_eq!(of(&right.replace("exitgap", "other")), 1);
    }
}
