/**
 * A real etcd cluster for the tests of one file, apart from the one that a person may have started.
 */
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { EtcdCluster, EtcdKind } from '../../../engines/etcd/cluster.ts';
import { useEtcd, type UsedEtcd } from '../../../engines/etcd/engine.ts';
import { reasonToSkip } from './missing-tools.ts';

/**
 * Starts a cluster before the tests of the file and stops it after them. Where Go is missing the
 * tests fail; with SKIP_ENGINES=1 they are skipped, with the reason.
 */
export function withEtcd(kind: Partial<EtcdKind> = {}): { readonly cluster: EtcdCluster } {
  let used: UsedEtcd | undefined;
  let missing: string | undefined;
  beforeAll(async () => {
    try {
      used = await useEtcd(kind, () => {});
    } catch (error) {
      missing = reasonToSkip(error);
    }
  }, BUILD_MS);
  beforeEach((context) => context.skip(missing !== undefined, missing));
  afterAll(async () => await used?.stop());
  return {
    get cluster() {
      if (used === undefined) throw new Error('the cluster has not been started');
      return used.cluster;
    },
  };
}

/** The first time, Go fetches and builds etcd. */
const BUILD_MS = 900_000;
