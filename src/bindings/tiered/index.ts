/** `correctables/bindings/tiered`: each consistency level is a function. */
export {
  withDetails,
  skipLevel,
  type ValueWithDetails,
} from '../../protocol/tier-result.ts';
export { tiered, type TieredOptions, type Tiers } from './tiered.ts';
export type { TierErrorHandler, TierFailure, TierMode } from './tiered-run.ts';
export type { Tier, TierContext } from './tier.ts';
