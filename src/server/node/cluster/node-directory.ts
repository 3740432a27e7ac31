/** The data directory of a node: the identity of its owner, and how the deployment was created. */
import type { DeploymentVersion } from '../../service/records/deployment-version.ts';
import { Origins, type Origin } from '../../service/records/origin.ts';
import type { DataDirectory } from '../storage/directory/data-directory.ts';
import { getFoundingVersion } from '../storage/directory/manifest.ts';
import {
  openDirectory,
  openSites,
  recoverClosed,
  type DeploymentStorage,
  type DurableDeployment,
} from '../storage/directory/open-storage.ts';
import { nodeTiming } from '../storage/disk/node-files.ts';
import type { Files } from '../storage/disk/files.ts';
import { getLogDirectory } from '../storage/format/file-names.ts';
import type { RecoveredSite } from '../storage/recovery.ts';
import { finishInstallation, type SiteLocation } from '../transfer/install-site.ts';
import type { DiskRoom } from './disk-room.ts';
import { OneAtATime } from './one-at-a-time.ts';
import { claimDirectory, writeNodeIdentity, type NodeIdentity } from './node-file.ts';
import type { StoredGeneration } from '../red-log/red-generation.ts';

export interface NodeDirectoryOptions {
  readonly dataDir: string;
  /** The name of the deployment in the key file. */
  readonly deploymentName: string;
  readonly deployment: DurableDeployment & { readonly site: string };
  /** Whether the site of a new or forked directory receives the state of another site first. */
  readonly rebuilds: boolean;
  readonly room: DiskRoom;
}

/** An open data directory. It stays open while its site is stopped and started again. */
export class NodeDirectory {
  /** The sites with which the deployment was created. */
  readonly founders: readonly string[];
  readonly #deployment: NodeDirectoryOptions['deployment'];
  readonly #directory: DataDirectory;
  readonly #room: DiskRoom;
  /** A store of rows cannot be opened twice. */
  readonly #openings = new OneAtATime();
  #identity: NodeIdentity;

  /** @throws CorrectableError as `openDirectory` and `claimDirectory` */
  constructor({ dataDir, deploymentName, deployment, rebuilds, room }: NodeDirectoryOptions) {
    this.#deployment = deployment;
    this.#room = room;
    this.#directory = openDirectory(dataDir, deployment);

    try {
      finishInstallation(this.files, this.location.directory);
      this.founders = this.#directory.manifest?.sites ?? deployment.sites;
      this.#identity = claimDirectory(this.#directory, {
        dataDir,
        deployment: deploymentName,
        site: deployment.site,
        origin: Origins.create(this.founders).find(deployment.site) as Origin,
        rebuilds,
      });
    } catch (error) {
      void this.#directory.close();
      throw error;
    }
  }

  get files(): Files {
    return this.#directory.files;
  }

  /** The place to which the data of the site is written. */
  get location(): SiteLocation {
    const { site, service } = this.#deployment;
    return {
      files: this.files,
      timing: nodeTiming,
      directory: getLogDirectory(site),
      site,
      rows: this.#directory.rows,
      tables: service.tables,
    };
  }

  get identity(): NodeIdentity {
    return this.#identity;
  }

  /** Whether the directory has the data of a site. */
  get hasData(): boolean {
    return this.#directory.manifest !== undefined;
  }

  /** The generation of the red log that the directory follows. */
  get red(): StoredGeneration {
    // A manifest from before a rebuild may be older than the deployment.
    const isMember = this.#identity.origin !== null;
    const { redLeader: leader, partitions = [] } =
      (isMember ? this.#directory.manifest : undefined) ?? this.#deployment;
    const logs = partitions.map((item) => ({
      name: item.name,
      leader: item.leader,
    }));
    const first = { generation: 0, leader };
    return this.#identity.red ?? (logs.length === 0 ? first : { ...first, logs });
  }

  /**
   * Returns the version that was active when the deployment was created: `own` if this is its
   * creation.
   */
  getFoundingVersion(own: DeploymentVersion): DeploymentVersion {
    const { manifest } = this.#directory;
    return manifest === undefined ? own : getFoundingVersion(manifest);
  }

  /** @throws CorrectableError `UNAVAILABLE` if the directory was taken over */
  saveIdentity(change: Partial<NodeIdentity>): void {
    const identity = { ...this.#identity, ...change };
    // Write the file before the field changes: if the disk is full, the node must act on the
    // identity that the next start will read.
    this.#room.write(() => writeNodeIdentity(this.files, identity));
    this.#identity = identity;
  }

  /** Recovers the site from its data on the disk. */
  recover(): Promise<RecoveredSite> {
    return this.#openings.run(() => recoverClosed(this.#directory, this.#deployment));
  }

  openSites(): Promise<DeploymentStorage> {
    return this.#openings.run(() => openSites(this.#directory, this.#deployment));
  }

  /** Uses the data that a state transfer has installed. */
  adopt(): void {
    this.#directory.adopt();
  }

  close(): Promise<void> {
    return this.#openings.run(() => this.#directory.close());
  }
}
