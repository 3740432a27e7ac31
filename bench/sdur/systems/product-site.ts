/**
 * One site of the product in virtual time: the machine that production runs. Each input is a turn,
 * and takes a time for each record that the site takes from a red log in it. Messages and answers
 * leave at its end. Entries are synced at once.
 */
import type { Timeline } from '../../../src/testing/simulator/timeline.ts';
import type { LogCounts } from '../../../src/server/log/log-positions.ts';
import type { LogKind } from '../../../src/server/log/local-log.ts';
import type { Submission } from '../../../src/server/site/core/submissions.ts';
import type { Envelope } from '../../../src/server/site/wire/envelope.ts';
import { Site } from '../../../src/server/site/site.ts';
import type { Answer } from '../../../src/server/site/answer.ts';
import type { Ready } from '../../../src/server/site/ready.ts';
import type { SiteOptions } from '../../../src/server/site/site-options.ts';
import type { LoggedEntry } from '../../../src/server/node/storage/format/packed-entries.ts';

/** An arbitrary time of day at which a run begins. */
const EPOCH_MS = Date.UTC(2026);
const TICK_MS = 250;

export interface ProductSiteOptions {
  readonly timeline: Timeline;
  readonly site: SiteOptions;
  readonly serviceMs: number;
  readonly onSend: (envelope: Envelope) => void;
  readonly onStored: (entries: readonly LoggedEntry[]) => void;
}

type Input = (machine: Site, nowMs: number, wallMs: number) => void;
type Outcome = Answer;

export class ProductSite {
  busyMs = 0;
  readonly #options: ProductSiteOptions;
  readonly #machine: Site;
  readonly #synced: LogCounts = { local: 0, red: 0 };
  readonly #waiting = new Map<number, (outcome: Outcome) => void>();
  readonly #inputs: Input[] = [];
  #isWorking = false;
  #serial = 0;

  constructor(options: ProductSiteOptions) {
    this.#options = options;
    const { nowMs } = options.timeline;
    this.#machine = new Site(options.site, undefined, nowMs, EPOCH_MS + nowMs);
  }

  /** Begins to send and to tick. All sites must be able to receive. */
  start(): void {
    this.#takeTurn();
    this.#planTick();
  }

  receive(envelope: Envelope): void {
    this.#add((machine, nowMs, wallMs) => machine.receive(envelope, nowMs, wallMs));
  }

  submit(
    submission: Omit<Submission, 'serial' | 'submittedAtMs' | 'seed'>,
    onOutcome: (outcome: Outcome) => void,
  ): void {
    this.#serial += 1;
    const serial = this.#serial;
    this.#waiting.set(serial, onOutcome);
    this.#add((machine, nowMs, wallMs) =>
      machine.submit({ ...submission, serial, seed: serial, submittedAtMs: wallMs }, nowMs, wallMs),
    );
  }

  #planTick(): void {
    this.#options.timeline.schedule(TICK_MS, () => {
      this.#add((machine, nowMs, wallMs) => machine.tick(nowMs, wallMs));
      this.#planTick();
    });
  }

  #add(input: Input): void {
    this.#inputs.push(input);
    if (!this.#isWorking) this.#takeTurn();
  }

  #takeTurn(): void {
    const { timeline, serviceMs } = this.#options;
    const before = this.#deliveredCount;
    const effects = this.#runInput();
    const takesMs = (this.#deliveredCount - before) * serviceMs;
    this.busyMs += takesMs;
    this.#isWorking = true;
    timeline.schedule(takesMs, () => {
      this.#isWorking = false;
      for (const effect of effects) effect();
      if (this.#inputs.length > 0) this.#takeTurn();
    });
  }

  /** Returns what leaves the site. What it appends is synced in the same turn. */
  #runInput(): readonly (() => void)[] {
    const { nowMs } = this.#options.timeline;
    const wallMs = Math.floor(EPOCH_MS + nowMs);
    this.#inputs.shift()?.(this.#machine, nowMs, wallMs);
    const effects: (() => void)[] = [];
    const stored: LoggedEntry[] = [];
    let ready: Ready;
    do {
      ready = this.#machine.takeReady();
      const logs = new Set<LogKind>();
      for (const { log, entries } of ready.appends) {
        stored.push(...entries.map((entry) => ({ log, entry })));
        this.#synced[log] = (this.#synced[log] ?? 0) + entries.length;
        logs.add(log);
      }
      effects.push(...this.#listEffects(ready));
      for (const log of logs) this.#machine.onSynced(log, this.#synced[log] ?? 0, nowMs, wallMs);
    } while (ready.appends.length > 0);
    if (stored.length > 0) this.#options.onStored(stored);
    return effects;
  }

  #listEffects({ envelopes, answers, events }: Ready): readonly (() => void)[] {
    const [event] = events;
    if (event !== undefined)
      throw new Error(`a site reported '${event.kind}' in a run without faults`);
    const { timeline, onSend } = this.#options;
    const sends = envelopes.map((envelope) => (): void => {
      onSend({ ...envelope, sentAtMs: Math.floor(EPOCH_MS + timeline.nowMs) });
    });
    const replies = answers.map((answer) => (): void => {
      this.#waiting.get(answer.serial)?.(answer);
      this.#waiting.delete(answer.serial);
    });
    return [...sends, ...replies];
  }

  get #deliveredCount(): number {
    return this.#machine.red.lanes.all.reduce((sum, { order }) => sum + order.deliveredCount, 0);
  }
}
