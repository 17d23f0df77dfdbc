//! The program keeps the linker's relocations: the tool that splits it into parts reads them.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|name| name == "wasm32") {
        println!("cargo::rustc-link-arg-bins=--emit-relocs");
    }
}
