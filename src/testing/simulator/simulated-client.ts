/**
 * A client of a run: one operation after the other, each again and again until it is answered, here or at another site.
 * It keeps its requests and now and then one of them comes again, late.
 */
import { ID_TABLE_LIMITS } from '../../server/replica/once/id-table.ts';
import type { Origin } from '../../server/records/origin.ts';
import type { Submission } from '../../server/records/submissions.ts';
import type { Vector } from '../../server/records/vector.ts';
import { toText } from '../../server/storage/format/values.ts';
import type { GivenRefusal, GivenView, Told } from './checkers/checker.ts';
import type { ClientOperation, History } from './history.ts';
import type { SimulationOptions } from './options.ts';
import type { Random } from '../../server/collections/random.ts';
import type { SimulatedSite, SiteAnswer } from './simulated-site.ts';
import type { Timeline } from './timeline.ts';
import type { World } from './world.ts';

/** What a client needs. */
export interface SimulatedClientOptions {
  readonly client: number;
  readonly sites: readonly SimulatedSite[];
  readonly timeline: Timeline;
  readonly random: Random;
  readonly history: History;
  readonly options: SimulationOptions;
  readonly world: World;
  /** A site has told it something. */
  told(told: Omit<Told, 'isRead'>): void;
  /** A site has given a view. */
  answered(view: Omit<GivenView, 'isRead'>): void;
  /** A site has refused the operation by an error of its domain. */
  refused(refusal: Omit<GivenRefusal, 'isRead'>): void;
}

/** A request as it was sent, to be sent again. */
interface Request {
  readonly site: SimulatedSite;
  readonly operation: ClientOperation;
  readonly submission: Omit<Submission, 'serial' | 'submittedAtMs'>;
}

/** One time that a request was sent. */
interface Sending {
  readonly request: Request;
  /** By hand, long after: where the client has been since may have begun it. */
  readonly isLate: boolean;
  /** None where the site was down, or had no room. */
  serial: number | undefined;
  isGivenUp: boolean;
}

/** Where the operation under way was sent first, and how often it has moved. */
interface Journey {
  readonly home: Origin;
  hop: number;
  /** What its session had seen when it was first submitted. */
  readonly after: Vector | undefined;
}

/** How long a client waits before it tries a site that is down again. */
const RETRY_MS = 50;
/** By how much longer it waits each time, and how long at most. */
const PATIENCE = 1.3;
const PATIENCE_MAX_MS = 10_000;
/** Requests kept for coming late. */
const REQUESTS_MAX = 8;
/** Nothing was done: too much waits for the red order, or nothing more comes of it. */
const REFUSALS: ReadonlySet<string> = new Set(['OVERLOADED', 'UNAVAILABLE']);
/** What only says that a request came late. */
const LATE: ReadonlySet<string> = new Set(['ABORTED', 'EXPIRED_ID']);

/** A client. */
export class SimulatedClient {
  /** What it did and was told, by kind: moves, answers that say that the outcome is not known, and so on. */
  readonly counts = { moves: 0, unknown: 0, late: 0, expired: 0, refused: 0, givenUp: 0, undone: 0 };
  readonly #options: SimulatedClientOptions;
  readonly #requests: Request[] = [];
  #left: number;
  /** Among all sites. */
  #site: number;
  #acknowledged = 0;
  #journey: Journey;
  /** The last time that an operation was sent. */
  readonly #sendings = new WeakMap<ClientOperation, Sending>();
  /** What its session has seen, if it keeps one. */
  #seen: Vector | undefined;

  constructor(options: SimulatedClientOptions) {
    this.#options = options;
    const { random, sites } = options;
    this.#left = options.options.operationsPerClient;
    this.#site = random.between(0, sites.length - 1);
    this.#seen = random.chance(options.options.sessionChance) ? sites.map(() => 0).concat(0) : undefined;
    this.#journey = { home: this.#here.origin, hop: 0, after: undefined };
    this.#think();
  }

  get isDone(): boolean {
    return this.#left === 0;
  }

