//! The service as deployed, built together with the benchmark and with the same optimisation; the benchmark starts it
//! by its name.

fn main() -> std::process::ExitCode {
    exitgap_server::cli::main()
}
