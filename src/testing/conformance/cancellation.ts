/**
 * Checks bindings when the caller of a read cancels it, when a client closes, and when the binding
 * closes.
 */
import type { Binding } from '../../correctable/binding.ts';
import { isCorrectableError } from '../../correctable/errors.ts';
import { getFailure } from './levels.ts';
import {
  assertCode,
  assertHolds,
  formatError,
  formatOperation,
  formatValue,
  type TestContext,
  waitForNextTurn,
} from './test-context.ts';
import { ViewRecorder } from './view-recorder.ts';

/**
 * A read that is answered within this time need not check its signal, because creating the signal
 * costs more than a fast read.
 */
const ABANDON_GRACE_MS = 100;
/**
 * The number of operations that share a signal. Above ten listeners Node warns of a leak, although
 * there is none yet.
 */
const OPERATIONS_PER_SIGNAL = 8;

export async function survivesCancellation(context: TestContext): Promise<void> {
  const { write, read } = context.subject;
  await context.withClient(async (client) => {
    const leaving = client.invoke(read);
    // A binding may answer at once. Then no operation in flight can be cancelled.
    const isDone = leaving.state === 'final';
    leaving.cancel('contract suite');
    const error = await getFailure(leaving);
    if (!isDone) assertCode(error, 'ABORTED', 'a read that was cancelled');
    await context.getFinal(client, write);
    await context.assertShows(
      client,
      context.subject,
      'after a read that was cancelled: the final view is wrong',
    );
  });
}

/** Checks that a canceled read ends in the store too, because its result would be dropped. */
export async function abandonsReads(context: TestContext): Promise<void> {
  const { write, read, slowBinding } = context.subject;
  await context.withBinding(async (binding) => {
    await context.ends(ViewRecorder.submit(binding, write));
    const leaving = new AbortController();
    const left = ViewRecorder.submit(binding, read, undefined, {
      signal: leaving.signal,
    });
    const staying = ViewRecorder.submit(binding, read);
    leaving.abort(new Error('contract suite'));
    const grace = new Promise((resolve) => setTimeout(resolve, ABANDON_GRACE_MS));
    const untilThen = grace.then(() => left.views.length);
    await context.ends(staying, ', while another read was aborted');
    const reported = await untilThen;
    await waitForNextTurn();
    assertHolds(
      staying.final !== undefined,
      () => `${formatOperation(read)}: fails with another read, which was aborted`,
      staying.error,
    );
    const late = left.views[reported];
    assertHolds(
      late === undefined,
      () =>
        `${formatOperation(read)}: ignores context.signal: a view at ${late?.level} more than ${ABANDON_GRACE_MS} ms after the abort`,
    );
  }, slowBinding);
}

/**
 * Checks that listeners are removed. If a caller passes one signal to many operations, the
 * listeners of all of them would stay on it.
 */
export async function releasesSignals(context: TestContext): Promise<void> {
  const { subject } = context;
  await context.withBinding((binding) => checkReleasesSignal(context, binding));
  // Some bindings listen only to slow operations.
  if (subject.slowBinding !== undefined)
    await context.withBinding(
      (binding) => checkReleasesSignal(context, binding),
      subject.slowBinding,
    );
}

async function checkReleasesSignal(context: TestContext, binding: Binding): Promise<void> {
  const { write, read } = context.subject;
  const watched = new WatchedSignal();
  for (const operation of [write, read]) {
    const many = Array.from({ length: OPERATIONS_PER_SIGNAL }, () =>
      ViewRecorder.submit(binding, operation, undefined, {
        signal: watched.signal,
      }),
    );
    const closed = Promise.all(many.map((listener) => listener.closed));
    await context.withTimeout(
      closed,
      `${formatOperation(operation)}, ${OPERATIONS_PER_SIGNAL} at once: not all have a final view or a failure`,
    );
  }
  await context
    .withTimeout(watched.released(), 'listeners stay on context.signal')
    .catch((cause: unknown) => {
      const left = `${watched.listeners} of ${2 * OPERATIONS_PER_SIGNAL} operations leave one`;
      assertHolds(
        false,
        `context.signal keeps listeners of operations that have closed: ${left}`,
        cause,
      );
    });
}

/**
 * Checks that all operations in flight have ended when `close` has resolved, and that nothing is
 * reported after that.
 */
export async function endsOperationsOnClose(context: TestContext): Promise<void> {
  const { write, read } = context.subject;
  await context.withBinding(async (binding) => {
    const inFlight = [write, read].map((operation) => ViewRecorder.submit(binding, operation));
    await context.withTimeout(binding.close(), 'close() does not come to an end');
    const views = inFlight.map((listener) => listener.views.length);
    for (const listener of inFlight) {
      const name = formatOperation(listener.operation);
      await context.withTimeout(
        listener.closed,
        `${name}: in flight at close(), and hears of no end`,
      );
    }
    const late = ViewRecorder.submit(binding, read);
    await context.withTimeout(
      late.closed,
      `${formatOperation(read)}, after close(): hangs, not UNAVAILABLE`,
    );
    inFlight.forEach((listener, at) => {
      const view = listener.views[views[at]!];
      const name = formatOperation(listener.operation);
      assertHolds(
        view === undefined,
        () => `close() ends nothing: ${name} goes on, with a view at ${view?.level} after it`,
      );
    });
    const [reported] = late.views;
    assertHolds(
      reported === undefined,
      () =>
        `close() closes nothing: ${formatOperation(read)} after it still has a view at ${reported?.level}`,
    );
    assertCode(late.error, 'UNAVAILABLE', `${formatOperation(read)}, after close()`);
  });
}

