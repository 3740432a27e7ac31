/** `correctables/bindings/tiered`: each consistency level is a function. */
export { withDetails, skipLevel, type ValueWithDetails } from '../../contract/tier-result.ts';
export { getLagMs } from '../shared/lag.ts';
export {
  cacheAside,
  type CacheAsideOptions,
  type CacheAsideTiers,
} from './cache-aside/cache-aside.ts';
export type { CacheAsideFailure } from './cache-aside/cache-link.ts';
export type { SessionTokens } from '../shared/session-tokens.ts';
export type { SessionStats } from './sessions/guard-tiers.ts';
export {
  versionSessions,
  type CreateTokens,
  type VersionSessions,
  type VersionSessionsOptions,
} from './sessions/version-sessions.ts';
export { tiered, type TieredOptions, type Tiers } from './tiered.ts';
export type { TierErrorHandler, TierFailure, TierMode, TierView } from './tiered-run.ts';
export type { Tier, TierContext } from './tier.ts';
