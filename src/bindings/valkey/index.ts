/**
 * `correctables/bindings/valkey`: reads on the replicas and the primary of Valkey or Redis. Node
 * only.
 */
export { valkey } from './binding.ts';
export type { ValkeyOptions } from './options.ts';
export { getLagMs } from '../replicas/index.ts';
export type {
  ReplicaLevels,
  ReplicasAlarm,
  ReplicasBinding,
  ReplicasOptions,
  ReplicaStats,
} from '../replicas/index.ts';
