/** What programs of the cluster do with the states and red logs of stopped sites. */
import { chooseCopy } from '../../../server/node/red-log/chosen-copies.ts';
import { findLosing } from '../../../server/node/red-log/confirmed-records.ts';
import { countShared } from '../../../server/node/red-log/log-copy.ts';
import { findLogVoters } from '../../../server/node/red-log/log-voters.ts';
import {
  mergeNamedEntries,
  type NamedEntries,
} from '../../../server/node/red-log/named-entries.ts';
import {
  createSiteFromShared,
  dropLogEnds,
  mergeSharedIntoSite,
} from '../../../server/log/recovered-state.ts';

/** The steps of a run. A planted fault replaces some. */
export const CLUSTER_STEPS = {
  createSiteFromShared,
  dropLogEnds,
  mergeSharedIntoSite,
  findLogVoters,
  findLosing,
  chooseCopy,
  mergeNamedEntries: (...found: Parameters<typeof mergeNamedEntries>): NamedEntries | undefined =>
    mergeNamedEntries(...found),
  countShared,
};

export type ClusterSteps = typeof CLUSTER_STEPS;
