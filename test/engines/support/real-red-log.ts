/**
 * A real etcd as the conformance suite of red logs uses it: a deployment of its own for each test.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import * as grpc from '@grpc/grpc-js';
import type { EtcdCluster } from '../../../engines/etcd/cluster.ts';
import { EtcdAdapter } from '../../../src/server/node/etcd/etcd-adapter.ts';
import type { EtcdRequest } from '../../../src/server/log/etcd/etcd-requests.ts';
import type { ServerReply } from '../../../src/server/log/red-log.ts';
import type { ServerConnection } from '../../../src/testing/simulator/etcd/simulated-etcd.ts';
import type { RedLogServer } from '../../support/log-conformance/red-log.ts';

const POLL_MS = 5;
let deployments = 0;

export class RealRedLogServer implements RedLogServer {
  readonly deployment: string;
  readonly #cluster: EtcdCluster;

  constructor(cluster: EtcdCluster) {
    deployments += 1;
    this.deployment = `conformance-${deployments}`;
    this.#cluster = cluster;
  }

  get nowMs(): number {
    return performance.now();
  }

  connect(reply: (reply: ServerReply) => void): ServerConnection {
    const adapter = new EtcdAdapter(grpc, { endpoints: this.#cluster.endpoints() }, reply);
    return {
      request: (request) => adapter.send(request as EtcdRequest),
      close: () => adapter.close(),
    };
  }

  async settle(isQuiet: () => boolean): Promise<void> {
    while (!isQuiet()) await sleep(POLL_MS);
  }
}
