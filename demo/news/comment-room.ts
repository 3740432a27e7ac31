/**
 * A person who reads and writes comments at one site, in any store that has `getMany`, `get` and
 * `put`.
 */
import type { AnyClient, Operation, Session } from 'correctables';
import { get, getMany, put } from 'correctables/operations';
import {
  arrangeThread,
  KEYS,
  MAX_OF_WRITER,
  toKey,
  type Batch,
  type Comment,
  type Conversation,
} from './comments.ts';
import type { Site } from './sites.ts';

type Invoke = <T>(operation: Operation<T>) => PromiseLike<T>;

export interface CommentRoomOptions {
  readonly site: Site;
  /** The number of the writer, different for each that writes at the same time. */
  readonly writer: number;
  /** Executes a read at the near site, in the session of the person. */
  readonly read: Invoke;
  readonly write: Invoke;
}

export class CommentRoom {
  readonly #options: CommentRoomOptions;

  constructor(options: CommentRoomOptions) {
    this.#options = options;
  }

  /**
   * Reads all comments at once. In a causal store, they come from one snapshot of all partitions.
   */
  async readThread(): Promise<readonly Conversation[]> {
    return arrangeThread(await this.#options.read(getMany<Batch>(KEYS)));
  }

  /** Appends a comment to those that the writer has at this site. */
  async post(comment: Comment): Promise<void> {
    const { site, writer, read, write } = this.#options;
    const key = toKey(site, writer);
    const earlier = await read(get<Batch>(key));
    await write(put(key, [...(earlier ?? []), comment].slice(-MAX_OF_WRITER)));
  }
}

export interface OpenRoomOptions extends Pick<CommentRoomOptions, 'site' | 'writer'> {
  readonly client: AnyClient;
  /** What the person has read and written so far, if the store has sessions. */
  readonly session?: Session | undefined;
}

/** Opens a room that reads at the weakest level of the client. */
export function openRoom({ client, session, ...place }: OpenRoomOptions): CommentRoom {
  return new CommentRoom({
    ...place,
    read: (operation) => client.invokeWeak(operation, { session }),
    write: (operation) => client.invokeStrong(operation, { session }),
  });
}
