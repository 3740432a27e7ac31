/** Calls hooks and the hosted binding. Whatever they throw, the process continues. */
import { systemClock } from '../../../correctable/clock.ts';
import { CorrectableError, isCorrectableError } from '../../../correctable/errors.ts';
import { isThenable } from '../../../correctable/validate.ts';

const ignore = (): void => {};

/**
 * Handles the promise of a hook that should have returned none: an unhandled rejection ends the
 * process.
 */
export function ignoreRejection(value: unknown): void {
  if (isThenable(value)) Promise.resolve(value).then(ignore, ignore);
}

export class HookTimeoutError extends CorrectableError {
  constructor(name: string, timeoutMs: number) {
    super('UNAVAILABLE', `${name} gave no answer within ${timeoutMs} ms; nothing was done`);
  }
}

/**
 * Returns whether a hook could not decide: it gave no answer in time, or failed with a retryable
 * error of this package. Other errors are rejections.
 */
export function isUndecided(error: unknown): boolean {
  try {
    return isCorrectableError(error) && error.retryable;
  } catch {
    // Reading the thrown value may call a getter of its author.
    return false;
  }
}

/** Calls a hook and waits for its result. Rejects with its error, or with `HookTimeoutError`. */
export function callHook(name: string, timeoutMs: number, hook: () => unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const requested = Promise.resolve().then(hook);
    const timer = systemClock.setTimer(() => {
      reject(new HookTimeoutError(name, timeoutMs));
    }, timeoutMs);
    timer.setRef?.(false);
    void requested.then(resolve, reject).finally(() => timer.cancel());
  });
}

export type OnListenerThrew = (error: unknown) => void;

type Listener = EventListenerOrEventListenerObject;

/**
 * Creates a controller whose signal reports errors of its listeners. With a plain one, such an
 * error would end the process. Signals derived by `AbortSignal.any` are not guarded.
 */
export function createGuardedController(onThrown: OnListenerThrew): AbortController {
  const controller = new AbortController();
  const { signal } = controller;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  const guarded = new WeakMap<object, Listener>();
  const guard = (listener: Listener): Listener => {
    let known = guarded.get(listener);
    if (known === undefined)
      guarded.set(listener, (known = guardListener(listener, signal, onThrown)));
    return known;
  };
  signal.addEventListener = (
    type: string,
    listener: Listener | null,
    options?: boolean | AddEventListenerOptions,
  ) => {
    if (isListener(listener)) add(type, guard(listener), options);
  };
  signal.removeEventListener = (
    type: string,
    listener: Listener | null,
    options?: boolean | EventListenerOptions,
  ) => {
    if (isListener(listener)) remove(type, guarded.get(listener) ?? listener, options);
  };
  guardProperty(signal);
  return controller;
}

/** Guards the property `onabort`, because `signal.onabort = …` sets a listener too. */
function guardProperty(signal: AbortSignal): void {
  let value: AbortSignal['onabort'] = null;
  Object.defineProperty(signal, 'onabort', {
    configurable: true,
    enumerable: true,
    get: () => value,
    set(listener: AbortSignal['onabort']) {
      if (isListener(value)) signal.removeEventListener('abort', value);
      value = listener;
      if (isListener(value)) signal.addEventListener('abort', value);
    },
  });
}

/** Other values are ignored, as the platform does. */
function isListener(listener: unknown): listener is Listener {
  return typeof listener === 'function' || (typeof listener === 'object' && listener !== null);
}

function guardListener(
  listener: Listener,
  signal: AbortSignal,
  onThrown: OnListenerThrew,
): Listener {
  return (event) => {
    try {
      const value: unknown =
        typeof listener === 'function' ? listener.call(signal, event) : listener.handleEvent(event);
      if (isThenable(value)) Promise.resolve(value).then(undefined, onThrown);
    } catch (error) {
      onThrown(error);
    }
  };
}
