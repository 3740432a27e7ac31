/** `correctables/bindings/tiered`: each consistency level is a function. */
export { answer, noAnswer, type Answer } from './answer.ts';
export { tiered, type TieredOptions, type Tiers } from './primary-backup.ts';
export type { Mode } from './run.ts';
export type { Tier, TierContext } from './tier.ts';
