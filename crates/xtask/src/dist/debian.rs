//! The Debian package: both programs, completions, manual pages, the systemd unit, and a user for the service.

use super::archive::{C_LIBRARY_NOTICE, c_library_notice};
use super::formats::{Tree, ar, gzip, tar};
use super::programs::{CLI, Programs, SERVER, Texts};
use super::release::{Release, Written};
use crate::failure::{Failure, Result};

const UNIT: &str = "crates/exitgap-server/deploy/exitgap.service";
const DOCUMENTS: &str = "usr/share/doc/exitgap";

/// Creates the user whom the unit names. An installation without systemd has no `systemctl`.
const AFTER_INSTALL: &str = "\
#!/bin/sh
set -e
if [ \"$1\" = configure ]; then
    adduser --system --quiet --group --home /var/lib/exitgap exitgap
    install -d -m 700 -o exitgap -g exitgap /var/lib/exitgap
    if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
fi
";

/// Stops the service before its program is removed. Data and keys are never removed: a log cannot continue without them.
const BEFORE_REMOVAL: &str = "\
#!/bin/sh
set -e
if [ \"$1\" = remove ] && [ -d /run/systemd/system ]; then
    systemctl --no-reload disable --now exitgap.service
fi
";

const AFTER_REMOVAL: &str = "\
#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
";

/// Makes the package.
pub fn make(release: &Release, programs: &Programs, texts: &Texts) -> Result<Written> {
    let files = files(release, programs, texts)?;
    let mut control = Tree::default();
    control.text("control", fields(release, programs, &files));
    for (name, script) in
        [("postinst", AFTER_INSTALL), ("prerm", BEFORE_REMOVAL), ("postrm", AFTER_REMOVAL)]
    {
        control.file(name, 0o755, script);
    }
    let pack = |tree: &Tree| Ok(gzip::pack(&tar::pack(tree, "./", release.time_s)?));
    let (control, data) = (pack(&control)?, pack(&files)?);
    let members =
        [("debian-binary", &b"2.0\n"[..]), ("control.tar.gz", &control), ("data.tar.gz", &data)];
    let version = version(release);
    let name = format!("exitgap_{version}_{}.deb", programs.platform.architecture);
    release.write(&name, &ar::pack(&members, release.time_s))
}

fn files(release: &Release, programs: &Programs, texts: &Texts) -> Result<Tree> {
    let mut tree = Tree::default();
    tree.file(&format!("usr/bin/{CLI}"), 0o755, programs.cli.clone());
    tree.file(&format!("usr/bin/{SERVER}"), 0o755, programs.server.clone());
    tree.text("usr/lib/systemd/system/exitgap.service", installed_unit(&release.read(UNIT)?)?);
    for (shell, name, script) in &texts.completions {
        let folder = match *shell {
            "bash" => "bash-completion/completions",
            "zsh" => "zsh/vendor-completions",
            _ => "fish/vendor_completions.d",
        };
        tree.text(&format!("usr/share/{folder}/{name}"), script.clone());
    }
    for (name, page) in &texts.manual {
        tree.file(&format!("usr/share/man/man1/{name}.gz"), 0o644, gzip::pack(page.as_bytes()));
    }
    let document = |name: &str| format!("{DOCUMENTS}/{name}");
    let changes = release.read("CHANGELOG.md")?;
    tree.file(&document("CHANGELOG.md.gz"), 0o644, gzip::pack(changes.as_bytes()));
    tree.text(&document("copyright"), copyright(release, programs)?);
    tree.text(&document("BUILT-WITH.txt"), programs.built_with.clone());
    for (program, folder) in [(CLI, "exitgap-cli"), (SERVER, "exitgap-server")] {
        let notices = release.read(&format!("crates/{folder}/THIRD-PARTY.txt"))?;
        let name = document(&format!("THIRD-PARTY-{program}.txt.gz"));
        tree.file(&name, 0o644, gzip::pack(notices.as_bytes()));
    }
    Ok(tree)
}

/// The version as Debian orders it: `1.0.0~rc.1` comes before `1.0.0`.
fn version(release: &Release) -> String {
    release.version.replace('-', "~")
}

/// The unit with the program where the package puts it, without the steps that the package takes itself.
fn installed_unit(unit: &str) -> Result<String> {
    let (here, installed) = ("/usr/local/bin/exitgap-server", "/usr/bin/exitgap-server");
    let own = ["#   useradd ", "#   install "];
    let kept: Vec<&str> =
        unit.lines().filter(|line| !own.iter().any(|step| line.starts_with(step))).collect();
    let text = kept.join("\n") + "\n";
    if !text.contains(here) {
        return Err(Failure::new(format!("{UNIT} does not run {here}")));
    }
    Ok(text.replace(here, installed))
}

fn copyright(release: &Release, programs: &Programs) -> Result<String> {
    let mit = release.read("LICENSE-MIT")?;
    Ok(format!(
        "exitgap is licensed under MIT or Apache-2.0, at your choice. Debian systems have the text of Apache-2.0 in\n\
         /usr/share/common-licenses/Apache-2.0. The text of MIT:\n\n{mit}\n\
         The licences of the packages that are compiled into the programs are in this folder, in THIRD-PARTY-*.txt.gz.\n\n\
         {C_LIBRARY_NOTICE}:\n\n{}",
        c_library_notice(programs.c_library)
    ))
}

/// The package's description of itself.
fn fields(release: &Release, programs: &Programs, files: &Tree) -> String {
    let bytes: usize = files.nodes().filter_map(|(_, node)| Some(node.bytes.as_ref()?.len())).sum();
    format!(
        "Package: exitgap\nVersion: {}\nArchitecture: {}\nMaintainer: {}\nInstalled-Size: {}\n\
         Depends: adduser, ca-certificates\nSection: net\nPriority: optional\n\
         Description: exact exit prices of on-chain liquidity pools, recorded and checkable\n \
         exitgap answers how far below the oracle price a sale of a given size fills\n \
         in an on-chain pool. exitgap-server records pools every five minutes into a\n \
         signed log, and serves answers with proofs. exitgap asks, verifies and audits.\n",
        version(release),
        programs.platform.architecture,
        release.maintainer,
        bytes.div_ceil(1024),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packages_unit_runs_the_packages_program_and_leaves_out_its_own_steps() {
        let unit = "#   useradd x\n#   install y\n#   other\nExecStart=/usr/local/bin/exitgap-server serve\n";
        let installed = installed_unit(unit).unwrap();
        assert_eq!(installed, "#   other\nExecStart=/usr/bin/exitgap-server serve\n");
        assert!(installed_unit("ExecStart=/usr/bin/other\n").is_err());
        let root = crate::workspace::root();
        let ours = std::fs::read_to_string(root.join(UNIT)).unwrap();
        let installed = installed_unit(&ours).unwrap();
        assert!(installed.contains("\nExecStart=/usr/bin/exitgap-server serve "), "{installed}");
        assert!(!installed.contains("useradd"), "{installed}");
    }

    #[test]
    fn the_package_has_its_fields_scripts_and_files() {
        let root = crate::workspace::root();
        let (release, folder) = Release::in_folder(&root, "debian");
        let written = make(&release, &Programs::for_tests(), &Texts::for_tests()).unwrap();
        assert_eq!(written.name, "exitgap_1.2.3_amd64.deb");
        let packed = std::fs::read(folder.join(&written.name)).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        let members = ar::members(&packed).unwrap();
        let unpacked = |index: usize| -> Vec<(String, Vec<u8>)> {
            tar::entries(&gzip::unpack(&members[index].1).unwrap()).unwrap()
        };
        assert_eq!(members[0].1, b"2.0\n");
        let (control, data) = (unpacked(1), unpacked(2));
        let text = |entries: &[(String, Vec<u8>)], path: &str| {
            let begin = format!("./{path} (");
            let found = entries.iter().find(|(about, _)| about.starts_with(&begin));
            let (about, bytes) = found.unwrap_or_else(|| panic!("{path} is not in the package"));
            (about.clone(), String::from_utf8_lossy(bytes).into_owned())
        };
        let (_, fields) = text(&control, "control");
        for line in ["Version: 1.2.3", "Architecture: amd64", "Depends: adduser, ca-certificates"] {
            assert!(fields.lines().any(|found| found == line), "{line}: {fields}");
        }
        for script in ["postinst", "prerm", "postrm"] {
            let (about, script) = text(&control, script);
            assert!(about.contains("mode 0000755") && script.starts_with("#!/bin/sh\nset -e\n"));
        }
        let (program, _) = text(&data, "usr/bin/exitgap-server");
        assert!(program.contains("mode 0000755, user 0000000"), "{program}");
        for path in [
            "usr/share/bash-completion/completions/exitgap",
            "usr/share/zsh/vendor-completions/_exitgap",
            "usr/share/fish/vendor_completions.d/exitgap.fish",
            "usr/share/man/man1/exitgap-server.1.gz",
        ] {
            text(&data, path);
        }
        let (_, copyright) = text(&data, "usr/share/doc/exitgap/copyright");
        assert!(copyright.contains("Rich Felker") && copyright.contains("Apache-2.0"));
    }
}
