/**
 * `<exitgap-verified service="https://exitgap.example" pool="ethereum:0x88e6…" size-usd="250000">`: asks what a sale fills at,
 * makes every check in the page, and shows the number only where all passed. `base` names the token sold, `key` the log's
 * verifier key. Importing `exitgap/verify-badge` defines it.
 *
 * It tells `exitgap-verified` with the exit, or `exitgap-refused` with the error, and takes two colours from the page:
 * `--exitgap-valid`, `--exitgap-refused`.
 */
export class ExitgapVerified extends HTMLElement {}

declare global {
  interface HTMLElementTagNameMap {
    "exitgap-verified": ExitgapVerified;
  }
}
