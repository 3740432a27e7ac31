/** What a run disturbs: processes, their directories, and the links between them. */
import type { Site } from '../../engines/wan.ts';
import type { FaultKind } from './faults/plan.ts';
import type { EtcdServers } from './etcd-servers.ts';
import type { Links } from './faults/links.ts';
import type { ServerProcess } from './server-process.ts';
import type { Deployment } from './user.ts';

/** The built command line, and the module of the service. */
export interface Build {
  readonly cli: string;
  readonly service: string;
  /** An existing directory for what each process writes to its error output. */
  readonly logs?: string | undefined;
}

export interface ChaosDeployment extends Deployment, AsyncDisposable {
  /** The sites that order red operations; none if etcd does. */
  readonly leaders: readonly Site[];
  /** The faults that it can suffer. */
  readonly kinds: ReadonlySet<FaultKind>;
  readonly processes: readonly ServerProcess[];
  /** Absent if the sites are in one process. */
  readonly links?: Links;
  /** The servers of etcd that keep the red log, if they do. */
  readonly etcd?: EtcdServers;
  processOf(site: Site): ServerProcess;
  directoryOf(site: Site): string;
  /**
   * Another process for the node of a site, on `directory`, with ports of its own. It is not
   * started.
   */
  createSecondProcess(site: Site, directory: string): Promise<ServerProcess>;
}
