/** Adapters to a real etcd cluster whose replies a test can wait for. */
import * as grpc from '@grpc/grpc-js';
import { EtcdAdapter } from '../../../src/server/node/etcd/etcd-adapter.ts';
import type { EtcdServers } from '../../../src/server/node/etcd/etcd-channel.ts';
import type { EtcdReply, EtcdRequest } from '../../../src/server/log/etcd/etcd-requests.ts';

type Kind = EtcdReply['kind'];
type ReplyOf<K extends Kind> = Extract<EtcdReply, { readonly kind: K }>;
type WithoutId<T> = T extends { readonly id: number } ? Omit<T, 'id'> : never;

/** An adapter that records what it reports. */
export class TestAdapter {
  readonly adapter: EtcdAdapter;
  readonly replies: EtcdReply[] = [];
  readonly #listeners = new Set<() => void>();
  #nextId = 1;

  constructor(servers: EtcdServers) {
    this.adapter = new EtcdAdapter(grpc, servers, (reply) => {
      this.replies.push(reply);
      for (const listener of this.#listeners) listener();
    });
  }

  /** Sends a request with an id of its own, which it returns. */
  send(request: WithoutId<EtcdRequest>): number {
    const id = this.#nextId++;
    this.adapter.send({ ...request, id } as EtcdRequest);
    return id;
  }

  /** Sends a request, and waits for the reply to it. */
  async ask(request: WithoutId<EtcdRequest>): Promise<EtcdReply> {
    const id = this.send(request);
    return await this.wait((reply) => 'id' in reply && reply.id === id);
  }

  connected(times = 1): Promise<unknown> {
    return this.waitFor(() => this.list('etcd.connected').length >= times);
  }

  /** All replies of a kind, in order. */
  list<K extends Kind>(kind: K): ReplyOf<K>[] {
    return this.replies.filter((reply): reply is ReplyOf<K> => reply.kind === kind);
  }

  /** The first reply that matches, also one that has come. */
  async wait(matches: (reply: EtcdReply) => boolean): Promise<EtcdReply> {
    await this.waitFor(() => this.replies.some(matches));
    return this.replies.find(matches) as EtcdReply;
  }

  waitFor(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (!condition()) return;
        this.#listeners.delete(check);
        resolve();
      };
      this.#listeners.add(check);
      check();
    });
  }

  close(): void {
    this.adapter.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
