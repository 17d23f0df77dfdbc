//! Gives the tool that splits the site's program the same random numbers each time. The order of its output follows them,
//! because it is that of hash tables, and a release must be the same bytes in every build.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::failure::{Context, Result};
use crate::process;

/// The function of the C library from which Rust's hash tables take their random numbers.
const SOURCE: &str = "\
#include <string.h>
#include <sys/types.h>
ssize_t getrandom(void *to, size_t length, unsigned flags) {
    (void)flags;
    memset(to, 0, length);
    return (ssize_t)length;
}
";

/// Makes a dynamic program ask this function; its library is built in a folder. Other systems than Linux look for a
/// library in other ways: there the order stays random.
pub fn fix(program: &mut Command, folder: &Path) -> Result<()> {
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    fs::create_dir_all(folder).context(format!("creating {}", folder.display()))?;
    let [source, library] = ["order.c", "order.so"].map(|name| folder.join(name));
    fs::write(&source, SOURCE).context(format!("writing {}", source.display()))?;
    let mut compile = Command::new("cc");
    compile.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&source);
    process::output(&mut compile, "cc")
        .map_err(|failure| failure.remedy("install a C compiler: Debian's package gcc"))?;
    program.env("LD_PRELOAD", library);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Set in the process that prints the order.
    const PRINTS: &str = "EXITGAP_PRINTS_ITS_ORDER";

    #[test]
    fn a_programs_hash_tables_have_one_order() {
        if std::env::var_os(PRINTS).is_some() {
            let order: Vec<u32> = (0..1_000).collect::<HashSet<u32>>().into_iter().collect();
            println!("order {order:?}");
            return;
        }
        let folder = std::env::temp_dir().join(format!("exitgap-order-{}", std::process::id()));
        let order = |is_fixed: bool| {
            let mut this = Command::new(std::env::current_exe().unwrap());
            this.args([
                "--exact",
                "--nocapture",
                "web_order::tests::a_programs_hash_tables_have_one_order",
            ]);
            this.env(PRINTS, "1");
            if is_fixed {
                fix(&mut this, &folder).unwrap();
            }
            let said = process::output(&mut this, "this test").unwrap();
            let line = said.lines().find(|line| line.contains("order ["));
            line.unwrap_or_else(|| panic!("{said}")).to_owned()
        };
        assert_ne!(order(false), order(false), "the control");
        if cfg!(target_os = "linux") {
            assert_eq!(order(true), order(true));
        }
        let _ = fs::remove_dir_all(&folder);
    }
}