  #think(): void {
    const { timeline, random, options } = this.#options;
    timeline.after(random.exponential(options.thinkMeanMs), () => this.#next());
  }

  #next(): void {
    const { client, random, history, timeline, options, world } = this.#options;
    const sequence = options.operationsPerClient - this.#left + 1;
    const id = `c${client}/${sequence}`;
    if (random.chance(0.5)) this.#acknowledged = sequence - 1;
    this.#journey = { home: this.#here.origin, hop: 0, after: this.#seen };
    const operation: ClientOperation = {
      id,
      client,
      level: random.chance(0.5) ? 'strong' : 'causal',
      ...world.draw({ random, own: id, options }),
      submittedAtMs: timeline.nowMs,
      answers: [],
      failures: [],
    };
    history.operations.push(operation);
    this.#submit(operation);
  }

  /** Submits, and again under the same identifier when no answer comes: a late answer counts all the same. */
  #submit(operation: ClientOperation, waits = 0): void {
    const { timeline, random, options } = this.#options;
    const request = this.#requestFor(operation);
    this.#requests.push(request);
    if (this.#requests.length > REQUESTS_MAX) this.#requests.shift();
    const sending = this.#send(request);
    const isUp = sending.serial !== undefined;
    // More patient each time: who moves on before an answer can come never gets one.
    const timeoutMs = Math.min(PATIENCE_MAX_MS, options.clientTimeoutMs * PATIENCE ** waits);
    timeline.after(isUp ? timeoutMs : RETRY_MS, () => {
      if (isOpen(operation)) {
        if (options.giveUpChance > 0 && random.chance(options.giveUpChance)) return this.#giveUp(sending);
        this.#moveMaybe();
        this.#submit(operation, isUp ? waits + 1 : waits);
      } else if (random.chance(0.2)) {
        this.#send(random.pick(this.#requests as [Request, ...Request[]]), true);
      }
    });
  }

  /** Waits no longer, and lets its site know, where that has it; what it is told all the same it hears. */
  #giveUp(sending: Sending): void {
    const { serial, request } = sending;
    this.counts.givenUp += 1;
    request.operation.error = 'UNKNOWN';
    this.#end();
    if (serial === undefined) return;
    sending.isGivenUp = true;
    request.site.abandon(serial);
  }

  #end(): void {
    this.#left -= 1;
    if (this.#left > 0) this.#think();
  }

  #requestFor(operation: ClientOperation): Request {
    const { operation: name, args, id, level } = operation;
    const reads = this.#options.history.isRead(operation);
    const causal = reads && (level === 'causal' || this.#options.random.chance(0.5));
    const wants = { tentative: !reads, causal, strong: !reads || level === 'strong' };
    const { home, hop, after } = this.#journey;
    const identity = { id, home, hop, acknowledged: this.#acknowledged };
    const seed = this.#options.random.bits();
    const submission = { operation: name, args, seed, wants, after, ...(reads ? {} : { identity }) };
    return { site: this.#here, operation, submission };
  }

  #send(request: Request, isLate = false): Sending {
    const { site, operation, submission } = request;
    const sending: Sending = { request, isLate, serial: undefined, isGivenUp: false };
    this.#sendings.set(operation, sending);
    operation.isSureNot = false;
    sending.serial = site.submit(operation, submission, (answer) => this.#onAnswer(sending, answer));
    return sending;
  }

  /** The site where it is. */
  get #here(): SimulatedSite {
    return this.#options.sites[this.#site] as SimulatedSite;
  }

  #moveMaybe(): void {
    const { sites, random, options } = this.#options;
    const mustMove = this.#here.isLost;
    if (sites.length === 1 || !(mustMove || random.chance(options.moveChance))) return;
    this.#site = (this.#site + random.between(1, sites.length - 1)) % sites.length;
    this.#journey.hop += 1;
    this.counts.moves += 1;
  }

  #onAnswer(sending: Sending, answer: SiteAnswer): void {
    const { operation } = sending.request;
    const site = sending.request.site.origin;
    const { serial, stage } = answer;
    this.#tell(sending, answer);
    if (answer.kind !== 'failed') {
      const { value, meta } = answer;
      this.#options.answered({ site, serial, operation, stage: answer.stage, value, meta });
      this.#see(answer.seen);
    } else if (answer.domain !== undefined) {
      this.#options.refused({ site, serial, operation, stage, domain: answer.domain });
    }
    // Of a level that failed the end is still to come, as it is after a preliminary view.
    if (answer.kind === 'preliminary' || (answer.kind === 'failed' && stage !== undefined)) return;
    const wasOpen = isOpen(operation);
    if (answer.kind !== 'failed') {
      const { value } = answer;
      operation.answers.push({ value, stage: answer.stage, site, atMs: this.#options.timeline.nowMs });
    } else {
      this.#noteUndone(sending, answer.code);
      if (!this.#isForGood(operation, answer)) return;
    }
    if (wasOpen) this.#end();
  }

  #tell({ request, isGivenUp }: Sending, answer: SiteAnswer): void {
    const { operation } = request;
    const site = request.site.origin;
    const { serial, stage, kind } = answer;
    const code = kind === 'failed' && answer.domain === undefined ? answer.code : undefined;
    const isEnd = kind === 'final' || (kind === 'failed' && stage === undefined);
    this.#options.told({ site, serial, operation, isEnd, stage, code, isGivenUp });
  }

  /** Some refusals say that nothing was done, nor will be: for ever, where nobody asks again. */
  #noteUndone(sending: Sending, code: string): void {
    const { operation, submission } = sending.request;
    const saysSo = REFUSALS.has(code) || (code === 'ABORTED' && sending.isGivenUp);
    if (!saysSo || sending.isLate || this.#sendings.get(operation) !== sending) return;
    operation.isSureNot = true;
    if (code === 'ABORTED' && submission.identity !== undefined) this.counts.undone += 1;
  }

  /** Whether a failure ends the operation. Of what is unknown it asks again, unless nobody can ever tell. */
  #isForGood(operation: ClientOperation, { code, domain }: SiteAnswer & { kind: 'failed' }): boolean {
    const { sites, options } = this.#options;
    if (code === 'EXPIRED_ID') this.counts.expired += 1;
    if (LATE.has(code) && (code === 'ABORTED' || !isOpen(operation))) {
      this.counts.late += 1;
      return false;
    }
    // Where few are remembered, those of others may have pushed it out: nobody can tell what became of it.
    if (code === 'EXPIRED_ID' && remembersFew(options)) {
      operation.error ??= 'UNKNOWN';
      return true;
    }
    // Not kept as an answer: what is refused so may be taken when it comes again.
    if (REFUSALS.has(code)) {
      this.counts.refused += code === 'OVERLOADED' ? 1 : 0;
      operation.error ??= 'UNKNOWN';
      return true;
    }
    if (code === 'UNKNOWN') {
      this.counts.unknown += 1;
      if (!isOpen(operation) || !sites.some(({ isLost }) => isLost)) return false;
    } else operation.failures.push(domain === undefined ? code : `${domain.name} ${toText(domain.data)}`);
    operation.error ??= code;
    return true;
  }

  #see(seen: Vector | undefined): void {
    if (seen === undefined || this.#seen === undefined) return;
    this.#seen = this.#seen.map((stamp, entry) => Math.max(stamp, seen[entry] ?? 0));
  }
}

/** Whether a table forgets what its clients have not acknowledged, as it does by itself in no run with the usual bounds. */
function remembersFew({ identifiersMax, perClientMax, answerBytesMax }: SimulationOptions): boolean {
  const { operationsMax, perClientMax: each = Infinity, clientBytesMax: bytes = Infinity } = ID_TABLE_LIMITS;
  return identifiersMax < operationsMax || perClientMax < each || answerBytesMax < bytes;
}

function isOpen({ answers, error }: ClientOperation): boolean {
  return answers.length === 0 && error === undefined;
}
