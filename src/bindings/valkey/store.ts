/** Valkey or Redis as a store with replicas. */
import { systemClock, type Clock } from '../../correctable/clock.ts';
import { CorrectableError, isCorrectableError } from '../../correctable/errors.ts';
import type { Access, Operation } from '../../correctable/operation.ts';
import type { RedisBatch } from '../shared/redis/redis-driver.ts';
import { createUnreadableError } from '../shared/unreadable-error.ts';
import type {
  ReplicaCall,
  ReplicaRead,
  ReplicasAlarm,
  ReplicaStore,
  ReplicaWrite,
} from '../replicas/index.ts';
import { sendPipeline, sendRead, type BatchReply } from '../shared/redis/redis-batch.ts';
import { describeError, isAccessError, isWrongServer } from '../shared/redis/redis-errors.ts';
import { getKeys, planWrite, POSITION, type Command } from './commands.ts';
import { GroupWriter, type WriteReplies } from './group-writer.ts';
import { OldStreams, TAKEN_BACK_AFTER_MS } from './old-streams.ts';
import type { ResolvedOptions } from './options.ts';
import {
  hasLost,
  isOldStream,
  isReplica,
  parseInfo,
  parsePosition,
  reached,
  type Info,
  type ValkeyPosition,
} from './replication-position.ts';
import { createNoPrimaryError, createUnsafeWriteError, toCorrectableError } from './errors.ts';
import type { ValkeyServer } from './connection.ts';

const OPERATIONS: Readonly<Record<string, Access>> = {
  get: 'read',
  getMany: 'read',
  put: 'write',
  remove: 'write',
};

const REPLICA = 'is a replica';
const OLD = 'is an old primary: another server was promoted since';
const OPEN_SESSION = ' If the promotion was taken back, open a new session.';

interface KeysReply {
  readonly info: Info;
  readonly texts: readonly unknown[];
  /** The position after the values, if it was not read together with them. */
  readonly after?: ValkeyPosition | undefined;
}

export class ValkeyStore implements ReplicaStore<ValkeyPosition> {
  readonly name = 'valkey';
  readonly replicas: readonly string[];
  readonly #options: ResolvedOptions;
  readonly #primary: ValkeyServer;
  readonly #groups: GroupWriter;
  readonly #oldStreams: OldStreams;
  #isLookingAgain = false;
  #report: (alarm: ReplicasAlarm) => void = () => {};

