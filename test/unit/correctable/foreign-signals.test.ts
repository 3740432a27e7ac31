/** COR-10: abort signals of other makers: polyfills, and what tests and frameworks bring. */
import { expect, test } from 'vitest';
import { correctable, createClient } from '../../../src/index.ts';
import { get } from '../../../src/operations/index.ts';
import { scriptedBinding } from '../../../src/testing/scripted-binding.ts';
import { codeOf, LEVELS, manual } from './support.ts';

/**
 * A signal as the smallest polyfill has it: no reason, no options of listeners, which it calls
 * without `this`.
 */
function foreignController() {
  const listeners = new Set<() => void>();
  const signal = {
    aborted: false,
    addEventListener: (_type: 'abort', listener: () => void) => void listeners.add(listener),
    removeEventListener: (_type: 'abort', listener: () => void) => void listeners.delete(listener),
  };
  const abort = (): void => {
    signal.aborted = true;
    for (const listener of listeners) Reflect.apply(listener, undefined, []);
  };
  return { signal: signal as unknown as AbortSignal, abort, listeners };
}

test('COR-10: a foreign signal aborts → what was invoked, made and listened with it ends', async () => {
  const { signal, abort, listeners } = foreignController();
  const invoked = createClient(scriptedBinding(LEVELS)).invoke(get('k'), { signal });
  const made = correctable(LEVELS, () => {}, { signal });
  const { c, sink } = manual<number>();
  const seen: number[] = [];
  c.subscribe(({ value }) => void seen.push(value), { signal });
  c.setCallbacks({ onUpdate: (value) => seen.push(value) }, { signal });
  expect(listeners.size).toBe(1);
  abort();
  sink.view(1, 'weak');
  expect(await Promise.all([invoked, made].map(codeOf))).toEqual(['ABORTED', 'ABORTED']);
  expect(seen).toEqual([]);
  expect(await codeOf(correctable(LEVELS, () => {}, { signal }))).toBe('ABORTED');
});

test('COR-10: a signal in a proxy, which its platform refuses → INVALID_ARGUMENT that names it', async () => {
  const target = {
    addEventListener: () => {},
    get aborted(): boolean {
      if (this !== target) throw new TypeError('Illegal invocation');
      return false;
    },
  };
  const signal = new Proxy(target, {}) as unknown as AbortSignal;
  const error = await createClient(scriptedBinding(LEVELS))
    .invoke(get('k'), { signal })
    .then(undefined, (reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', field: 'signal' });
});
