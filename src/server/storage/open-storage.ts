/** Where the sites of a deployment keep what they must not lose: a data folder, or nowhere. */
import type { SiteStorage } from '../log/storage.ts';
import { storageAlarms } from '../site-alarm.ts';
import type { OnAlarm } from '../site-alarm.ts';
import { openDataFolder } from './data-folder.ts';
import { DurableStorage } from './durable-storage.ts';
import type { Deployment } from './manifest.ts';
import { refuseMissingSites } from './missing-sites.ts';
import { nodeTiming } from './node-files.ts';
import { EntryPacker } from './packed-entries.ts';
import { VolatileStorage } from './volatile-storage.ts';

/** The storage of all sites of a deployment. */
export interface DeploymentStorage {
  /** Authenticates session tokens over restarts; none where nothing is kept. */
  readonly clusterKey: Uint8Array | undefined;
  /** By site, in the order of the deployment. */
  readonly sites: readonly SiteStorage[];
  /** Closes all of them; what was appended is on the disk before that. */
  close(): Promise<void>;
}

/**
 * Opens the storage in a folder, or one in memory where there is none.
 *
 * @throws CorrectableError as `openDataFolder` and `DurableStorage`
 */
export function openStorage(
  dataDir: string | undefined,
  deployment: Deployment & { readonly onAlarm: OnAlarm },
): DeploymentStorage {
  return dataDir === undefined ? volatile(deployment) : durable(dataDir, deployment);
}

function volatile({ sites }: Deployment): DeploymentStorage {
  const epoch = Date.now();
  return { clusterKey: undefined, sites: sites.map(() => new VolatileStorage(epoch)), close: async () => {} };
}

function durable(dataDir: string, deployment: Deployment & { readonly onAlarm: OnAlarm }): DeploymentStorage {
  const folder = openDataFolder(dataDir, deployment);
  const sites: DurableStorage[] = [];
  const packer = new EntryPacker(deployment.sites.length > 1);
  const close = async (): Promise<void> => {
    await Promise.all(sites.map((storage) => storage.close()));
    await folder.close();
  };
  try {
    refuseMissingSites(
      folder.files,
      deployment.sites.map((name) => folder.siteFolder(name)),
    );
    for (const name of deployment.sites) {
      const events = storageAlarms(name, deployment.onAlarm);
      const place = { files: folder.files, timing: nodeTiming, folder: folder.siteFolder(name), packer };
      const { lock } = folder;
      // Several sites would be held up by each other's disks.
      sites.push(new DurableStorage({ ...place, lock, events, mayBlock: deployment.sites.length === 1 }));
    }
  } catch (error) {
    void close();
    throw error;
  }
  return { clusterKey: folder.clusterKey, sites, close };
}
