/** One operation at one site: its attempts, and the views that come of them. */
import type { OnSiteRead, OperationRefusal } from '../../causal/causal-site.ts';
import type { SnapshotRead } from '../../causal/read-transaction.ts';
import type { CausalSession } from '../../causal/session.ts';
import { getStamp, type Vector } from '../../causal/stamps.ts';
import { isAbsentAt, type Version } from '../../causal/version.ts';
import type { InvocationContext, Sink, ViewDetails } from '../../correctable/binding.ts';
import type { Timer } from '../../correctable/clock.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import type { CausalLevels, SiteHost } from './site-host.ts';
import type { ParsedRead, ParsedWrite } from './parse-operation.ts';

type Level = CausalLevels[number];

export interface OperationCall {
  readonly host: SiteHost;
  readonly levels: readonly Level[];
  readonly sink: Sink<unknown, Level>;
  readonly context: InvocationContext;
  readonly session: CausalSession;
  readonly onEnded: () => void;
}

/** Snapshots that a read takes before it gives up, if each is too old when it is read (R7). */
const MAX_SNAPSHOTS = 20;

/** Ids of writes are unique in this process, which has all sites. */
let writeCount = 0;

export abstract class OperationRun {
  protected readonly call: OperationCall;
  #stopWaiting: (() => void) | undefined;
  #deadline: Timer | undefined;
  #hasEnded = false;

  constructor(call: OperationCall) {
    this.call = call;
  }

  abstract start(): void;

  fail(error: CorrectableError): void {
    if (this.end()) this.call.sink.fail(error);
  }

  /** Ends the run. Returns whether it had not ended before. */
  protected end(): boolean {
    if (this.#hasEnded) return false;
    this.#hasEnded = true;
    this.#stopWaiting?.();
    this.#deadline?.cancel();
    this.call.onEnded();
    return true;
  }

  protected get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * Waits until the site may have what the session has seen elsewhere, and tries again (R20).
   * Within one site nothing waits.
   */
  protected waitFor(attempt: () => void, onTimeout: () => void): void {
    const { host, session } = this.call;
    this.#deadline ??= host.clock.setTimer(onTimeout, host.siteTimeoutMs);
    this.#stopWaiting ??= host.waitForNews(() => {
      if (!host.causalSite.canContinue(session)) return;
      this.#stopWaiting?.();
      this.#stopWaiting = undefined;
      attempt();
    });
  }

  protected createWaitError(): CorrectableError {
    const { siteTimeoutMs } = this.call.host;
    const message = `The session has seen writes of another site that have not arrived here within ${siteTimeoutMs} ms. The operation was not executed. Retry, or use the session at the other site.`;
    return new CorrectableError('REPLICA_BEHIND', message);
  }
}

/** A write has one view, at `causal`: no other site has to agree. */
export class WriteRun extends OperationRun {
  readonly #write: ParsedWrite;
  readonly #id: string;

  constructor(call: OperationCall, write: ParsedWrite) {
    super(call);
    this.#write = write;
    writeCount += 1;
    this.#id = `${writeCount}`;
  }

  start(): void {
    const { host, session } = this.call;
    host.causalSite.put(session, { ...this.#write, id: this.#id }, (result) => {
      if (this.hasEnded) return;
      if ('stamp' in result) this.#complete(result.stamp);
      else if (result.refused === 'SESSION_AHEAD')
        this.waitFor(
          () => this.start(),
          () => this.fail(this.createWaitError()),
        );
      else this.fail(createUnavailableError(result));
    });
  }

  #complete(version: number): void {
    const { host, sink } = this.call;
    if (!this.end()) return;
    host.onWritten();
    sink.view(undefined, 'causal', { version, final: true });
  }
}

interface LevelRead {
  readonly level: Level;
  snapshots: number;
  /** What failed, until no weaker level is pending. */
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

  #attempt(read: LevelRead): void {
    const { host, session } = this.call;
    const { keys } = this.#read;
    read.snapshots += 1;
    const onEnd: OnSiteRead = (result) => {
      if (this.hasEnded || this.#isAbandoned()) return;
      if ('versions' in result) this.#show(read, result);
      else this.#retry(read, result);
    };
    if (read.level === 'latest') host.causalSite.readLatest(session, keys, onEnd);
    else host.causalSite.read(session, { keys, source: 'gateway' }, onEnd);
  }

  #retry(read: LevelRead, refusal: OperationRefusal): void {
    if (refusal.refused === 'TOO_OLD' && read.snapshots < MAX_SNAPSHOTS) return this.#attempt(read);
    if (refusal.refused !== 'SESSION_AHEAD')
      return this.#failLevel(read, createUnavailableError(refusal));
    this.waitFor(
      () => this.#attempt(read),
      () => this.#failLevel(read, this.createWaitError()),
    );
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
    const values = this.#getValues(versions, snapshot);
    const seq = sink.view(this.#read.isMany ? values : values[0], read.level, details);
    if (isFinal) return;
    this.#causal = { seq, versions };
    this.#failIfAlone();
  }

  #getValues(versions: SnapshotRead['versions'], snapshot: Vector): readonly unknown[] {
    const now = getStamp(snapshot, this.call.host.site);
    return versions.map((version) =>
      version === undefined || isAbsentAt(version, now) ? undefined : version.value,
    );
  }

  /** Versions of several keys have no common order. */
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

  /** A weaker view that is on its way comes before the failure of the whole read. */
  #failIfAlone(): void {
    const { error } = this.#final;
    if (error !== undefined && this.#pending.size <= 1) this.fail(error);
  }

  /** A read that answers at once skips the signal, which would cost more than the read. */
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
  return a.every((version, at) => version === b[at] && (version?.expiresAt ?? 0) === 0);
}

function createUnavailableError({ refused }: OperationRefusal): CorrectableError {
  const causes: Readonly<Record<string, string>> = {
    TOO_OLD: 'its keys are written faster than they can be read',
    UNREACHABLE: 'another site cannot be reached',
  };
  const message = `The operation was not executed, since ${causes[refused] ?? `a partition answered ${refused}`}. Retry it.`;
  return new CorrectableError('UNAVAILABLE', message);
}
