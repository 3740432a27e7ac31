/**
 * The columns of the matrix, in the order of the page. Add a store here, and its tests in
 * `test/engines/faults`.
 */
import { cassandra } from './cassandra.ts';
import { causalRedis } from './causal-redis.ts';
import { d1 } from './d1.ts';
import { etcd } from './etcd.ts';
import { httpRemote } from './http-remote.ts';
import { postgres } from './postgres.ts';
import { valkey } from './valkey.ts';
import { zookeeper } from './zookeeper.ts';
import type { Column } from '../support/faults.ts';

export const COLUMNS: Readonly<Record<string, Column>> = {
  postgres,
  valkey,
  causalRedis,
  cassandra,
  zookeeper,
  etcd,
  d1,
  httpRemote,
};
