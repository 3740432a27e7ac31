/**
 * A service at one site without replication, for tests of its logic, and as a baseline (RedBlue,
 * OSDI 2012, Table 5).
 */
import { bindMethods, type Binding } from '../correctable/binding.ts';
import { CorrectableError, isCorrectableError } from '../correctable/errors.ts';
import {
  callback,
  optional,
  readOptions,
  trueOrFalse,
  type OptionsOf,
} from '../correctable/options.ts';
import { Fifo } from '../server/service/collections/fifo.ts';
import { expiredError } from '../server/service/records/failures.ts';
import { Origins, type Origin } from '../server/service/records/origin.ts';
import { EXPIRED, IdTable } from '../server/site/parts/lookups/id-table.ts';
import { getClient } from '../server/site/core/operation-id.ts';
import type { WantedStages } from '../server/site/core/submissions.ts';
import type { RedBlueLevels } from '../protocol/redblue-levels.ts';
import { SiteBinding, type SubmissionPort } from '../server/node/submission/site-binding.ts';
import { interruptedError } from '../server/node/submission/submission-errors.ts';
import type { SessionTokens } from '../server/node/submission/site-session.ts';
import {
  type Submitter,
  deliverFailure,
  deliverView,
} from '../server/node/submission/submitter.ts';
import { SiteState } from '../server/site/core/site-state.ts';
import type { ReplyOrError } from '../server/service/records/reply.ts';
import { getOperationPlans } from '../server/service/operation-plan.ts';
import { requireService, type Service } from '../server/service/service.ts';
import {
  hasInvariants,
  createInvariantObserver,
  type InvariantObserver,
} from '../server/node/alarms/invariant-alarm.ts';
import { guardAlarmHandler, emitWarning, type OnAlarm } from '../server/node/alarms/site-alarm.ts';
import { createGeneratorAlarm } from '../server/node/alarms/replica-alarms.ts';

/** The only site in vectors. */
const SITE_NAME = 'plain';
const ORIGINS = Origins.create([SITE_NAME]);
const [SITE] = ORIGINS.sites as [Origin];

/** A global variable would be looked up at each call. */
const clock = performance;

const NO_TOKENS: SessionTokens = {
  seal: () => '',
  open: () => {
    throw new CorrectableError(
      'UNAUTHENTICATED',
      'A plain service has no sessions with other places.',
    );
  },
};

/** Options of `singleSiteService`, the same as those of `createEmbedded`. */
export interface SingleSiteServiceOptions {
  /**
   * Checks the invariants of the service after each change. Default: `true`, unless `NODE_ENV` is
   * `production`
   */
  readonly checkInvariants?: boolean | undefined;
  /** Receives broken invariants, and undeclared errors of generators. Default: a process warning */
  readonly onAlarm?: OnAlarm | undefined;
}

const CALL = 'singleSiteService(service, { onAlarm })';

export const SINGLE_SITE_OPTIONS = {
  checkInvariants: optional(trueOrFalse),
  onAlarm: optional(callback),
} satisfies OptionsOf<SingleSiteServiceOptions>;

/**
 * Creates a binding for a service at a single site. The state is in memory and is lost when the
 * process ends. Every answer is final at `strong`, except for a read at `causal`. For the levels
 * with several sites, use `createEmbedded`.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` with the name of the invalid option.
 * @example
 * const alarms: string[] = [];
 * const client = createClient(
 *   singleSiteService(bankService, {
 *     onAlarm: ({ message }) => alarms.push(message),
 *   }),
 * );
 */
export function singleSiteService(
  service: Service,
  options: SingleSiteServiceOptions = {},
): Binding<RedBlueLevels> {
  requireService(service, CALL);
  const resolved = readOptions(options, { call: CALL }, SINGLE_SITE_OPTIONS);
  return bindMethods(new SiteBinding(SITE_NAME, new SingleSite(service, resolved)));
}

const readElapsedMs = (): number => clock.now();

interface WaitingReply {
  /**
   * `undefined` if it was already reported that the submission ends without a reply, or that its
   * end is unknown.
   */
  submitter: Submitter | undefined;
  readonly reply: ReplyOrError;
}

/** A read that was executed but not answered yet. */
interface ExecutedRead extends WaitingReply {
  readonly wants: WantedStages;
}

class SingleSite implements SubmissionPort {
  readonly contract: SubmissionPort['contract'];
  readonly plans: SubmissionPort['plans'];
  readonly site = SITE;
  readonly origins = ORIGINS;
  readonly tokens: SessionTokens = NO_TOKENS;
  readonly #state: SiteState;
  readonly #invariants: InvariantObserver | undefined;
  /** Replies that wait until their entries are synced. */
  readonly #waiting = new Fifo<WaitingReply>();
  /** Replies for clients that resubmit an operation. */
  readonly #retainedReplies = new IdTable<ReplyOrError>();
  /** Reads and entries of the turn in flight, and its time. */
  #read: ExecutedRead[] = [];
  #gathered: object[] = [];
  #turnMs: number | undefined;
  #operations = 0;

