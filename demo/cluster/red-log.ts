/** Opens the red log of the demo: one of its sites, or etcd, which is started for it. */
import type { EtcdCluster } from '../../engines/etcd/cluster.ts';
import { useEtcd } from '../../engines/etcd/engine.ts';
import type { WanPreset } from '../../engines/wan.ts';
import { builtInRedLog, type RedLogAt } from './cluster-files.ts';
import type { Options } from './options.ts';

export interface OpenRedLog extends AsyncDisposable {
  readonly at: RedLogAt;
  readonly etcd: EtcdCluster | undefined;
}

/** @throws EngineUnavailable if etcd cannot be built */
export async function openRedLog(
  engine: Options['engine'],
  wan: WanPreset,
  progress: (text: string) => void,
): Promise<OpenRedLog> {
  if (engine !== 'etcd')
    return { at: builtInRedLog, etcd: undefined, [Symbol.asyncDispose]: async () => {} };
  const { cluster: etcd, stop } = await useEtcd({ wan }, (text) => progress(`etcd: ${text}`));
  const at: RedLogAt = (site) => ({ engine: 'etcd', endpoints: etcd.endpoints(site) });
  return { at, etcd, [Symbol.asyncDispose]: stop };
}
