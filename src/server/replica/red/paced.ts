/**
 * The paced operations of one site: those that have a place, and those that wait for one. As every site keeps to the pace,
 * each can say how many operations of the others a preview cannot know of (docs/spec/thresholds.md).
 */
import { AgreementTime, type Awaited } from '../../../correctable/pace/agreement-time.ts';
import { CorrectableError } from '../../../correctable/errors.ts';
import { Places } from '../../../correctable/pace/places.ts';
import type { Elsewhere, Pace } from '../../../correctable/pace/unseen.ts';
import type { RedRequest } from './red-requests.ts';
import type { Service, ServicePace } from '../../service/service.ts';

/** So many turns of a whole window may be waited for; who comes then is refused at once. */
const TURNS_WAITED_MAX = 8;

export class PacedRequests {
  readonly #operations: ReadonlySet<string>;
  readonly #places: Places;
  readonly #waitingMax: number;
  /** The other sites. */
  readonly #others: readonly Pace[];
  readonly #agreement = new AgreementTime();
  readonly #inside = new Map<RedRequest, Awaited>();
  readonly #waiting = new Set<RedRequest>();

  constructor({ paced }: Service, siteCount: number) {
    const { operations, window, turnMs } = paced ?? UNPACED;
    this.#operations = operations;
    this.#places = new Places({ window, turnMs });
    this.#waitingMax = TURNS_WAITED_MAX * window;
    this.#others = Array.from({ length: siteCount - 1 }, () => ({ window, turnMs }));
  }

  /** Why no more of this operation may begin here, if so many wait already. */
  refusalOf(operation: string): CorrectableError | undefined {
    const isFull = this.#waiting.size >= this.#waitingMax && this.#operations.has(operation);
    return isFull ? this.#overloadedError() : undefined;
  }

  /**
   * Whether the request may begin: it has a place, or needs none. Otherwise it waits for its turn.
   *
   * @throws CorrectableError `OVERLOADED` where too many wait already
   */
  enter(request: RedRequest, nowMs: number): boolean {
    const { operation } = request.submission;
    if (!this.#operations.has(operation)) return true;
    if (this.#waiting.size === 0 && this.#take(request, nowMs)) return true;
    const refusal = this.refusalOf(operation);
    if (refusal !== undefined) throw refusal;
    this.#waiting.add(request);
    return false;
  }

  /** The request that may begin now, of those that wait; undefined if none may. */
  next(nowMs: number): RedRequest | undefined {
    const [first] = this.#waiting;
    if (first === undefined || !this.#take(first, nowMs)) return undefined;
    this.#waiting.delete(first);
    return first;
  }

  /** The request has ended; `isOwn`: by what this site has proposed for it, which tells how long agreement takes. */
  leave(request: RedRequest, nowMs: number, isOwn: boolean): void {
    this.#waiting.delete(request);
    const awaited = this.#inside.get(request);
    if (awaited === undefined) return;
    this.#inside.delete(request);
    if (isOwn) this.#agreement.end(awaited, nowMs);
    else this.#agreement.drop(awaited);
    this.#places.leave(awaited.sinceMs, nowMs);
  }

  /** When to look again for who may begin; undefined if nobody waits, or only for others to end. */
  get wakeAtMs(): number | undefined {
    return this.#waiting.size === 0 ? undefined : this.#places.nextFreeAtMs;
  }

  /** What a preview of the request cannot know of; undefined where that is not known. */
  elsewhereOf(request: RedRequest, nowMs: number): Elsewhere | undefined {
    if (!this.#inside.has(request)) return undefined;
    const withinMs = this.#others.length === 0 ? 0 : this.#agreement.withinMs(nowMs);
    return withinMs === undefined ? undefined : { withinMs, others: this.#others };
  }

  #overloadedError(): CorrectableError {
    const message = `${this.#waitingMax} operations wait for their turn at this site already: it takes no more. Nothing was done.`;
    return new CorrectableError('OVERLOADED', message);
  }

  #take(request: RedRequest, nowMs: number): boolean {
    if (!this.#places.take(nowMs)) return false;
    this.#inside.set(request, this.#agreement.begin(nowMs));
    return true;
  }
}

const UNPACED: ServicePace = { operations: new Set(), window: 0, turnMs: 0 };
