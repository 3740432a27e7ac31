import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { emitWarning, type OnAlarm } from '../alarms/site-alarm.ts';
import {
  getFirstLeader,
  readClusterFile,
  type ClusterFile,
  type ClusterSite,
} from './cluster-file.ts';
import { DiskRoom } from './disk-room.ts';
import { followKeyFile, readKeyFile, type ClusterKeys } from './key-file.ts';
import { recheckMarkedDirectory } from './marked-directory.ts';
import { NodeDirectory, type NodeDirectoryOptions } from './node-directory.ts';
import { shareMemory } from '../memory/needed-memory.ts';
import { requestOfOperator } from '../commands/operator-request.ts';
import { RecentAlarms, STATUS } from './node-status.ts';
import { NodeRedLog } from '../red-log/node-red-log.ts';
import { RedCopies } from '../red-log/red-copies.ts';
import { SiteEnding } from './site-ending.ts';
import { EnvelopeCodec } from '../../site/wire/envelope-codec.ts';
import { NODE_FILE } from '../storage/directory/node-identity.ts';
import { openDirectory } from '../storage/directory/open-storage.ts';
import { createPartitions, type Partitions } from '../../service/partitions.ts';
import type { Service } from '../../service/service.ts';
import { hashDeploymentName } from './deployment-name.ts';
import { reportWritesWithoutPartition } from '../alarms/report-partitions.ts';
import { checkColorsIfEnabled } from '../startup-color-check.ts';
import { checkIsSite, type ResolvedNodeOptions } from './cluster-options.ts';

/** Describes the deployment of a directory of one site. */
function describeDeployment(
  service: Service,
  file: ClusterFile,
  options: Pick<ResolvedNodeOptions, 'site' | 'memoryBytes' | 'cacheBytes'>,
  onAlarm: OnAlarm,
  onProgress: (message: string) => void,
): NodeDirectoryOptions['deployment'] {
  return {
    onProgress,
    memory: shareMemory(options),
    service,
    sites: [...file.sites.keys()],
    redLeader: getFirstLeader(file),
    partitions: file.partitions,
    site: options.site,
    hasOwnKey: true,
    onAlarm,
  };
}

/**
 * Before a directory is replaced, frees it from its mark if other sites lack what it has.
 *
 * @throws CorrectableError as `openClusterNode`
 */
export async function prepareRebuild(
  service: Service,
  options: ResolvedNodeOptions,
  onProgress: (message: string) => void,
): Promise<void> {
  const { cluster, site, dataDir, onAlarm = emitWarning } = options;
  if (!existsSync(join(dataDir, NODE_FILE))) return;
  const file = readClusterFile(cluster);
  checkIsSite(site, file);
  const keys = readKeyFile(file.keyFile);
  const stored = describeDeployment(service, file, options, onAlarm, onProgress);
  const directory = openDirectory(dataDir, stored);
  try {
    await recheckMarkedDirectory(directory, {
      dataDir,
      site,
      stored,
      deployment: keys.deployment,
      peers: [...file.sites.keys()].filter((name) => name !== site),
      request: (to) => {
        const { cluster: address } = file.sites.get(to) as ClusterSite;
        return requestOfOperator({ address, to, keys }, STATUS, null);
      },
      onProgress,
    });
  } finally {
    await directory.close();
  }
}

/** What a node keeps open while its site is stopped and started again. */
export class NodeResources {
  readonly file: ClusterFile;
  readonly partitions: Partitions;
  readonly keys: ClusterKeys;
  /** Identifies messages of this deployment. */
  readonly deploymentName: string;
  readonly redLog: NodeRedLog;
  readonly codec: EnvelopeCodec;
  readonly alarms = new RecentAlarms();
  readonly onAlarm: OnAlarm;
  readonly room: DiskRoom;
  readonly directory: NodeDirectory;
  readonly redCopies: RedCopies;
  readonly ending: SiteEnding;
  readonly #aborted = new AbortController();

  /** @throws CorrectableError as `openClusterNode` */
  constructor(
    service: Service,
    options: ResolvedNodeOptions,
    onProgress: (message: string) => void,
  ) {
    const { site } = options;
    this.file = readClusterFile(options.cluster);
    checkIsSite(site, this.file);
    this.partitions = createPartitions(
      service,
      Object.fromEntries(this.file.partitions.map((item) => [item.name, item])),
    );
    checkColorsIfEnabled(service, options, (message) =>
      (options.onAlarm ?? emitWarning)({
        kind: 'color-check-failed',
        site,
        message,
      }),
    );
    this.keys = followKeyFile(this.file.keyFile, onProgress);
    this.deploymentName = hashDeploymentName(this.keys.sessionKey, service.contract.name);
    this.redLog = new NodeRedLog(this.file, this.keys.deployment);
    this.codec = new EnvelopeCodec(this.redLog.messages);
    this.onAlarm = this.alarms.noteBefore(options.onAlarm);
    if (this.partitions.count > 1) reportWritesWithoutPartition(service, site, this.onAlarm);

    const { onAlarm, signal } = this;
    this.room = new DiskRoom({ site, onAlarm, signal });
    const { room } = this;
    this.directory = new NodeDirectory({
      dataDir: options.dataDir,
      deploymentName: this.keys.deployment,
      deployment: describeDeployment(service, this.file, options, onAlarm, onProgress),
      rebuilds: options.rebuild,
      room,
    });
    const { directory, partitions } = this;
    this.redCopies = new RedCopies({ site, directory, partitions, onAlarm });
    this.ending = new SiteEnding({ site, onAlarm, signal, directory, room });
  }

  /** Aborted once the node is closed. */
  get signal(): AbortSignal {
    return this.#aborted.signal;
  }

  /** Ends all that waits for room on the disk or for another site. */
  abort(): void {
    this.#aborted.abort();
  }
}
