//! Evidence as others than this program read it.

mod second_verifier;
mod worked_example;
