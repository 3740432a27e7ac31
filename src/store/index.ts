/** `correctables/store`: a Correctable as a store, by the contract of Svelte, which other frameworks can follow too. */
export { readable, type Readable } from './readable.ts';
