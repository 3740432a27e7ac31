/**
 * A small ZooKeeper for faults that cannot be scripted on the real one: one log, and servers that
 * apply it when it suits the test. The rules that clients meet are the real ones: numbers and
 * transactions, sessions that move and expire, watches, and a commit that is matched to a waiting
 * request by session and request number alone.
 */
import { Leader } from './leader.ts';
import { FakeServer, type FakeServerOptions } from './server.ts';

export class FakeEnsemble implements AsyncDisposable {
  readonly leader = new Leader();
  readonly servers: FakeServer[] = [];

  /** Starts an ensemble with `count` servers. */
  static async start(count = 1, options: FakeServerOptions = {}): Promise<FakeEnsemble> {
    const ensemble = new FakeEnsemble();
    for (let n = 0; n < count; n += 1) await ensemble.add(options);
    return ensemble;
  }

  async add(options: FakeServerOptions = {}): Promise<FakeServer> {
    const server = await FakeServer.start(this.leader, options);
    this.servers.push(server);
    return server;
  }

  /** The first server, for tests that need only one. */
  get server(): FakeServer {
    return this.at(0);
  }

  at(index: number): FakeServer {
    const server = this.servers[index];
    if (server === undefined) throw new RangeError(`there is no server ${index}`);
    return server;
  }

  /** All servers, in order. */
  get connectString(): string {
    return this.servers.map(({ address }) => address).join(',');
  }

  /** Returns the names of a node's children on the leader. */
  children(path: string): string[] {
    return [...(this.leader.tree.nodes.get(path)?.children ?? [])].sort();
  }

  async stop(): Promise<void> {
    this.leader.agreement.stop();
    await Promise.all(this.servers.map((server) => server.stop()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
