/** What the sites and disks of a run went through, by name. */
import type { SimulatedDisk } from './disk.ts';
import type { SimulatedSite } from './simulated-site.ts';

export function getCoverage(
  sites: readonly SimulatedSite[],
  disks: readonly SimulatedDisk[],
): Readonly<Record<string, number>> {
  const ofSites = (count: (site: SimulatedSite) => number): number =>
    sites.reduce((total, site) => total + count(site), 0);
  const ofDisks = (count: (disk: SimulatedDisk) => number): number =>
    disks.reduce((total, disk) => total + count(disk), 0);
  return {
    crashes: ofSites(({ crashes }) => crashes),
    'torn writes': ofDisks(({ tornWrites }) => tornWrites),
    'starts after a torn write': ofSites(({ startsAfterTornWrites }) => startsAfterTornWrites),
    'refused by a full disk': ofSites(({ fullDiskRejections }) => fullDiskRejections),
    'files lost': ofDisks(({ damages }) => damages.lost),
    'bits flipped': ofDisks(({ damages }) => damages.flipped),
    'old files brought back': ofDisks(({ damages }) => damages.old),
    'starts refused for damage': ofSites(({ rejectedStarts }) => rejectedStarts),
    checkpoints: ofSites(({ checkpoints }) => checkpoints),
    'starts from a checkpoint': ofSites(({ startsFromCheckpoint }) => startsFromCheckpoint),
    'red logs halted': ofSites(({ halts }) => halts),
    'sites fenced': ofSites(({ fences }) => fences),
  };
}
