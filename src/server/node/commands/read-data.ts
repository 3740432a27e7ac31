/**
 * Reads the rows of a site from its data directory, as a start would find them: the last checkpoint
 * and the logs behind it. It changes nothing and takes no lock, so it works beside a running
 * server.
 */
import { CorrectableError } from '../../../correctable/errors.ts';
import type { Origin } from '../../service/records/origin.ts';
import type { Service } from '../../service/service.ts';
import { measureRedLogs, type RedLengths } from '../embedded/stored-red-logs.ts';
import { formatMegabytes, getSiteMemoryBytes, suggestMemory } from '../memory/memory-size.ts';
import { measureNeededMemory, START_SHARE } from '../memory/needed-memory.ts';
import { createRunningSite } from '../running-site.ts';
import {
  checkFormat,
  checkManifest,
  createManifest,
  MANIFEST_FILE,
  parseManifest,
  type Manifest,
} from '../storage/directory/manifest.ts';
import { unusableDirectoryError } from '../storage/directory/missing-history.ts';
import type { ReadableFiles } from '../storage/disk/files.ts';
import { getLogDirectory } from '../storage/format/file-names.ts';
import { recoverSite, type RecoveredSite } from '../storage/recovery.ts';
import { VolatileStorage } from '../storage/volatile-storage.ts';
import { isInstalling } from '../transfer/install-site.ts';
import {
  describeFoundSite,
  getStoredSites,
  openToRead,
  rejectUnusable,
  repeatWhileChanging,
  type FoundSite,
  type Pass,
} from './live-directory.ts';
import { PinnedFiles } from './pinned-files.ts';
import { planStoredSite } from './read-plan.ts';
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
  const manifest = parseManifest(openToRead(dataDir).read(MANIFEST_FILE));
  checkFormat(manifest, dataDir);
  return { service: manifest.service.name, sites: getStoredSites(manifest) };
}

/**
 * Reads a site. If something is wrong, it reads the directory again, since a running server may
 * have changed the files.
 *
 * @param memoryBytes the memory that the rows may take
 * @throws CorrectableError `INVALID_ARGUMENT` if the data does not fit the service, `UNAVAILABLE`
 * if a start would refuse the directory, or if its rows do not fit into the memory
 */
export function readStoredSite(
  input: SiteToRead,
  memoryBytes: number = getSiteMemoryBytes(),
): StoredSite {
  const files = openToRead(input.dataDir);
  const { site, error } = repeatWhileChanging<ReadPass>(input.dataDir, (before) =>
    readOnce(files, { ...input, memoryBytes }, before),
  );
  if (site === undefined) throw error;
  return site;
}

interface ReadPass extends Pass {
  readonly site?: StoredSite;
  readonly error?: CorrectableError;
}

interface BoundedRead extends SiteToRead {
  readonly memoryBytes: number;
}

function readOnce(
  directory: ReadableFiles,
  input: BoundedRead,
  before: ReadPass | undefined,
): ReadPass {
  let found: readonly FoundSite[] | undefined;
  let files: PinnedFiles | undefined;
  try {
    const manifest = parseManifest(directory.read(MANIFEST_FILE));
    checkService(manifest, input);
    const folders = getStoredSites(manifest).map((name) => getLogDirectory(name));
    files = new PinnedFiles(input.dataDir, directory, folders);
    if (isInstalling(files))
      throw unusableDirectoryError(
        'the state that another site has sent is not in its place yet: start the site once',
      );
    const recovered = recoverAll(files, input, manifest);
    found = recovered.found;
    rejectUnusable(files, input.dataDir, manifest, { found, before });
    return { isHealthy: true, found, site: loadSite(files, input, manifest, recovered) };
  } catch (error) {
    if (!(error instanceof CorrectableError)) throw error;
    return { isHealthy: false, found, error };
  } finally {
    files?.close();
  }
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

function checkMemory(files: ReadableFiles, site: string, limit: number): void {
  const needed = measureNeededMemory(files, site);
  if (needed <= START_SHARE * limit) return;
  const sizes = `need about ${formatMegabytes(needed)} of memory, and this process may use ${formatMegabytes(limit)}`;
  const { heap } = suggestMemory(needed);
  throw new CorrectableError(
    'UNAVAILABLE',
    `The rows of ${site} ${sizes}. Nothing was changed. Set NODE_OPTIONS=--max-old-space-size=${heap} and run this again.`,
    { retryable: false, field: 'memoryBytes' },
  );
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
