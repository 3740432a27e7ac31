/** Free ports of the loopback interface, below the range that outgoing connections use. */
import { createServer } from 'node:net';

const FIRST = 20_000;
const COUNT = 12_000;

export const LOOPBACK = '127.0.0.1';

/** So many different ports on which nobody listens now. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (!ports.has(port) && (await isUnused(port))) ports.add(port);
  }
  return [...ports];
}

async function isUnused(port: number): Promise<boolean> {
  return (await listenProblem(port, LOOPBACK)) === undefined;
}

/** Why nobody could listen there now: `EADDRINUSE`, `EADDRNOTAVAIL` (no address of this machine); undefined if one could. */
export function listenProblem(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    probe.listen(port, host, () => probe.close(() => resolve(undefined)));
  });
}
