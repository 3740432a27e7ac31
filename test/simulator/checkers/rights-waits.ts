/**
 * No take waits long for rights that exist (docs/spec/rights.md, RIGHTS-15). While all sites are up
 * and hear each other, and enough of a field is left for all takes, each take ends within a bound.
 */
import type { Ledger } from '../../../src/server/service/fields/ledger.ts';
import type { Origin } from '../../../src/server/service/records/origin.ts';
import type { SiteState } from '../../../src/server/site/core/site-state.ts';
import { assertProperty } from '../../../src/testing/simulator/checkers/checker.ts';
import type {
  AnyOperation,
  Checker,
  GeneratorRun,
  SubmissionEvent,
} from '../../../src/testing/simulator/checkers/checker.ts';
import type { HealthyPeriods } from '../../../src/testing/simulator/timeline.ts';
import type { CheckerContext } from '../../../src/testing/simulator/scenario.ts';

const FIELD = 'free';
const KEYS = ['a', 'b'] as const;

/**
 * Times that something may have to be sent again; and one more, for which it gives way to what is
 * never heard of again.
 */
const RESENDS = 3 + 1;
/**
 * Trips from site to site until a take is at its end: to its rights, and for each time that others
 * overtake it.
 */
const TRIPS_TO_RIGHTS = 8;
const TRIPS_OF_ATTEMPT = 4;
/**
 * Who waits for rights does so for as long as other sites may be out of reach, and once more when
 * rejected.
 */
const WAITS = 2;
/** With narrower windows what stands before a transfer in its stream takes trips of its own. */
const WINDOW_WIDE = 1000;

/** A take that a site has begun. */
interface Take {
  readonly site: Origin;
  readonly keys: readonly string[];
  readonly amount: number;
  readonly begunAtMs: number;
  /** When the last one ended of those that had begun before it, of a field that it wants too. */
  firstSinceMs: number;
}

/** One field, as all sites show it: whether enough of it stands for all who want some. */
class Stand {
  readonly #calm: HealthyPeriods;
  readonly #left: Map<Origin, number>;
  #wanted = 0;
  #wasShortAtMs = 0;

  constructor(calm: HealthyPeriods, sites: readonly Origin[]) {
    this.#calm = calm;
    this.#left = new Map(sites.map((site) => [site, 0]));
  }

  shows(site: Origin, left: number): void {
    this.#noteShort();
    this.#left.set(site, left);
  }

  want(amount: number): void {
    this.#noteShort();
    this.#wanted += amount;
  }

  /** `Infinity` while there is too little. */
  get isEnoughSinceMs(): number {
    return this.#isShort ? Infinity : this.#wasShortAtMs;
  }

  get #isShort(): boolean {
    return Math.min(...this.#left.values()) < this.#wanted;
  }

  #noteShort(): void {
    if (this.#isShort) this.#wasShortAtMs = this.#calm.nowMs;
  }
}

/**
 * How long a take may go unanswered. Where messages are slower than sites are patient, it may be
 * given up first. `isSlow`: then turns in the red order are not kept either, since who was rejected
 * comes again later than others wait for it. So the one that began first has the bound, and the
 * next one once that has ended.
 */
function boundOf({ options, resendAfterMs, reachTimeoutMs }: CheckerContext): {
  boundMs: number;
  isSlow: boolean;
} {
  const { minDelayMs, delayMeanMs, syncMeanMs, maxWindow, maxAttempts } = options;
  if (maxWindow < WINDOW_WIDE) return { boundMs: Infinity, isSlow: false };
  const tripMs = minDelayMs + 2 * delayMeanMs + 2 * syncMeanMs;
  const trips = TRIPS_TO_RIGHTS + TRIPS_OF_ATTEMPT * maxAttempts;
  const messagesMs = RESENDS * resendAfterMs + trips * tripMs;
  if (messagesMs < reachTimeoutMs) return { boundMs: messagesMs, isSlow: false };
  // The last execution may begin at the end of its time.
  return { boundMs: messagesMs + WAITS * reachTimeoutMs + TRIPS_OF_ATTEMPT * tripMs, isSlow: true };
}

export class RightsWaitsChecker implements Checker {
  readonly name = 'waits';
  readonly #calm: HealthyPeriods;
  readonly #boundMs: number;
  readonly #isSlow: boolean;
  readonly #stands: ReadonlyMap<string, Stand>;
  /** By site and serial. */
  readonly #takes = new Map<string, Take>();
  readonly #ended = new Set<string>();

  constructor(circumstances: CheckerContext) {
    const { origins, healthyPeriods } = circumstances;
    this.#calm = healthyPeriods;
    const { boundMs, isSlow } = boundOf(circumstances);
    this.#boundMs = boundMs;
    this.#isSlow = isSlow;
    this.#stands = new Map(KEYS.map((key) => [key, new Stand(healthyPeriods, origins.sites)]));
  }

  /** A take of an earlier start gets no result. */
  onStarted(site: Origin): void {
    for (const [key, take] of this.#takes) if (take.site === site) this.#end(key, take);
    for (const stand of this.#stands.values()) stand.shows(site, 0);
  }

  onGeneratorRun(site: Origin, { input: { operation, args, serial } }: GeneratorRun): void {
    const place = `${site}:${serial}`;
    if (!operation.startsWith('take') || this.#takes.has(place) || this.#ended.has(place)) return;
    const { key, amount } = args as { readonly key?: string; readonly amount: number };
    const keys = key === undefined ? KEYS : [key];
    this.#takes.set(place, { site, keys, amount, begunAtMs: this.#calm.nowMs, firstSinceMs: 0 });
    for (const item of keys) this.#stands.get(item)?.want(amount);
  }

  onApplied(site: Origin, { effects }: AnyOperation, state: SiteState): void {
    for (const { table, key, field } of effects) {
      if (field !== FIELD) continue;
      this.#stands.get(key)?.shows(site, (state.store.read(table, key, field) as Ledger).left);
    }
  }

  onSubmissionEvent({ site, serial, operation, isEnd, code, stage }: SubmissionEvent): void {
    const place = `${site}:${serial}`;
    const take = this.#takes.get(place);
    if (!isEnd) return;
    this.#ended.add(place);
    if (take === undefined) return;
    const { keys, amount } = take;
    const enoughSinceMs = keys.map((key) => this.#stands.get(key)?.isEnoughSinceMs ?? 0);
    const begunAtMs = Math.max(take.begunAtMs, take.firstSinceMs);
    const waitedMs = this.#calm.nowMs - Math.max(begunAtMs, this.#calm.sinceMs, ...enoughSinceMs);
    this.#end(place, take);
    assertProperty(
      waitedMs <= this.#boundMs,
      () =>
        `${operation.id} wanted ${amount} of ${keys.join(' and ')} at site ${site} and ended with ${code ?? stage} after ${Math.round(waitedMs)} ms in which enough stood for all and nothing was in the way: ${this.#boundMs} are the most`,
    );
  }

  #end(place: string, { keys, amount, begunAtMs }: Take): void {
    this.#takes.delete(place);
    for (const later of this.#isSlow ? this.#takes.values() : []) {
      const isBehind = later.begunAtMs > begunAtMs && later.keys.some((key) => keys.includes(key));
      if (isBehind) later.firstSinceMs = this.#calm.nowMs;
    }
    for (const key of keys) this.#stands.get(key)?.want(-amount);
  }
}
