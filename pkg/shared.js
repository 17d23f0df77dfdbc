// What every entry of the package exports besides `init`, which knows where the module is.

export * from './api.js';
export { Client } from './client.js';
export { ExitgapError } from './error.js';
export { MemoryStorage, webStorage } from './log.js';