export async function closesForClients(context: TestContext): Promise<void> {
  const { read } = context.subject;
  await context.withClient(async (client, binding) => {
    // Observe the failure before closing, because closing may take longer than the timeout of the
    // operation.
    const ended = getFailure(client.invoke(read));
    await context.withTimeout(client.close(), 'close() does not come to an end');
    const error = await ended;
    const isTyped = error === undefined || isCorrectableError(error);
    assertHolds(
      isTyped,
      () =>
        `${formatOperation(read)}, in flight at close(): fails with no CorrectableError, but ${formatError(error)}`,
    );
    await binding.close();
    const late = await getFailure(context.createClient(binding).invoke(read));
    assertCode(late, 'UNAVAILABLE', `${formatOperation(read)}, after close()`);
  });
}

export async function closesUpdates(context: TestContext): Promise<void> {
  const { write, read, expected } = context.subject;
  await context.withBinding(async (binding, { secondBinding }) => {
    const client = context.createClient(binding);
    const outcome = getOutcome(client.invoke(write));
    await context.withTimeout(client.close(), 'close() does not come to an end');
    const reported = await outcome;
    assertHolds(
      reported !== 'not typed',
      `${formatOperation(write)}, in flight at close(): fails with no CorrectableError`,
    );
    const observer = binding.openHandle === undefined ? await secondBinding?.() : binding;
    if (reported === 'done' || reported === 'UNKNOWN' || observer === undefined) return;
    const asking = context.createClient(observer);
    const { value: shown } = await context.getFinal(asking, read, [asking.strongest]);
    await observer.close();
    const isDone = context.isSame(shown, expected);
    assertHolds(
      !isDone,
      () =>
        `${formatOperation(write)}, in flight at close(): ${reported} reports that it was not done, but ${formatValue(shown)} shows it`,
    );
  });
}

export async function closesOneOfSeveral(context: TestContext): Promise<void> {
  const { write, read } = context.subject;
  await context.withBinding(async (binding: Binding) => {
    if (binding.openHandle === undefined) return;
    const [leaving, staying] = [context.createClient(binding), context.createClient(binding)];
    const outcomes = [leaving, staying].map((client) => getOutcome(client.invoke(write)));
    await context.withTimeout(leaving.close(), 'close() does not come to an end');
    const [left, stayed] = [await outcomes[0], await outcomes[1]];
    assertHolds(
      left === 'done' || left === 'UNKNOWN',
      `share(): a write of the client that was closed: ${left}, not UNKNOWN`,
    );
    assertHolds(
      stayed === 'done',
      `share(): closing one client ends a write of another one: ${stayed}`,
    );
    for (const client of [staying, context.createClient(binding)])
      await context.getFinal(client, read, [client.strongest]);
  });
}

async function getOutcome(update: PromiseLike<unknown>): Promise<string> {
  return update.then(
    () => 'done',
    (error: unknown) => (isCorrectableError(error) ? error.code : 'not typed'),
  );
}

type SignalListener = EventListenerOrEventListenerObject | null;

class WatchedSignal {
  readonly signal: AbortSignal;
  readonly #listening = new Set<SignalListener>();
  #onReleased: (() => void) | undefined;

  constructor() {
    const { signal } = new AbortController();
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (
      type: string,
      listener: SignalListener,
      options?: boolean | AddEventListenerOptions,
    ) => {
      if (listener === null) return;
      add(type, listener, options);
      if (!isFromPlatform(new Error('who listens').stack)) this.#listen(listener, options);
    };
    signal.removeEventListener = (
      type: string,
      listener: SignalListener,
      options?: boolean | EventListenerOptions,
    ) => {
      if (listener !== null) remove(type, listener, options);
      this.#release(listener);
    };
    this.signal = signal;
  }

  get listeners(): number {
    return this.#listening.size;
  }

  /** Resolves once no listener is left. */
  released(): Promise<void> {
    return new Promise((resolve) => {
      this.#onReleased = resolve;
      if (this.#listening.size === 0) resolve();
    });
  }

  #listen(listener: SignalListener, options: boolean | AddEventListenerOptions | undefined): void {
    this.#listening.add(listener);
    // The listener was added with a `signal`, so it is removed when that signal aborts.
    if (typeof options === 'object')
      options.signal?.addEventListener('abort', () => this.#release(listener), {
        once: true,
      });
  }

  #release(listener: SignalListener): void {
    this.#listening.delete(listener);
    if (this.#listening.size === 0) this.#onReleased?.();
  }
}

/**
 * Functions of the platform hold their listeners weakly. Node's `fetch` leaves one until the
 * request is collected.
 */
function isFromPlatform(stack: string | undefined): boolean {
  return stack?.split('\n')[2]?.includes('node:internal') === true;
}
