/**
 * A client: one operation at a time, retried until it is answered, here or
 * elsewhere. Old requests may come late.
 */
import { ID_TABLE_LIMITS } from '../../server/replica/exactly-once/id-table.ts';
import type { Origin } from '../../server/records/origin.ts';
import type { Submission } from '../../server/records/submissions.ts';
import type { Vector } from '../../server/records/vector.ts';
import { encodeValue } from '../../server/storage/format/value-text.ts';
import type {
  ClientDomainError,
  ClientView,
  SubmissionEvent,
} from './checkers/checker.ts';
import type { ClientOperation, History } from './history.ts';
import type { SimulationOptions } from './options.ts';
import type { Random } from '../../server/collections/random.ts';
import type { SimulatedSite } from './simulated-site.ts';
import type { SiteReply } from './simulated-site-options.ts';
import type { Timeline } from './timeline.ts';
import type { Scenario } from './scenario.ts';

export interface SimulatedClientOptions {
  readonly client: number;
  readonly sites: readonly SimulatedSite[];
  readonly timeline: Timeline;
  readonly random: Random;
  readonly history: History;
  readonly options: SimulationOptions;
  readonly scenario: Scenario;
  onSubmissionEvent(reported: SubmissionEvent): void;
  onView(view: ClientView): void;
  onDomainError(rejection: ClientDomainError): void;
}

interface Request {
  readonly site: SimulatedSite;
  readonly operation: ClientOperation;
  readonly submission: Omit<Submission, 'serial' | 'submittedAtMs'>;
}

interface SentRequest {
  readonly request: Request;
  /** By hand, long after: where the client has been since may have begun it. */
  readonly isLate: boolean;
  /** None where the site was down, or had no room. */
  serial: number | undefined;
  isAbandoned: boolean;
}

/** Where the operation in flight was sent first, and how often it has moved. */
interface OperationPath {
  readonly home: Origin;
  hop: number;
  /** What its session had seen when it was first submitted. */
  readonly sessionVector: Vector | undefined;
}

const RETRY_MS = 50;
/** By how much longer it waits each time, and how long at most. */
const BACKOFF_FACTOR = 1.3;
const MAX_TIMEOUT_MS = 10_000;
/** Requests kept for coming late. */
const MAX_RETAINED_REQUESTS = 8;
/**
 * Nothing was done: too much waits for the red order, or the red log has
 * halted.
 */
const NOT_EXECUTED_CODES: ReadonlySet<string> = new Set([
  'OVERLOADED',
  'UNAVAILABLE',
]);
/** What only says that a request came late. */
const LATE_CODES: ReadonlySet<string> = new Set(['ABORTED', 'REPLY_EXPIRED']);

export class SimulatedClient {
  /** Counts of events by kind: moves, unknown results, and so on. */
  readonly stats = {
    moves: 0,
    unknown: 0,
    late: 0,
    expired: 0,
    refused: 0,
    givenUp: 0,
    undone: 0,
  };
  readonly #options: SimulatedClientOptions;
  readonly #requests: Request[] = [];
  #remainingOperations: number;
  #site: number;
  #acknowledged = 0;
  #path: OperationPath;
  readonly #lastSent = new WeakMap<ClientOperation, SentRequest>();
  /** What its session has seen, if it keeps one. */
  #seen: Vector | undefined;

