/** Runs one site in a process: gives its state machine the time, its storage and its links, and answers submitters. */
import { CorrectableError } from '../correctable/errors.ts';
import type { ContractInfo } from '../protocol/contract.ts';
import type { LogStorage } from './log/storage.ts';
import type { Submission } from './redblue/replica-port.ts';
import type { SessionTokens, SubmissionPort, Submitter } from './redblue/site-binding.ts';
import { SiteMachine } from './redblue/site-machine.ts';
import type { SiteMessage, SiteOptions, SiteOutput, StoredEntries } from './redblue/site-machine.ts';

/** What a driver needs. */
export interface SiteDriverOptions extends SiteOptions {
  readonly storage: Readonly<Record<keyof StoredEntries, LogStorage>>;
  send(to: number, message: SiteMessage): void;
  /** How often a busy site looks for messages that were lost. */
  readonly tickMs: number;
  /** Submissions under way at most; more fail with `OVERLOADED`. */
  readonly inFlightMax: number;
  readonly tokens: SessionTokens;
}

const SEED_RANGE = 2 ** 32;

/** A running site. */
export class SiteDriver implements SubmissionPort {
  readonly contract: ContractInfo;
  readonly site: number;
  readonly sites: readonly string[];
  readonly tokens: SessionTokens;
  readonly #options: SiteDriverOptions;
  readonly #machine: SiteMachine;
  readonly #submitters = new Map<number, Submitter>();
  #nextToken = 1;
  #ticker: NodeJS.Timeout | undefined;
  #refuses = false;
  #closed = false;

  constructor(options: SiteDriverOptions) {
    this.#options = options;
    this.contract = options.service.contract;
    this.site = options.site;
    this.sites = options.sites;
    this.tokens = options.tokens;
    this.#machine = new SiteMachine(options, undefined, Date.now());
    for (const log of ['local', 'red'] as const) {
      options.storage[log].onSynced = (length) => {
        if (this.#closed) return;
        this.#machine.onSynced(log, length, Date.now());
        this.#act();
      };
    }
  }

  submit(submission: Omit<Submission, 'token' | 'seed'>, submitter: Submitter): void {
    if (this.#refuses) {
      submitter.failed(closedError(), undefined);
      return;
    }
    if (this.#submitters.size >= this.#options.inFlightMax) {
      submitter.failed(overloadedError(this.#options.inFlightMax), undefined);
      return;
    }
    const token = this.#nextToken++;
    this.#submitters.set(token, submitter);
    this.#machine.submit({ ...submission, token, seed: Math.floor(Math.random() * SEED_RANGE) }, Date.now());
    this.#act();
  }

  receive(from: number, messages: readonly SiteMessage[]): void {
    if (this.#closed) return;
    for (const message of messages) this.#machine.receive(from, message, Date.now());
    this.#act();
  }

  closeSubmissions(): void {
    this.#refuses = true;
    const submitters = [...this.#submitters.values()];
    this.#submitters.clear();
    for (const submitter of submitters) submitter.failed(closedError(), undefined);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#ticker);
    this.closeSubmissions();
    await Promise.all(Object.values(this.#options.storage).map((storage) => storage.close()));
  }

  #act(): void {
    for (const output of this.#machine.takeOutputs()) this.#do(output);
    this.#tickWhileBusy();
  }

  #do(output: SiteOutput): void {
    switch (output.kind) {
      case 'send':
        return this.#options.send(output.to, output.message);
      case 'store':
        return this.#options.storage[output.log].append(output.entries);
      case 'view':
        return this.#submitterOf(output.token, output.last)?.view(output.stage, output.reply, output.seen);
      case 'failed':
        return this.#submitterOf(output.token, output.stage === undefined)?.failed(output.error, output.stage);
    }
  }

  #submitterOf(token: number, isLast: boolean): Submitter | undefined {
    const submitter = this.#submitters.get(token);
    if (isLast) this.#submitters.delete(token);
    return submitter;
  }

  #tickWhileBusy(): void {
    if (this.#ticker !== undefined || !this.#machine.busy) return;
    this.#ticker = setInterval(() => {
      this.#machine.tick(Date.now());
      this.#act();
      if (this.#machine.busy) return;
      clearInterval(this.#ticker);
      this.#ticker = undefined;
    }, this.#options.tickMs);
    // Links keep the process alive while something is in flight; a tick only mends.
    this.#ticker.unref();
  }
}

function overloadedError(inFlightMax: number): CorrectableError {
  const message = `The site has ${inFlightMax} operations under way, as many as it takes. Nothing was done: try later.`;
  return new CorrectableError('OVERLOADED', message);
}

function closedError(): CorrectableError {
  return new CorrectableError(
    'UNAVAILABLE',
    'The site was closed before the operation ended. Its outcome is not known.',
  );
}
