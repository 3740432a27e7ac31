/** One read: a view for each level, and a snapshot for each attempt. */
import type { OnSiteRead, OperationRefusal } from '../../causal/causal-site.ts';
import type { SnapshotRead } from '../../causal/read-transaction.ts';
import { getStamp, type Vector } from '../../causal/stamps.ts';
import { isAbsentAt, type Version } from '../../causal/version.ts';
import type { ViewDetails } from '../../correctable/binding.ts';
import type { CorrectableError } from '../../correctable/errors.ts';
import { createUnreadableError } from '../shared/unreadable-error.ts';
import { OperationRun, type Level, type OperationCall } from './operation-run.ts';
import type { ParsedRead } from './parse-operation.ts';

/**
 * Snapshots that a read takes before it gives up, if each is too old when it is read (CAUSAL-7).
 */
const MAX_SNAPSHOTS = 20;

interface LevelRead {
  readonly level: Level;
  snapshots: number;
  /** The error of the level, kept until no weaker level is pending. */
  error?: CorrectableError | undefined;
}

export class ReadRun extends OperationRun {
  readonly #read: ParsedRead;
  readonly #pending: Set<LevelRead>;
  readonly #final: LevelRead;
  #hasStarted = false;
  #causal: { readonly seq: number; readonly versions: SnapshotRead['versions'] } | undefined;

  constructor(call: OperationCall, read: ParsedRead) {
    super(call);
    this.#read = read;
    const reads = call.levels.map((level): LevelRead => ({ level, snapshots: 0 }));
    this.#pending = new Set(reads);
    this.#final = reads.at(-1) as LevelRead;
  }

  start(): void {
    for (const read of this.#pending) this.#attempt(read);
    this.#hasStarted = true;
  }

  async close(error: CorrectableError): Promise<void> {
    this.fail(error);
  }

  #attempt(read: LevelRead): void {
    const { host, session } = this.call;
    const { keys } = this.#read;
    read.snapshots += 1;
    const onEnd: OnSiteRead = (result) => {
      if (this.hasEnded || this.#isAbandoned()) return;
      if ('versions' in result) this.#show(read, result);
      else this.#retry(read, result);
    };
    if (read.level === 'latest') host.operations.readLatest(session, keys, onEnd);
    else host.operations.read(session, { keys, source: 'gateway' }, onEnd);
  }

  #retry(read: LevelRead, refusal: OperationRefusal): void {
    const { host } = this.call;
    if (refusal.refused === 'TOO_OLD' && read.snapshots < MAX_SNAPSHOTS) return this.#attempt(read);
    if (refusal.refused === 'SESSION_AHEAD')
      return this.waitFor(
        () => this.#attempt(read),
        () => this.#failLevel(read, this.createWaitError()),
      );
    const isRetried =
      host.failure === undefined &&
      this.isPassing(refusal) &&
      this.retryWithin(host.siteTimeoutMs, () => this.#attemptIfWanted(read));
    if (!isRetried) this.#failLevel(read, this.createRefusalError(refusal));
  }

  #attemptIfWanted(read: LevelRead): void {
    if (!this.#isAbandoned()) this.#attempt(read);
  }

  #show(read: LevelRead, { versions, snapshot }: SnapshotRead): void {
    const { sink } = this.call;
    this.#pending.delete(read);
    const details = this.#getDetails(versions);
    const confirmed = this.#causal;
    const isFinal = read === this.#final;
    if (isFinal) this.end();
    if (isFinal && confirmed !== undefined && areSameVersions(versions, confirmed.versions)) {
      sink.confirm(read.level, confirmed.seq, details);
      return;
    }
    const values = this.#decode(versions, snapshot);
    if (values === undefined) return;
    const seq = sink.view(this.#read.isMany ? values : values[0], read.level, details);
    if (isFinal) return;
    this.#causal = { seq, versions };
    this.#failIfAlone();
  }

  /**
   * Decodes the values. Fails the read if a value cannot be decoded, because another program has
   * written it.
   */
  #decode(versions: SnapshotRead['versions'], snapshot: Vector): readonly unknown[] | undefined {
    const { host } = this.call;
    const now = getStamp(snapshot, host.site);
    let key: string | undefined;
    try {
      return versions.map((version, at) => {
        key = this.#read.keys[at];
        return version === undefined || isAbsentAt(version, now)
          ? undefined
          : host.decode(version.value);
      });
    } catch (cause) {
      const operation = this.#read.isMany ? 'getMany' : 'get';
      const error = createUnreadableError({ operation, key, cause });
      if (this.hasEnded) this.call.sink.fail(error);
      else this.fail(error);
      return undefined;
    }
  }

  /** Returns the version of a single key. Versions of several keys have no common order. */
  #getDetails([version]: SnapshotRead['versions']): ViewDetails {
    return this.#read.isMany || version === undefined ? {} : { version: version.stamp };
  }

  #failLevel(read: LevelRead, error: CorrectableError): void {
    if (this.hasEnded) return;
    if (read !== this.#final) {
      this.#pending.delete(read);
      this.call.sink.fail(error, read.level);
    } else read.error = error;
    this.#failIfAlone();
  }

  /** Fails the whole read unless a weaker view is pending, which is delivered first. */
  #failIfAlone(): void {
    const { error } = this.#final;
    if (error !== undefined && this.#pending.size <= 1) this.fail(error);
  }

  /**
   * A read that is answered at once does not create the signal, which would cost more than the
   * read.
   */
  #isAbandoned(): boolean {
    if (!this.#hasStarted || !this.call.context.signal.aborted) return false;
    this.end();
    return true;
  }
}

function areSameVersions(
  a: readonly (Version | undefined)[],
  b: readonly (Version | undefined)[],
): boolean {
  return a.every((version, at) => {
    const other = b[at];
    if (version === undefined || other === undefined) return version === other;
    const isSame = version.stamp === other.stamp && version.site === other.site;
    return isSame && version.expiresAt === 0;
  });
}
