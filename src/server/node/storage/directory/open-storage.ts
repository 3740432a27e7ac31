/** Opens the storage of a deployment's sites: in a data directory, or in memory. */
import type { SiteStorage } from '../../../log/site-storage.ts';
import { getHolding, rejectMissingHistories } from './missing-history.ts';
import { createStorageAlarms, type OnAlarm } from '../../alarms/site-alarm.ts';
import { openDataDirectory, rejectMissingSites, type DataDirectory } from './data-directory.ts';
import {
  DurableStorage,
  describeHarmless,
  recoverAndReport,
  type DurableStorageOptions,
  type OpenedSite,
} from '../durable-storage.ts';
import { Origins } from '../../../service/records/origin.ts';
import type { Deployment } from './manifest.ts';
import { formatMegabytes } from '../../memory/memory-size.ts';
import { checkNeededMemory, limitFiles, type SiteMemoryLimit } from '../../memory/needed-memory.ts';
import { nodeTiming } from '../disk/node-files.ts';
import { getLogDirectory, ROWS_FOLDER } from '../format/file-names.ts';
import { requireLevel } from '../rows/level-database.ts';
import { openRows, type OpenedRows } from '../rows/open-rows.ts';
import type { RowStore } from '../rows/row-store.ts';
import { recoverSite, type RecoveredSite } from '../recovery.ts';
import { VolatileStorage } from '../volatile-storage.ts';

export interface DeploymentStorage {
  /** Authenticates session tokens over restarts; `undefined` if nothing is stored. */
  readonly clusterKey: Uint8Array | undefined;
  /** By site, in the order of the deployment. */
  readonly sites: readonly SiteStorage[];
  /** Writes the manifest, once all sites can start. */
  adopt(): void;
  /** Closes all of them. Appended entries are on the disk before that. */
  close(): Promise<void>;
}

export interface DurableDeployment extends Deployment {
  /** Whether the key of session tokens comes from an option, and not from the directory. */
  readonly hasOwnKey?: boolean;
  readonly onAlarm: OnAlarm;
  /** Default: no limit */
  readonly memory?: SiteMemoryLimit;
  /** Receives what a start that takes long is doing. */
  onProgress?(message: string): void;
}

/** Creates the storage of sites that are in memory alone. */
export function createVolatileStorage({ sites }: Pick<Deployment, 'sites'>): DeploymentStorage {
  const epoch = Date.now();
  const storages = sites.map(() => new VolatileStorage(epoch));
  return {
    clusterKey: undefined,
    sites: storages,
    adopt: () => {},
    close: async () => {},
  };
}

/**
 * Opens the directory of a deployment and the storage of its sites. If that fails, the directory is
 * released before the promise rejects, since the start may be repeated.
 *
 * @throws CorrectableError as `openDataDirectory` and `DurableStorage`; `INVALID_ARGUMENT` if the
 * package of the store of rows is not installed
 */
export async function openStorage(
  dataDir: string,
  deployment: DurableDeployment,
): Promise<DeploymentStorage> {
  await requireLevel();
  const folder = openDirectory(dataDir, deployment);
  try {
    const storage = await openSites(folder, deployment);
    const close = async (): Promise<void> => {
      await storage.close();
      await folder.close();
    };
    return { ...storage, close };
  } catch (error) {
    await folder.close();
    throw error;
  }
}

/** @throws CorrectableError as `openDataDirectory` */
export function openDirectory(dataDir: string, deployment: DurableDeployment): DataDirectory {
  const { redLeader, site = redLeader, onAlarm } = deployment;
  return openDataDirectory(dataDir, deployment, (message) => {
    onAlarm({ kind: 'data-directory-locked', site, message });
  });
}

/**
 * Opens the storage of all sites, or of the only site of the directory. Closing it leaves the
 * directory open.
 */
