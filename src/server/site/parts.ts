/**
 * The classes of the parts of a site, by name. A site creates its parts through this table, and a
 * test plants a fault by another class in a row. There are no other hooks for tests. Parts that no
 * test replaces have no row.
 */
import { RedLogConsumer } from '../log/red-log-consumer.ts';
import { ClockQuarantine } from './core/clock-quarantine.ts';
import { CoverageWaiters } from './core/coverage-waiters.ts';
import { SiteParts } from './core/site-part.ts';
import { SiteState } from './core/site-state.ts';
import { RED_PARTS, RedPath } from './lane/red-path.ts';
import { RowDigests } from '../service/state/row-digests.ts';
import { AbsentSites } from './parts/absent-sites.ts';
import { BluePath } from './parts/blue/blue-path.ts';
import { Membership } from './parts/membership.ts';
import { Rights, RIGHTS_PARTS } from './parts/rights/rights.ts';
import { RowComparisons } from './parts/row-comparisons.ts';
import { Writes, WRITES_PARTS } from './parts/writes.ts';
import { ReadyBuilder } from './ready.ts';
import { MessageFilter } from './wire/message-filter.ts';

export const PARTS = {
  SiteParts,
  SiteState,
  CoverageWaiters,
  ClockQuarantine,
  BluePath,
  ...RED_PARTS,
  RedPath,
  ...WRITES_PARTS,
  Writes,
  Membership,
  ...RIGHTS_PARTS,
  Rights,
  AbsentSites,
  RowDigests,
  RowComparisons,
  MessageFilter,
  ReadyBuilder,
  RedLogConsumer,
};
