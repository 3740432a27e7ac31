/**
 * The classes that the sites of a run are made of, and the functions that change stopped sites. A
 * planted fault replaces some.
 */
import { ETCD_PARTS } from '../../server/log/etcd/engine.ts';
import { PrefixDigest } from '../../server/log/prefix-digest.ts';
import { SequencedLog } from '../../server/log/sequenced/sequenced-log.ts';
import { PARTS } from '../../server/site/parts.ts';
import { Site } from '../../server/site/site.ts';
import { OrderedWrites } from '../../server/node/storage/disk/ordered-writes.ts';
import { DurableStorage } from '../../server/node/storage/durable-storage.ts';
import { AskedParts, CountedReadyBuilder } from './asked-parts.ts';
import { CLUSTER_STEPS } from './cluster/cluster-steps.ts';
import { SimulatedDisk } from './disk/disk.ts';

export const RUN_PARTS = {
  ...PARTS,
  SiteParts: AskedParts,
  ReadyBuilder: CountedReadyBuilder,
  Site,
  SequencedLog,
  ...ETCD_PARTS,
  PrefixDigest,
  DurableStorage,
  OrderedWrites,
  SimulatedDisk,
  ...CLUSTER_STEPS,
};

export type RunParts = typeof RUN_PARTS;
