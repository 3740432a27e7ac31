/** COR-12: what a Correctable is to a platform that has more than this one. */
import { expect, test, vi } from 'vitest';

test('COR-12: the platform has a symbol for observables → a Correctable answers to it, and to the name that others use', async () => {
  const observable = Symbol('observable');
  Object.defineProperty(Symbol, 'observable', { value: observable, configurable: true });
  try {
    vi.resetModules();
    const { correctable } = await import('../../../../src/correctable/client/create.ts');
    const c = correctable(['weak', 'strong'], () => 1) as unknown as Record<
      PropertyKey,
      () => unknown
    >;
    expect([c[observable]?.(), c['@@observable']?.()]).toEqual([c, c]);
  } finally {
    Reflect.deleteProperty(Symbol, 'observable');
    vi.resetModules();
  }
});

test.each(['AbortController', 'queueMicrotask'] as const)(
  'no %s → UNSUPPORTED, which names it',
  async (name) => {
    vi.resetModules();
    const { correctable, createClient } = await import('../../../../src/index.ts');
    const { memory } = await import('../../../../src/bindings/memory/index.ts');
    const store = memory();
    vi.stubGlobal(name, undefined);
    try {
      for (const make of [() => correctable(['final'], () => 1), () => createClient(store)])
        expect(make).toThrow(
          expect.objectContaining({
            code: 'UNSUPPORTED',
            message: `${name} is missing. Load a polyfill.`,
          }) as Error,
        );
    } finally {
      vi.unstubAllGlobals();
    }
  },
);
