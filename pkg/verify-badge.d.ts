/** An element, where the types of a page are known. */
declare const Element: typeof globalThis extends { HTMLElement: infer T extends new () => object } ? T : new () => object;

/**
 * `<exitgap-verified service="https://exitgap.example" pool="ethereum:0x88e6…" size-usd="250000">`: asks what a sale fills at,
 * makes every check in the page, and shows the number only where all passed. `base` names the token sold, `key` the log's
 * verifier key. Importing `exitgap/verify-badge` defines it.
 *
 * It tells `exitgap-verified` with the exit, or `exitgap-refused` with the error, and takes two colours from the page:
 * `--exitgap-valid`, `--exitgap-refused`.
 */
export class ExitgapVerified extends Element {}

declare global {
  interface HTMLElementTagNameMap {
    "exitgap-verified": ExitgapVerified;
  }
}
