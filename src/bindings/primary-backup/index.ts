/** `correctables/bindings/primary-backup`: each consistency level is a function. */
export { answer, noAnswer, type Answer } from './answer.ts';
export { levels, primaryBackup, type LevelsOptions, type PrimaryBackupOptions, type Tiers } from './primary-backup.ts';
export type { Mode } from './run.ts';
export type { Tier, TierContext } from './tier.ts';
