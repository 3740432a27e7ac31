/**
 * A client. It makes one operation at a time, and retries it until it is answered, at the same site
 * or another one. Old requests may arrive late.
 */
import { ID_TABLE_LIMITS } from '../../server/site/parts/lookups/id-table.ts';
import type { Origin } from '../../server/service/records/origin.ts';
import type { Vector } from '../../server/service/records/vector.ts';
import { encodeValue } from '../../server/node/storage/format/value-text.ts';
import type { ClientDomainError, ClientView, SubmissionEvent } from './checkers/checker.ts';
import type { ClientOperation, History } from './history.ts';
import type { SimulationOptions } from './options.ts';
import type { Random } from '../../server/service/collections/random.ts';
import type { SimulatedSite } from './simulated-site.ts';
import type { SiteReply, SimulatedSubmission } from './simulated-site-options.ts';
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
  readonly submission: SimulatedSubmission;
}

interface SentRequest {
  readonly request: Request;
  /**
   * Whether this is an old request that arrives late. A site where the client has been since may
   * have begun the operation.
   */
  readonly isLate: boolean;
  /** Absent if the site was down, or had no room. */
  serial: number | undefined;
  isAbandoned: boolean;
}

/** The site that the operation in flight was sent to first, and how often it has moved. */
interface OperationPath {
  readonly home: Origin;
  hop: number;
  /** The state that its session had seen when it was first submitted. */
  readonly sessionVector: Vector | undefined;
}

const RETRY_MS = 50;
/** The factor by which it waits longer each time, and the maximum wait. */
const BACKOFF_FACTOR = 1.3;
const MAX_TIMEOUT_MS = 10_000;
/** Maximum number of requests that are kept to arrive late. */
const MAX_RETAINED_REQUESTS = 8;
/**
 * Codes that prove that nothing was done: the queue of the red order is full, or the red log has
 * halted.
 */
const NOT_EXECUTED_CODES: ReadonlySet<string> = new Set(['OVERLOADED', 'UNAVAILABLE']);
/** Codes that only mean that a request came late. */
const LATE_CODES: ReadonlySet<string> = new Set(['ABORTED', 'REPLY_EXPIRED']);

export class SimulatedClient {
  /** The number of events by kind: moves, unknown results, and so on. */
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
  /** The state that its session has seen, if it keeps one. */
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
    timeline.schedule(random.exponential(options.thinkMeanMs), () => this.#next());
  }

  #next(): void {
    const { client, random, history, timeline, options, scenario } = this.#options;
    const sequence = options.operationsPerClient - this.#remainingOperations + 1;
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
   * Submits an operation, and resubmits it under the same identifier if no reply comes. A late
   * reply counts all the same.
   */
  #submit(operation: ClientOperation, waits = 0): void {
    const { timeline, random, options } = this.#options;
    const request = this.#requestFor(operation);
    this.#requests.push(request);
    if (this.#requests.length > MAX_RETAINED_REQUESTS) this.#requests.shift();
    const sending = this.#send(request);
    const isUp = sending.serial !== undefined;
    // It waits longer each time. A client that moves on before a reply can arrive would never get
    // one.
    const timeoutMs = Math.min(MAX_TIMEOUT_MS, options.clientTimeoutMs * BACKOFF_FACTOR ** waits);
    timeline.schedule(isUp ? timeoutMs : RETRY_MS, () => {
      if (isOpen(operation)) {
        if (options.giveUpChance > 0 && random.chance(options.giveUpChance))
          return this.#giveUp(sending);
        this.#maybeMove();
        this.#submit(operation, isUp ? waits + 1 : waits);
      } else if (random.chance(0.2)) {
        this.#send(random.pick(this.#requests as [Request, ...Request[]]), true);
      }
    });
  }

  /**
   * Stops waiting, and notifies the site if it has the request. Replies that still arrive are
   * noted.
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
    const { args, id, level } = operation;
    const reads = this.#options.history.traits.isRead(operation);
    const causal = reads && (level === 'causal' || this.#options.random.chance(0.5));
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
    if (sites.length === 1 || !(mustMove || random.chance(options.moveChance))) return;
    this.#site = (this.#site + random.between(1, sites.length - 1)) % sites.length;
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
    // After the failure of one level, or a preliminary view, the end is still to come.
    if (answer.kind === 'preliminary' || (answer.kind === 'failed' && stage !== undefined)) return;
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

  /** Some rejections mean that nothing was or will be executed, unless it is retried. */
  #noteNotExecuted(sending: SentRequest, code: string): void {
    const { operation, submission } = sending.request;
    const isStated = NOT_EXECUTED_CODES.has(code) || (code === 'ABORTED' && sending.isAbandoned);
    if (!isStated || sending.isLate || this.#lastSent.get(operation) !== sending) return;
    operation.isCertainlyNotApplied = true;
    if (code === 'ABORTED' && submission.identity !== undefined) this.stats.undone += 1;
  }

  /**
   * Returns whether a failure ends the operation. An unknown result is retried, unless it can never
   * be known.
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
    // In a small table, operations of others may have replaced this one, so its result is unknown.
    if (code === 'REPLY_EXPIRED' && hasSmallTables(options)) {
      operation.error ??= 'UNKNOWN';
      return true;
    }
    // This rejection is not retained as a reply. The same operation may be accepted when it is sent
    // again.
    if (NOT_EXECUTED_CODES.has(code)) {
      this.stats.refused += code === 'OVERLOADED' ? 1 : 0;
      operation.error ??= 'UNKNOWN';
      return true;
    }
    if (code === 'UNKNOWN') {
      this.stats.unknown += 1;
      if (!isOpen(operation) || !sites.some(({ isLost }) => isLost)) return false;
    } else
      operation.failures.push(
        domain === undefined ? code : `${domain.name} ${encodeValue(domain.data)}`,
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
 * Returns whether a table forgets operations that its clients have not acknowledged. With the usual
 * limits, that happens in no run.
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
  return maxIdentifiers < maxOperations || maxOperationsPerClient < item || maxReplyBytes < bytes;
}

function isOpen({ replies, error }: ClientOperation): boolean {
  return replies.length === 0 && error === undefined;
}
