/**
 * Who is refused had to be: `OVERLOADED` only where as much waits as may, `UNAVAILABLE` only where the red log of the site
 * has halted or rights were waited for, `SESSION_BEHIND` only after the time that a session is waited for. It counts what
 * may wait, and is never too strict: of what was given up nobody can tell from outside when its place is free again.
 */
import type { Origin } from '../../../server/records/origin.ts';
import { clientOf } from '../../../server/records/operation-id.ts';
import type { Service } from '../../../server/service/service.ts';
import type { Calm } from '../timeline.ts';
import type { ClientOperation } from '../history.ts';
import type { SimulationOptions } from '../options.ts';
import type { SimulatedSite } from '../simulated-site.ts';
import { require, type Checker, type ClientSubmission, type Told } from './checker.ts';

/** What it goes by. */
export interface RefusalCircumstances {
  readonly options: Pick<SimulationOptions, 'redInFlightMax' | 'perClientMax' | 'answerBytesMax' | 'sessionWaitMs'>;
  readonly service: Pick<Service, 'paced'>;
  readonly reachTimeoutMs: number;
  readonly calm: Pick<Calm, 'nowMs'>;
  /** They may be added later. */
  readonly sites: readonly Pick<SimulatedSite, 'origin' | 'machine'>[];
}

/** So many bytes of answers no client of a run comes to. */
const BYTES_MANY = 100_000;

export class RefusalChecker implements Checker {
  readonly name = 'refusals';
  readonly #by: RefusalCircumstances;
  /** By site: the operation of each serial that has come since it started, and may wait there. */
  readonly #waiting = new Map<Origin, Map<number, string>>();
  /** By client: its operations that have come to some site. */
  readonly #ofClient = new Map<string, Set<string>>();
  /** Operations that have waited where no more may: a refusal is told later, and to whoever asks for it again. */
  readonly #crowded = new Set<string>();

  constructor(by: RefusalCircumstances) {
    this.#by = by;
  }

  started(site: Origin): void {
    this.#waiting.set(site, new Map());
  }

  submitted({ site, serial, id, wants }: ClientSubmission): void {
    const client = clientOf(id);
    this.#ofClient.set(client, (this.#ofClient.get(client) ?? new Set()).add(id));
    const waiting = this.#waiting.get(site);
    if (!wants.strong || waiting === undefined) return;
    waiting.set(serial, id);
    if (waiting.size > this.#by.options.redInFlightMax) for (const each of waiting.values()) this.#crowded.add(each);
  }

  told({ site, serial, operation, isEnd, code }: Told): void {
    const { options, reachTimeoutMs } = this.#by;
    if (code === 'OVERLOADED') this.#checkOverloaded(site, operation);
    else if (code === 'SESSION_BEHIND') this.#checkWaited(operation, code, options.sessionWaitMs);
    else if (code === 'UNAVAILABLE' && !this.#isHalted(site)) this.#checkWaited(operation, code, reachTimeoutMs);
    // What has been left here, or begun elsewhere, may go on.
    if (isEnd && code !== 'UNKNOWN' && code !== 'ABORTED') this.#waiting.get(site)?.delete(serial);
  }

  #checkOverloaded(site: Origin, { id, operation }: ClientOperation): void {
    const { options, service } = this.#by;
    // Later ones may have come before it, where a site was down.
    const others = (this.#ofClient.get(clientOf(id))?.size ?? 1) - 1;
    const isClientFull = others >= options.perClientMax || (others > 0 && options.answerBytesMax < BYTES_MANY);
    if (isClientFull || service.paced?.operations.has(operation) === true || this.#isHalted(site)) return;
    require(this.#crowded.has(id), () =>
      `${id} was told OVERLOADED at site ${site}, and wherever it was there was room: ${options.redInFlightMax} may wait`);
  }

  /** The red log of the site. */
  #isHalted(site: Origin): boolean {
    return this.#by.sites.find(({ origin }) => origin === site)?.machine?.replica.red.halted !== undefined;
  }

  #checkWaited({ id, submittedAtMs }: ClientOperation, code: string, waitMs: number): void {
    const waitedMs = this.#by.calm.nowMs - submittedAtMs;
    require(waitedMs >= waitMs, () =>
      `${id} was told ${code} ${waitedMs} ms after its client asked first, and is waited for ${waitMs} ms`);
  }
}
