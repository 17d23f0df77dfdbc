/** The module's file: bundlers that are asked for it give what they make of `.wasm`. */
declare const file: unknown;
export default file;
