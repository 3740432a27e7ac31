/**
 * Certifies a transaction and applies its writes in one `multi`, so all parts hold and take effect
 * at one place in the ensemble's order, or none does.
 */
import type { SubmissionStatus } from '../../../correctable/binding.ts';
import type { CommitArgs, CommitResult, Version } from '../../../operations/versioned.ts';
import { isZooKeeperError, type ZooKeeperErrorCode } from '../client/errors.ts';
import type { ZooKeeper } from '../client/zookeeper.ts';
import { createAbandonedError } from '../../shared/abandoned-error.ts';
import { throwNotApplied, toNotAppliedError } from '../errors.ts';
import { isRequested, type OperationCall } from '../operation-call.ts';
import type { Paths } from '../paths.ts';
import type { SessionPair } from '../session-pair.ts';
import type { ValueCodec } from '../value-codec.ts';
import {
  createCommitParts,
  createCommitKeys,
  isUnread,
  type CommitKey,
  type CommitPart,
} from './commit-plan.ts';
import { formatVersion } from './node-version.ts';

/** The replies of a server if a node does not match the part. Nothing is applied then. */
const REFUSAL_CODES: ReadonlySet<ZooKeeperErrorCode> = new Set([
  'BAD_VERSION',
  'NO_NODE',
  'NODE_EXISTS',
]);

const COMMITTED: CommitResult = { committed: true, changed: [] };

/** The versions of keys at one server, which had applied all transactions up to `zxid`. */
interface PresentVersions {
  readonly versions: ReadonlyMap<string, Version>;
  readonly zxid: bigint;
}

export async function executeCommit(
  sessions: SessionPair,
  args: CommitArgs,
  { call, paths, codec }: { call: OperationCall; paths: Paths; codec: ValueCodec },
): Promise<void> {
  const keys = createCommitKeys(args, paths, codec);
  const isWeakWanted = isRequested(call, 'weak');
  const near = isWeakWanted || keys.some(isUnread) ? readPresent(sessions.reader, keys) : undefined;
  const weakView = new WeakView(call, keys);
  if (isWeakWanted && near !== undefined)
    void weakView.show(near, sessions.getHistory(sessions.reader));

  const { signal } = call.context;
  const run = new CommitRun(sessions, {
    keys,
    keysPath: paths.keys,
    near,
    signal,
  });
  call.context.submissionStatus = run;
  try {
    const result = await run.run();
    // Also if the commit was refused: the next read of the session must show the change that caused
    // it.
    call.session?.advanceTo(sessions.place);
    if (isRequested(call, 'strong') || !weakView.isShown) call.sink.view(result, 'strong');
  } finally {
    weakView.close();
  }
}

/**
 * The preliminary view of a commit: the same check on the state of the nearest server. It never
 * delays the commit and never fails it.
 */
class WeakView {
  readonly #call: OperationCall;
  readonly #keys: readonly CommitKey[];
  #isClosed = false;
  isShown = false;

  constructor(call: OperationCall, keys: readonly CommitKey[]) {
    this.#call = call;
    this.#keys = keys;
  }

