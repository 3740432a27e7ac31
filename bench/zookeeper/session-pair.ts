/**
 * Sessions for a baseline, as many as stand behind a binding of ours: one for reads, one for updates, both at the same
 * server. What it costs to keep two alive, and what it spares not to read behind an update, both have.
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

  /** Payload bytes of both so far. */
  get bytes(): number {
    const [reads, updates] = [this.reader.bytes, this.writer.bytes];
    return reads.sent + reads.received + updates.sent + updates.received;
  }

  async close(): Promise<void> {
    await Promise.all([this.reader.close(), this.writer.close()]);
  }
}
