/** Runs one operation at one site: its attempts, its waits, and its end. */
import type { OperationRefusal } from '../../causal/causal-site.ts';
import type { CausalSession } from '../../causal/session.ts';
import type { InvocationContext, Sink } from '../../correctable/binding.ts';
import type { Timer } from '../../correctable/clock.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import type { CausalLevels, SiteHost, SiteProblem } from './site-host.ts';

export type Level = CausalLevels[number];

export interface OperationCall {
  readonly host: SiteHost;
  readonly levels: readonly Level[];
  readonly sink: Sink<unknown, Level>;
  readonly context: InvocationContext;
  readonly session: CausalSession;
  readonly onEnded: () => void;
}

const FIRST_RETRY_MS = 10;
const LATEST_RETRY_MS = 200;

/** Temporary refusals: a gateway starts, or a partition fails over or is healed. */
const PASSING: ReadonlySet<string> = new Set([
  'STARTING',
  'REWOUND',
  'BEHIND',
  'NOT_EXECUTED',
  'UNREACHABLE',
]);
/**
 * Refusals that count as temporary only for the operation's own site. An operation does not wait
 * for another site that is down.
 */
const PASSING_HERE: ReadonlySet<string> = new Set(['NOT_EXECUTED', 'UNREACHABLE']);

/** Causes that only an operator can remove. */
const LASTING: ReadonlySet<string> = new Set([
  'UNAUTHENTICATED',
  'UNAVAILABLE',
  'FORBIDDEN',
  'INVALID_VALUE',
]);

export abstract class OperationRun {
  protected readonly call: OperationCall;
  readonly #beganAtMs: number;
  readonly #retries = new Set<Timer>();
  #retryMs = FIRST_RETRY_MS;
  #stopWaiting: (() => void) | undefined;
  #deadline: Timer | undefined;
  /** The time limit of all waits of the run together. */
  #waitsUntilMs: number | undefined;
  #hasEnded = false;

  constructor(call: OperationCall) {
    this.call = call;
    this.#beganAtMs = call.host.clock.now();
  }

  abstract start(): void;

  /** Ends the run, because the binding closes. Resolves when none of its requests is in flight. */
  abstract close(error: CorrectableError): Promise<void>;

  fail(error: CorrectableError): void {
    if (this.end()) this.call.sink.fail(error);
  }

  /** Ends the run. Returns whether it had not ended before. */
  protected end(): boolean {
    if (this.#hasEnded) return false;
    this.#hasEnded = true;
    this.#endWait();
    for (const timer of this.#retries) timer.cancel();
    this.call.onEnded();
    return true;
  }

  protected get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * Waits until this site has the writes that the session has seen at another site, then calls
   * `attempt` (CAUSAL-20). A session that stays at one site never waits. The deadline applies only
   * to the wait, because an attempt that was sent may be executed.
   */
  protected waitFor(attempt: () => void, onTimeout: () => void): void {
    const { host, session } = this.call;
    const now = host.clock.now();
    this.#waitsUntilMs ??= now + host.siteTimeoutMs;
    this.#deadline ??= host.clock.setTimer(onTimeout, Math.max(0, this.#waitsUntilMs - now));
    this.#stopWaiting ??= host.waitForNews(() => {
      if (!host.operations.canContinue(session)) return;
      this.#endWait();
      attempt();
    });
  }

  #endWait(): void {
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
    this.#deadline?.cancel();
    this.#deadline = undefined;
  }

  /**
   * Returns whether the refusal is temporary. An operation does not wait for another site that does
   * not answer.
   */
  protected isPassing({ refused, site, code }: OperationRefusal): boolean {
    if (code !== undefined && LASTING.has(code)) return false;
    const isOther = site !== undefined && site !== this.call.host.site;
    return PASSING.has(refused) && !(isOther && PASSING_HERE.has(refused));
  }

  /** Tries again a little later. Returns false if that would be later than `limitMs` allows. */
  protected retryWithin(limitMs: number, attempt: () => void): boolean {
    const { clock } = this.call.host;
    const delayMs = this.#retryMs;
    if (clock.now() + delayMs - this.#beganAtMs > limitMs) return false;
    this.#retryMs = Math.min(LATEST_RETRY_MS, delayMs * 2);
    const timer = clock.setTimer(() => {
      this.#retries.delete(timer);
      attempt();
    }, delayMs);
    this.#retries.add(timer);
    return true;
  }

  protected createWaitError(): CorrectableError {
    const { siteTimeoutMs } = this.call.host;
    const message = `The session has seen writes of another site that have not arrived here within ${siteTimeoutMs} ms. The operation was not executed. Retry, or use the session at the other site.`;
    return new CorrectableError('REPLICA_BEHIND', message);
  }

  protected createRefusalError(refusal: OperationRefusal): CorrectableError {
    const { failure, problem, site } = this.call.host;
    if (failure !== undefined) return failure;
    const isOther = refusal.site !== undefined && refusal.site !== site;
    const isStarting = refusal.refused === 'STARTING' && !isOther;
    const { text, code } = isStarting ? problem : toProblem(refusal, isOther);
    const advice = ADVICE[code ?? ''] ?? 'Retry it.';
    const message = `The operation was not executed, since ${text}. ${advice}`;
    return new CorrectableError(code ?? 'UNAVAILABLE', message, {
      ...(code === 'UNAVAILABLE' && { retryable: false }),
    });
  }
}

const CORRECT_ACCESS = 'Correct the password or the rights that this process has.';

const ADVICE: Readonly<Record<string, string>> = {
  UNAUTHENTICATED: CORRECT_ACCESS,
  UNAVAILABLE: 'Correct the certificate of the server, or the option tls.',
  FORBIDDEN: CORRECT_ACCESS,
  INVALID_VALUE: 'Remove that key: the partition is then restored from the other sites.',
};

const CAUSES: Readonly<Record<string, string>> = {
  TOO_OLD: 'its keys are written faster than they can be read',
  FULL: 'the store has no memory left',
  REWOUND: 'the partition of a key has lost data, and is being healed',
  BEHIND: 'the partition of a key has lost data, and is being healed',
  CLOCK: 'a clock is too far off',
  STARTING: 'no process of another site has published its state yet',
};

function toProblem(refusal: OperationRefusal, isOther: boolean): SiteProblem {
  const { refused, code = refused === 'FULL' ? 'OVERLOADED' : undefined } = refusal;
  return { text: describeRefusal(refusal, isOther), code };
}

function describeRefusal({ refused, detail }: OperationRefusal, isOther: boolean): string {
  if (detail !== undefined) return isOther ? `at another site, ${detail}` : detail;
  if (refused === 'UNREACHABLE')
    return isOther ? 'another site cannot be reached' : 'the partition of a key cannot be reached';
  return CAUSES[refused] ?? `a partition answered ${refused}`;
}
