/**
 * Implements `for await` over the views. At most one view waits per level, so a slow reader skips
 * views that a refinement replaced (COR-12).
 */
import { removeSubscriber, subscribeToViews } from './subscribers.ts';
import type { Source } from './source.ts';
import { unrefTimersIfTakenEarly } from './source.ts';
import type { AnyView } from './view.ts';

/**
 * Returns `Symbol.dispose` or `Symbol.asyncDispose`. Old engines lack them. Code that a compiler
 * made of `using` then looks for `Symbol.for('Symbol.dispose')`, so that symbol is used instead.
 */
function getSymbol<N extends 'dispose' | 'asyncDispose'>(name: N): SymbolConstructor[N] {
  return Symbol[name] ?? Symbol.for(`Symbol.${name}`);
}
export const DISPOSE: typeof Symbol.dispose = /* @__PURE__ */ getSymbol('dispose');
export const ASYNC_DISPOSE: typeof Symbol.asyncDispose = /* @__PURE__ */ getSymbol('asyncDispose');

export function iterateViews<T>(source: Source<T>): AsyncGenerator<AnyView<T>, undefined> {
  const waiting: AnyView<T>[] = [];
  /**
   * Passes a view to the reader that waits, or `undefined` at the end. Set only while a reader
   * waits.
   */
  let wake: ((view: AnyView<T> | undefined) => void) | undefined;
  let hasEnded = false;
  let failure: unknown;

  const push = (view: AnyView<T> | undefined): void => {
    if (wake) wake(view);
    else if (view) {
      if (!view.final && waiting.at(-1)?.level === view.level) waiting.pop();
      waiting.push(view);
    }
    wake = undefined;
  };
  const end = (error?: unknown): void => {
    hasEnded = true;
    failure = error;
    push(undefined);
  };
  // Subscribe at once. A generator function would subscribe only when the reader takes the first
  // step.
  const subscriber = subscribeToViews(
    source,
    (_value, view) => {
      hasEnded = view.final;
      push(view);
    },
    end,
  );
  async function* read(): AsyncGenerator<AnyView<T>, undefined> {
    for (;;) {
      let view = waiting.shift();
      if (!view && !hasEnded) view = await new Promise((resolve) => (wake = resolve));
      if (view) yield view;
      else if (failure) throw failure;
      else return undefined;
    }
  }
  const views = read();
  /** Ends the iteration, not the operation. Pending steps end at once. */
  const ending = <A extends unknown[], R>(step: (...args: A) => R) => {
    return (...args: A): R => {
      removeSubscriber(source, subscriber);
      unrefTimersIfTakenEarly(source);
      waiting.length = 0;
      end();
      return step.apply(views, args);
    };
  };
  return Object.assign(views, {
    return: ending(views.return),
    throw: ending(views.throw),
    [ASYNC_DISPOSE]: ending(async () => {}),
  });
}
