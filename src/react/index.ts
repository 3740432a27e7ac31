/** `correctables/react`: reads and writes in components. Needs the package `react`. */
export {
  CorrectablesProvider,
  type ClientOptions,
  type CorrectablesProviderProps,
} from './client-context.ts';
export { useCorrectable } from './use-correctable.ts';
export type {
  CorrectableResult,
  IdleResult,
  ResultFor,
  UseCorrectableOptions,
  WaitingResult,
} from './use-correctable.ts';
export { useOperation } from './use-operation.ts';
export type {
  AffectRead,
  OperationState,
  OperationStateWith,
  UseOperationOptions,
} from './use-operation.ts';
export { prefetch, usePrefetch, type PrefetchOptions } from './prefetch.ts';
export { dehydrate, Hydrate } from './hydration.ts';
export type { DehydratedRead, DehydratedState, DehydratedView, HydrateProps } from './hydration.ts';
export type { ClientLevels, FinalLevelFor, Register, RegisteredClient } from './types.ts';
