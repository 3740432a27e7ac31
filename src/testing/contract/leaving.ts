/** What the contract suite holds a binding to when somebody leaves: the caller of a read, one client, all of them. */
import type { Binding } from '../../correctable/binding.ts';
import { isCorrectableError } from '../../correctable/errors.ts';
import { failureOf } from './answers.ts';
import { hold, nameOf, show, tell, turn, type Trial } from './trial.ts';
import { Listener } from './listener.ts';

/**
 * Looking at a signal costs more than a fast read does: who answers within this time need not. Counted by a timer, which
 * is no more punctual than those of the binding.
 */
const LET_GO_MS = 100;
/** So many operations share a signal at once: above ten listeners Node warns of a leak, which there is none of yet. */
const SHARING = 8;

export async function survivesCancel(trial: Trial): Promise<void> {
  const { update, read, expected } = trial.subject;
  await trial.withClient(async (client) => {
    const leaving = client.invoke(read);
    // A binding may answer at once: then there is nothing under way that could be left.
    const isDone = leaving.state === 'final';
    leaving.cancel('contract suite');
    const error = await failureOf(leaving);
    const isTold = isDone || isCorrectableError(error, 'ABORTED');
    hold(isTold, () => `a read that was cancelled: not ABORTED, but ${tell(error)}`);
    await trial.finalOf(client, update);
    const { value } = await trial.finalOf(client, read, [client.strongest]);
    trial.same(value, expected, `${nameOf(read)}, after another read was cancelled: the final view is wrong`);
  });
}

/** A read that nobody waits for any more is let go: what is told late was work for nobody. */
export async function letsGoOfReads(trial: Trial): Promise<void> {
  const { update, read, slow } = trial.subject;
  await trial.withBinding(async (binding) => {
    await trial.ends(Listener.submit(binding, update));
    const leaving = new AbortController();
    const left = Listener.submit(binding, read, undefined, { signal: leaving.signal });
    const staying = Listener.submit(binding, read);
    leaving.abort(new Error('contract suite'));
    const grace = new Promise((resolve) => setTimeout(resolve, LET_GO_MS));
    const untilThen = grace.then(() => left.views.length);
    await trial.ends(staying, ', while another read was aborted');
    const told = await untilThen;
    await turn();
    hold(
      staying.final !== undefined,
      () => `${nameOf(read)}: fails with another read, which was aborted`,
      staying.error,
    );
    const late = left.views[told];
    hold(
      late === undefined,
      () =>
        `${nameOf(read)}: ignores context.signal: a view at ${late?.level} more than ${LET_GO_MS} ms after the abort`,
    );
  }, slow);
}

/** Whoever gives one signal to many operations would keep the listeners of all of them. */
export async function releasesSignals(trial: Trial): Promise<void> {
  const { subject } = trial;
  await trial.withBinding((binding) => releasesSignal(trial, binding));
  // Many a binding listens only for what takes its time.
  if (subject.slow !== undefined) await trial.withBinding((binding) => releasesSignal(trial, binding), subject.slow);
}

async function releasesSignal(trial: Trial, binding: Binding): Promise<void> {
  const { update, read } = trial.subject;
  const watched = new WatchedSignal();
  for (const operation of [update, read]) {
    const many = Array.from({ length: SHARING }, () =>
      Listener.submit(binding, operation, undefined, { signal: watched.signal }),
    );
    const closed = Promise.all(many.map((listener) => listener.closed));
    await trial.within(closed, `${nameOf(operation)}, ${SHARING} at once: not all have a final view or a failure`);
  }
  await trial.within(watched.released(), 'listeners stay on context.signal').catch((cause: unknown) => {
    const left = `${watched.listeners} of ${2 * SHARING} operations leave one`;
    hold(false, `context.signal keeps listeners of operations that have closed: ${left}`, cause);
  });
}

/** By the time that `close` has resolved, what was under way knows how it ended, and nothing is told any more. */
export async function closes(trial: Trial): Promise<void> {
  const { update, read } = trial.subject;
  await trial.withBinding(async (binding) => {
    const underWay = [update, read].map((operation) => Listener.submit(binding, operation));
    await trial.within(binding.close(), 'close() does not come to an end');
    const views = underWay.map((listener) => listener.views.length);
    for (const listener of underWay) {
      const name = nameOf(listener.operation);
      await trial.within(listener.closed, `${name}: under way at close(), and hears of no end`);
    }
    const late = Listener.submit(binding, read);
    await trial.within(late.closed, `${nameOf(read)}, after close(): hangs, not UNAVAILABLE`);
    underWay.forEach((listener, at) => {
      const view = listener.views[views[at]!];
      const name = nameOf(listener.operation);
      hold(view === undefined, () => `close() ends nothing: ${name} goes on, with a view at ${view?.level} after it`);
    });
    const [told] = late.views;
    hold(
      told === undefined,
      () => `close() closes nothing: ${nameOf(read)} after it still has a view at ${told?.level}`,
    );
    const isUnavailable = isCorrectableError(late.error, 'UNAVAILABLE');
    hold(isUnavailable, () => `${nameOf(read)}, after close(): not UNAVAILABLE, but ${tell(late.error)}`);
  });
}

