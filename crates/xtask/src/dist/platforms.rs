//! The platforms of the programs, and how each can be built on this machine: static, with musl or, where that is not
//! installed, with glibc.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process;

/// A platform. Its name says nothing of the C library, because a static program runs anywhere.
#[derive(Debug, PartialEq, Eq)]
pub struct Platform {
    /// In the names of archives.
    pub name: &'static str,
    /// The processor, as Rust and `uname` name it.
    pub machine: &'static str,
    /// The processor, as Debian and container images name it.
    pub architecture: &'static str,
}

/// All platforms.
pub const PLATFORMS: [Platform; 2] = [
    Platform { name: "x86_64-linux", machine: "x86_64", architecture: "amd64" },
    Platform { name: "aarch64-linux", machine: "aarch64", architecture: "arm64" },
];

/// The C library inside a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CLibrary {
    Musl,
    Glibc,
}

/// How a platform is built.
#[derive(Debug)]
pub struct Toolchain {
    pub platform: &'static Platform,
    /// The target of rustc.
    pub target: String,
    /// The C compiler.
    pub compiler: String,
    pub c_library: CLibrary,
}

impl Platform {
    /// Whether this machine runs its programs.
    pub fn is_native(&self) -> bool {
        self.machine == std::env::consts::ARCH
    }

    fn target(&self, c_library: CLibrary) -> String {
        let name = match c_library {
            CLibrary::Musl => "musl",
            CLibrary::Glibc => "gnu",
        };
        format!("{}-unknown-linux-{name}", self.machine)
    }

    /// The C compilers that fit, the best first.
    fn compilers(&self, c_library: CLibrary) -> Vec<String> {
        let machine = self.machine;
        match (c_library, self.is_native()) {
            (CLibrary::Musl, true) => {
                vec![format!("{machine}-linux-musl-gcc"), "musl-gcc".to_owned()]
            }
            (CLibrary::Musl, false) => vec![format!("{machine}-linux-musl-gcc")],
            (CLibrary::Glibc, true) => vec!["cc".to_owned()],
            (CLibrary::Glibc, false) => vec![format!("{machine}-linux-gnu-gcc")],
        }
    }

    /// Debian's packages with a C compiler and a static C library.
    fn packages(&self, c_library: CLibrary) -> Option<String> {
        match (c_library, self.is_native()) {
            (CLibrary::Musl, true) => Some("musl-tools".to_owned()),
            (CLibrary::Musl, false) => None,
            (CLibrary::Glibc, true) => Some("gcc libc6-dev".to_owned()),
            (CLibrary::Glibc, false) => {
                let machine = self.machine.replace('_', "-");
                let architecture = self.architecture;
                Some(format!("gcc-{machine}-linux-gnu libc6-dev-{architecture}-cross"))
            }
        }
    }

    /// The first way that works here, or why none does, and the remedy.
    pub fn find(&'static self, root: &Path) -> Result<Toolchain, [String; 2]> {
        let mut causes = Vec::new();
        for c_library in [CLibrary::Musl, CLibrary::Glibc] {
            match self.find_with(root, c_library) {
                Ok(toolchain) => return Ok(toolchain),
                Err(cause) => causes.push(cause),
            }
        }
        let [musl, glibc] = [CLibrary::Musl, CLibrary::Glibc].map(|c_library| {
            let target = self.target(c_library);
            let compiler = match self.packages(c_library) {
                Some(packages) => format!("Debian's {packages}"),
                None => format!("the C compiler {}", self.compilers(c_library).join(" or ")),
            };
            format!("`rustup target add {target}` and {compiler}")
        });
        Err([causes.join("; "), format!("install {musl}; or {glibc}")])
    }

    fn find_with(&'static self, root: &Path, c_library: CLibrary) -> Result<Toolchain, String> {
        let target = self.target(c_library);
        if !has_library(root, &target) {
            return Err(format!("the standard library of {target} is not installed"));
        }
        let compilers = self.compilers(c_library);
        let compiler = compilers.iter().find(|compiler| has_static_library(compiler));
        let compiler = compiler.cloned().ok_or_else(|| {
            format!("no C compiler with a static C library is installed for {target}")
        })?;
        Ok(Toolchain { platform: self, target, compiler, c_library })
    }
}

/// Whether the compiler has Rust's standard library for a target.
fn has_library(root: &Path, target: &str) -> bool {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir", "--target", target]).current_dir(root);
    let Ok(folder) = process::output(&mut rustc, "rustc") else { return false };
    let entries = std::fs::read_dir(PathBuf::from(folder.trim())).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with("libstd-"))
}

/// Whether a C compiler exists, and finds a static C library.
fn has_static_library(compiler: &str) -> bool {
    let mut command = Command::new(compiler);
    let found = process::output(command.arg("-print-file-name=libc.a"), compiler);
    // It prints the name alone if it does not find the file.
    found.is_ok_and(|path| Path::new(path.trim()).is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_platform_that_cannot_be_built_is_named_with_cause_and_remedy() {
        static NONE: Platform =
            Platform { name: "none-linux", machine: "none", architecture: "none" };
        let [cause, remedy] = NONE.find(&crate::workspace::root()).unwrap_err();
        for target in ["none-unknown-linux-musl", "none-unknown-linux-gnu"] {
            assert!(cause.contains(&format!("library of {target} is not installed")), "{cause}");
            assert!(remedy.contains(&format!("rustup target add {target}")), "{remedy}");
        }
        assert!(remedy.contains("gcc-none-linux-gnu libc6-dev-none-cross"), "{remedy}");
    }

    #[test]
    fn this_machines_programs_can_be_built_where_its_c_compiler_has_static_libraries() {
        let native = PLATFORMS.iter().find(|platform| platform.is_native()).unwrap();
        if has_static_library("cc") {
            let toolchain = native.find(&crate::workspace::root()).unwrap();
            assert!(toolchain.target.starts_with(native.machine), "{toolchain:?}");
        }
        assert!(!has_static_library("no-such-compiler"));
    }
}
