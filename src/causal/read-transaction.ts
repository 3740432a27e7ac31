/**
 * A read of several keys in one snapshot (CAUSAL-3, CAUSAL-4, CAUSAL-7, CAUSAL-22, CAUSAL-23;
 * Contrarian, Alg. 1, lines 6–19).
 *
 * The paper needs two rounds, since the clock of a client may be far behind: the first asks a
 * partition for a stamp. Here the gateway polls its partitions anyway, so it knows a recent stamp,
 * and one round is enough. The form with two rounds was kept, so that both can be compared.
 */
import { Gathering } from './gather.ts';
import {
  isRefusal,
  type PartitionPort,
  type ReadReply,
  type Refusal,
  type SiteView,
} from './partition-calls.ts';
import { findPartition } from './partition-of-key.ts';
import type { CausalSession } from './session.ts';
import {
  createZeroVector,
  getStamp,
  maxVector,
  raiseStamp,
  type SiteIndex,
  type Stamp,
  type Vector,
} from './stamps.ts';
import { compareVersions, type Version } from './version.ts';

/**
 * Which of them chooses the stamp of the own site in a snapshot: the gateway, or a partition of the
 * read.
 */
export type SnapshotSource = 'gateway' | 'coordinator';

/** What one attempt has read, in the order of the keys. */
export interface SnapshotRead {
  readonly versions: readonly (Version | undefined)[];
  readonly snapshot: Vector;
}

/** A refusal, and where it came from. */
export interface ReadRefusal extends Refusal {
  readonly site: SiteIndex;
  readonly partition: number;
}

export type OnRead = (result: SnapshotRead | ReadRefusal) => void;

export interface ReadContext {
  readonly port: PartitionPort;
  readonly site: SiteIndex;
  readonly siteCount: number;
  readonly partitionCount: number;
  readonly session: CausalSession;
  readonly keys: readonly string[];
  /** What the gateway knows of its site now. */
  readonly view: SiteView;
}

/** The keys of one partition, with their places in the result. */
interface KeyGroup {
  readonly partition: number;
  readonly keys: string[];
  readonly places: number[];
}

/**
 * Reads a state of the nearest site that contains all writes on which its writes depend. Waits for
 * no other site.
 */
export function readCausal(
  context: ReadContext & { readonly ownStamp: Stamp; readonly source: SnapshotSource },
  onEnd: OnRead,
): void {
  const { site, session, view, source, ownStamp } = context;
  const base = maxVector(view.stable, session.dependencies);
  const groups = groupKeys(context);
  const [coordinator] = groups;
  if (source === 'gateway' || coordinator === undefined)
    return readAt(context, { snapshot: raiseStamp(base, site, ownStamp), groups }, onEnd);

  const address = { site, partition: coordinator.partition };
  const atLeast = getStamp(session.dependencies, site);
  context.port.call(address, 'snapshot', { atLeast }, (reply) => {
    if (isRefusal(reply)) return onEnd({ ...reply, ...address });
    readAt(context, { snapshot: raiseStamp(base, site, reply.clock), groups }, onEnd);
  });
}

interface SnapshotPlan {
  readonly snapshot: Vector;
  readonly groups: readonly KeyGroup[];
}

function readAt(context: ReadContext, { snapshot, groups }: SnapshotPlan, onEnd: OnRead): void {
  const { site, session, view } = context;
  session.observeVector(snapshot);
  const calls = groups.map((group) => ({ site, group, view }));
  callAll(context, { snapshot, calls, acceptsMissing: false }, (replies) => {
    if (isRefusal(replies)) return onEnd(replies);
    const versions = createResult(context);
    for (const { group, reply } of replies) {
      session.observeStamp(site, reply.clock);
      for (const [at, place] of group.places.entries()) versions[place] = reply.versions[at];
    }
    onEnd({ versions, snapshot });
  });
}

/**
 * Reads a state with every write that any site acknowledged before the read began (CAUSAL-22):
 * first the clocks of the partitions at all sites, then the newest version that any site has.
 */
export function readLatest(context: ReadContext, onEnd: OnRead): void {
  const { site, session } = context;
  const groups = groupKeys(context);
  askAllSites(context, groups, (answers) => {
    if (isRefusal(answers)) return onEnd(answers);
    const snapshot = computeLatestSnapshot(context, answers);
    const calls = answers.flatMap(({ site, view }) =>
      groups.map((group) => ({ site, group, view })),
    );
    callAll(context, { snapshot, calls, acceptsMissing: true }, (replies) => {
      if (isRefusal(replies)) return onEnd(replies);
      const versions = createResult(context);
      for (const { group, reply } of replies) keepNewest(versions, group, reply);
      // Add the versions that were read, not the snapshot: the snapshot may be far ahead of what
      // this site has received, and the session would have to wait.
      session.observeStamp(site, getStamp(snapshot, site));
      for (const version of versions) if (version) session.observeVector(version.dependencies);
      onEnd({ versions, snapshot });
    });
  });
}