export async function closesForClients(trial: Trial): Promise<void> {
  const { read } = trial.subject;
  await trial.withClient(async (client, binding) => {
    // Observed before closing, which may take longer than the operation has until it fails.
    const ended = failureOf(client.invoke(read));
    await trial.within(client.close(), 'close() does not come to an end');
    const error = await ended;
    const isTyped = error === undefined || isCorrectableError(error);
    hold(isTyped, () => `${nameOf(read)}, under way at close(): fails with no CorrectableError, but ${tell(error)}`);
    await binding.close();
    const late = await failureOf(trial.clientOf(binding).invoke(read));
    hold(
      isCorrectableError(late, 'UNAVAILABLE'),
      () => `${nameOf(read)}, after close(): not UNAVAILABLE, but ${tell(late)}`,
    );
  });
}

export async function closesUpdates(trial: Trial): Promise<void> {
  const { update, read, expected } = trial.subject;
  await trial.withBinding(async (binding, { another }) => {
    const client = trial.clientOf(binding);
    const outcome = outcomeOf(client.invoke(update));
    await trial.within(client.close(), 'close() does not come to an end');
    const told = await outcome;
    hold(told !== 'not typed', `${nameOf(update)}, under way at close(): fails with no CorrectableError`);
    const observer = binding.share === undefined ? await another?.() : binding;
    if (told === 'done' || told === 'UNKNOWN' || observer === undefined) return;
    const asking = trial.clientOf(observer);
    const { value: shown } = await trial.finalOf(asking, read, [asking.strongest]);
    await observer.close();
    const isDone = trial.isSame(shown, expected);
    hold(
      !isDone,
      () => `${nameOf(update)}, under way at close(): ${told} says that it was not done, but ${show(shown)} shows it`,
    );
  });
}

export async function closesOneOfSeveral(trial: Trial): Promise<void> {
  const { update, read } = trial.subject;
  await trial.withBinding(async (binding: Binding) => {
    if (binding.share === undefined) return;
    const [leaving, staying] = [trial.clientOf(binding), trial.clientOf(binding)];
    const outcomes = [leaving, staying].map((client) => outcomeOf(client.invoke(update)));
    await trial.within(leaving.close(), 'close() does not come to an end');
    const [left, stayed] = [await outcomes[0], await outcomes[1]];
    hold(
      left === 'done' || left === 'UNKNOWN',
      `share(): an update of the client that was closed: ${left}, not UNKNOWN`,
    );
    hold(stayed === 'done', `share(): closing one client ends an update of another one: ${stayed}`);
    for (const client of [staying, trial.clientOf(binding)]) await trial.finalOf(client, read, [client.strongest]);
  });
}

async function outcomeOf(update: PromiseLike<unknown>): Promise<string> {
  return update.then(
    () => 'done',
    (error: unknown) => (isCorrectableError(error) ? error.code : 'not typed'),
  );
}

type SignalListener = EventListenerOrEventListenerObject | null;

/** A signal that knows who listens. */
class WatchedSignal {
  readonly signal: AbortSignal;
  readonly #listening = new Set<SignalListener>();
  #onReleased: (() => void) | undefined;

  constructor() {
    const { signal } = new AbortController();
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (type: string, listener: SignalListener, options?: boolean | AddEventListenerOptions) => {
      if (listener === null) return;
      add(type, listener, options);
      if (!isOfPlatform(new Error('who listens').stack)) this.#listen(listener, options);
    };
    signal.removeEventListener = (type: string, listener: SignalListener, options?: boolean | EventListenerOptions) => {
      if (listener !== null) remove(type, listener, options);
      this.#release(listener);
    };
    this.signal = signal;
  }

  get listeners(): number {
    return this.#listening.size;
  }

  /** Resolves once nobody listens. */
  released(): Promise<void> {
    return new Promise((resolve) => {
      this.#onReleased = resolve;
      if (this.#listening.size === 0) resolve();
    });
  }

  #listen(listener: SignalListener, options: boolean | AddEventListenerOptions | undefined): void {
    this.#listening.add(listener);
    // A listener of the signal's own kind: it goes when that other signal aborts.
    if (typeof options === 'object')
      options.signal?.addEventListener('abort', () => this.#release(listener), { once: true });
  }

  #release(listener: SignalListener): void {
    this.#listening.delete(listener);
    if (this.#listening.size === 0) this.#onReleased?.();
  }
}

/** The platform's own functions hold their listeners weakly: Node's `fetch` leaves one until the request is collected. */
function isOfPlatform(stack: string | undefined): boolean {
  return stack?.split('\n')[2]?.includes('node:internal') === true;
}
