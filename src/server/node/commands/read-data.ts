/**
 * Reads the rows of a site from its data directory, as a start would find them: the last checkpoint
 * and the logs behind it. It changes nothing and takes no lock, so it works beside a running
 * server.
 */
import type { Origin } from '../../service/records/origin.ts';
import type { Service } from '../../service/service.ts';
import { measureRedLogs, type RedLengths } from '../embedded/stored-red-logs.ts';
import { getSiteMemoryBytes } from '../memory/memory-size.ts';
import { createRunningSite } from '../running-site.ts';
import {
  checkFormat,
  checkManifest,
  createManifest,
  type Manifest,
} from '../storage/directory/manifest.ts';
import type { ReadableFiles } from '../storage/disk/files.ts';
import { getLogDirectory } from '../storage/format/file-names.ts';
import { recoverSite, type RecoveredSite } from '../storage/recovery.ts';
import { VolatileStorage } from '../storage/volatile-storage.ts';
import { planStoredSite } from './read-plan.ts';
import {
  checkMemory,
  describeFoundSite,
  getStoredSites,
  openToRead,
  readManifest,
  rejectUnusable,
  type FoundSite,
} from './stored-directory.ts';
import { StoredRows } from './stored-rows.ts';

/** What a data directory is for. */
export interface DataSummary {
  /** The name of the service. */
  readonly service: string;
  /** The sites of which the directory has data. */
  readonly sites: readonly string[];
}

export interface StoredSite {
  readonly rows: StoredRows;
  /**
   * The number of records at the ends of the red logs whose changes are not in the rows. The files
   * do not prove that these records are confirmed.
   */
  readonly unprovenRecords: number;
}

export interface SiteToRead {
  readonly dataDir: string;
  /** One of the sites of the directory. */
  readonly site: string;
  readonly service: Service;
}

/**
 * Describes a data directory.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if there is none, or it has another format,
 * `UNAVAILABLE` if its manifest is damaged
 */
export function describeDataDirectory(dataDir: string): DataSummary {
  const manifest = readManifest(dataDir);
  checkFormat(manifest, dataDir);
  return { service: manifest.service.name, sites: getStoredSites(manifest) };
}

/**
 * Reads a site.
 *
 * @param memoryBytes the memory that the rows may take
 * @throws CorrectableError `INVALID_ARGUMENT` if the data does not fit the service, `UNAVAILABLE`
 * if a start would refuse the directory, or if its rows do not fit into the memory
 */
export function readStoredSite(
  input: SiteToRead,
  memoryBytes: number = getSiteMemoryBytes(),
): StoredSite {
  const { files, manifest } = openToRead(input.dataDir);
  try {
    checkService(manifest, input);
    const recovered = recoverAll(files, { ...input, memoryBytes }, manifest);
    rejectUnusable(files, input.dataDir, manifest, recovered.found);
    return loadSite(files, input, manifest, recovered);
  } finally {
    files.close();
  }
}

interface BoundedRead extends SiteToRead {
  readonly memoryBytes: number;
}

/** @throws CorrectableError `INVALID_ARGUMENT` naming what the service lacks */
function checkService(manifest: Manifest, { dataDir, service }: SiteToRead): void {
  const { sites, redLeader, partitions, site } = manifest;
  checkManifest(manifest, createManifest({ service, sites, redLeader, partitions, site }), dataDir);
}

/** The site that is read, and what has to be known of all sites of the directory. */
interface RecoveredSites {
  readonly found: readonly FoundSite[];
  readonly redLengths: readonly RedLengths[];
  readonly own: RecoveredSite;
}

/** Reads the other sites first, and keeps none of their rows. */
function recoverAll(
  files: ReadableFiles,
  { site, memoryBytes }: BoundedRead,
  manifest: Manifest,
): RecoveredSites {
  const names = getStoredSites(manifest);
  for (const name of names) checkMemory(files, name, memoryBytes);
  const noted = new Map<string, { readonly site: FoundSite; readonly red: RedLengths }>();
  const recover = (name: string): RecoveredSite => {
    const recovered = recoverSite(files, getLogDirectory(name), name);
    const { stored } = recovered;
    noted.set(name, { site: describeFoundSite(stored, manifest), red: measureRedLogs(stored) });
    return recovered;
  };
  for (const name of names) if (name !== site) recover(name);
  const own = recover(site);
  const all = names.flatMap((name) => noted.get(name) ?? []);
  return { found: all.map((item) => item.site), redLengths: all.map(({ red }) => red), own };
}

/**
 * Loads the site as a start does, by the same code. It is never started, so it sends and writes
 * nothing.
 */
function loadSite(
  files: ReadableFiles,
  { site, service }: SiteToRead,
  manifest: Manifest,
  { own: { stored, nextSegment }, redLengths }: RecoveredSites,
): StoredSite {
  const { plan, policy } = planStoredSite(service, manifest, { files, stored, redLengths });
  const origin = plan.origins.find(site) as Origin;
  const { driver } = createRunningSite(plan, origin, policy, {
    storage: new VolatileStorage(nextSegment, stored),
    send: () => {},
  });
  const { state, red } = driver.machine;
  const delivered = red.lanes.all.map(({ order }) => order.deliveredCount);
  const lengths = measureRedLogs(stored);
  return {
    rows: new StoredRows(service.tables, state.store),
    unprovenRecords: lengths.reduce(
      (sum, length, partition) => sum + Math.max(0, length - (delivered[partition] ?? 0)),
      0,
    ),
  };
}