interface SiteAnswer {
  readonly site: SiteIndex;
  readonly view: SiteView;
  readonly clocks: readonly Stamp[];
}

/** Asks each site for its stable snapshot, and each partition of the read for its clock. */
function askAllSites(
  { port, siteCount }: ReadContext,
  groups: readonly KeyGroup[],
  onEnd: (result: readonly SiteAnswer[] | ReadRefusal) => void,
): void {
  let refusal: Omit<ReadRefusal, 'refused'> = { site: 0, partition: 0 };
  const sites = new Gathering<SiteAnswer>(siteCount, (result) =>
    onEnd(isRefusal(result) ? { ...result, ...refusal } : result),
  );
  for (let site = 0; site < siteCount; site += 1) {
    const parts = new Gathering<{ view?: SiteView; clock?: Stamp }>(groups.length + 1, (result) => {
      if (isRefusal(result)) {
        refusal = { site, partition: groups[0]?.partition ?? 0 };
        return sites.add(site, result);
      }
      const clocks = result.flatMap(({ clock }) => clock ?? []);
      const view = result.at(-1)?.view as SiteView;
      sites.add(site, { site, view, clocks });
    });
    for (const [place, { partition }] of groups.entries())
      port.call({ site, partition }, 'snapshot', { atLeast: 0 }, (reply) =>
        parts.add(place, reply),
      );
    port.getSiteView(site, (reply) =>
      parts.add(groups.length, isRefusal(reply) ? reply : { view: reply }),
    );
  }
}

/** CAUSAL-22: without the stable snapshots, a site may have trimmed what the read needs. */
function computeLatestSnapshot(
  { session, siteCount }: ReadContext,
  answers: readonly SiteAnswer[],
): Vector {
  let snapshot = maxVector(createZeroVector(siteCount), session.dependencies);
  for (const { site, view, clocks } of answers) {
    snapshot = maxVector(snapshot, view.stable);
    snapshot = raiseStamp(snapshot, site, Math.max(0, ...clocks));
  }
  return snapshot;
}

function keepNewest(
  versions: (Version | undefined)[],
  { places }: KeyGroup,
  reply: ReadReply,
): void {
  for (const [at, place] of places.entries()) {
    const version = reply.versions[at];
    const best = versions[place];
    if (version && (best === undefined || compareVersions(best, version) < 0))
      versions[place] = version;
  }
}

interface PlannedRead {
  readonly site: SiteIndex;
  readonly group: KeyGroup;
  readonly view: SiteView;
}

interface ReadPlan {
  readonly snapshot: Vector;
  readonly calls: readonly PlannedRead[];
  readonly acceptsMissing: boolean;
}

interface AnsweredRead {
  readonly group: KeyGroup;
  readonly reply: ReadReply;
}

function callAll(
  { port }: ReadContext,
  { snapshot, calls, acceptsMissing }: ReadPlan,
  onEnd: (result: readonly AnsweredRead[] | ReadRefusal) => void,
): void {
  let refusal: Omit<ReadRefusal, 'refused'> = { site: 0, partition: 0 };
  const gathering = new Gathering<AnsweredRead>(calls.length, (result) =>
    onEnd(isRefusal(result) ? { ...result, ...refusal } : result),
  );
  for (const [place, { site, group, view }] of calls.entries()) {
    const address = { site, partition: group.partition };
    const request = {
      keys: group.keys,
      snapshot,
      acceptsMissing,
      siteTime: view.siteTime,
      lastSeen: view.lastSeen[group.partition] ?? 0,
    };
    port.call(address, 'read', request, (reply: ReadReply | Refusal) => {
      if (isRefusal(reply)) refusal = address;
      gathering.add(place, isRefusal(reply) ? reply : { group, reply });
    });
  }
}

function groupKeys({ keys, partitionCount }: ReadContext): readonly KeyGroup[] {
  const groups = new Map<number, KeyGroup>();
  for (const [place, key] of keys.entries()) {
    const partition = findPartition(key, partitionCount);
    const group = groups.get(partition) ?? { partition, keys: [], places: [] };
    group.keys.push(key);
    group.places.push(place);
    groups.set(partition, group);
  }
  return [...groups.values()];
}

function createResult({ keys }: ReadContext): (Version | undefined)[] {
  return keys.map(() => undefined);
}
