/** The Redis of all sites, as a gateway uses them. */
import type { CausalLimits } from '../../causal/limits.ts';
import type { PartitionPort } from '../../causal/partition-calls.ts';
import type { Keyspace } from './keyspace.ts';

export interface PortOptions {
  /** The sites in the order of each vector. */
  readonly sites: readonly string[];
  readonly limits: CausalLimits;
  readonly getSiteView: PartitionPort['getSiteView'];
}

export interface SiteStores {
  /** The shared data of each site, by its name. */
  readonly keyspaces: ReadonlyMap<string, Keyspace>;
  createPort(options: PortOptions): PartitionPort;
  /** Closes connections that were opened here. Connections of the caller stay open. */
  close(): void;
}
