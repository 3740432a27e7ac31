/** The entries that programs of pages can import when they run in a page. */
export const PLAYABLE_MODULES = [
  'correctables',
  'correctables/bindings/cache',
  'correctables/bindings/causal',
  'correctables/bindings/memory',
  'correctables/bindings/tiered',
  'correctables/operations',
  'correctables/policies',
  'correctables/rxjs',
  'correctables/transactions',
  'rxjs',
] as const;

export type PlayableModule = (typeof PLAYABLE_MODULES)[number];

export const isPlayable = (name: string): name is PlayableModule =>
  (PLAYABLE_MODULES as readonly string[]).includes(name);
