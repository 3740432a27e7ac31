/** A signal that reports what its listeners throw. With a plain one, that would end the process. */
import { isThenable } from '../../../correctable/validate.ts';

export type OnListenerThrew = (error: unknown) => void;

type Listener = EventListenerOrEventListenerObject;

/** A controller whose signal is guarded. Signals made of that one by `AbortSignal.any` are not. */
export function createGuardedController(onThrown: OnListenerThrew): AbortController {
  const controller = new AbortController();
  const { signal } = controller;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  const guarded = new WeakMap<object, Listener>();
  const guard = (listener: Listener): Listener => {
    let known = guarded.get(listener);
    if (known === undefined) guarded.set(listener, (known = guardListener(listener, signal, onThrown)));
    return known;
  };
  signal.addEventListener = (type: string, listener: Listener | null, options?: boolean | AddEventListenerOptions) => {
    if (isListener(listener)) add(type, guard(listener), options);
  };
  signal.removeEventListener = (type: string, listener: Listener | null, options?: boolean | EventListenerOptions) => {
    if (isListener(listener)) remove(type, guarded.get(listener) ?? listener, options);
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
  return typeof listener === 'function' || (typeof listener === 'object' && listener !== null);
}

function guardListener(listener: Listener, signal: AbortSignal, onThrown: OnListenerThrew): Listener {
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
