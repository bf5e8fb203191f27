// All that the examples use of Node.js: our declarations have to do without its types.
declare const console: { log(...values: unknown[]): void };
