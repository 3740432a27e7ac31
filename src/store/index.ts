/**
 * `correctables/store`: a Correctable as a store by the contract of Svelte. Other frameworks can
 * subscribe to it too.
 */
export { readable, type Readable } from './readable.ts';
