/**
 * One command to one server, over a connection of its own: an operator's way, beside the clients.
 */
import { Redis } from 'ioredis';
import { LOOPBACK } from '../ports.ts';

const CONNECT_MS = 1_000;
const ANSWER_MS = 10_000;

/**
 * Returns the reply to a command, as `ask(port, 'CLUSTER', 'INFO')`. Rejects if there is none in
 * time, or an error.
 */
export async function ask(
  port: number,
  command: string,
  ...args: readonly (string | number)[]
): Promise<unknown> {
  const redis = new Redis({
    host: LOOPBACK,
    port,
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    commandTimeout: ANSWER_MS,
    enableReadyCheck: false,
    retryStrategy: null,
  });
  redis.on('error', () => {}); // The command fails with it.
  try {
    await redis.connect();
    return await redis.call(command, ...args);
  } finally {
    redis.disconnect();
  }
}

/** What a server thinks that it is. */
export interface NodeRole {
  readonly isMaster: boolean;
  /** Of two servers that both think to be the master of a shard, the higher one is right. */
  readonly epoch: number;
}

/** Returns what a server thinks that it is; `undefined` if it does not answer. */
export async function readRole(port: number): Promise<NodeRole | undefined> {
  try {
    const nodes = String(await ask(port, 'CLUSTER', 'NODES'));
    const line = nodes.split('\n').find((item) => item.includes('myself')) ?? '';
    const [, , flags = '', , , , epoch = '0'] = line.split(' ');
    return { isMaster: flags.includes('master'), epoch: Number(epoch) };
  } catch {
    return undefined;
  }
}

/**
 * Returns a field of `INFO`, as `readInfo(port, 'replication', 'master_link_status')`; `undefined`
 * without an answer.
 */
export async function readInfo(
  port: number,
  section: string,
  field: string,
): Promise<string | undefined> {
  try {
    const info = String(
      await (section === 'cluster' ? ask(port, 'CLUSTER', 'INFO') : ask(port, 'INFO', section)),
    );
    const line = info.split('\r\n').find((item) => item.startsWith(`${field}:`));
    return line?.slice(field.length + 1);
  } catch {
    return undefined;
  }
}
