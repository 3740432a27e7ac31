/**
 * A service at one place, neither replicated nor certified: generators run on its store, effects are applied, logged and
 * answered; what comes in one turn is logged and answered together. What its client may ask for again it answers from
 * memory, as the backend does. It is for tests of a service's own logic, and the baseline for what the backend's promises
 * cost (RedBlue, OSDI 2012, Table 5).
 */
import type { Binding } from '../correctable/binding.ts';
import { CorrectableError, isCorrectableError } from '../correctable/errors.ts';
import { checkKinds, checkNamed, type NamesOf } from '../correctable/given.ts';
import { Fifo } from '../server/collections/fifo.ts';
import { expiredError } from '../server/records/failure.ts';
import { Origins, type Origin } from '../server/records/origin.ts';
import { EXPIRED, IdTable } from '../server/replica/once/id-table.ts';
import { clientOf } from '../server/records/operation-id.ts';
import type { SubmissionRequest } from '../server/records/submissions.ts';
import type { RedBlueLevels } from '../protocol/redblue-levels.ts';
import { SiteBinding, interruptedError } from '../server/site/site-binding.ts';
import type { SessionTokens, SubmissionPort, Submitter } from '../server/site/site-binding.ts';
import { SiteState } from '../server/replica/core/site-state.ts';
import type { Answer } from '../server/records/reply.ts';
import { requireService, type Service } from '../server/service/service.ts';
import { tellFailure, tellView } from '../server/site/telling.ts';
import { areChecked, invariantObserver, type InvariantObserver } from '../server/site/invariant-alarm.ts';
import { guardedAlarm, warn, type OnAlarm } from '../server/alarms/site-alarm.ts';
import { generatorAlarm } from '../server/site/replica-alarms.ts';
import { VolatileLog } from '../server/storage/volatile-storage.ts';

/** The site entry of vectors: there is one site. */
const SITE_NAME = 'plain';
const ORIGINS = Origins.of([SITE_NAME]);
const [SITE] = ORIGINS.sites as [Origin];

/** Of whoever holds the log: nobody else does. */
const TERM = 1;

/** What is global is looked up anew at each call. */
const clock = performance;

const NO_TOKENS: SessionTokens = {
  seal: () => '',
  open: () => {
    throw new CorrectableError('UNAUTHENTICATED', 'A plain service has no sessions with other places.');
  },
};

/** How a plain service is set up; the same as of `createEmbedded`. */
export interface PlainServiceOptions {
  /** Whether what an operation has changed is held to the service's invariants. Default: unless in production. */
  readonly checkInvariants?: boolean;
  /** Told of an invariant that was broken, and of what generators throw by mistake. Default: a warning of the process. */
  readonly onAlarm?: OnAlarm;
}

const CALL = 'plainService(service, { onAlarm })';

const OPTIONS: NamesOf<PlainServiceOptions> = { checkInvariants: true, onAlarm: true };

/**
 * The service as a binding. State lives in memory and is gone with the process. There is one place, so that every answer
 * but a read's at `causal` is final at `strong`: which level an operation reaches where there are several sites, an
 * embedded deployment shows.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming what does not fit.
 * @example
 * const alarms: string[] = [];
 * const client = createClient(plainService(bankService, { onAlarm: ({ message }) => alarms.push(message) }));
 */
export function plainService(service: Service, options: PlainServiceOptions = {}): Binding<RedBlueLevels> {
  requireService(service, CALL);
  checkNamed(options, { call: CALL }, OPTIONS);
  checkKinds(options, 'boolean', 'checkInvariants');
  checkKinds(options, 'function', 'onAlarm');
  return new SiteBinding(SITE_NAME, new PlainSite(service, options));
}

const elapsedMs = (): number => clock.now();

interface Waiting {
  /** `undefined` for one that has been told already that its end is not known. */
  submitter: Submitter | undefined;
  readonly answer: Answer;
}

/** A read that was executed, and is still to be answered. */
interface Read {
  /** `undefined` for one that has been told already that it ends unanswered. */
  submitter: Submitter | undefined;
  readonly wants: SubmissionRequest['wants'];
  readonly answer: Answer;
}

class PlainSite implements SubmissionPort {
  readonly contract: SubmissionPort['contract'];
  readonly site = SITE;
  readonly origins = ORIGINS;
  readonly tokens: SessionTokens = NO_TOKENS;
  readonly #log: VolatileLog;
  readonly #state: SiteState;
  readonly #invariants: InvariantObserver | undefined;
  /** Answers that wait until their entries are synced. */
  readonly #waiting = new Fifo<Waiting>();
  /** Answers, for whoever asks again. */
  readonly #answers = new IdTable<Answer>();
  /** Reads and entries of the turn under way, and its time. */
  #read: Read[] = [];
  #gathered: object[] = [];
  #turnMs: number | undefined;
  #synced = 0;
  #operations = 0;

