export { createEmbedded, openEmbedded } from './node/embedded/embedded.ts';
export type { Embedded } from './node/embedded/embedded.ts';
export type { DurableEmbeddedOptions, EmbeddedOptions } from './node/embedded/embedded-options.ts';
export type { PartitionOptions, PartitionsOption } from './service/partition-options.ts';
export type { GeneratorLimits } from './service/generator/generator-budget.ts';
export type { CertificationStats } from './node/certification-stats.ts';
export type { Conflict } from './service/records/certification-result.ts';
export type { OperationId } from './service/records/records.ts';
export type { RetainedReplies, RetainedReplyStats } from './site/parts/lookups/id-table.ts';
export type { SiteAlarm } from './node/alarms/site-alarm.ts';
export { serve } from './serve.ts';
export type { RunningServer, ServeOptions } from './serve.ts';
export { serveCluster } from './serve-cluster.ts';
export type { RunningNode, ServeClusterOptions } from './serve-cluster.ts';
export type { ClusterNodeOptions } from './node/cluster/cluster-options.ts';
export type { NodeStatus, RecentAlarm } from './node/cluster/node-status.ts';
export type { LinkStatus } from './node/links/cluster-links.ts';
export type { RedLogStatus } from './node/red-log/node-red-log.ts';
export type { LinkTraffic } from './node/links/link-connection.ts';
export type { SiteProgress } from './site/site-options.ts';
export type { MemoryStatus, MemoryUse } from './site/core/memory-port.ts';
export { createGateway } from './gateway/gateway.ts';
export type { Gateway, GatewayStatus } from './gateway/gateway.ts';
export type { GatewayOptions } from './gateway/gateway-options.ts';
export { listenGateways } from './gateway/listen/listen.ts';
export type { GatewayListener } from './gateway/listen/listen.ts';
export type { ListenOptions } from './gateway/listen/listen-options.ts';
export type { SiteAddress } from './gateway/listen/http-handler.ts';
export type { OperatorToken } from './gateway/listen/operator-token.ts';
export type { DurationCounts, OperationFigures } from './gateway/operations/operation-stats.ts';
export type { StoreMetric } from './gateway/listen/store-metric.ts';
export type { FramePart, ServerSocket, ServerSocketEvents } from './gateway/connection/socket.ts';
export type { GatewayLimits } from './gateway/limits/limits.ts';
export type {
  Authenticate,
  Authorize,
  GatewayStats,
  Peer,
  Principal,
} from './gateway/context/gateway-context.ts';
export { withPrincipal } from './node/submission/with-principal.ts';
export type { Logger } from './gateway/context/logger.ts';
export { EU_US_ROUND_TRIPS_MS, getOneWayDelayMs } from './node/site-latency.ts';
export type { SiteLatency } from './node/site-latency.ts';
export { keyValueService } from './service/key-value-service.ts';
export { defineService } from './service/service.ts';
export type {
  AnyGenerator,
  GeneratorResult,
  GeneratorContext,
  Generators,
  Service,
  ServiceImplementation,
  ServiceThrottle,
} from './service/service.ts';
export type { ServiceColors } from './service/colors.ts';
export type { DeclaredInvariants, Invariants, SnapshotInvariants } from './service/invariants.ts';
export { blue, red, shadow } from './service/shadow-operation.ts';
export type {
  AnyShadowOperation,
  Colors,
  FittingColors,
  NoColors,
  NoReply,
  ShadowBuilders,
  ShadowOperation,
  ShadowOperations,
  Uncolored,
  UncoloredOperation,
} from './service/shadow-operation.ts';
export { withColors } from './service/service.ts';
export { uncertified, withMeta } from './service/records/reply.ts';
export type {
  Choice,
  ChosenShadow,
  UncertifiedResult,
  Reply,
  WithMeta,
} from './service/records/reply.ts';
export type {
  ThrownDomainError,
  DomainErrorFactory,
  DomainErrors,
} from './service/domain-errors.ts';
export type { Scratchpad } from './service/readers.ts';
export {
  boundedCounter,
  cell,
  counter,
  log,
  queue,
  register,
  set,
  stock,
  table,
} from './service/tables.ts';
export type { EffectsOf, Field, ValueOf } from './service/fields/field-declaration.ts';
export type {
  Fields,
  IndexableField,
  ScalarIn,
  Table,
  TableOptions,
  Tables,
} from './service/tables.ts';
export type { FieldKindName } from './service/fields/field.ts';
export type { EffectTable, EffectTables } from './service/effect-builders.ts';
export type { Color, Effect, EffectByRights, ResultsOf } from './service/records/effect.ts';
export type { RowReader, TableReader, TablesReader } from './service/readers.ts';
export type { ReadRange, Scalar, ScanOptions } from './service/records/read-range.ts';
export type { PopResult, PushResult, QueueView } from './service/fields/pending-queue.ts';
export type { BoundedView } from './service/fields/ledger.ts';
export type { AddResult, TakeResult, TakeOptions } from './service/fields/stock.ts';
export type { Throttle } from '../correctable/throttle/concurrent-writes.ts';
