/**
 * The official suite of Promises/A+ on Correctables, as a program: mocha, which runs it, takes the
 * whole process. Prints mocha's report as JSON.
 *
 * A Correctable fails with a `CorrectableError`; the suite rejects with anything, and wants that
 * back: it is the `cause`.
 */
import { createRequire } from 'node:module';
import type { Sink } from '../../../src/index.ts';
import { correctable, isCorrectableError } from '../../../src/index.ts';

/** What the suite tests: something to be settled, and the promise of it. */
interface Deferred {
  readonly promise: { then(onFulfilled?: unknown, onRejected?: unknown): Promise<unknown> };
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

type Suite = (
  adapter: { deferred(): Deferred },
  options: { readonly reporter: string; readonly timeout: number },
  done: (error: unknown) => void,
) => void;

/** Ends what hangs; the suite's own 200 ms are too few for a busy machine. */
const TIMEOUT_MS = 20_000;

function deferred(): Deferred {
  let sink: Sink | undefined;
  const c = correctable<unknown, readonly ['final']>(
    ['final'],
    (taken) => void (sink = taken as Sink),
  );
  // The suite makes rejections that it does not look at, which mocha would count as failures.
  c.onError(() => {});
  return {
    promise: {
      then: (onFulfilled, onRejected) =>
        c.then(onFulfilled as () => unknown, unwrapped(onRejected)),
    },
    // A thenable is no value of a view (COR-13): what feeds a Correctable follows it.
    resolve: (value) => {
      if (isThenable(value))
        void Promise.resolve(value).then(
          (x) => sink!.view(x, 'final'),
          (e) => sink!.fail(e),
        );
      else sink!.view(value, 'final');
    },
    reject: (reason) => sink!.fail(reason),
  };
}

function isThenable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'then' in value;
}

function unwrapped(onRejected: unknown): (error: unknown) => unknown {
  return (error) => {
    const reason = isCorrectableError(error) ? error.cause : error;
    if (typeof onRejected === 'function') return onRejected(reason) as unknown;
    throw reason;
  };
}

/**
 * In hundreds of tests the suite waits a tenth of a second, for events that must not happen or for
 * its turn. A hundredth is as good, since all its delays shrink alike. Mocha has taken its own
 * timer before, for its timeouts.
 */
function hurry(): void {
  const original = globalThis.setTimeout;
  globalThis.setTimeout = ((callback: () => void, ms = 0) =>
    original(callback, ms / 10)) as typeof setTimeout;
}

const suite = createRequire(import.meta.url)('promises-aplus-tests') as Suite;
hurry();
suite({ deferred }, { reporter: 'json', timeout: TIMEOUT_MS }, () => {});
