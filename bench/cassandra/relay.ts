/** Counts the bytes on a connection in both directions: a TCP relay in front of a server. */
import { connect, createServer, type AddressInfo } from 'node:net';

export interface Relay {
  /** The address of the relay, `host:port`. */
  readonly address: string;
  /** The number of bytes in both directions so far. */
  readonly bytes: number;
  close(): Promise<void>;
}

/** @param target `host:port` */
export async function openRelay(target: string): Promise<Relay> {
  const { hostname, port } = new URL(`tcp://${target}`);
  let bytes = 0;
  const server = createServer({ noDelay: true }, (client) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    for (const [from, to] of [
      [client, socket],
      [socket, client],
    ] as const) {
      from.on('data', (chunk: Buffer) => (bytes += chunk.length));
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    get bytes() {
      return bytes;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
