//! The service as it is deployed, built beside the bench and as optimised, which starts it by its name.

fn main() -> std::process::ExitCode {
    exitgap_server::cli::main()
}