  constructor(service: Service, options: SingleSiteServiceOptions) {
    const { checkInvariants = hasInvariants(service) } = options;
    const onAlarm = guardAlarmHandler(options.onAlarm ?? emitWarning);
    this.contract = service.contract;
    this.plans = getOperationPlans(service);
    const onGeneratorError = createGeneratorAlarm(SITE_NAME, onAlarm);
    this.#state = new SiteState(service, ORIGINS, {
      elapsedMs: readElapsedMs,
      identifierPrefix: SITE_NAME,
      onGeneratorError,
    });
    this.#invariants = checkInvariants
      ? createInvariantObserver(service, SITE_NAME, onAlarm)
      : undefined;
  }

  submit(submitter: Submitter): void {
    try {
      this.#run(submitter);
    } catch (error) {
      if (!isCorrectableError(error)) throw error;
      submitter.onFailure(error, undefined);
    }
  }

  endSubmissions(door: object): void {
    const interrupted: Submitter[] = [];
    for (const waiting of [...this.#waiting.slice(), ...this.#read]) {
      const { submitter } = waiting;
      if (submitter?.handle !== door) continue;
      waiting.submitter = undefined;
      interrupted.push(submitter);
    }
    const reason = 'The client was closed before the operation ended';
    for (const submitter of interrupted) {
      deliverFailure(submitter, interruptedError(submitter.plan.access, reason), undefined);
    }
  }

  endTurn(): void {
    this.#turnMs = undefined;
    const reads = this.#read;
    if (reads.length > 0) this.#read = [];
    for (const read of reads) deliverRead(read);
    const entries = this.#gathered;
    if (entries.length === 0) return;
    this.#gathered = [];
    // In memory, entries are synced at once. Operations that are submitted meanwhile belong to the
    // next turn.
    for (let left = entries.length; left > 0; left -= 1) {
      const next = this.#waiting.shift();
      if (next?.submitter !== undefined) deliver(next.submitter, 'strong', next.reply);
    }
  }

  #run(submitter: Submitter): void {
    const { plan, args, wantedStages, identity } = submitter;
    const known = identity === undefined ? undefined : this.#retainedReplies.get(identity.id);
    if (known === EXPIRED) return submitter.onFailure(expiredError(), undefined);
    // The operation was applied before the next sync, so its reply waits for that.
    if (known !== undefined) {
      this.#nowMs();
      return this.#replyWhenSynced({ submitter, reply: known }, { kind: 'again' });
    }
    this.#operations += 1;
    const version = this.#operations;
    const seed = Math.floor(Math.random() * 2 ** 32);
    const now = this.#nowMs();
    const { principal } = submitter;
    const input = {
      serial: version,
      plan,
      args,
      submittedAtMs: now,
      seed,
      principal,
    };
    if (plan.isRead) {
      this.#read.push({
        submitter,
        wants: wantedStages,
        reply: this.#state.read(input),
      });
      return;
    }
    const { choice, reply, domainError } = this.#state.run(input);
    const stamp = {
      time: version,
      site: SITE,
      entry: SITE,
      version,
      seen: [0, version],
    };
    const results = (choice?.effects ?? []).map((effect) => this.#state.store.apply(effect, stamp));
    if (choice !== undefined) {
      this.#invariants?.onApplied(
        { id: identity?.id ?? `${SITE_NAME}/${version}`, ...choice },
        this.#state,
      );
    }
    const answer = domainError ?? this.#state.createAppliedReply({ plan, choice, reply }, results);
    if (identity !== undefined) {
      if (identity.acknowledged > 0)
        this.#retainedReplies.expire(getClient(identity.id), identity.acknowledged);
      this.#retainedReplies.set(identity.id, answer);
    }
    const id = identity?.id;
    this.#replyWhenSynced(
      { submitter, reply: answer },
      { kind: 'plain', id, version, now, choice, answer },
    );
  }

  #replyWhenSynced(waiting: WaitingReply, entry: object): void {
    this.#waiting.push(waiting);
    this.#gathered.push(entry);
  }

  #nowMs(): number {
    if (this.#turnMs === undefined) {
      this.#turnMs = Date.now();
      queueMicrotask(() => this.endTurn());
    }
    return this.#turnMs;
  }
}

function deliverRead({ submitter, wants, reply }: ExecutedRead): void {
  if (submitter === undefined) return;
  if (wants.causal) deliver(submitter, 'causal', reply, !wants.strong);
  if (wants.strong) deliver(submitter, 'strong', reply);
}

function deliver(
  submitter: Submitter,
  stage: 'causal' | 'strong',
  answer: ReplyOrError,
  isLast = stage === 'strong',
): void {
  if (isCorrectableError(answer)) deliverFailure(submitter, answer, isLast ? undefined : stage);
  else deliverView(submitter, { stage, reply: answer, seen: undefined, isLast });
}
