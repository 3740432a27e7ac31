/**
 * Sends writes that wait for replicas. `WAIT` holds up all commands after it on its connection, so
 * writes that come meanwhile are sent together, and wait together.
 */
import type { RedisServer } from '../shared/redis/redis-server.ts';
import { sendPipeline, type BatchReply } from '../shared/redis/redis-batch.ts';
import { POSITION, type Command } from './commands.ts';

/** What became of a write. */
export interface WriteReplies {
  readonly write: BatchReply;
  /** The reply to `INFO replication`. */
  readonly info: BatchReply;
  /** The reply to `WAIT`: how many replicas have the write. */
  readonly copies: BatchReply;
}

export interface GroupWriterOptions {
  readonly server: RedisServer;
  readonly replicas: number;
  readonly timeoutMs: number;
}

interface WaitingWrite {
  readonly command: Command;
  readonly markSent: () => void;
  readonly resolve: (replies: WriteReplies) => void;
  readonly reject: (error: unknown) => void;
}

const MAX_GROUP = 1_000;

export class GroupWriter {
  readonly #options: GroupWriterOptions;
  #waiting: WaitingWrite[] = [];
  #isSending = false;

  constructor(options: GroupWriterOptions) {
    this.#options = options;
  }

  /** Sends a write with the next group. Rejects if it was not sent, or if its reply was lost. */
  write(command: Command, markSent: () => void): Promise<WriteReplies> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ command, markSent, resolve, reject });
      void this.#sendGroups();
    });
  }

  async #sendGroups(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    while (this.#waiting.length > 0) await this.#sendGroup();
    this.#isSending = false;
  }

  async #sendGroup(): Promise<void> {
    const { server } = this.#options;
    let group: readonly WaitingWrite[] = [];
    try {
      // The writes that come until then belong to the group. With a connection, these are the
      // writes of this turn.
      const client = await (server.ready ?? server.connect());
      group = this.#waiting.splice(0, MAX_GROUP).filter(isStillWanted);
      if (group.length > 0) await this.#send(client, group);
    } catch (error) {
      const failed = group.length > 0 ? group : this.#waiting.splice(0);
      for (const { reject } of failed) reject(error);
    }
  }

  async #send(
    client: Awaited<ReturnType<RedisServer['connect']>>,
    group: readonly WaitingWrite[],
  ): Promise<void> {
    const { server, replicas, timeoutMs } = this.#options;
    const batch = client.pipeline();
    for (const { command } of group) batch.call(...command);
    batch.call(...POSITION);
    batch.call('WAIT', replicas, timeoutMs);
    const replies = await server.watch(client, sendPipeline(batch));
    const [info, copies] = replies.slice(-2) as [BatchReply, BatchReply];
    for (const [at, { resolve }] of group.entries())
      resolve({ write: replies[at] as BatchReply, info, copies });
  }
}

/** The caller may have got the error that the write was not made. */
function isStillWanted({ markSent, reject }: WaitingWrite): boolean {
  try {
    markSent();
    return true;
  } catch (error) {
    reject(error);
    return false;
  }
}
