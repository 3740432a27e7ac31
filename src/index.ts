/** The library entry: Correctables, clients, and what a binding needs. Depends on nothing. */
export type {
  Binding,
  BindingSession,
  InvocationContext,
  Sink,
  SubmissionOrigin,
  ViewDetails,
  Whereabouts,
} from './correctable/binding.ts';
export { boxed, getSnapshot } from './correctable/made/interop.ts';
export type { Boxed, Snapshot } from './correctable/made/interop.ts';
export { createClient } from './correctable/made/client.ts';
export type {
  AnyClient,
  Client,
  ClientOptions,
  CorrectableAt,
  InvokeOptions,
  Session,
  SessionOptions,
} from './correctable/made/client.ts';
export { systemClock } from './correctable/clock.ts';
export type { Clock, Timer } from './correctable/clock.ts';
export type {
  Awaitable,
  Callbacks,
  Correctable,
  CorrectableState,
  LeaveOptions,
  SettleOptions,
  Speculation,
  Subscription,
  UntilFinal,
  ViewObserver,
  WhenOptions,
} from './correctable/correctable.ts';
export type {
  CorrectableEvent,
  Counters,
  DropCounts,
  DropReason,
  EnvironmentOptions,
} from './correctable/environment.ts';
export { structurallyEqual } from './correctable/equal.ts';
export { CorrectableError, isCorrectableError } from './correctable/errors.ts';
export type { DomainRefusal, ErrorCode, ErrorDetails } from './correctable/errors.ts';
export { all } from './correctable/made/join.ts';
export type { JoinedLevels, LevelsOf, Parts, ValuesOf } from './correctable/made/join.ts';
export type {
  AtLeast,
  Believed,
  FinalLevel,
  Levels,
  Reach,
  Requested,
  Strongest,
  Subset,
  Weakest,
} from './correctable/level.ts';
export { correctable, correctableFrom, correctableOf } from './correctable/made/make.ts';
export type { CorrectableOptions, Executor, Maker, OneLevel, WithSink } from './correctable/made/make.ts';
export type { Access, Operation, ResultOf } from './correctable/operation.ts';
export type { Policy } from './correctable/policy.ts';
export type { AnyView, FinalView, PreliminaryView, View, ViewFrom, ViewInfo } from './correctable/view.ts';
