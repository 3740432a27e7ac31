/**
 * `correctables/bindings/replicas`: a store with a primary and replicas, by an adapter of your own.
 */
export { getLagMs } from '../shared/lag.ts';
export { replicas } from './replicas.ts';
export type { ReplicasBinding, ReplicasOptions } from './replicas.ts';
export type { ReplicasAlarm } from './replicas-alarm.ts';
export type { ReplicaStats } from './replica-stats.ts';
export type {
  ReplicaCall,
  ReplicaDetails,
  ReplicaLevels,
  ReplicaRead,
  ReplicaStore,
  ReplicaWrite,
  WaitingCaller,
} from './replica-store.ts';