  constructor(options: ResolvedOptions, clock: Clock = systemClock) {
    this.#options = options;
    this.#oldStreams = new OldStreams(clock, (id) => this.#reportTakenBack(id));
    this.#primary = options.servers.get('primary') as ValkeyServer;
    this.#groups = new GroupWriter({
      server: this.#primary.blocking,
      replicas: options.waitForReplicas,
      timeoutMs: options.waitTimeoutMs,
    });
    this.replicas = [...options.servers.keys()].filter((name) => name !== 'primary');
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
    const { info, texts, after: later } = await this.#readKeys(operation, keys, server);
    const position = parsePosition(info, server.facts);
    if (server === this.#primary) {
      if (isReplica(info)) {
        const error = createNoPrimaryError(operation, REPLICA);
        this.#primary.renew(error);
        throw error;
      }
      this.#checkStream(operation, position?.id, after);
      this.#oldStreams.note(position);
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
    try {
      const replies = await this.#sendWrite(operation, () => {
        const { replicationId } = this.#primary.facts;
        this.#checkStream(operation, replicationId, after);
        markSent();
      });
      if ('error' in replies.write) throw replies.write.error;
      const position = this.#judge(operation, replies, after);
      return { value: undefined, position };
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
    const isOld = position !== undefined && this.#oldStreams.has(position.id);
    if (!isReplica(info) && position !== undefined && !isOld) {
      this.#oldStreams.note(position);
      return position;
    }
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
      !isCorrectableError(error) || /^(UNAVAILABLE|OVERLOADED|UNAUTHENTICATED)$/.test(String(code))
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
      const send = (batch: RedisBatch, ...commands: readonly Command[]): Promise<unknown[]> => {
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
        throw createUnreadable(operation, keys[at - 1] as string, error);
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
    if (waitForReplicas > 0) return await this.#groups.write(command, markSent);
    // With a connection, nothing is awaited before the write is sent.
    const client = direct.ready ?? (await direct.connect());
    markSent();
    const batch = client.pipeline();
    batch.call(...command);
    batch.call(...POSITION);
    const replies = await direct.watch(client, sendPipeline(batch));
    const [write, info] = replies as [BatchReply, BatchReply];
    return { write, info };
  }

  /** Returns the position of a write that was made. A failure after it does not undo it. */
  #judge(
    operation: Operation,
    { info, copies }: { readonly info: BatchReply; readonly copies?: BatchReply },
    after: unknown,
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
    const isOld = this.#isOld(position?.id, after);
    if (isReplica(fields) || isOld) {
      if (isReplica(fields)) this.#primary.renew(new Error(REPLICA));
      const problem = isOld ? OLD : 'was demoted meanwhile';
      throw createUnsafeWriteError(operation, `the server at "primary" ${problem}`);
    }
    this.#oldStreams.note(position);
    if (copies === undefined || Number(copies.value) >= waitForReplicas) return position;
    const problem = `${String(copies.value)} of ${waitForReplicas} replicas have acknowledged the write in ${waitTimeoutMs} ms`;
    throw createUnsafeWriteError(operation, problem);
  }

  /** Throws if the stream has ended, as far as the process or the session knows. */
  #checkStream(operation: Operation, id: string | undefined, after: unknown): void {
    if (!this.#isOld(id, after)) return;
    const advice = isOldInSession(id, after) ? OPEN_SESSION : '';
    throw createNoPrimaryError(operation, OLD, advice);
  }

  /** The name of an old primary may lead to another server by now. */
  #isOld(id: string | undefined, after: unknown): boolean {
    if (id === undefined) return false;
    if (this.#oldStreams.has(id)) {
      this.#primary.renew(new Error(OLD));
      return true;
    }
    // A session knows what other processes have seen. It must not keep the operations of others
    // from a server.
    const isOld = isOldInSession(id, after);
    if (isOld) void this.#lookAgain(id);
    return isOld;
  }

  /** Others may use the connections. They are closed only if they are wrong. */
  async #lookAgain(id: string): Promise<void> {
    if (this.#isLookingAgain) return;
    this.#isLookingAgain = true;
    try {
      await this.#primary.direct.probe();
      if (this.#primary.facts.replicationId !== id) this.#primary.renew(new Error(OLD));
    } catch {
      // The next operation of the session looks again.
    } finally {
      this.#isLookingAgain = false;
    }
  }

  #reportTakenBack(id: string): void {
    const message = `primary leads only to the server from before a promotion, with the replication id ${id}, for ${TAKEN_BACK_AFTER_MS / 1_000} s or more. It counts as the primary again, without the writes of the promoted server. If that is wrong, correct the option primary. Sessions that have seen the promoted server go on as new ones only.`;
    this.#report({ code: 'lost-writes', message });
  }

  #noteRefusal(server: string, error: unknown): void {
    if (!isAccessError(error)) return;
    const message = `${server} refuses this process: ${describeError(error)}. Correct the password, the rights or the certificate. It is tried again.`;
    this.#report({ code: 'access-refused', message });
  }
}

/** `after`: the position of a session, if there is one. */
function isOldInSession(id: string | undefined, after: unknown): boolean {
  if (id === undefined || after === undefined) return false;
  return isOldStream(id, after as ValkeyPosition);
}

function createUnreadable({ name }: Operation, key: string, cause: unknown): CorrectableError {
  const advice = 'Write it again, or use another prefix.';
  return createUnreadableError({ operation: name, key, cause, advice });
}

function decode(text: string | null, operation: Operation, key: string): unknown {
  try {
    return text === null ? undefined : (JSON.parse(text) as unknown);
  } catch (cause) {
    throw createUnreadable(operation, key, cause);
  }
}
