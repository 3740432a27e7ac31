/**
 * Parts of sites that each break one rule of how members change, and of how sites begin with the
 * state of others.
 */
import {
  createSiteFromShared,
  getSavedSite,
  mergeSharedIntoSite,
} from '../../src/server/log/recovered-state.ts';
import type { RecoveredState, SharedSiteState } from '../../src/server/log/recovered-state.ts';
import type { SavedRows } from '../../src/server/service/records/checkpoint.ts';
import type { StoredRow } from '../../src/server/service/state/row.ts';
import { parseSavedName } from '../../src/server/service/state/saved-names.ts';
import { AbsentSites } from '../../src/server/site/parts/absent-sites.ts';
import { MessageFilter } from '../../src/server/site/wire/message-filter.ts';
import type { Origins } from '../../src/server/service/records/origin.ts';
import { getProposer } from '../../src/server/site/lane/global-records.ts';
import { CoverageWaiters } from '../../src/server/site/core/coverage-waiters.ts';
import { Membership } from '../../src/server/site/parts/membership.ts';
import { RedOrder } from '../../src/server/site/lane/order/red-order.ts';
import { ReadyBuilder } from '../../src/server/site/ready.ts';
import { Site } from '../../src/server/site/site.ts';
import type { SiteOptions } from '../../src/server/site/site-options.ts';
import type { RunParts } from '../../src/testing/simulator/run-parts.ts';
import { replaceArguments, replaceMethods } from '../support/replace-methods.ts';

/** Takes each site of the table for a member, also one that is closed. */
function createOpenOrigins(origins: Origins): Origins {
  const isSite = (ordinal: number): boolean => origins.isSite(ordinal);
  const get = (_: unknown, name: string): unknown => {
    const value = name === 'isMember' ? isSite : (Reflect.get(origins, name) as unknown);
    return typeof value === 'function' ? (value as () => unknown).bind(origins) : value;
  };
  return new Proxy<Origins>(origins, { get });
}

/** Sets options of a site. */
const withOptions = (changed: Partial<SiteOptions>): Partial<RunParts> => ({
  Site: replaceArguments(Site, (options, ...found) => [{ ...options, ...changed }, ...found]),
});

/** What can be broken in a site, by name. */
export const BUGGY_CLUSTERS = {
  /** Ends a stream where the leader of the red log has it, whatever others hold. */
  leaderEnds: {
    Membership: replaceMethods(Membership, (original) => ({
      deliver: (record, place, isProven) => {
        const isOther = record.action === 'ack' && record.site !== 1;
        original.deliver(isOther ? { ...record, held: [] } : record, place, isProven);
      },
    })),
  },

  noCopies: {
    Membership: replaceArguments(Membership, (core, blue, port, startName) => [
      core,
      blue,
      { ...port, getMembersPlace: () => Infinity },
      startName,
    ]),
  },

  /** Takes what an origin sends itself that is being closed. */
  openDoor: {
    MessageFilter: replaceArguments(MessageFilter, (options) => [
      { ...options, origins: createOpenOrigins(options.origins) },
    ]),
  },

  endlessSessions: {
    CoverageWaiters: replaceArguments(CoverageWaiters, (getStable) => [
      getStable,
      { finals: undefined },
    ]),
  },

  /** Takes the members of `main` for those of each red log. */
  mainMembers: {
    RedOrder: replaceMethods(RedOrder, (original, { origins }) => ({
      isVoid: (record) => !origins.isMember(getProposer(record)) || original.isVoid(record),
    })),
  },

  /** Names the leader of `main` alone in each change. */
  mainLeaders: {
    ReadyBuilder: replaceMethods(ReadyBuilder, (original) => ({
      propose: (record) => {
        if (record.kind !== 'member') return original.propose(record);
        const { leaders: _, ...others } = { leaders: undefined, ...record };
        original.propose(others);
      },
    })),
  },

  /** The voters of the logs beside `main` are the sites of the start, also once they are closed. */
  firstVoters: {
    AbsentSites: replaceMethods(AbsentSites, (original, ofMain) => ({
      getLogMembers: (origins = ofMain) => {
        const members = original.getLogMembers(origins);
        if (origins === ofMain) return members;
        return {
          ...members,
          voters: origins.sites.filter((site) => origins.get(site).incarnation === 0),
        };
      },
    })),
  },

  /** Compares no end of a log beside `main` with that of another site. */
  mainEnds: {
    Site: replaceMethods(Site, (original) => ({
      receive: ({ message, ...envelope }, ...others) => {
        const isOfNode = message.kind === 'node.hello' || message.kind === 'node.known';
        const received = isOfNode ? { ...message, logs: undefined } : message;
        original.receive({ ...envelope, message: received }, ...others);
      },
    })),
  },

  unknownStarts: withOptions({ stopsOnUnknownStart: false }),
  hastyStarts: withOptions({ needsPeer: false }),

  /** Takes the site that has a name now for the one that an operation was sent to first. */
  homes: {
    Site: replaceMethods(Site, (original, { origins }) => ({
      submit: (submission, nowMs, wallMs) => {
        const { identity } = submission;
        const home =
          identity && origins.isSite(identity.home)
            ? origins.find(origins.getName(identity.home))
            : undefined;
        const moved =
          identity && home !== undefined
            ? { ...submission, identity: { ...identity, home } }
            : submission;
        original.submit(moved, nowMs, wallMs);
      },
    })),
  },

  /** Leaves sites behind, however few remain. */
  minorities: { AbsentSites: replaceMethods(AbsentSites, () => ({ mayLeave: () => true })) },
} satisfies Readonly<Record<string, Partial<RunParts>>>;

