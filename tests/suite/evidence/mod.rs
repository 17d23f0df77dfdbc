//! Evidence as others than this program read it.

mod calendars;
mod second_verifier;
mod worked_example;
