/**
 * One site of the product in virtual time: the machine that production runs. Each input is a turn,
 * and takes a time for each record that the site takes from a red log in it. Messages and answers
 * leave at its end. Entries are synced at once.
 */
import type { Timeline } from '../../../src/testing/simulator/timeline.ts';
import type { LogCounts } from '../../../src/server/log/log-positions.ts';
import type { LogKind } from '../../../src/server/log/local-log.ts';
import type { Submission } from '../../../src/server/replica/core/submissions.ts';
import type { Envelope } from '../../../src/server/messages/envelope.ts';
import { SiteMachine } from '../../../src/server/site/site-machine.ts';
import type { SiteOptions, SiteOutput } from '../../../src/server/site/site-options.ts';
import type { LoggedEntry } from '../../../src/server/storage/format/packed-entries.ts';

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

type Input = (machine: SiteMachine, nowMs: number, wallMs: number) => void;
type Outcome = SiteOutput & { readonly kind: 'view' | 'failed' };

export class ProductSite {
  busyMs = 0;
  readonly #options: ProductSiteOptions;
  readonly #machine: SiteMachine;
  readonly #synced: LogCounts = { local: 0, red: 0 };
  readonly #waiting = new Map<number, (outcome: Outcome) => void>();
  readonly #inputs: Input[] = [];
  #isWorking = false;
  #serial = 0;

  constructor(options: ProductSiteOptions) {
    this.#options = options;
    const { nowMs } = options.timeline;
    this.#machine = new SiteMachine(options.site, undefined, nowMs, EPOCH_MS + nowMs);
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
    const outputs = this.#runInput();
    const takesMs = (this.#deliveredCount - before) * serviceMs;
    this.busyMs += takesMs;
    this.#isWorking = true;
    timeline.schedule(takesMs, () => {
      this.#isWorking = false;
      for (const output of outputs) this.#applyOutput(output);
      if (this.#inputs.length > 0) this.#takeTurn();
    });
  }

  /** Returns the outputs without what is to be stored, which is synced in the same turn. */
  #runInput(): readonly SiteOutput[] {
    const { nowMs } = this.#options.timeline;
    const wallMs = Math.floor(EPOCH_MS + nowMs);
    this.#inputs.shift()?.(this.#machine, nowMs, wallMs);
    const outputs: SiteOutput[] = [];
    const stored: LoggedEntry[] = [];
    for (
      let taken = this.#machine.takeOutputs();
      taken.length > 0;
      taken = this.#machine.takeOutputs()
    ) {
      const logs = new Set<LogKind>();
      for (const output of taken) {
        if (output.kind !== 'store') {
          outputs.push(output);
          continue;
        }
        const { log, entries } = output;
        stored.push(...entries.map((entry) => ({ log, entry })));
        this.#synced[log] = (this.#synced[log] ?? 0) + entries.length;
        logs.add(log);
      }
      for (const log of logs) this.#machine.onSynced(log, this.#synced[log] ?? 0, nowMs, wallMs);
    }
    if (stored.length > 0) this.#options.onStored(stored);
    return outputs;
  }

  #applyOutput(output: SiteOutput): void {
    const { timeline, onSend } = this.#options;
    if (output.kind === 'send') {
      onSend({ ...output.envelope, sentAtMs: Math.floor(EPOCH_MS + timeline.nowMs) });
    } else if (output.kind === 'view' || output.kind === 'failed') {
      this.#waiting.get(output.serial)?.(output);
      this.#waiting.delete(output.serial);
    } else {
      throw new Error(`a site reported '${output.kind}' in a run without faults`);
    }
  }

  get #deliveredCount(): number {
    return this.#machine.replica.red.lanes.all.reduce(
      (sum, { order }) => sum + order.deliveredCount,
      0,
    );
  }
}
