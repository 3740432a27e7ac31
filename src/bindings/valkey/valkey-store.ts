/** Valkey or Redis as a store with replicas. */
import {
  CorrectableError,
  createInvalidArgumentError,
  isCorrectableError,
  type ErrorCode,
} from '../../correctable/errors.ts';
import type { Access, Operation } from '../../correctable/operation.ts';
import type { GetManyArgs, PutArgs } from '../../operations/index.ts';
import type {
  ReplicaCall,
  ReplicaRead,
  ReplicaStore,
  ReplicaWrite,
} from '../replicas/index.ts';
import { toExactJson } from '../shared/to-json.ts';
import { checkWellFormed } from '../shared/well-formed-text.ts';
import type { ResolvedOptions } from './options.ts';
import {
  parsePosition,
  reached,
  type ValkeyPosition,
} from './replication-position.ts';
import type { ValkeyServer } from './valkey-server.ts';

type Command = readonly [name: string, ...args: (string | number)[]];

const MAX_KEYS = 1_000;
const POSITION: Command = ['info', 'replication'];

const OPERATIONS: Readonly<Record<string, Access>> = {
  get: 'read',
  getMany: 'read',
  put: 'write',
  remove: 'write',
};

export class ValkeyStore implements ReplicaStore<ValkeyPosition> {
  readonly name = 'valkey';
  readonly replicas: readonly string[];
  readonly #options: ResolvedOptions;

  constructor(options: ResolvedOptions) {
    this.#options = options;
    this.replicas = [...options.servers.keys()].filter(
      (name) => name !== 'primary',
    );
  }

  supports({ name, access }: Operation): boolean {
    return Object.hasOwn(OPERATIONS, name) && OPERATIONS[name] === access;
  }

  describeUnsupported(): string {
    return `it has ${Object.keys(OPERATIONS).join(', ')}`;
  }

  reached(have: ValkeyPosition, need: ValkeyPosition): boolean {
    return reached(have, need);
  }

  /** The value and the position are of one moment: they are one transaction. */
  async read(
    operation: Operation,
    server: string,
  ): Promise<ReplicaRead<ValkeyPosition>> {
    const keys = this.#getKeys(operation);
    const client = await this.#getServer(server).connect();
    const batch = client.multi();
    for (const [name, ...args] of [POSITION, ['mget', ...keys] as Command])
      batch.call(name, ...args);
    try {
      const [info, values] = await execute(batch);
      const decoded = (values as (string | null)[]).map(decode);
      const value = operation.name === 'get' ? decoded[0] : decoded;
      return { value, position: parsePosition(info) };
    } catch (error) {
      throw toCorrectableError(error, operation, false);
    }
  }

  async write(
    operation: Operation,
    { markSent }: ReplicaCall,
  ): Promise<ReplicaWrite<ValkeyPosition>> {
    const { waitForReplicas, waitTimeoutMs } = this.#options;
    const commands = [this.#planWrite(operation), POSITION];
    if (waitForReplicas > 0)
      commands.push(['wait', waitForReplicas, waitTimeoutMs]);
    const server = this.#getServer('primary');
    // With a connection, nothing is awaited before the write is sent.
    const client = server.ready ?? (await server.connect());
    markSent();
    const batch = client.pipeline();
    for (const [name, ...args] of commands) batch.call(name, ...args);
    try {
      const [, info, copies] = await execute(batch);
      this.#checkCopies(operation, copies);
      return { value: undefined, position: parsePosition(info) };
    } catch (error) {
      throw toCorrectableError(error, operation, true);
    }
  }

  async readPosition(): Promise<ValkeyPosition> {
    const batch = (await this.#getServer('primary').connect()).pipeline();
    batch.call(...(POSITION as [string, string]));
    const position = parsePosition((await execute(batch))[0]);
    if (position !== undefined) return position;
    throw new CorrectableError('UNAVAILABLE', 'valkey: no position');
  }

  async close(): Promise<void> {
    for (const server of this.#options.servers.values()) server.close();
  }

  #getServer(name: string): ValkeyServer {
    return this.#options.servers.get(name) as ValkeyServer;
  }

  #getKeys({ name, args }: Operation): readonly string[] {
    const { prefix } = this.#options;
    if (name === 'get') return [prefix + checkKey(args, 'args.key')];
    const keys: unknown = (args as Partial<GetManyArgs> | undefined)?.keys;
    const isList = Array.isArray(keys) && keys.length <= MAX_KEYS;
    if (!isList || keys.length === 0)
      throw createInvalidArgumentError(
        'args.keys',
        `give a list of 1 to ${MAX_KEYS} keys`,
      );
    return keys.map(
      (key: unknown, at) => prefix + checkKey({ key }, `args.keys[${at}]`),
    );
  }

  #planWrite({ name, args }: Operation): Command {
    const key = this.#options.prefix + checkKey(args, 'args.key');
    if (name === 'remove') return ['del', key];
    const { value, ttlMs } = args as Partial<PutArgs>;
    checkWellFormed(value, 'args.value');
    const json = toExactJson(value, { name: 'put', field: 'args.value' });
    if (ttlMs === undefined) return ['set', key, json];
    return ['set', key, json, 'px', Math.max(1, Math.ceil(ttlMs))];
  }

  /** Fewer replicas may lose the write at a failover. */
  #checkCopies({ name }: Operation, copies: unknown): void {
    const { waitForReplicas, waitTimeoutMs } = this.#options;
    if (waitForReplicas === 0 || Number(copies) >= waitForReplicas) return;
    const message = `${name}: ${String(copies)} of ${waitForReplicas} replicas have acknowledged the write in ${waitTimeoutMs} ms. It was made at the primary, and a failover may lose it.`;
    throw new CorrectableError('UNKNOWN', message);
  }
}

async function execute(
  batch: ReturnType<NonNullable<ValkeyServer['ready']>['multi']>,
): Promise<unknown[]> {
  const replies = (await batch.exec()) ?? [];
  return replies.map(([error, reply]) => {
    if (error !== null) throw error;
    return reply;
  });
}

function decode(text: string | null): unknown {
  return text === null ? undefined : (JSON.parse(text) as unknown);
}

function checkKey(args: unknown, field: string): string {
  const { key } = (args ?? {}) as { readonly key?: unknown };
  if (typeof key === 'string' && key !== '') return checkWellFormed(key, field);
  throw createInvalidArgumentError(
    field,
    'give a string of at least one character',
  );
}

/** By the first word of an error that the server replies. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  NOAUTH: 'UNAUTHENTICATED',
  WRONGPASS: 'UNAUTHENTICATED',
  NOPERM: 'FORBIDDEN',
  OOM: 'OVERLOADED',
  WRONGTYPE: 'INVALID_ARGUMENT',
};

function toCorrectableError(
  error: unknown,
  { name }: Operation,
  isWrite: boolean,
): unknown {
  if (isCorrectableError(error)) return error;
  const { message: text, name: kind } = error as Error;
  // The server has refused the command. Anything else is a lost connection.
  const isRefusal = kind === 'ReplyError';
  if (isWrite && !isRefusal) {
    const message = `${name}: the write was sent and may have been made: ${text}`;
    return new CorrectableError('UNKNOWN', message, { cause: error });
  }
  const [word = ''] = text.split(' ');
  const outcome = isWrite ? 'Nothing was written.' : 'Nothing was read.';
  const message = `${name}: ${text}. ${outcome}`;
  const code = CODES[word] ?? 'UNAVAILABLE';
  return new CorrectableError(code, message, { cause: error });
}
