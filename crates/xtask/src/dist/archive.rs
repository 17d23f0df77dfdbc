//! The archive of a platform: programs, completions, manual pages, licences and the systemd unit.

use super::formats::{Tree, gzip, tar};
use super::platforms::CLibrary;
use super::programs::{CLI, Programs, SERVER, Texts};
use super::release::{Release, Written};
use crate::failure::Result;

/// Files of the repository that every archive has, and their names in it.
const DOCUMENTS: [(&str, &str); 6] = [
    ("README.md", "README.md"),
    ("CHANGELOG.md", "CHANGELOG.md"),
    ("LICENSE-APACHE", "LICENSE-APACHE"),
    ("LICENSE-MIT", "LICENSE-MIT"),
    ("crates/exitgap-cli/THIRD-PARTY.txt", "THIRD-PARTY-exitgap.txt"),
    ("crates/exitgap-server/THIRD-PARTY.txt", "THIRD-PARTY-exitgap-server.txt"),
];

/// The name of the notice about the C library.
pub const C_LIBRARY_NOTICE: &str = "THIRD-PARTY-C-library.txt";

/// Makes the archive.
pub fn make(release: &Release, programs: &Programs, texts: &Texts) -> Result<Written> {
    let mut tree = Tree::default();
    tree.file(CLI, 0o755, programs.cli.clone());
    tree.file(SERVER, 0o755, programs.server.clone());
    for (from, name) in DOCUMENTS {
        tree.text(name, release.read(from)?);
    }
    tree.text(C_LIBRARY_NOTICE, c_library_notice(programs.c_library));
    tree.text("BUILT-WITH.txt", programs.built_with.clone());
    for (_, name, script) in &texts.completions {
        // In one folder, the script for bash needs the name of its shell.
        let name = if *name == CLI { "exitgap.bash" } else { name };
        tree.text(&format!("completions/{name}"), script.clone());
    }
    for (name, page) in &texts.manual {
        tree.text(&format!("man/{name}"), page.clone());
    }
    let unit = release.read("crates/exitgap-server/deploy/exitgap.service")?;
    tree.text("deploy/exitgap.service", unit);
    let name = format!("exitgap-{}-{}", release.version, programs.platform.name);
    let packed = gzip::pack(&tar::pack(&tree, &format!("{name}/"), release.time_s)?);
    release.write(&format!("{name}.tar.gz"), &packed)
}

/// What the licence of the C library inside the programs requires to be said.
pub fn c_library_notice(c_library: CLibrary) -> &'static str {
    match c_library {
        CLibrary::Musl => MUSL,
        CLibrary::Glibc => GLIBC,
    }
}

const MUSL: &str = "\
These programs contain the C library musl (https://musl.libc.org), under this licence:

Copyright (C) 2005-2020 Rich Felker, et al.

Permission is hereby granted, free of charge, to any person obtaining
a copy of this software and associated documentation files (the
\"Software\"), to deal in the Software without restriction, including
without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to
permit persons to whom the Software is furnished to do so, subject to
the following conditions:

The above copyright notice and this permission notice shall be
included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND,
EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT.
IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY
CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT,
TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE
SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
";

const GLIBC: &str = "\
These programs contain the GNU C Library (https://www.gnu.org/software/libc), which is free software under the GNU Lesser
General Public License, version 2.1 or later (https://www.gnu.org/licenses/old-licenses/lgpl-2.1.html).

You may modify the library and link these programs with it again: the release's source archive contains their whole source
and the command that builds them, `cargo xtask dist`. The library's own source is that of the package libc6 of the Debian
release on which they were built.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_has_what_install_sh_unpacks_and_every_notice() {
        let root = crate::workspace::root();
        let (release, folder) = Release::in_folder(&root, "archive");
        let written = make(&release, &Programs::for_tests(), &Texts::for_tests()).unwrap();
        assert_eq!(written.name, "exitgap-1.2.3-x86_64-linux.tar.gz");
        let packed = std::fs::read(folder.join(&written.name)).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        let entries = tar::entries(&gzip::unpack(&packed).unwrap()).unwrap();
        let paths: Vec<&str> =
            entries.iter().filter_map(|(about, _)| about.split(' ').next()).collect();
        let expected = [
            "",
            "BUILT-WITH.txt",
            "CHANGELOG.md",
            "LICENSE-APACHE",
            "LICENSE-MIT",
            "README.md",
            "THIRD-PARTY-C-library.txt",
            "THIRD-PARTY-exitgap-server.txt",
            "THIRD-PARTY-exitgap.txt",
            "completions/",
            "completions/_exitgap",
            "completions/exitgap.bash",
            "completions/exitgap.fish",
            "deploy/",
            "deploy/exitgap.service",
            "exitgap",
            "exitgap-server",
            "man/",
            "man/exitgap-server.1",
            "man/exitgap.1",
        ];
        let expected = expected.map(|path| format!("exitgap-1.2.3-x86_64-linux/{path}"));
        assert_eq!(paths, expected);
        // 2024-02-29T23:59:59Z, the time of the commit.
        for (about, _) in entries {
            assert!(about.contains(", time 14570215177, "), "{about}");
        }
    }
}
