/** A causal store of several sites in this process: for tests and demos. Browser-safe. */
export { createCausalStore } from './causal-store.ts';
export type { CausalStore } from './causal-store.ts';
export type { CausalLevels } from './site-host.ts';
export type { CausalStoreOptions, RoundTrips } from './options.ts';
