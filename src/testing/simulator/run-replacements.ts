import type {
  createSiteFromShared,
  mergeSharedIntoSite,
} from '../../server/log/recovered-state.ts';
import type { PrefixDigest } from '../../server/log/prefix-digest.ts';
import type { EtcdLog } from '../../server/log/etcd/etcd-log.ts';
import type { DurableStorage } from '../../server/storage/durable-storage.ts';
import type { SimulatedDisk } from './disk.ts';
import type { RestorationSteps } from './cluster/restored-logs.ts';
import type { SimulationOptions } from './options.ts';
import type { Scenario } from './scenario.ts';
import type { MachineFactory } from './simulated-site-options.ts';

/** Replacements of production code: parts with a fault, to check that the fault is found. */
export interface RunReplacements {
  readonly makeMachine?: MachineFactory | undefined;
  readonly Disk?: typeof SimulatedDisk | undefined;
  readonly Digest?: typeof PrefixDigest | undefined;
  readonly Storage?: typeof DurableStorage | undefined;
  readonly createSite?: typeof createSiteFromShared | undefined;
  readonly mergeSite?: typeof mergeSharedIntoSite | undefined;
  readonly EtcdLog?: typeof EtcdLog | undefined;
  readonly restorationSteps?: Partial<RestorationSteps> | undefined;
}

/** How to run a seed. */
export interface SimulateOptions {
  /** The scenario of the run. A function creates it from the options of the run. */
  readonly scenario: Scenario | ((options: SimulationOptions, seed: number) => Scenario);
  /** Replace the options that the profile draws. */
  readonly overrides?: Partial<SimulationOptions> | undefined;
  readonly replacements?: RunReplacements | undefined;
}
