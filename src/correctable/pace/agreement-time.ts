/**
 * How long it may take until an update is ordered, as far as can be told from here: as long as the slowest lately, and as
 * long as the oldest one has waited already, with a margin. Nothing that anybody measures bounds it for certain.
 */

/** An update that is waited for. */
export interface Awaited {
  readonly sinceMs: number;
}

const MARGIN = 1.5;
/** How long it takes until a slow one counts half as much, once faster ones have come. */
const HALF_LIFE_MS = 5_000;
/** Clocks may tick in whole milliseconds. */
const RESOLUTION_MS = 1;

export class AgreementTime {
  readonly #underWay = new Set<Awaited>();
  #slowestMs: number | undefined;
  #seenAtMs = 0;

  begin(nowMs: number): Awaited {
    const awaited: Awaited = { sinceMs: nowMs };
    this.#underWay.add(awaited);
    return awaited;
  }

  /** The update has been ordered. */
  end(awaited: Awaited, nowMs: number): void {
    this.drop(awaited);
    const tookMs = nowMs - awaited.sinceMs;
    // The clock was set back meanwhile: nobody knows.
    if (tookMs < 0) return;
    const fading = 0.5 ** (Math.max(0, nowMs - this.#seenAtMs) / HALF_LIFE_MS);
    this.#slowestMs = Math.max(tookMs, (this.#slowestMs ?? 0) * fading);
    this.#seenAtMs = nowMs;
  }

  /** The update has failed: how long it would have taken is not known. */
  drop(awaited: Awaited): void {
    this.#underWay.delete(awaited);
  }

  /** For an update that begins now; undefined before the first one has been ordered. */
  withinMs(nowMs: number): number | undefined {
    if (this.#slowestMs === undefined) return undefined;
    const [oldest] = this.#underWay;
    const waitedMs = oldest === undefined ? 0 : nowMs - oldest.sinceMs;
    return MARGIN * (Math.max(this.#slowestMs, waitedMs) + RESOLUTION_MS);
  }
}
