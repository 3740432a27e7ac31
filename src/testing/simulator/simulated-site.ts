/** One site of a run over its crashes: the same state machine as in production, on a virtual disk and network. */
import type { ReplicaObserver, Submission } from '../../server/redblue/replica-port.ts';
import type { SiteMachine, SiteMessage, SiteOptions, StoredEntries } from '../../server/redblue/site-machine.ts';
import type { LossyDisk } from './disk.ts';
import type { Timeline } from './timeline.ts';

/** What a site tells whoever submitted. */
export type SiteAnswer =
  | { readonly kind: 'final'; readonly value: unknown }
  | { readonly kind: 'preliminary'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly code: string };

/** Makes the machine of a site: a run with a planted fault makes another one. */
export type MachineFactory = (options: SiteOptions, stored: StoredEntries, nowMs: number) => SiteMachine;

/** What a simulated site needs. */
export interface SimulatedSiteOptions {
  readonly site: Omit<SiteOptions, 'epoch' | 'observer'>;
  readonly makeMachine: MachineFactory;
  readonly timeline: Timeline;
  /** How far the site's clock is off, in milliseconds. */
  readonly skewMs: number;
  readonly observer: ReplicaObserver;
  readonly makeDisk: (onSynced: (log: keyof StoredEntries, length: number) => void) => LossyDisk;
  send(to: number, message: SiteMessage): void;
  /** A site has started: empty, or again after a crash. */
  started(): void;
}

const TICK_MS = 25;
const NOTHING_STORED: StoredEntries = { local: [], red: [] };

/** A site that crashes, restarts and pauses. */
export class SimulatedSite {
  machine: SiteMachine | undefined;
  crashes = 0;
  readonly #options: SimulatedSiteOptions;
  readonly #disk: LossyDisk;
  readonly #answers = new Map<number, (answer: SiteAnswer) => void>();
  #epoch = 0;
  #token = 0;
  /** Inputs that wait for the end of a pause; absent when there is none. */
  #paused: (() => void)[] | undefined;

  constructor(options: SimulatedSiteOptions) {
    this.#options = options;
    this.#disk = options.makeDisk((log, length) => {
      this.#input((machine) => machine.onSynced(log, length, this.#nowMs));
    });
    this.start(NOTHING_STORED);
    this.#planTick();
  }

  start(stored: StoredEntries): void {
    const { site, makeMachine, observer } = this.#options;
    this.#epoch += 1;
    this.#options.started();
    this.machine = makeMachine({ ...site, epoch: this.#epoch, observer }, stored, this.#nowMs);
    this.#act();
  }

  /** Loses the machine and what was not synced, and starts again after `downMs`. */
  crash(downMs: number): void {
    if (this.machine === undefined) return;
    this.crashes += 1;
    this.machine = undefined;
    this.#paused = undefined;
    this.#answers.clear();
    const stored = this.#disk.crash();
    this.#options.timeline.after(downMs, () => this.start(stored));
  }

  /** Does nothing for `pauseMs`, then goes on where it was. */
  pause(pauseMs: number): void {
    if (this.machine === undefined || this.#paused !== undefined) return;
    const paused: (() => void)[] = [];
    this.#paused = paused;
    this.#options.timeline.after(pauseMs, () => {
      if (this.#paused !== paused) return;
      this.#paused = undefined;
      for (const input of paused) input();
    });
  }

  /** Submits an operation; says whether the site is up. */
  submit(submission: Omit<Submission, 'token'>, onAnswer: (answer: SiteAnswer) => void): boolean {
    if (this.machine === undefined) return false;
    this.#token += 1;
    const token = this.#token;
    this.#answers.set(token, onAnswer);
    this.#input((machine) => machine.submit({ ...submission, token }, this.#nowMs));
    return true;
  }

  receive(from: number, message: SiteMessage): void {
    this.#input((machine) => machine.receive(from, message, this.#nowMs));
  }

  get #nowMs(): number {
    return Math.max(0, this.#options.timeline.nowMs + this.#options.skewMs);
  }

  #input(give: (machine: SiteMachine) => void): void {
    const { machine } = this;
    if (machine === undefined) return;
    const run = (): void => {
      if (this.machine !== machine) return;
      give(machine);
      this.#act();
    };
    if (this.#paused === undefined) run();
    else this.#paused.push(run);
  }

  #act(): void {
    for (const output of this.machine?.takeOutputs() ?? []) {
      if (output.kind === 'send') this.#options.send(output.to, output.message);
      else if (output.kind === 'store') this.#disk.append(output.log, output.entries);
      else if (output.kind === 'view') this.#answer(output.token, output.last, output.reply.value);
      else if (output.stage === undefined)
        this.#answers.get(output.token)?.({ kind: 'failed', code: output.error.code });
    }
  }

  #answer(token: number, isLast: boolean, value: unknown): void {
    this.#answers.get(token)?.({ kind: isLast ? 'final' : 'preliminary', value });
  }

  #planTick(): void {
    this.#options.timeline.after(TICK_MS, () => {
      this.#input((machine) => machine.tick(this.#nowMs));
      this.#planTick();
    });
  }
}
