/**
 * Reads the rows of a site from its data directory, as a start would find them: those of the last
 * checkpoint, and what the logs behind it change. It changes nothing and takes no lock, so it works
 * beside a running server.
 */
import type { Origin } from '../../service/records/origin.ts';
import type { Service } from '../../service/service.ts';
import { measureRedLogs, type RedLengths } from '../embedded/stored-red-logs.ts';
import { getSiteMemoryBytes } from '../memory/memory-size.ts';
import { createRunningSite } from '../running-site.ts';
import { checkFormat } from '../storage/directory/manifest.ts';
import { getLogDirectory } from '../storage/format/file-names.ts';
import type { RecoveredSite } from '../storage/recovery.ts';
import { VolatileStorage } from '../storage/volatile-storage.ts';
import { getRowsFolder } from './pinned-folders.ts';
import { planStoredSite } from './read-plan.ts';
import {
  checkMemory,
  describeFoundSite,
  getStoredSites,
  openToRead,
  readManifest,
  recoverStored,
  rejectUnusable,
  type FoundSite,
  type OpenedDirectory,
} from './stored-directory.ts';
import { StoredRows } from './stored-rows.ts';

/** What a data directory is for. */
export interface DataSummary {
  /** The name of the service. */
  readonly service: string;
  /** The sites of which the directory has data. */
  readonly sites: readonly string[];
}

export interface ReadSite {
  /** Can be read until the site is closed. */
  readonly rows: StoredRows;
  /**
   * The number of records at the ends of the red logs whose changes are not in the rows. The files
   * do not prove that these records are confirmed.
   */
  readonly unprovenRecords: number;
  close(): Promise<void>;
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
 * if a start would refuse the directory, or if what it has beside rows does not fit into the memory
 */
export async function readStoredSite(
  input: SiteToRead,
  memoryBytes: number = getSiteMemoryBytes(),
): Promise<ReadSite> {
  const opened = await openToRead(input.dataDir, input);
  try {
    const recovered = recoverAll(opened, { ...input, memoryBytes });
    rejectUnusable(opened, input.dataDir, recovered.found);
    return { ...loadSite(opened, input, recovered), close: () => opened.close() };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

interface BoundedRead extends SiteToRead {
  readonly memoryBytes: number;
}

/** The site that is read, and what has to be known of all sites of the directory. */
interface RecoveredSites {
  readonly found: readonly FoundSite[];
  readonly redLengths: readonly RedLengths[];
  readonly own: RecoveredSite;
}

/** Reads the other sites first, and keeps nothing of their logs. */
function recoverAll(opened: OpenedDirectory, { site, memoryBytes }: BoundedRead): RecoveredSites {
  const { manifest } = opened;
  const names = getStoredSites(manifest);
  for (const name of names) checkMemory(opened, name, memoryBytes);
  const noted = new Map<string, { readonly site: FoundSite; readonly red: RedLengths }>();
  const recover = (name: string): RecoveredSite => {
    const recovered = recoverStored(opened, name);
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
 * Loads the site as a start does, by the same code. So it reads only the rows that the logs change,
 * and each other one when it is shown. It is never started, so it sends and writes nothing.
 */
function loadSite(
  { files, manifest }: OpenedDirectory,
  { site, service }: SiteToRead,
  { own: { stored, nextSegment }, redLengths }: RecoveredSites,
): Omit<ReadSite, 'close'> {
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
    rows: new StoredRows(getRowsFolder(getLogDirectory(site)), service.tables, state.store),
    unprovenRecords: lengths.reduce(
      (sum, length, partition) => sum + Math.max(0, length - (delivered[partition] ?? 0)),
      0,
    ),
  };
}