/** A new site begins one operation of each stream too far. */
export const createFarSite: typeof createSiteFromShared = ({ sections, smallParts }) => {
  const shared = smallParts as SharedSiteState;
  const applied = shared.replica.applied.map((count, origin) => (origin === 1 ? count + 1 : count));
  return createSiteFromShared({
    sections,
    smallParts: { ...shared, replica: { ...shared.replica, applied } },
  });
};

/** A site that was away keeps nothing of its own stream that the other one lacks. */
export const mergeWithoutTail: typeof mergeSharedIntoSite = (site, own, shared): RecoveredState => {
  const merged = mergeSharedIntoSite(site, own, shared);
  if (merged.checkpoint === undefined) return merged;
  const saved = getSavedSite(merged.checkpoint);
  const waiting = saved.own.waiting.map((operations, origin) =>
    origin === site ? [] : operations,
  );
  const { entries, start } = own.local;
  const syncedLength = start + entries.length;
  return {
    ...merged,
    checkpoint: {
      ...merged.checkpoint,
      smallParts: { ...saved, own: { ...saved.own, waiting, syncedLength } },
    },
  };
};

/** A site that was away keeps its rows where the other one has newer ones. */
export const mergeIntoOldRows: typeof mergeSharedIntoSite = (site, own, shared): RecoveredState => {
  const merged = mergeSharedIntoSite(site, own, shared);
  const { checkpoint } = merged;
  if (checkpoint === undefined || own.rows === undefined) return merged;
  const rows = new Map(checkpoint.sections['rows']);
  for (const name of rows.keys()) {
    const [old, hasParts] = readOldRow(own.rows, name);
    if (old !== undefined && !hasParts) rows.set(name, old);
  }
  return { ...merged, checkpoint: { ...checkpoint, sections: { ...checkpoint.sections, rows } } };
};

/** Returns a row as a transfer has it, and whether some of it is in parts. */
function readOldRow(
  rows: SavedRows,
  name: string,
): readonly [row: unknown, hasParts: boolean] | readonly [] {
  if (parseSavedName(name).kind !== 'row') return [];
  const row = rows.get(name) as StoredRow | undefined;
  return [row?.slice(0, 4), Object.keys(row?.[4] ?? {}).length > 0];
}

/** A new site knows none of the red operations that have ended. */
export const createSiteWithoutEndings: typeof createSiteFromShared = ({ sections, smallParts }) => {
  const { endings: _endings, 'endings.clients': _clients, ...known } = sections;
  return createSiteFromShared({ sections: known, smallParts });
};
