/** Where the sites of a deployment keep what they must not lose: a data folder, or nowhere. */
import type { SiteStorage } from '../../log/storage.ts';
import { holdingOf, refuseLostPasts } from './lost-past.ts';
import { storageAlarms, type OnAlarm, type SiteAlarm } from '../../alarms/site-alarm.ts';
import { openDataFolder, refuseMissingSites, type DataFolder } from './data-folder.ts';
import { DurableStorage, recoverTold, type DurableStorageOptions } from '../durable-storage.ts';
import { Origins } from '../../records/origin.ts';
import type { Deployment } from './manifest.ts';
import { nodeTiming } from '../disk/node-files.ts';
import { VolatileStorage } from '../volatile-storage.ts';

/** The storage of all sites of a deployment. */
export interface DeploymentStorage {
  /** Authenticates session tokens over restarts; none where nothing is kept. */
  readonly clusterKey: Uint8Array | undefined;
  /** By site, in the order of the deployment. */
  readonly sites: readonly SiteStorage[];
  /** Writes down what the storage is for, once it is known that all sites can start. */
  adopt(): void;
  /** Closes all of them; what was appended is on the disk before that. */
  close(): Promise<void>;
}

interface DurableDeployment extends Deployment {
  /** Whether session tokens go by a key that is not the folder's. */
  readonly hasOwnKey?: boolean;
  readonly onAlarm: OnAlarm;
}

/**
 * Opens the storage in a folder, or one in memory where there is none.
 *
 * @throws CorrectableError as `openDataFolder` and `DurableStorage`
 */
export function openStorage(dataDir: string | undefined, deployment: DurableDeployment): DeploymentStorage {
  return dataDir === undefined ? volatile(deployment) : durable(dataDir, deployment);
}

function volatile({ sites }: Deployment): DeploymentStorage {
  const epoch = Date.now();
  const storages = sites.map(() => new VolatileStorage(epoch));
  return { clusterKey: undefined, sites: storages, adopt: () => {}, close: async () => {} };
}

function durable(dataDir: string, deployment: DurableDeployment): DeploymentStorage {
  const { redLeader: site, onAlarm } = deployment;
  const folder = openDataFolder(dataDir, deployment, (message) => {
    onAlarm({ kind: 'data-folder-locked', site, message });
  });
  const sites: DurableStorage[] = [];
  const close = async (): Promise<void> => {
    const closing = sites.map((storage) => storage.close());
    // What has not begun lets go of the folder at once: whoever was refused may want to try again.
    if (sites.some(({ hasBegun }) => hasBegun)) await Promise.all(closing);
    await folder.close();
  };
  try {
    const found = recoverAll(folder, deployment);
    folder.files.makeFolder('sites');
    const { files, lock } = folder;
    const shared = { files, lock, timing: nodeTiming };
    for (const site of found) sites.push(new DurableStorage({ ...shared, ...site }));
    const adopt = (): void => {
      folder.adopt();
      if (folder.hasLostKey && deployment.hasOwnKey !== true) deployment.onAlarm(lostKeyAlarm(deployment.redLeader));
    };
    return { clusterKey: folder.clusterKey, sites, adopt, close };
  } catch (error) {
    void close();
    throw error;
  }
}

/** What a site has, and whom to tell of it. */
type FoundSite = Required<Pick<DurableStorageOptions, 'site' | 'folder' | 'events' | 'recovered'>>;

/**
 * All sites are looked at before anything is made for one of them.
 *
 * @throws CorrectableError `UNAVAILABLE` where one of them has lost something.
 */
function recoverAll({ files, siteFolder, hasManifest }: DataFolder, deployment: DurableDeployment): FoundSite[] {
  const { sites: names, redLeader, onAlarm } = deployment;
  const folders = names.map((site) => ({ site, folder: siteFolder(site), events: storageAlarms(site, onAlarm) }));
  const checkAll = (check: () => void): void => {
    try {
      check();
    } catch (error) {
      onAlarm({ kind: 'data-damaged', site: redLeader, message: (error as Error).message });
      throw error;
    }
  };
  checkAll(() => {
    const paths = folders.map(({ folder }) => folder);
    refuseMissingSites(files, paths, hasManifest);
  });
  const found = folders.map((each) => {
    const { site, folder, events } = each;
    return { ...each, recovered: recoverTold(files, folder, events, site) };
  });
  const origins = Origins.of(names);
  const holdings = found.map(({ recovered }) => holdingOf(recovered.stored, origins));
  checkAll(() => refuseLostPasts(holdings, { names, redLeader: names.indexOf(redLeader) }));
  return found;
}

function lostKeyAlarm(site: string): SiteAlarm {
  const message = 'The data folder had no cluster.key any more, and has a new one: sessions of before do not go on.';
  return { kind: 'data-damaged', site, message };
}
