/** Free ports of the loopback interface, below the range that outgoing connections use. */
import { createServer } from 'node:net';

const FIRST = 20_000;
/**
 * Programs that run beside each other choose from different parts, so that none takes a port that
 * another one is to use.
 */
const PARTS = 24;
const PART_SIZE = 500;
const first = FIRST + (process.pid % PARTS) * PART_SIZE;

/** A server that is down for a time starts again on its port. */
const used = new Set<number>();

export const LOOPBACK = '127.0.0.1';

/** Returns different ports on which no process listens now. */
export async function freePorts(count: number): Promise<number[]> {
  if (used.size + count > PART_SIZE / 2) used.clear();
  const ports: number[] = [];
  while (ports.length < count) {
    const port = first + Math.floor(Math.random() * PART_SIZE);
    if (used.has(port)) continue;
    used.add(port);
    if (await isUnused(port)) ports.push(port);
  }
  return ports;
}

async function isUnused(port: number): Promise<boolean> {
  return (await listenProblem(port, LOOPBACK)) === undefined;
}

/**
 * Why the port is not free: `EADDRINUSE`, `EADDRNOTAVAIL` (no address of this machine); undefined
 * if free.
 */
export function listenProblem(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    probe.listen(port, host, () => probe.close(() => resolve(undefined)));
  });
}