export async function openSites(
  folder: DataDirectory,
  deployment: DurableDeployment,
): Promise<DeploymentStorage> {
  const sites: DurableStorage[] = [];
  const stores: RowStore[] = [];
  const close = async (): Promise<void> => {
    // A storage closes the store of its rows after its log.
    const closed = sites.map((storage) => storage.close());
    const others = stores.slice(sites.length).map((store) => store.close());
    await Promise.all([...closed, ...others]);
  };
  try {
    const found = await recoverAll(folder, deployment, stores);
    const { files, lock } = folder;
    const shared = { files, lock, timing: nodeTiming, ...limitFiles(deployment.memory) };
    for (const site of found) sites.push(new DurableStorage({ ...shared, ...site }));
    const adopt = (): void => {
      folder.adopt();
      if (!folder.hasLostKey || deployment.hasOwnKey === true) return;
      const message =
        'The data directory had no cluster.key any more, and has a new one: sessions of before do not go on.';
      deployment.onAlarm({
        kind: 'data-damaged',
        site: deployment.redLeader,
        message,
      });
    };
    return { clusterKey: folder.clusterKey, sites, adopt, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Recovers the only site of a directory from what it has on the disk, and leaves everything closed.
 * Rows that are not in memory cannot be read from the result.
 *
 * @throws CorrectableError `UNAVAILABLE` if data is lost, or does not fit into memory
 */
export async function recoverClosed(
  folder: DataDirectory,
  deployment: DurableDeployment & { readonly site: string },
): Promise<RecoveredSite> {
  const { files } = folder;
  const { site, memory } = deployment;
  const directory = getLogDirectory(site);
  const { store: rows } = await openStore(folder, site, deployment);
  try {
    if (memory !== undefined) checkNeededMemory({ files, rows, directory }, site, memory);
    return recoverSite(files, rows, directory, site);
  } finally {
    await rows.close();
  }
}

/** Opens the store of rows of a site. @throws CorrectableError as `openRows` */
function openStore(
  { files, rows }: DataDirectory,
  site: string,
  { service, onProgress }: DurableDeployment,
): Promise<OpenedRows> {
  const options = { files, rows, folder: getLogDirectory(site), site, timing: nodeTiming };
  const { tables } = service;
  return new Promise((resolve, reject) => {
    openRows(
      {
        ...options,
        tables,
        onConvert: () =>
          onProgress?.(
            `${site}: the rows of the version before are copied into ${ROWS_FOLDER}/, once. The version before cannot use the directory after this start`,
          ),
        onProgress: ({ rowCount, bytes, totalBytes }) =>
          onProgress?.(
            `${site}: ${rowCount} rows of the version before are copied (${formatMegabytes(bytes)} of ${formatMegabytes(totalBytes)})`,
          ),
      },
      (error, opened) => {
        if (opened === undefined) reject(error as Error);
        else resolve(opened);
      },
    );
  });
}

/** The recovered state of a site, and the receiver of its events. */
interface FoundSite {
  readonly site: string;
  readonly directory: string;
  readonly events: NonNullable<DurableStorageOptions['events']>;
  readonly rows: RowStore;
  readonly recovered: OpenedSite;
}

/**
 * Recovers all sites before anything but the stores of rows is created for one.
 *
 * @param stores gets the stores as they are opened
 * @throws CorrectableError `UNAVAILABLE` if data is lost
 */
async function recoverAll(
  folder: DataDirectory,
  deployment: DurableDeployment,
  stores: RowStore[],
): Promise<FoundSite[]> {
  const { files, manifest } = folder;
  const { redLeader, site: onlySite, onAlarm } = deployment;
  const names = manifest?.sites ?? deployment.sites;
  const directories = (onlySite === undefined ? names : [onlySite]).map((site) => ({
    site,
    directory: getLogDirectory(site),
    events: createStorageAlarms(site, onAlarm),
  }));
  const checkAll = (check: () => void): void => {
    try {
      check();
    } catch (error) {
      onAlarm({
        kind: 'data-damaged',
        site: redLeader,
        message: (error as Error).message,
      });
      throw error;
    }
  };
  const paths = directories.map(({ directory }) => directory);
  checkAll(() => rejectMissingSites(files, paths, manifest !== undefined));
  files.makeDirectory('sites');
  for (const path of paths) files.makeDirectory(path);
  const found: FoundSite[] = [];
  for (const item of directories) {
    const { site, directory, events } = item;
    const { store: rows, damages, oldFiles } = await openStore(folder, site, deployment);
    stores.push(rows);
    for (const damage of damages) events.onDamaged(describeHarmless(damage));
    if (deployment.memory !== undefined)
      checkNeededMemory({ files, rows, directory }, site, deployment.memory);
    const opened = recoverAndReport({ files, rows, directory }, events, site);
    const recovered = { ...opened, uselessFiles: [...opened.uselessFiles, ...oldFiles] };
    found.push({ ...item, rows, recovered });
  }
  // The other processes report what they have themselves.
  if (onlySite !== undefined) return found;
  const origins = Origins.create(names);
  const holdings = found.map(({ recovered }) => getHolding(recovered.stored, origins));
  checkAll(() => rejectMissingHistories(holdings, names, deployment));
  return found;
}
