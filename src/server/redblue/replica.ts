/**
 * The replica of one site, as a pure state machine: inputs with the time come in, outputs come out; no clock, timer,
 * randomness, socket or disk inside. The same code runs in production and in the simulator.
 */
import { isCorrectableError } from '../../correctable/errors.ts';
import { Fifo } from '../log/fifo.ts';
import { BluePath } from './blue-path.ts';
import { BoundedMap } from './bounded-map.ts';
import { HybridClock } from './clock.ts';
import type { GeneratorInput } from './generator-run.ts';
import type { BlueMessage, BlueOperation, LocalEntry, OperationId, RedRecord } from './records.ts';
import { RedPath } from './red-path.ts';
import type { RedPathHost } from './red-path.ts';
import type { Reply } from './reply.ts';
import type { ReplicaCore, ReplicaOptions, ReplicaOutput, Stage, Submission } from './replica-port.ts';
import { SiteState } from './site-state.ts';
import type { Answer } from './site-state.ts';

interface Unsynced {
  readonly entry: LocalEntry;
  readonly onSynced: () => void;
}

interface Accepted extends Submission {
  /** When it was submitted, in milliseconds since the epoch. */
  readonly submittedAtMs: number;
}

/** Answers to named operations that changed nothing or were blue, kept for whoever asks again. */
const ANSWERS_MAX = 100_000;

/** One site's replica. After each input, `takeOutputs` says what has to be done. */
export class Replica implements ReplicaCore, RedPathHost {
  readonly options: ReplicaOptions;
  readonly state: SiteState;
  readonly clock: HybridClock = new HybridClock();
  readonly blue: BluePath;
  readonly red: RedPath;
  nowMs = 0;
  #outputs: ReplicaOutput[] = [];
  readonly #unsynced = new Fifo<Unsynced>();
  #syncedLength = 0;
  /** Submissions that came before the log's own operations were applied again. */
  readonly #early = new Fifo<Accepted>();
  readonly #answers = new BoundedMap<OperationId, Reply>(ANSWERS_MAX);
  /** Blue operations under way: who waits for them. */
  readonly #committing = new Map<OperationId, Submission[]>();

  constructor(options: ReplicaOptions, entries: readonly LocalEntry[] = [], nowMs = 0) {
    this.options = options;
    this.nowMs = nowMs;
    this.state = this.createState();
    this.blue = this.createBluePath();
    this.red = this.createRedPath();
    for (const entry of entries) this.#restore(entry);
    this.#syncedLength = entries.length;
    this.#settle();
  }

  /** What is shared with the parts of the replica. */
  get core(): ReplicaCore {
    return this;
  }

  /** Whether something is under way that a lost message could hold up. */
  get busy(): boolean {
    return this.blue.busy || this.red.busy || this.#early.size > 0;
  }

  /** What has to be done since the last call, in order. */
  takeOutputs(): ReplicaOutput[] {
    const outputs = this.#outputs;
    if (outputs.length > 0) this.#outputs = [];
    return outputs;
  }

  submit(submission: Submission, nowMs: number): void {
    this.nowMs = nowMs;
    const accepted = { ...submission, submittedAtMs: nowMs };
    if (this.blue.isRecovered) this.#start(accepted);
    else this.#early.push(accepted);
    this.#settle();
  }

  receive(from: number, message: BlueMessage, nowMs: number): void {
    this.nowMs = nowMs;
    this.blue.receive(from, message);
    this.#settle();
  }

  /** The next record of the red log. */
  deliver(record: RedRecord, nowMs: number): void {
    this.nowMs = nowMs;
    this.red.deliver(record);
    this.#settle();
  }