  /** Without a weak view, the final view is delivered in its place. */
  async show(near: Promise<PresentVersions>, history: number): Promise<void> {
    const { sink, session } = this.#call;
    try {
      const { versions, zxid } = await near;
      if (this.#isClosed || session?.canShow({ zxid, history }) === false) return;
      this.isShown = true;
      const changed = findChanged(this.#keys, versions);
      sink.view({ committed: changed.length === 0, changed }, 'weak');
    } catch (error) {
      if (this.#isClosed || !isRequested(this.#call, 'strong')) return;
      sink.fail(toNotAppliedError(error), 'weak');
    }
  }

  close(): void {
    this.#isClosed = true;
  }
}

interface CommitRunOptions {
  readonly keys: readonly CommitKey[];
  /** The parent of all keys. */
  readonly keysPath: string;
  /** The present versions at the nearest server. */
  readonly near: Promise<PresentVersions> | undefined;
  /** Aborts when no caller waits for the commit any more. */
  readonly signal: AbortSignal;
}

class CommitRun implements SubmissionStatus {
  readonly blockedBy = undefined;
  readonly #sessions: SessionPair;
  readonly #options: CommitRunOptions;
  #isSent = false;
  /** Whether a caller that gave up may have got an error that reports that nothing was sent. */
  #isReportedUnsent = false;

  constructor(sessions: SessionPair, options: CommitRunOptions) {
    this.#sessions = sessions;
    this.#options = options;
  }

  /**
   * True while there is a connection: the commit may then be in flight, and a submitted update runs
   * to its end.
   */
  get mayHaveBeenSent(): boolean {
    if (!this.#isSent && this.#sessions.writer.server === undefined) this.#isReportedUnsent = true;
    return !this.#isReportedUnsent;
  }

  /**
   * Runs the commit. A `multi` must specify for each write whether it creates its node, so the
   * present nodes are read first. If these were out of date, the ensemble has refused the whole
   * `multi`, and it is sent again. That is safe, because nothing was applied. A `multi` whose reply
   * is lost is never sent again.
   */
  async run(): Promise<CommitResult> {
    const { keys, keysPath } = this.#options;
    if (keys.length === 0) return COMMITTED;
    let versions = await this.#lookUp().catch(throwNotApplied);
    for (;;) {
      const parts = keys.flatMap((key) => createCommitParts(key, isPresent(key, versions)));
      this.#markSent();
      const refused = await this.#send(parts);
      if (refused === undefined) return COMMITTED;
      if (isWithoutParent(refused)) {
        await this.#sessions.createPath(keysPath).catch(throwNotApplied);
        continue;
      }

      // The server has applied the transaction that caused the refusal, so it shows which keys have
      // changed.
      ({ versions } = await this.#readPresent(keys).catch(throwNotApplied));
      const changed = findChanged(keys, versions, refused.owner);
      if (changed.length > 0) return { committed: false, changed };
    }
  }

  /**
   * Reads the present nodes on both sessions and takes the first reply. The writer's session may
   * answer late, behind earlier writes, and the reader's session may fail.
   */
  async #lookUp(): Promise<ReadonlyMap<string, Version>> {
    const { keys, near } = this.#options;
    if (near === undefined || !keys.some(isUnread)) return new Map();
    const unread = keys.filter(isUnread);
    const atWriter = this.#readPresent(unread);
    const { versions } = await Promise.any([near, atWriter]).catch(() => atWriter);
    return versions;
  }

  #markSent(): void {
    if (this.#isReportedUnsent && this.#options.signal.aborted) throw createAbandonedError();
    this.#isSent = true;
    this.#isReportedUnsent = false;
  }

  /**
   * Waits for a server without a limit, but not for a caller that has given up. Its writes must not
   * appear when the ensemble can be reached again, however late that is.
   */
  #readPresent(keys: readonly CommitKey[]): Promise<PresentVersions> {
    let isRepeated = false;
    return this.#sessions.retryLost('writer', (zk) => {
      if (isRepeated && this.#options.signal.aborted) throw createAbandonedError();
      isRepeated = true;
      return readPresent(zk, keys);
    });
  }

  /** Returns the refused part, or `undefined` if all parts took effect. */
  async #send(parts: readonly CommitPart[]): Promise<RefusedPart | undefined> {
    const send = (zk: ZooKeeper): Promise<unknown> => zk.multi(parts.map(({ part }) => part));
    const isWrite = this.#options.keys.some(({ bytes }) => bytes !== undefined);
    try {
      // A commit without writes may be repeated.
      await (isWrite ? send(this.#sessions.writer) : this.#sessions.retryLost('writer', send));
      return undefined;
    } catch (error) {
      if (!isZooKeeperError(error) || !REFUSAL_CODES.has(error.code)) throw error;
      const part = parts[error.part ?? -1];
      if (part === undefined) throw error;
      return { ...part, code: error.code };
    }
  }
}

interface RefusedPart extends CommitPart {
  readonly code: ZooKeeperErrorCode;
}

/** Returns whether no key was ever written below the root. */
function isWithoutParent({ code, part }: RefusedPart): boolean {
  return code === 'NO_NODE' && part.type === 'create';
}

function isPresent({ key }: CommitKey, versions: ReadonlyMap<string, Version>): boolean {
  const version = versions.get(key);
  return version !== undefined && version !== formatVersion(null);
}

/**
 * Returns the keys that have changed. The key `refused` counts as changed, even if it has its
 * former version again by now.
 */
function findChanged(
  keys: readonly CommitKey[],
  versions: ReadonlyMap<string, Version>,
  refused?: CommitKey,
): string[] {
  return keys
    .filter((item) => !isUnread(item))
    .filter((item) => item === refused || versions.get(item.key) !== item.version)
    .map(({ key }) => key);
}

async function readPresent(zk: ZooKeeper, keys: readonly CommitKey[]): Promise<PresentVersions> {
  let zxid = zk.lastZxid;
  const stats = await Promise.all(
    keys.map(({ path }, at) =>
      // Take the transaction of the first reply: the replies show at least the state of that time.
      zk.exists(path, at === 0 ? { onZxid: (seen) => (zxid = seen) } : {}),
    ),
  );
  return {
    versions: new Map(stats.map((stat, at) => [keys[at]!.key, formatVersion(stat)])),
    zxid,
  };
}
