//! `exitgap-server`: see [`exitgap_server::cli`].

fn main() -> std::process::ExitCode {
    exitgap_server::cli::main()
}
