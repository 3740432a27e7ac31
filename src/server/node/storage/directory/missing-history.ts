/**
 * Finds a site that lost some of its own past. It would contradict the other sites forever, or
 * lacks what they have dropped.
 */
import {
  getSavedSite,
  type RecoveredRedLog,
  type RecoveredState,
} from '../../../log/recovered-state.ts';
import type { Origin, Origins } from '../../../service/records/origin.ts';
import { CorrectableError } from '../../../../correctable/errors.ts';
import { RESTORE_ADVICE } from '../recovery.ts';

/** The entries of a stream or of the red log that a site has. */
export interface HeldEntries {
  /** How many entries, from the first on, are in its state. Their log entries may be gone. */
  readonly count: number;
  /**
   * The number, from 1 on, of the first entry that it can send to others. It is the one after the
   * last if it can send none.
   */
  readonly retainedFrom: number;
}

/** How far a site has got, according to its logs and its checkpoint. */
export interface Holding {
  /** The blue stream of each site, in the order of the sites. */
  readonly streams: readonly HeldEntries[];
  readonly red: HeldEntries;
  /** The red logs of the other partitions, in the order of their ordinals. */
  readonly partitions?: readonly HeldEntries[] | undefined;
}

/** Returns what a site has, from what it found at its start. */
export function getHolding(
  { local, red, partitions = [], checkpoint }: RecoveredState,
  origins: Origins,
): Holding {
  const saved = checkpoint && getSavedSite(checkpoint);
  const savedOf = (origin: Origin): number =>
    (saved?.shared.replica.applied[origin] ?? 0) + (saved?.own.waiting[origin]?.length ?? 0);
  const counts = new Map(origins.sites.map((origin) => [origin, savedOf(origin)]));
  const firsts = new Map<Origin, number>();
  for (const entry of local.entries) {
    if (entry.kind !== 'blue') continue;
    const { site, sequence } = entry.operation;
    if (!firsts.has(site)) firsts.set(site, sequence);
    // A checkpoint may contain entries whose files still exist.
    counts.set(site, Math.max(counts.get(site) ?? 0, sequence));
  }
  const streams = [...counts].map(([origin, count]) => ({
    count,
    retainedFrom: firsts.get(origin) ?? count + 1,
  }));
  return {
    streams,
    red: toHeldEntries(red),
    partitions: partitions.map(toHeldEntries),
  };
}

function toHeldEntries({ start, entries }: RecoveredRedLog): HeldEntries {
  return { count: start + entries.length, retainedFrom: start + 1 };
}

/**
 * Describes what a site has lost. Nothing leaves a site before it is synced there, so no other site
 * can have more of it.
 */
export function describeMissingHistory(
  site: number,
  own: Holding,
  known: readonly Holding[],
  names: readonly string[],
  leaders: readonly RedLeader[],
): string | undefined {
  const name = names[site];
  for (const [other, held] of known.entries()) {
    if (other === site) continue;
    const by = names[other];
    for (const [origin, { count, retainedFrom }] of held.streams.entries()) {
      const has = own.streams[origin]?.count ?? 0;
      const of = `operations of ${names[origin]}`;
      if (origin === site && count > has)
        return `site ${by} has ${count} ${of}, which has ${has} itself`;
      if (has + 1 < retainedFrom)
        return `site ${name} has ${has} ${of}, and ${by} keeps those from ${retainedFrom} on`;
    }
    for (const [partition, leader] of leaders.entries()) {
      const [here, there] = [own, held].map((item) => getRed(item, partition));
      const problem = describeMissingRed(leader, [
        { index: site, name, held: here },
        { index: other, name: by, held: there },
      ]);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

/** The site that sequences a red log, and the name of its partition. */
export interface RedLeader {
  /** The index of the site. */
  readonly site: number;
  /** Absent for `main`. */
  readonly partition?: string | undefined;
}

interface RedHolder {
  readonly index: number;
  readonly name: string | undefined;
  readonly held: HeldEntries | undefined;
}

function describeMissingRed(
  { site: leader, partition }: RedLeader,
  [own, other]: readonly [RedHolder, RedHolder],
): string | undefined {
  const { count: has } = own.held ?? NOTHING_HELD;
  const { count, retainedFrom } = other.held ?? NOTHING_HELD;
  const log = partition === undefined ? 'red log' : `red log of ${partition}`;
  if (own.index === leader && count > has)
    return `site ${other.name} has ${count} entries of the ${log}, and ${own.name}, which leads it, has ${has}`;
  return other.index === leader && has + 1 < retainedFrom
    ? `site ${own.name} has ${has} entries of the ${log}, and ${other.name}, which leads it, keeps those from ${retainedFrom} on`
    : undefined;
}

const NOTHING_HELD: HeldEntries = { count: 0, retainedFrom: 1 };

function getRed({ red, partitions }: Holding, partition: number): HeldEntries | undefined {
  return partition === 0 ? red : partitions?.[partition - 1];
}

/** The sites that sequence the red logs, as a manifest names them. */
interface LeaderNames {
  readonly redLeader: string;
  readonly partitions?: readonly { readonly name: string; readonly leader: string }[] | undefined;
}

/** Throws `UNAVAILABLE` if a site lost entries that others have from it, or have released. */
export function rejectMissingHistories(
  holdings: readonly Holding[],
  names: readonly string[],
  { redLeader, partitions = [] }: LeaderNames,
): void {
  const leaders: readonly RedLeader[] = [
    { site: names.indexOf(redLeader) },
    ...partitions.map(({ name, leader }) => ({
      site: names.indexOf(leader),
      partition: name,
    })),
  ];
  for (const [site, own] of holdings.entries()) {
    const problem = describeMissingHistory(site, own, holdings, names, leaders);
    if (problem !== undefined) throw unusableDirectoryError(problem);
  }
}

/** Creates the error if the sites of a directory cannot be started together. */
export function unusableDirectoryError(problem: string): CorrectableError {
  const message = `The data cannot be used: ${problem}. Nothing was changed. ${RESTORE_ADVICE}.`;
  return new CorrectableError('UNAVAILABLE', message, {
    retryable: false,
    field: 'dataDir',
  });
}
