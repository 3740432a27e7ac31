/**
 * The partition port for Redis. Each partition is a hash, and each call of a gateway is a script.
 */
import { createHash } from 'node:crypto';
import type { CausalLimits } from '../../causal/limits.ts';
import type {
  CallName,
  PartitionAddress,
  PartitionCalls,
  PartitionPort,
  Refusal,
} from '../../causal/partition-calls.ts';
import {
  describeError,
  findRefusalCode,
  isNotExecuted,
  NoConnectionError,
} from '../shared/redis/redis-errors.ts';
import type { RedisArgument, ScriptConnection } from './driver.ts';
import { decodeReply, encodeRequest } from './script-codec.ts';
import { buildPartitionScripts } from './scripts/partition-scripts.ts';

export interface RedisPartitionPortOptions {
  readonly name: string;
  /** The connection to each site, by the index of the site. */
  readonly connections: readonly ScriptConnection[];
  readonly siteCount: number;
  readonly limits: CausalLimits;
  readonly requestTimeoutMs: number;
  readonly getSiteView: PartitionPort['getSiteView'];
}

interface Script {
  readonly text: string;
  readonly sha: string;
}

const UNREACHABLE: Refusal = { refused: 'UNREACHABLE' };

/** Returns a port whose calls are scripts, each at the partition's own server. */
export function createRedisPartitionPort(options: RedisPartitionPortOptions): PartitionPort {
  return new RedisPartitionPort(options);
}

class RedisPartitionPort implements PartitionPort {
  readonly getSiteView: PartitionPort['getSiteView'];
  readonly #options: RedisPartitionPortOptions;
  /**
   * The scripts of each site. They differ, because the site of the partition is a constant in them.
   */
  readonly #scripts: readonly Readonly<Record<CallName, Script>>[];

  constructor(options: RedisPartitionPortOptions) {
    const { connections, siteCount, limits, getSiteView } = options;
    this.#options = options;
    this.getSiteView = getSiteView;
    this.#scripts = connections.map((_, site) =>
      hashScripts(buildPartitionScripts({ site, siteCount, limits })),
    );
  }

  call<N extends CallName>(
    address: PartitionAddress,
    name: N,
    request: PartitionCalls[N]['request'],
    onReply: (reply: PartitionCalls[N]['reply'] | Refusal) => void,
  ): void {
    const { requestTimeoutMs } = this.#options;
    const args = encodeRequest(name, request);
    let isOpen = true;
    const reply = (result: PartitionCalls[N]['reply'] | Refusal): void => {
      if (!isOpen) return;
      isOpen = false;
      clearTimeout(timer);
      onReply(result);
    };
    const timer = setTimeout(() => reply(UNREACHABLE), requestTimeoutMs);
    void this.#execute(address, name, args).then(reply);
  }

  /** Never rejects: an error of the connection becomes a refusal. */
  async #execute<N extends CallName>(
    { site, partition }: PartitionAddress,
    name: N,
    args: readonly RedisArgument[],
  ): Promise<PartitionCalls[N]['reply'] | Refusal> {
    const connection = this.#options.connections[site];
    const script = this.#scripts[site]?.[name];
    if (connection === undefined || script === undefined) return UNREACHABLE;
    const key = `{${this.#options.name}:${partition}}`;
    try {
      const reply = await runScript(connection, script, [key, ...args]);
      return decodeReply(name, reply, this.#options.siteCount);
    } catch (error) {
      return toRefusal(error, key, connection.sendsOnce === true);
    }
  }
}

function hashScripts(
  scripts: Readonly<Record<CallName, string>>,
): Readonly<Record<CallName, Script>> {
  const hashed = Object.entries(scripts).map(([name, text]) => {
    const sha = createHash('sha1').update(text).digest('hex');
    return [name, { text, sha }] as const;
  });
  return Object.fromEntries(hashed) as Record<CallName, Script>;
}

/** A server that has started again, or is a new master, may not know a script. */
async function runScript(
  connection: ScriptConnection,
  { text, sha }: Script,
  args: readonly RedisArgument[],
): Promise<unknown> {
  try {
    return await connection.evalshaBuffer(sha, 1, ...args);
  } catch (error) {
    if (!startsWith(error, 'NOSCRIPT')) throw error;
    return connection.evalBuffer(text, 1, ...args);
  }
}

/**
 * Errors that prove that a script has written nothing, even if `ioredis` has sent it twice. A
 * server replies with them before the first write, and a repetition does not cause them.
 *
 * After a failover, READONLY, LOADING or CLUSTERDOWN may be the reply to a repetition of a call
 * that was executed. A command that the user may not run within the script may come after a write.
 */
const NOT_EXECUTED_TWICE = /^(NOREPLICAS|MISCONF|NOPERM(?!.*script))\b/;

function toRefusal(error: unknown, key: string, sendsOnce: boolean): Refusal {
  // The server has used all its memory, and its policy is to evict nothing.
  if (startsWith(error, 'OOM')) return { refused: 'FULL' };
  const text = error instanceof Error ? error.message : '';
  // The first command of each script reads the partition.
  if (text.startsWith('WRONGTYPE'))
    return {
      refused: 'NOT_EXECUTED',
      code: 'INVALID_VALUE',
      detail: `the key ${key} of a partition has another type: another program has written it`,
    };
  const isProven = NOT_EXECUTED_TWICE.test(text) || (sendsOnce && isNotExecuted(error));
  if (!isProven) return UNREACHABLE;
  const code = findRefusalCode(error);
  const isReply = !(error instanceof NoConnectionError);
  const cause = describeError(error);
  const detail = isReply ? `the store answered "${cause}"` : `there is ${cause}`;
  return { refused: 'NOT_EXECUTED', detail, ...(code !== undefined && { code }) };
}

function startsWith(error: unknown, code: string): boolean {
  return error instanceof Error && error.message.startsWith(code);
}
