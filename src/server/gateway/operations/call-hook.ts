/**
 * Calls of hooks and of the hosted binding: whatever they do, the process goes
 * on.
 */
import { systemClock } from '../../../correctable/clock.ts';
import {
  CorrectableError,
  isCorrectableError,
} from '../../../correctable/errors.ts';
import { isThenable } from '../../../correctable/validate.ts';

const ignore = (): void => {};

/**
 * Handles the promise of a hook that should have returned none: an unhandled
 * rejection ends the process.
 */
export function ignoreRejection(value: unknown): void {
  if (isThenable(value)) Promise.resolve(value).then(ignore, ignore);
}

export class HookTimeoutError extends CorrectableError {
  constructor(name: string, timeoutMs: number) {
    super(
      'UNAVAILABLE',
      `${name} gave no answer within ${timeoutMs} ms; nothing was done`,
    );
  }
}

/**
 * Whether a hook could not decide, rather than rejected: no answer in time, or
 * a retryable error of this package.
 */
export function isUndecided(error: unknown): boolean {
  try {
    return isCorrectableError(error) && error.retryable;
  } catch {
    // A getter of what was thrown.
    return false;
  }
}

/**
 * Calls a hook and waits for what it gives. Rejects with what it throws, and
 * with `HookTimeoutError`.
 */
export function callHook(
  name: string,
  timeoutMs: number,
  hook: () => unknown,
): Promise<unknown> {
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
 * A controller whose signal reports what its listeners throw: with a plain one,
 * that would end the process. Signals made of that one by `AbortSignal.any` do
 * not.
 */
export function createGuardedController(
  onThrown: OnListenerThrew,
): AbortController {
  const controller = new AbortController();
  const { signal } = controller;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  const guarded = new WeakMap<object, Listener>();
  const guard = (listener: Listener): Listener => {
    let known = guarded.get(listener);
    if (known === undefined)
      guarded.set(
        listener,
        (known = guardListener(listener, signal, onThrown)),
      );
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
    if (isListener(listener))
      remove(type, guarded.get(listener) ?? listener, options);
  };
  guardProperty(signal);
  return controller;
}

/** `signal.onabort = …` is a listener as well. */
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

/** What is none is passed over, as the platform does. */
function isListener(listener: unknown): listener is Listener {
  return (
    typeof listener === 'function' ||
    (typeof listener === 'object' && listener !== null)
  );
}

function guardListener(
  listener: Listener,
  signal: AbortSignal,
  onThrown: OnListenerThrew,
): Listener {
  return (event) => {
    try {
      const value: unknown =
        typeof listener === 'function'
          ? listener.call(signal, event)
          : listener.handleEvent(event);
      if (isThenable(value)) Promise.resolve(value).then(undefined, onThrown);
    } catch (error) {
      onThrown(error);
    }
  };
}
