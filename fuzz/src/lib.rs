//! The fuzz targets under `libFuzzer`. What they do is in `tests/src/fuzz`, which the test suite
//! runs too.

#[path = "../../tests/src/canonical.rs"]
pub mod canonical;
#[path = "../../tests/src/fuzz/mod.rs"]
pub mod fuzz;

/// The binary of a target.
#[macro_export]
macro_rules! target {
    ($name:literal) => {
        libfuzzer_sys::fuzz_target!(|input: &[u8]| {
            let is_it = |target: &&$crate::fuzz::Target| target.name == $name;
            let target = $crate::fuzz::TARGETS.iter().find(is_it).expect("a target of this name");
            (target.body)(input);
        });
    };
}
