/**
 * `correctables/bindings/zookeeper`: replicated queues and values on Apache ZooKeeper, and the
 * client below. Node only.
 */
export { zookeeper } from './binding.ts';
export type { ZooKeeperBinding } from './binding.ts';
export type {
  DeliveryGuarantee,
  OrphanRecoveryOptions,
  ZooKeeperBindingOptions,
} from './options.ts';
export type { ZooKeeperLevels } from './operation-call.ts';
export { queueLength } from './queue-length.ts';
export { computeMinThreshold, assertThreshold } from './min-threshold.ts';
export type { ConsumersOptions } from './min-threshold.ts';
export type { Throttle } from '../../correctable/throttle/concurrent-writes.ts';
export { jsonCodec } from './value-codec.ts';
export type { ValueCodec } from './value-codec.ts';
export { ZooKeeper } from './client/zookeeper.ts';
export type { ZxidOption, CreateOptions, VersionOption, WatchOption } from './client/zookeeper.ts';
export { isZooKeeperError, ZooKeeperError } from './client/errors.ts';
export type { ZooKeeperErrorCode, ZooKeeperErrorDetails } from './client/errors.ts';
export type { Credentials, ZooKeeperOptions } from './client/options.ts';
export { CREATOR_ALL_ACL, OPEN_ACL, READ_ACL } from './client/stat-and-acl.ts';
export type { Acl, Permission, Stat } from './client/stat-and-acl.ts';
export type {
  CreateResult,
  CreateMode,
  NodeAcl,
  NodeChildren,
  NodeData,
} from './client/requests.ts';
export type { MultiPart, MultiResult } from './client/multi.ts';
export type { SessionEvent, SessionListener, SessionState } from './client/zookeeper-session.ts';
export type { WatchEvent, WatchListener } from './client/watches.ts';
