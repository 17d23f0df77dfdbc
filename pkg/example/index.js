// A file for bundlers that read no `exports` of a package.

export * from '../dist/example.js';