  constructor(service: Service, options: PlainServiceOptions) {
    const { checkInvariants = areChecked(service) } = options;
    const onAlarm = guardedAlarm(options.onAlarm ?? warn);
    this.contract = service.contract;
    const onThrown = generatorAlarm(SITE_NAME, onAlarm);
    this.#state = new SiteState(service, ORIGINS, {
      elapsedMs,
      name: SITE_NAME,
      onThrown,
    });
    this.#invariants = checkInvariants ? invariantObserver(service, SITE_NAME, onAlarm) : undefined;
    // In memory nothing fails, and nobody takes it over.
    const onSynced = (_log: string, length: number): void => this.#onSynced(length);
    this.#log = new VolatileLog(
      { term: TERM, lengths: new Map() },
      { synced: onSynced, fenced: () => {}, failed: () => {} },
    );
  }

  submit(submitter: Submitter): void {
    try {
      this.#run(submitter);
    } catch (error) {
      if (!isCorrectableError(error)) throw error;
      submitter.failed(error, undefined);
    }
  }

  endSubmissions(door: object): void {
    const interrupted: Submitter[] = [];
    for (const waiting of [...this.#waiting.slice(), ...this.#read]) {
      const { submitter } = waiting;
      if (submitter?.door !== door) continue;
      waiting.submitter = undefined;
      interrupted.push(submitter);
    }
    const why = 'The client was closed before the operation ended';
    for (const submitter of interrupted) {
      tellFailure(submitter, interruptedError(submitter.effect, why), undefined);
    }
  }

  #run(submitter: Submitter): void {
    const { operation, args, wants, identity } = submitter;
    const known = identity === undefined ? undefined : this.#answers.get(identity.id);
    if (known === EXPIRED) return submitter.failed(expiredError(), undefined);
    // It was applied before whatever is synced next, so its answer stands behind that.
    if (known !== undefined) {
      this.#nowMs();
      return this.#answerOnceSynced({ submitter, answer: known }, { kind: 'again' });
    }
    this.#operations += 1;
    const version = this.#operations;
    const seed = Math.floor(Math.random() * 2 ** 32);
    const now = this.#nowMs();
    const input = { serial: version, operation, args, submittedAtMs: now, seed };
    if (this.contract.operations[operation]?.effect === 'read') {
      this.#read.push({ submitter, wants, answer: this.#state.read(input) });
      return;
    }
    const { choice, reply, refusal } = this.#state.run(input);
    const stamp = { time: version, site: SITE, entry: SITE, version, seen: [0, version] };
    const results = (choice?.effects ?? []).map((effect) => this.#state.store.apply(effect, stamp));
    if (choice !== undefined) {
      this.#invariants?.applied({ id: identity?.id ?? `${SITE_NAME}/${version}`, ...choice }, this.#state);
    }
    const answer = refusal ?? this.#state.answerOfApplied({ operation, choice, reply }, results);
    if (identity !== undefined) {
      if (identity.acknowledged > 0) this.#answers.expire(clientOf(identity.id), identity.acknowledged);
      this.#answers.set(identity.id, answer);
    }
    const id = identity?.id;
    this.#answerOnceSynced({ submitter, answer }, { kind: 'plain', id, version, now, choice, answer });
  }

  #answerOnceSynced(waiting: Waiting, entry: object): void {
    this.#waiting.push(waiting);
    this.#gathered.push(entry);
  }

  #nowMs(): number {
    if (this.#turnMs === undefined) {
      this.#turnMs = Date.now();
      queueMicrotask(() => this.#endTurn());
    }
    return this.#turnMs;
  }

  #endTurn(): void {
    this.#turnMs = undefined;
    const reads = this.#read;
    if (reads.length > 0) this.#read = [];
    for (const read of reads) tellRead(read);
    const entries = this.#gathered;
    if (entries.length === 0) return;
    this.#gathered = [];
    this.#log.append(TERM, 'local', entries);
  }

  #onSynced(length: number): void {
    for (; this.#synced < length; this.#synced += 1) {
      const next = this.#waiting.shift();
      if (next?.submitter !== undefined) tell(next.submitter, 'strong', next.answer);
    }
  }
}

function tellRead({ submitter, wants, answer }: Read): void {
  if (submitter === undefined) return;
  if (wants.causal) tell(submitter, 'causal', answer, !wants.strong);
  if (wants.strong) tell(submitter, 'strong', answer);
}

function tell(submitter: Submitter, stage: 'causal' | 'strong', answer: Answer, isLast = stage === 'strong'): void {
  if (isCorrectableError(answer)) tellFailure(submitter, answer, isLast ? undefined : stage);
  else tellView(submitter, { stage, reply: answer, seen: undefined, last: isLast });
}
