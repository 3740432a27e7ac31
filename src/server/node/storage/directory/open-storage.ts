/** Opens the storage of a deployment's sites: in a data directory, or in memory. */
import type { SiteStorage } from '../../../log/site-storage.ts';
import { getHolding, rejectMissingHistories } from './missing-history.ts';
import { createStorageAlarms, type OnAlarm } from '../../alarms/site-alarm.ts';
import { openDataDirectory, rejectMissingSites, type DataDirectory } from './data-directory.ts';
import {
  DurableStorage,
  recoverAndReport,
  type DurableStorageOptions,
} from '../durable-storage.ts';
import { Origins } from '../../../service/records/origin.ts';
import type { Deployment } from './manifest.ts';
import { checkNeededMemory, limitFiles, type SiteMemoryLimit } from '../../memory/needed-memory.ts';
import { nodeTiming } from '../disk/node-files.ts';
import { getLogDirectory } from '../format/file-names.ts';
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
}

/** @throws CorrectableError as `openDataDirectory` and `DurableStorage` */
export function openStorage(
  dataDir: string | undefined,
  deployment: DurableDeployment,
): DeploymentStorage {
  return dataDir === undefined ? openVolatile(deployment) : openDurable(dataDir, deployment);
}

function openVolatile({ sites }: Deployment): DeploymentStorage {
  const epoch = Date.now();
  const storages = sites.map(() => new VolatileStorage(epoch));
  return {
    clusterKey: undefined,
    sites: storages,
    adopt: () => {},
    close: async () => {},
  };
}

function openDurable(dataDir: string, deployment: DurableDeployment): DeploymentStorage {
  const folder = openDirectory(dataDir, deployment);
  try {
    const storage = openSites(folder, deployment);
    const close = async (): Promise<void> => {
      const closing = storage.close();
      // A start that failed must release the folder at once, since it may be repeated.
      if ((storage.sites as readonly DurableStorage[]).some(({ hasBegun }) => hasBegun))
        await closing;
      await folder.close();
    };
    return { ...storage, close };
  } catch (error) {
    void folder.close();
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
export function openSites(folder: DataDirectory, deployment: DurableDeployment): DeploymentStorage {
  const sites: DurableStorage[] = [];
  const close = async (): Promise<void> => {
    const closing = sites.map((storage) => storage.close());
    if (sites.some(({ hasBegun }) => hasBegun)) await Promise.all(closing);
  };
  try {
    const found = recoverAll(folder, deployment);
    folder.files.makeDirectory('sites');
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
    void close();
    throw error;
  }
}

/** The recovered state of a site, and the receiver of its events. */
interface FoundSite {
  readonly site: string;
  readonly directory: string;
  readonly events: NonNullable<DurableStorageOptions['events']>;
  readonly recovered: NonNullable<DurableStorageOptions['recovered']>;
}

/**
 * Recovers all sites before anything is created for one. @throws CorrectableError `UNAVAILABLE` if
 * data is lost
 */
function recoverAll(
  { files, manifest }: DataDirectory,
  deployment: DurableDeployment,
): FoundSite[] {
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
  const found = directories.map((item) => {
    const { site, directory, events } = item;
    if (deployment.memory !== undefined) checkNeededMemory(files, site, deployment.memory);
    return {
      ...item,
      recovered: recoverAndReport(files, directory, events, site),
    };
  });
  // The other processes report what they have themselves.
  if (onlySite !== undefined) return found;
  const origins = Origins.create(names);
  const holdings = found.map(({ recovered }) => getHolding(recovered.stored, origins));
  checkAll(() => rejectMissingHistories(holdings, names, deployment));
  return found;
}
