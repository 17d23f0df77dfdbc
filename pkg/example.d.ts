/** A small evidence file, exactly as a service would serve it: the example of the README. */
export const evidence: string;
/** The verifier keys of the example's log. They belong to the example only. */
export const keys: readonly string[];
