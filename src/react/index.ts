/**
 * `correctables/react`: reads and writes in components. Needs the package `react`. Server
 * components can import it, because nothing here calls React when it loads. There, use `prefetch`
 * and `dehydrate`.
 */
export { CorrectablesProvider } from './client-context.ts';
export { Hydrate } from './hydrate.ts';
export { useCorrectable } from './use-correctable.ts';
export { useOperation } from './use-operation.ts';
export { usePrefetch } from './use-prefetch.ts';
export { prefetch, type PrefetchOptions } from './prefetch.ts';
export { dehydrate } from './dehydrate.ts';
export type { DehydratedRead, DehydratedState, DehydratedView } from './dehydrate.ts';
export type { ClientOptions, CorrectablesProviderProps } from './client-context.ts';
export type { HydrateProps } from './hydrate.ts';
export type {
  CorrectableResult,
  IdleResult,
  ResultFor,
  UseCorrectableOptions,
  WaitingResult,
} from './use-correctable.ts';
export type {
  AffectRead,
  OperationState,
  OperationStateWith,
  UseOperationOptions,
} from './use-operation.ts';
export type { ClientLevels, FinalLevelFor, Register, RegisteredClient } from './types.ts';
