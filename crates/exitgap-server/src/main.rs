//! `exitgap-server`: see [`exitgap_server::cli`].

use exitgap_server::Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn main() -> std::process::ExitCode {
    exitgap_server::memory::return_freed_memory();
    exitgap_server::cli::main()
}
