/**
 * The sessions of a baseline. It has as many as the ZooKeeper binding: one for reads and one for
 * updates, both at the same server. So the cost of two sessions, and the gain from not reading
 * behind an update, are the same for both.
 */
import { ZooKeeper } from 'correctables/bindings/zookeeper';

export class SessionPair {
  readonly reader: ZooKeeper;
  readonly writer: ZooKeeper;

  constructor(servers: string) {
    this.writer = new ZooKeeper(servers);
    this.reader = new ZooKeeper(servers);
  }

  get create(): ZooKeeper['create'] {
    return this.writer.create.bind(this.writer);
  }

  get delete(): ZooKeeper['delete'] {
    return this.writer.delete.bind(this.writer);
  }

  get get(): ZooKeeper['get'] {
    return this.reader.get.bind(this.reader);
  }

  get children(): ZooKeeper['children'] {
    return this.reader.children.bind(this.reader);
  }

  get sync(): ZooKeeper['sync'] {
    return this.reader.sync.bind(this.reader);
  }

  /** The payload bytes of both sessions so far. */
  get bytes(): number {
    const [reads, updates] = [this.reader.bytes, this.writer.bytes];
    return reads.sent + reads.received + updates.sent + updates.received;
  }

  async close(): Promise<void> {
    await Promise.all([this.reader.close(), this.writer.close()]);
  }
}
