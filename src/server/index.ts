/** `correctables/server`: services and the sites that run them. */
export { createEmbedded } from './embedded.ts';
export type { Embedded } from './embedded.ts';
export type { EmbeddedOptions, GeneratorSettings } from './embedded-options.ts';
export type { GeneratorLimits } from './generator/generator-budget.ts';
export type { Rejections } from './site/rejections.ts';
export type { Conflict } from './records/verdict.ts';
export type { OperationId } from './records/records.ts';
export type { Remembered, RememberedInLog } from './replica/once/remembered.ts';
export type { SiteAlarm } from './alarms/site-alarm.ts';
export { serve } from './serve.ts';
export type { RunningServer, ServeOptions } from './serve.ts';
export { createGateway } from './gateway/gateway.ts';
export type { Gateway, GatewayOptions, GatewayStatus } from './gateway/gateway.ts';
export { listenGateways } from './gateway/listen/listen.ts';
export type { GatewayListener, ListenOptions } from './gateway/listen/listen.ts';
export type { StoreMetric } from './gateway/listen/metrics.ts';
export type { FramePart, ServerSocket, ServerSocketEvents } from './gateway/connection/socket.ts';
export type { GatewayLimits } from './gateway/limits/limits.ts';
export type { Authenticate, Authorise, GatewayCounters, Peer, Principal } from './gateway/host/host.ts';
export type { Logger } from './gateway/host/logger.ts';
export { PAPER_ROUND_TRIPS_MS, oneWayDelayMs } from './site/wan.ts';
export type { Wan } from './site/wan.ts';
export { defineService } from './service/service.ts';
export type {
  AnyGenerator,
  Generated,
  GeneratorContext,
  Generators,
  Service,
  ServiceImplementation,
  ServicePace,
} from './service/service.ts';
export type { Colouring } from './service/colours.ts';
export type { DeclaredInvariants, Invariants, SnapshotInvariants } from './service/invariants.ts';
export { blue, red, shadow } from './service/shadow-operation.ts';
export type {
  AnyShadowOperation,
  Colours,
  FittingColours,
  NoColours,
  NoReply,
  ShadowBuilders,
  ShadowOperation,
  ShadowOperations,
  Uncoloured,
  UncolouredOperation,
} from './service/shadow-operation.ts';
export { recoloured } from './service/service.ts';
export { local, withMeta } from './records/reply.ts';
export type { Choice, Chosen, Local, Reply, WithMeta } from './records/reply.ts';
export type { Refusal, RefusalBuilders, Refusals } from './service/refusal.ts';
export type { Scratchpad } from './service/readers.ts';
export { bounded, cell, counter, log, queue, register, set, stock, table } from './service/tables.ts';
export type {
  EffectsOf,
  Field,
  Fields,
  IndexableField,
  ScalarIn,
  Table,
  TableOptions,
  Tables,
  ValueOf,
} from './service/tables.ts';
export type { FieldKindName } from './service/fields/kinds.ts';
export type { EffectTable, EffectTables } from './service/table-effects.ts';
export type { Colour, Effect, EffectByRights, ResultsOf } from './records/effect.ts';
export type { RowReader, TableReader, TablesReader } from './service/readers.ts';
export type { ReadRange, Scalar, ScanOptions } from './records/key-range.ts';
export type { Popped, Pushed, QueueView } from './service/fields/pending-queue.ts';
export type { BoundedView } from './service/fields/ledger.ts';
export type { Stocked, Taken, TakeOptions } from './service/fields/stock.ts';
export type { Pace } from '../correctable/pace/unseen.ts';
