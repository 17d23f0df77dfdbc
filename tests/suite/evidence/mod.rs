//! Evidence as read by other programs.

mod second_verifier;
mod worked_example;
