/** Counts the events of a run by name. */
import type { SimulatedDisk } from './disk/disk.ts';
import type { History } from './history.ts';
import type { SimulatedClient } from './simulated-client.ts';
import type { SimulatedSite } from './simulated-site.ts';

export const NO_COUNTS = {
  blue: 0,
  red: 0,
  rejected: 0,
  chained: 0,
  chainedApplied: 0,
  chainsBroken: 0,
  pauses: 0,
  fullDisks: 0,
  sessionViews: 0,
  quarantines: 0,
  clockSteps: 0,
  refusals: 0,
  floors: 0,
  transfers: 0,
  sharedOut: 0,
  repeated: 0,
  grownDigests: 0,
  comparisons: 0,
  passes: 0,
  rowLists: 0,
};

export interface CoverageSources {
  readonly history: History;
  readonly clients: readonly SimulatedClient[];
  readonly sites: readonly SimulatedSite[];
  readonly disks: readonly SimulatedDisk[];
  readonly leader: SimulatedSite | undefined;
  readonly counts: Readonly<typeof NO_COUNTS>;
  readonly partitions: number;
  readonly trimmedCommits: number;
}

export function getCoverage(sources: CoverageSources): Record<string, number> {
  const { history, clients, sites, disks, leader, counts, partitions, trimmedCommits } = sources;
  const sum = <T>(items: readonly T[], count: (item: T) => number): number =>
    items.reduce((total, item) => total + count(item), 0);
  const ofSites = (count: (site: SimulatedSite) => number): number => sum(sites, count);
  const ofDisks = (count: (disk: SimulatedDisk) => number): number => sum(disks, count);
  const ofClients = (count: (stats: SimulatedClient['stats']) => number): number =>
    sum(clients, ({ stats }) => count(stats));
  const failed = (code: string): number =>
    history.operations.filter(({ error }) => error === code).length;
  return {
    'operations answered': history.getAnswered().length,
    'operations failed': history.operations.filter(({ error }) => error !== undefined).length,
    'answered CONFLICT': failed('CONFLICT'),
    'answered REPLICA_BEHIND': failed('REPLICA_BEHIND'),
    'blue applied': counts.blue,
    'red applied': counts.red,
    'red rejected': counts.rejected,
    'red standing on others': counts.chained,
    'red committed on others': counts.chainedApplied,
    'red rejected with others': counts.chainsBroken,
    'commits trimmed': trimmedCommits,
    crashes: ofSites(({ crashes }) => crashes),
    'torn writes': ofDisks(({ tornWrites }) => tornWrites),
    'starts after a torn write': ofSites(({ startsAfterTornWrites }) => startsAfterTornWrites),
    'refused by a full disk': ofSites(({ fullDiskRejections }) => fullDiskRejections),
    'memory raised': ofSites(({ memoryRaises }) => memoryRaises),
    'files lost': ofDisks(({ damages }) => damages.lost),
    'bits flipped': ofDisks(({ damages }) => damages.flipped),
    'old files brought back': ofDisks(({ damages }) => damages.old),
    'entries of rows lost': ofDisks(({ rowDamages }) => rowDamages.lost),
    'bits of rows flipped': ofDisks(({ rowDamages }) => rowDamages.flipped),
    'old rows brought back': ofDisks(({ rowDamages }) => rowDamages.old),
    'stopped by damaged rows': ofSites(({ damagedReads }) => damagedReads),
    'commits lost by a crash': ofDisks(({ rows }) => rows.lostCommits),
    'commits kept by a crash': ofDisks(({ rows }) => rows.keptCommits),
    'starts refused for damage': ofSites(({ rejectedStarts }) => rejectedStarts),
    checkpoints: ofSites(({ checkpoints }) => checkpoints),
    'starts from a checkpoint': ofSites(({ startsFromCheckpoint }) => startsFromCheckpoint),
    'red logs halted': ofSites(({ halts }) => halts),
    'sites fenced': ofSites(({ fences }) => fences),
    'crashes of the leader': leader?.crashes ?? 0,
    pauses: counts.pauses,
    partitions,
    'full disks': counts.fullDisks,
    'sites lost': ofSites(({ isLost }) => (isLost ? 1 : 0)),
    'clocks quarantined': counts.quarantines,
    'clocks set': counts.clockSteps,
    'views in sessions': counts.sessionViews,
    moves: ofClients(({ moves }) => moves),
    'answered UNKNOWN': ofClients(({ unknown }) => unknown),
    'answered TIMEOUT': ofClients(({ late }) => late),
    'given up': ofClients(({ givenUp }) => givenUp),
    'given up in time': ofClients(({ undone }) => undone),
    'answered REPLY_EXPIRED': ofClients(({ expired }) => expired),
    'answered OVERLOADED': ofClients(({ refused }) => refused),
    'refused by the domain': counts.refusals,
    floors: counts.floors,
    'transfers of rights': counts.transfers,
    'pools shared out': counts.sharedOut,
    'red deliveries repeated': counts.repeated,
    'digests grown': counts.grownDigests,
    'comparisons of rows': counts.comparisons,
    'sites compared': counts.passes,
    'rows compared one by one': counts.rowLists,
  };
}
