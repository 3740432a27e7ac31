/**
 * The classes of the parts of a site, by name. A site creates its parts through this table, and a
 * test plants a fault by another class in a row. There are no other hooks for tests. Parts that no
 * test replaces have no row.
 */
import { RedLogConsumer } from '../log/red-log-consumer.ts';
import { AbsentSites } from './parts/absent-sites.ts';
import { MessageFilter } from './wire/message-filter.ts';
import { ReadyBuilder } from './ready.ts';
import { Replica, REPLICA_PARTS } from './replica.ts';

export const PARTS = {
  AbsentSites,
  MessageFilter,
  ReadyBuilder,
  Replica,
  ...REPLICA_PARTS,
  RedLogConsumer,
};