  /** The first `length` entries of the site's own log are synced. */
  onSynced(length: number, nowMs: number): void {
    this.nowMs = nowMs;
    for (; this.#syncedLength < length; this.#syncedLength += 1) this.#unsynced.shift()?.onSynced();
    this.#settle();
  }

  tick(nowMs: number): void {
    this.nowMs = nowMs;
    this.blue.tick();
    this.#settle();
  }

  emit(output: ReplicaOutput): void {
    this.#outputs.push(output);
  }

  store(entry: LocalEntry, onSynced: () => void): void {
    this.#unsynced.push({ entry, onSynced });
    this.emit({ kind: 'store', entry });
  }

  inputOf(submission: Submission): GeneratorInput {
    const { token, operation, args, seed } = submission;
    const { submittedAtMs } = submission as Accepted;
    return { operation, args, seed, now: submittedAtMs, uniqueId: this.#idOf(token) };
  }

  answer({ token, wants }: Submission, stage: Stage, answer: Answer): void {
    const last = stage !== 'tentative' && !(stage === 'causal' && wants.strong);
    if (!isCorrectableError(answer)) this.emit({ kind: 'view', token, stage, reply: answer, last });
    else this.emit({ kind: 'failed', token, error: answer, stage: stage === 'tentative' ? stage : undefined });
  }

  ownBlue(): { readonly applied: number; readonly durable: number } {
    return this.blue.own;
  }

  protected createState(): SiteState {
    return new SiteState(this.options.service, this.options.sites.length);
  }

  protected createBluePath(): BluePath {
    return new BluePath(this, this.onBlueApplied);
  }

  protected createRedPath(): RedPath {
    return new RedPath(this);
  }

  protected readonly onBlueApplied = (operation: BlueOperation): void => {
    if (operation.site !== this.options.site) return;
    this.#answerAll(operation.id, operation.reply);
  };

  /** Applies all that has become visible, and does what waited for it. */
  #settle(): void {
    for (let moved = true; moved;) {
      const blue = this.blue.pump();
      const red = this.red.pump();
      moved = blue || red;
      this.red.releaseDurable();
    }
    while (this.#early.size > 0 && this.blue.isRecovered) this.#start(this.#early.shift() as Accepted);
    this.blue.flush();
  }

  #restore(entry: LocalEntry): void {
    if (entry.kind === 'blue') this.blue.restore(entry.operation);
    else if (entry.kind === 'answer') this.#answers.set(entry.id, entry.reply);
    else this.red.restoreHandover(entry.id);
  }

  #start(submission: Accepted): void {
    try {
      if (this.options.service.contract.operations[submission.operation]?.effect === 'read') this.#read(submission);
      else this.#update(submission);
    } catch (error) {
      if (!isCorrectableError(error)) throw error;
      this.emit({ kind: 'failed', token: submission.token, error });
    }
  }

  #read(submission: Accepted): void {
    const { wants, token } = submission;
    if (wants.causal) this.answer(submission, 'causal', this.state.read(this.inputOf(submission)));
    if (wants.strong) this.red.read(this.#idOf(token), submission);
  }

  #update(submission: Accepted): void {
    const id = submission.id ?? this.#idOf(submission.token);
    if (submission.id !== undefined && this.#isKnown(id, submission)) return;
    const outcome = this.state.stableRunner.run(this.inputOf(submission));
    const { choice, reply } = outcome;
    if (choice?.colour === 'red' || this.red.isRed(id)) {
      this.red.begin(id, submission, outcome);
    } else if (choice !== undefined) {
      const { shadow, args, effects } = choice;
      this.#committing.set(id, [submission]);
      this.blue.commit({ id, site: this.options.site, shadow, args, effects, reply });
    } else if (submission.id === undefined) {
      // Nobody can ask for this again: the answer need not be remembered.
      this.answer(submission, 'committed', reply);
    } else {
      this.#committing.set(id, [submission]);
      this.store({ kind: 'answer', id, reply }, () => this.#answerAll(id, reply));
    }
  }

  /** Answers, or lets wait, a submission of an operation that was submitted before. */
  #isKnown(id: OperationId, submission: Submission): boolean {
    const askers = this.#committing.get(id);
    const reply = this.#answers.get(id);
    if (askers !== undefined) askers.push(submission);
    else if (reply !== undefined) this.answer(submission, 'committed', reply);
    else return this.red.join(id, submission);
    return true;
  }

  #answerAll(id: OperationId, reply: Reply): void {
    this.#answers.set(id, reply);
    for (const asker of this.#committing.get(id) ?? []) this.answer(asker, 'committed', reply);
    this.#committing.delete(id);
  }

  /** Unique over all sites and starts. */
  #idOf(token: number): string {
    const { sites, site, epoch } = this.options;
    return `${String(sites[site])}-${epoch.toString(36)}-${token.toString(36)}`;
  }
}
