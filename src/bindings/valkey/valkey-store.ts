/** Valkey or Redis as a store with replicas. */
import {
  CorrectableError,
  isCorrectableError,
} from '../../correctable/errors.ts';
import type { Access, Operation } from '../../correctable/operation.ts';
import type { RedisBatch } from '../shared/redis/redis-driver.ts';
import type {
  ReplicaCall,
  ReplicaRead,
  ReplicasAlarm,
  ReplicaStore,
  ReplicaWrite,
} from '../replicas/index.ts';
import {
  sendPipeline,
  sendRead,
  type BatchReply,
} from '../shared/redis/redis-batch.ts';
import {
  describeError,
  isAccessError,
  isWrongServer,
} from '../shared/redis/redis-errors.ts';
import { getKeys, planWrite, POSITION, type Command } from './commands.ts';
import { GroupWriter, type WriteReplies } from './group-writer.ts';
import type { ResolvedOptions } from './options.ts';
import {
  hasLost,
  isReplica,
  parseInfo,
  parsePosition,
  reached,
  type Info,
  type ValkeyPosition,
} from './replication-position.ts';
import {
  createNoPrimaryError,
  createUnreadableError,
  createUnsafeWriteError,
  toCorrectableError,
} from './valkey-errors.ts';
import type { ValkeyServer } from './valkey-server.ts';

const OPERATIONS: Readonly<Record<string, Access>> = {
  get: 'read',
  getMany: 'read',
  put: 'write',
  remove: 'write',
};

const REPLICA = 'is a replica';
const OLD = 'is an old primary: another server was promoted since';
interface KeysReply {
  readonly info: Info;
  readonly texts: readonly unknown[];
  /** The position after the values, if it was not read together with them. */
  readonly after?: ValkeyPosition | undefined;
}

/** After so many promotions, the first one is forgotten. */
const MAX_OLD_STREAMS = 64;

export class ValkeyStore implements ReplicaStore<ValkeyPosition> {
  readonly name = 'valkey';
  readonly replicas: readonly string[];
  readonly #options: ResolvedOptions;
  readonly #primary: ValkeyServer;
  readonly #groups: GroupWriter;
  /** The streams that have ended with a promotion. */
  readonly #oldStreams = new Set<string>();
  #report: (alarm: ReplicasAlarm) => void = () => {};