  constructor(options: SimulatedClientOptions) {
    this.#options = options;
    const { random, sites } = options;
    this.#remainingOperations = options.options.operationsPerClient;
    this.#site = random.between(0, sites.length - 1);
    this.#seen = random.chance(options.options.sessionChance)
      ? sites.map(() => 0).concat(0)
      : undefined;
    this.#path = {
      home: this.#currentSite.origin,
      hop: 0,
      sessionVector: undefined,
    };
    this.#think();
  }

  get isDone(): boolean {
    return this.#remainingOperations === 0;
  }

  #think(): void {
    const { timeline, random, options } = this.#options;
    timeline.schedule(random.exponential(options.thinkMeanMs), () =>
      this.#next(),
    );
  }

  #next(): void {
    const { client, random, history, timeline, options, scenario } =
      this.#options;
    const sequence =
      options.operationsPerClient - this.#remainingOperations + 1;
    const id = `c${client}/${sequence}`;
    if (random.chance(0.5)) this.#acknowledged = sequence - 1;
    this.#path = {
      home: this.#currentSite.origin,
      hop: 0,
      sessionVector: this.#seen,
    };
    const operation: ClientOperation = {
      id,
      client,
      level: random.chance(0.5) ? 'strong' : 'causal',
      ...scenario.draw({ random, unique: id, options }),
      submittedAtMs: timeline.nowMs,
      replies: [],
      failures: [],
    };
    history.operations.push(operation);
    this.#submit(operation);
  }

  /**
   * Submits, and again under the same identifier when no answer comes: a late
   * answer counts all the same.
   */
  #submit(operation: ClientOperation, waits = 0): void {
    const { timeline, random, options } = this.#options;
    const request = this.#requestFor(operation);
    this.#requests.push(request);
    if (this.#requests.length > MAX_RETAINED_REQUESTS) this.#requests.shift();
    const sending = this.#send(request);
    const isUp = sending.serial !== undefined;
    // It waits longer each time: a client that moves on before an answer can
    // arrive never gets one.
    const timeoutMs = Math.min(
      MAX_TIMEOUT_MS,
      options.clientTimeoutMs * BACKOFF_FACTOR ** waits,
    );
    timeline.schedule(isUp ? timeoutMs : RETRY_MS, () => {
      if (isOpen(operation)) {
        if (options.giveUpChance > 0 && random.chance(options.giveUpChance))
          return this.#giveUp(sending);
        this.#maybeMove();
        this.#submit(operation, isUp ? waits + 1 : waits);
      } else if (random.chance(0.2)) {
        this.#send(
          random.pick(this.#requests as [Request, ...Request[]]),
          true,
        );
      }
    });
  }

  /**
   * Stops waiting, and notifies its site if that has the request. Replies that
   * still arrive are noted.
   */
  #giveUp(sending: SentRequest): void {
    const { serial, request } = sending;
    this.stats.givenUp += 1;
    request.operation.error = 'UNKNOWN';
    this.#end();
    if (serial === undefined) return;
    sending.isAbandoned = true;
    request.site.abandon(serial);
  }

  #end(): void {
    this.#remainingOperations -= 1;
    if (this.#remainingOperations > 0) this.#think();
  }

  #requestFor(operation: ClientOperation): Request {
    const { operation: name, args, id, level } = operation;
    const reads = this.#options.history.traits.isRead(operation);
    const causal =
      reads && (level === 'causal' || this.#options.random.chance(0.5));
    const wantedStages = {
      tentative: !reads,
      causal,
      strong: !reads || level === 'strong',
    };
    const { home, hop, sessionVector } = this.#path;
    const identity = { id, home, hop, acknowledged: this.#acknowledged };
    const seed = this.#options.random.bits();
    const {
      client,
      scenario: { principals = [] },
    } = this.#options;
    const submission = {
      operation: name,
      args,
      seed,
      principal: principals[client % principals.length],
      wantedStages,
      sessionVector,
      ...(reads ? {} : { identity }),
    };
    return { site: this.#currentSite, operation, submission };
  }

  #send(request: Request, isLate = false): SentRequest {
    const { site, operation, submission } = request;
    const sending: SentRequest = {
      request,
      isLate,
      serial: undefined,
      isAbandoned: false,
    };
    this.#lastSent.set(operation, sending);
    operation.isCertainlyNotApplied = false;
    sending.serial = site.submit(operation, submission, (answer) =>
      this.#onAnswer(sending, answer),
    );
    return sending;
  }

  get #currentSite(): SimulatedSite {
    return this.#options.sites[this.#site] as SimulatedSite;
  }

  #maybeMove(): void {
    const { sites, random, options } = this.#options;
    const mustMove = this.#currentSite.isLost;
    if (sites.length === 1 || !(mustMove || random.chance(options.moveChance)))
      return;
    this.#site =
      (this.#site + random.between(1, sites.length - 1)) % sites.length;
    this.#path.hop += 1;
    this.stats.moves += 1;
  }

  #onAnswer(sending: SentRequest, answer: SiteReply): void {
    const { operation, site } = sending.request;
    const { serial, stage } = answer;
    const isRead = this.#options.history.traits.isRead(operation);
    const about = { site: site.origin, serial, operation, isRead };
    const isFailed = answer.kind === 'failed';
    this.#options.onSubmissionEvent({
      ...about,
      isEnd: answer.kind === 'final' || (isFailed && stage === undefined),
      stage,
      code: isFailed && answer.domain === undefined ? answer.code : undefined,
      isAbandoned: sending.isAbandoned,
    });
    if (answer.kind !== 'failed') {
      this.#options.onView({
        ...about,
        stage: answer.stage,
        value: answer.value,
        meta: answer.meta,
      });
      this.#mergeSeen(answer.seen);
    } else if (answer.domain !== undefined) {
      this.#options.onDomainError({ ...about, stage, domain: answer.domain });
    }
    // Of a level that failed the end is still to come, as it is after a
    // preliminary view.
    if (
      answer.kind === 'preliminary' ||
      (answer.kind === 'failed' && stage !== undefined)
    )
      return;
    const wasOpen = isOpen(operation);
    if (answer.kind !== 'failed') {
      const atMs = this.#options.timeline.nowMs;
      operation.replies.push({
        value: answer.value,
        stage: answer.stage,
        site: site.origin,
        atMs,
      });
    } else {
      this.#noteNotExecuted(sending, answer.code);
      if (!this.#isFinalFailure(operation, answer)) return;
    }
    if (wasOpen) this.#end();
  }

  /**
   * Some rejections mean that nothing was done, nor will be, unless it is
   * retried.
   */
  #noteNotExecuted(sending: SentRequest, code: string): void {
    const { operation, submission } = sending.request;
    const isStated =
      NOT_EXECUTED_CODES.has(code) ||
      (code === 'ABORTED' && sending.isAbandoned);
    if (
      !isStated ||
      sending.isLate ||
      this.#lastSent.get(operation) !== sending
    )
      return;
    operation.isCertainlyNotApplied = true;
    if (code === 'ABORTED' && submission.identity !== undefined)
      this.stats.undone += 1;
  }

  /**
   * Whether a failure ends the operation. It retries an unknown result, unless
   * it can never be known.
   */
  #isFinalFailure(
    operation: ClientOperation,
    { code, domain }: SiteReply & { kind: 'failed' },
  ): boolean {
    const { sites, options } = this.#options;
    if (code === 'REPLY_EXPIRED') this.stats.expired += 1;
    if (LATE_CODES.has(code) && (code === 'ABORTED' || !isOpen(operation))) {
      this.stats.late += 1;
      return false;
    }
    // In a small table, operations of others may have replaced it: its result
    // is unknown.
    if (code === 'REPLY_EXPIRED' && hasSmallTables(options)) {
      operation.error ??= 'UNKNOWN';
      return true;
    }
    // Not kept as an answer: what is refused so may be taken when it comes
    // again.
    if (NOT_EXECUTED_CODES.has(code)) {
      this.stats.refused += code === 'OVERLOADED' ? 1 : 0;
      operation.error ??= 'UNKNOWN';
      return true;
    }
    if (code === 'UNKNOWN') {
      this.stats.unknown += 1;
      if (!isOpen(operation) || !sites.some(({ isLost }) => isLost))
        return false;
    } else
      operation.failures.push(
        domain === undefined
          ? code
          : `${domain.name} ${encodeValue(domain.data)}`,
      );
    operation.error ??= code;
    return true;
  }

  #mergeSeen(seen: Vector | undefined): void {
    if (seen === undefined || this.#seen === undefined) return;
    const length = Math.max(this.#seen.length, seen.length);
    this.#seen = Array.from({ length }, (_, entry) =>
      Math.max(this.#seen?.[entry] ?? 0, seen[entry] ?? 0),
    );
  }
}

/**
 * Whether a table forgets what its clients have not acknowledged, as it does by
 * itself in no run with the usual bounds.
 */
function hasSmallTables({
  maxIdentifiers,
  maxOperationsPerClient,
  maxReplyBytes,
}: SimulationOptions): boolean {
  const {
    maxOperations,
    maxOperationsPerClient: item = Infinity,
    maxBytesPerClient: bytes = Infinity,
  } = ID_TABLE_LIMITS;
  return (
    maxIdentifiers < maxOperations ||
    maxOperationsPerClient < item ||
    maxReplyBytes < bytes
  );
}

function isOpen({ replies, error }: ClientOperation): boolean {
  return replies.length === 0 && error === undefined;
}
