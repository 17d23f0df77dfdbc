import type { Storage } from "./index.js";

/**
 * A storage for `Client` in a file, for Node: one JSON object of texts by name, which is replaced whole. For one process at a
 * time. What is no such file is refused (`kept_unusable`): to begin anew would be to take a rewritten history for a first visit.
 */
export function fileStorage(path: string): Storage;