  constructor(options: ResolvedOptions) {
    this.#options = options;
    this.#primary = options.servers.get('primary') as ValkeyServer;
    this.#groups = new GroupWriter({
      server: this.#primary.blocking,
      replicas: options.waitForReplicas,
      timeoutMs: options.waitTimeoutMs,
    });
    this.replicas = [...options.servers.keys()].filter(
      (name) => name !== 'primary',
    );
    for (const server of options.servers.values())
      server.onRefused = (error) => this.#noteRefusal(server.name, error);
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

  hasLost(have: ValkeyPosition, need: ValkeyPosition): boolean {
    return hasLost(have, need);
  }

  reportTo(report: (alarm: ReplicasAlarm) => void): void {
    this.#report = report;
  }

  /** The value and the position are of one moment: they are one transaction. */
  async read(
    operation: Operation,
    name: string,
    { after }: ReplicaCall,
  ): Promise<ReplicaRead<ValkeyPosition>> {
    const keys = getKeys(operation);
    const server = this.#getServer(name);
    const {
      info,
      texts,
      after: later,
    } = await this.#readKeys(operation, keys, server);
    const position = parsePosition(info, server.facts);
    if (server === this.#primary) {
      this.#noteStream(after as ValkeyPosition | undefined);
      if (isReplica(info)) this.#refuse(operation, REPLICA);
      if (this.#isOld(position)) this.#refuse(operation, OLD);
      this.#noteStream(position);
    }
    const values = texts.map((text, at) =>
      decode(text as string | null, operation, keys[at] as string),
    );
    const value = operation.name === 'get' ? values[0] : values;
    return { value, position, ...(later && { seenUpTo: later }) };
  }

  async write(
    operation: Operation,
    { after, markSent }: ReplicaCall,
  ): Promise<ReplicaWrite<ValkeyPosition>> {
    this.#noteStream(after as ValkeyPosition | undefined);
    try {
      const replies = await this.#sendWrite(operation, markSent);
      if ('error' in replies.write) throw replies.write.error;
      return { value: undefined, position: this.#judge(operation, replies) };
    } catch (error) {
      if (isWrongServer(error)) this.#primary.renew(error as Error);
      if (isAccessError(error)) this.#noteRefusal('primary', error);
      throw toCorrectableError(error, operation, 'primary');
    }
  }

  async readPosition(): Promise<ValkeyPosition> {
    const { direct } = this.#primary;
    const client = direct.ready ?? (await direct.connect());
    const reply = client.call(...POSITION);
    const info = parseInfo(await direct.watch(client, reply));
    const position = parsePosition(info, this.#primary.facts);
    if (!isReplica(info) && position !== undefined && !this.#isOld(position))
      return position;
    this.#primary.renew(new Error('it is no primary'));
    throw new CorrectableError('UNAVAILABLE', 'valkey: no position');
  }

  probe(name: string): Promise<void> {
    return this.#getServer(name).direct.probe();
  }

  /** A right for single keys, or a value that cannot be read, is no failure. */
  isServerFailure(error: unknown): boolean {
    const { code } = Object(error) as { readonly code?: unknown };
    return (
      !isCorrectableError(error) ||
      /^(UNAVAILABLE|OVERLOADED|UNAUTHENTICATED)$/.test(String(code))
    );
  }

  async close(): Promise<void> {
    for (const server of this.#options.servers.values()) server.close();
  }

  #getServer(name: string): ValkeyServer {
    return this.#options.servers.get(name) as ValkeyServer;
  }

  async #readKeys(
    operation: Operation,
    keys: readonly string[],
    server: ValkeyServer,
  ): Promise<KeysReply> {
    const { prefix } = this.#options;
    const { name, direct } = server;
    // MGET shows a key of another type as absent.
    const gets = keys.map((key): Command => ['GET', prefix + key]);
    try {
      const client = direct.ready ?? (await direct.connect());
      const send = (
        batch: RedisBatch,
        ...commands: readonly Command[]
      ): Promise<unknown[]> => {
        for (const command of commands) batch.call(...command);
        return direct.watch(client, sendRead(batch));
      };
      try {
        const [info, ...texts] = await send(client.multi(), POSITION, ...gets);
        return { info: parseInfo(info), texts };
      } catch (error) {
        // A server without memory refuses each transaction, and no read.
        if (!/^OOM\b/.test(describeError(error))) throw error;
      }
      const commands = [POSITION, ...gets, POSITION];
      const replies = await send(client.pipeline(), ...commands);
      const after = parsePosition(parseInfo(replies.pop()), server.facts);
      const [info, ...texts] = replies;
      return { info: parseInfo(info), texts, after };
    } catch (error) {
      if (isAccessError(error)) this.#noteRefusal(name, error);
      const { message, at = 1 } = Object(error) as {
        readonly message?: string;
        readonly at?: number;
      };
      if (message?.startsWith('WRONGTYPE'))
        throw createUnreadableError(operation, keys[at - 1] as string, error);
      throw toCorrectableError(error, operation, name);
    }
  }

  async #sendWrite(
    operation: Operation,
    markSent: () => void,
  ): Promise<Omit<WriteReplies, 'copies'> & { readonly copies?: BatchReply }> {
    const { prefix, waitForReplicas } = this.#options;
    const command = planWrite(operation, prefix);
    const { direct } = this.#primary;
    const markSentHere = (): void => {
      if (this.#oldStreams.has(this.#primary.facts.replicationId ?? ''))
        this.#refuse(operation, OLD);
      markSent();
    };
    if (waitForReplicas > 0)
      return await this.#groups.write(command, markSentHere);
    // With a connection, nothing is awaited before the write is sent.
    const client = direct.ready ?? (await direct.connect());
    markSentHere();
    const batch = client.pipeline();
    batch.call(...command);
    batch.call(...POSITION);
    const replies = await direct.watch(client, sendPipeline(batch));
    const [write, info] = replies as [BatchReply, BatchReply];
    return { write, info };
  }

  /**
   * Returns the position of a write that was made. A failure after it does not
   * undo it.
   */
  #judge(
    operation: Operation,
    {
      info,
      copies,
    }: { readonly info: BatchReply; readonly copies?: BatchReply },
  ): ValkeyPosition | undefined {
    const { waitForReplicas, waitTimeoutMs } = this.#options;
    if (copies !== undefined && 'error' in copies) {
      this.#primary.renew(copies.error);
      const problem = `it is unknown how many replicas have the write: ${describeError(copies.error)}`;
      throw createUnsafeWriteError(operation, problem, copies.error);
    }
    if ('error' in info) return undefined;
    const fields = parseInfo(info.value);
    const position = parsePosition(fields, this.#primary.facts);
    if (isReplica(fields) || this.#isOld(position)) {
      this.#primary.renew(new Error('it is no primary'));
      const problem = isReplica(fields) ? 'was demoted meanwhile' : OLD;
      throw createUnsafeWriteError(
        operation,
        `the server at "primary" ${problem}`,
      );
    }
    this.#noteStream(position);
    if (copies === undefined || Number(copies.value) >= waitForReplicas)
      return position;
    const problem = `${String(copies.value)} of ${waitForReplicas} replicas have acknowledged the write in ${waitTimeoutMs} ms`;
    throw createUnsafeWriteError(operation, problem);
  }

  /** Notes that a stream has ended, which another one has followed. */
  #noteStream(position: ValkeyPosition | undefined): void {
    const id = position?.earlier?.id;
    if (id === undefined || this.#oldStreams.has(id)) return;
    this.#oldStreams.add(id);
    if (this.#oldStreams.size <= MAX_OLD_STREAMS) return;
    const [oldest] = this.#oldStreams;
    this.#oldStreams.delete(oldest as string);
  }

  #isOld(position: ValkeyPosition | undefined): boolean {
    return position !== undefined && this.#oldStreams.has(position.id);
  }

  /** The name of the primary may lead to another server by now. */
  #refuse(operation: Operation, problem: string): never {
    const error = createNoPrimaryError(operation, problem);
    this.#primary.renew(error);
    throw error;
  }

  #noteRefusal(server: string, error: unknown): void {
    if (!isAccessError(error)) return;
    const message = `${server} refuses this process: ${describeError(error)}. Correct the password, the rights or the certificate. It is tried again.`;
    this.#report({ code: 'access-refused', message });
  }
}

function decode(
  text: string | null,
  operation: Operation,
  key: string,
): unknown {
  try {
    return text === null ? undefined : (JSON.parse(text) as unknown);
  } catch (cause) {
    throw createUnreadableError(operation, key, cause);
  }
}
