/** The library entry: Correctables, clients, and what a binding needs. Depends on nothing. */
export type {
  Binding,
  BindingSession,
  InvocationContext,
  Principal,
  Sink,
  SubmissionOrigin,
  ViewDetails,
  SubmissionStatus,
} from './correctable/binding.ts';
export { boxCorrectable, getSnapshot } from './correctable/client/interop.ts';
export type { CorrectableBox, Snapshot } from './correctable/client/interop.ts';
export { createClient } from './correctable/client/client.ts';
export type {
  AnyClient,
  Client,
  ClientOptions,
  CorrectableForLevels,
  InvokeOptions,
  Session,
  SessionOptions,
} from './correctable/client/client.ts';
export { systemClock } from './correctable/clock.ts';
export type { Clock, Timer } from './correctable/clock.ts';
export type {
  Awaitable,
  Callbacks,
  Correctable,
  CorrectableState,
  SubscribeOptions,
  SettleOptions,
  SpeculationContext,
  Subscription,
  FinalOnlyOptions,
  ViewObserver,
  WhenOptions,
} from './correctable/correctable.ts';
export type {
  CorrectableEvent,
  ClientStats,
  DropCounts,
  DropReason,
  EnvironmentOptions,
} from './correctable/environment.ts';
export { structurallyEqual } from './correctable/structural-equality.ts';
export { CorrectableError, isCorrectableError } from './correctable/errors.ts';
export type { DomainErrorInfo, ErrorCode, ErrorDetails } from './correctable/errors.ts';
export { all } from './correctable/client/all.ts';
export type { JoinedLevels, LevelsOf, Parts, ValuesOf } from './correctable/client/all.ts';
export type {
  AtLeast,
  ContractFinalLevels,
  FinalLevel,
  Levels,
  FinalLevels,
  RequestedLevels,
  Strongest,
  Subset,
  Weakest,
} from './correctable/level-types.ts';
export {
  correctable,
  correctableFromPromise,
  correctableFromValue,
} from './correctable/client/create.ts';
export type {
  CorrectableOptions,
  Executor,
  CorrectableFactory,
  SingleLevel,
  CorrectableWithSink,
} from './correctable/client/create.ts';
export type { Access, Operation, ResultOf } from './correctable/operation.ts';
export type { Policy } from './correctable/policy.ts';
export type {
  AnyView,
  FinalView,
  PreliminaryView,
  View,
  ViewFrom,
  ViewInfo,
} from './correctable/view.ts';
