/**
 * The effect of a Correctable on its process: it stays alive while a caller waits, and not a moment
 * longer.
 */
import { describe, expect, test } from 'vitest';
import type { ClientOptions, Clock, Correctable } from '../../../src/index.ts';
import { all, createClient } from '../../../src/index.ts';
import { get } from '../../../src/operations/index.ts';
import type { ScriptedBinding } from '../../../src/testing/index.ts';
import { scriptedBinding } from '../../../src/testing/scripted-binding.ts';
import { virtualClock } from '../../../src/testing/virtual-clock.ts';
import { output } from '../../docs/bundle.ts';
import { codeOf, settled } from './support.ts';

const preamble = `
  import { createClient } from './src/index.ts';
  import { get } from './src/operations/index.ts';
  import { memory } from './src/bindings/memory/index.ts';
  import { scriptedBinding } from './src/testing/index.ts';
`;

async function outputOf(script: string): Promise<string> {
  return (await output(preamble + script, 'process.ts')).trim();
}

test('COR-1: nothing else keeps the process alive → a hanging operation still times out', async () => {
  const script = `
    const read = createClient(scriptedBinding(['weak', 'strong'])).invoke(get('k'), { timeoutMs: 50 });
    console.log(await read.catch((error) => error.code));
  `;
  expect(await outputOf(script)).toBe('TIMEOUT');
});

test('COR-1: one has closed, and with it nothing keeps the process alive → the next that hangs still times out', async () => {
  const script = `
    const binding = scriptedBinding(['weak', 'strong']);
    const client = createClient(binding, { timeoutMs: 50 });
    const first = client.invoke(get('k'));
    binding.calls[0].view(1, 'strong');
    await first;
    console.log(await client.invoke(get('k')).catch((error) => error.code));
  `;
  expect(await outputOf(script)).toBe('TIMEOUT');
});

test('COR-1: all operations have closed, 30 s limits were set → the process ends at once', async () => {
  const script = `
    const store = createClient(memory({ delaysMs: { strong: 1 } }));
    await store.invoke(get('k'));
    const from = Date.now();
    process.on('exit', () => console.log(Date.now() - from < 10_000 ? 'at once' : 'late'));
  `;
  expect(await outputOf(script)).toBe('at once');
});

test('COR-5: an unobserved failure → the process reports it as an unhandled rejection', async () => {
  const script = `
    process.on('unhandledRejection', (error) => console.log('unhandled', error.code));
    createClient(scriptedBinding(['strong'])).invoke(get('k'), { signal: AbortSignal.timeout(1) });
    setTimeout(() => {}, 50);
  `;
  expect(await outputOf(script)).toBe('unhandled ABORTED');
});

test('COR-9: a view was taken early, the strong level hangs → the process ends at once', async () => {
  const script = `
    const weakOnly = scriptedBinding(['weak', 'strong'], { onCall: (call) => call.view('guess', 'weak') });
    const read = createClient(weakOnly).invoke(get('k'), { levelTimeoutsMs: { strong: 20_000 } });
    const from = Date.now();
    console.log((await read.settle({ enough: () => true })).value, (await read.map(String).when('weak')).value);
    process.on('exit', () => console.log(Date.now() - from < 10_000 ? 'at once' : 'late'));
  `;
  expect(await outputOf(script)).toBe('guess guess\nat once');
});

test('COR-1, COR-9: a view was taken early, then the final is awaited → it times out', async () => {
  const script = `
    const weakOnly = scriptedBinding(['weak', 'strong'], { onCall: (call) => call.view('guess', 'weak') });
    const read = createClient(weakOnly).invoke(get('k'), { timeoutMs: 50 });
    const mapped = read.map(String);
    await mapped.settle({ enough: () => true });
    console.log(await mapped.catch((error) => error.code));
  `;
  expect(await outputOf(script)).toBe('TIMEOUT');
});

const LIMIT_MS = 100;

interface Hung {
  readonly clock: Clock;
  /** Lets the time pass. */
  readonly advance: (byMs: number) => Promise<void>;
  /** Whether a timer keeps the process alive. */
  readonly isAlive: () => boolean;
  readonly read: () => Correctable<unknown, readonly ['weak', 'strong']>;
  readonly binding: ScriptedBinding<readonly ['weak', 'strong']>;
}

/**
 * A store whose strong level hangs, and timers that say whether they would keep a process alive.
 */
function hung(
  options: { readonly levelTimeoutsMs?: { readonly strong: number } } = {},
  policies: Pick<ClientOptions, 'retry' | 'dedupeReads'> = {},
): Hung {
  const virtual = virtualClock();
  const retained = new Set<object>();
  const clock: Clock = {
    now: () => virtual.now(),
    setTimer(fire, delayMs) {
      const item = {};
      retained.add(item);
      const fired = (): void => {
        retained.delete(item);
        fire();
      };
      const timer = virtual.setTimer(fired, delayMs);
      return {
        cancel() {
          retained.delete(item);
          timer.cancel();
        },
        setRef: (isHeld) => void (isHeld ? retained.add(item) : retained.delete(item)),
      };
    },
  };
  const binding = scriptedBinding(['weak', 'strong'], {
    onCall: (call) => void call.view('guess', 'weak'),
  });
  const client = createClient(binding, { clock, timeoutMs: LIMIT_MS, ...policies });
  return {
    clock,
    binding,
    advance: (byMs) => virtual.advance(byMs),
    isAlive: () => retained.size > 0,
    read: () => client.invoke<unknown>(get('k'), options),
  };
}

describe('COR-9: a view was taken early, the strong level hangs', () => {
  const early = { enough: () => true };

  test.each([
    ['settle', async ({ read }: Hung) => read().settle(early)],
    [
      'settle by time',
      async ({ read, advance }: Hung) => Promise.all([read().settle({ withinMs: 5 }), advance(5)]),
    ],
    ['when', async ({ read }: Hung) => read().when('weak')],
    ['of map', async ({ read }: Hung) => read().map(String).settle(early)],
    ['of speculate', async ({ read }: Hung) => read().speculate(String).settle(early)],
    ['of what a step asks', async ({ read }: Hung) => read().chain(read).settle(early)],
    ['of a join', async ({ read }: Hung) => all([read(), read()]).settle(early)],
    [
      'of two made of one',
      async ({ read }: Hung) => {
        const item = read();
        const [a, b] = [item.map(String), item.speculate(String)];
        await Promise.all([a.settle(early), b.settle(early)]);
      },
    ],
    [
      'twice',
      async ({ read }: Hung) => {
        const item = read();
        await Promise.all([item.settle(early), item.when('weak')]);
      },
    ],
  ] as const)('%s → no time limit keeps the process alive', async (_, take) => {
    const store = hung({ levelTimeoutsMs: { strong: LIMIT_MS / 2 } });
    await take(store);
    expect(store.isAlive()).toBe(false);
  });

  test.each([
    ['a callback', (c: Correctable<unknown>): unknown => c.onFinal(() => 0)],
    ['one that awaits', (c: Correctable<unknown>): unknown => codeOf(c)],
    [
      'one that iterates',
      (c: Correctable<unknown>): unknown => codeOf(c[Symbol.asyncIterator]().next()),
    ],
    ['what is made of it', (c: Correctable<unknown>): unknown => codeOf(c.map(String))],
  ] as const)('%s waits, since before or from now on → the limits do', async (_, wait) => {
    for (const make of [
      (c: Correctable<unknown>) => c,
      (c: Correctable<unknown>) => c.map(String),
    ]) {
      const before = hung();
      const waited = make(before.read());
      wait(waited);
      await waited.settle(early);
      expect(before.isAlive()).toBe(true);
      const after = hung();
      const taken = make(after.read());
      await taken.settle(early);
      expect(after.isAlive()).toBe(false);
      wait(taken);
      expect(after.isAlive()).toBe(true);
      await after.advance(LIMIT_MS);
      expect(taken.state).toBe('error');
      expect(after.isAlive()).toBe(false);
    }
  });

  test.each([
    [
      'a loop',
      (c: Correctable<unknown>) => {
        const loop = c[Symbol.asyncIterator]();
        return () => void loop.return?.();
      },
    ],
    [
      'a subscription',
      (c: Correctable<unknown>) => {
        const subscription = c.subscribe(() => {});
        return () => subscription.unsubscribe();
      },
    ],
    [
      'one until a signal',
      (c: Correctable<unknown>) => {
        const page = new AbortController();
        c.subscribe(() => {}, { signal: page.signal });
        return () => page.abort();
      },
    ],
    [
      'what is made of the same',
      (c: Correctable<unknown>) => {
        const made = c.map(String);
        return () => made.cancel();
      },
    ],
  ] as const)(
    '%s leaves later → from then on no limit keeps the process alive',
    async (_, come) => {
      for (const make of [
        (c: Correctable<unknown>) => c,
        (c: Correctable<unknown>) => c.map(String),
      ]) {
        const { read, isAlive } = hung();
        const requested = read();
        const taken = make(requested);
        const go = come(_ === 'what is made of the same' ? requested : taken);
        await taken.settle(early);
        expect(isAlive()).toBe(true);
        go();
        expect(isAlive()).toBe(false);
      }
    },
  );

  test('its source is awaited → the limits keep the process alive', async () => {
    const { read, isAlive } = hung();
    const source = read();
    void codeOf(source);
    await source.map(String).settle(early);
    expect(isAlive()).toBe(true);
  });

  test('others of the same limit come and go → the process lives as long as one is waited for', async () => {
    const { read, isAlive, advance, binding } = hung();
    const taken = read();
    await taken.settle(early);
    const waited = codeOf(read());
    expect(isAlive()).toBe(true);
    binding.calls[1]!.view('sure', 'strong');
    await waited;
    expect(isAlive()).toBe(false);
    await advance(LIMIT_MS / 2);
    const [first, second] = [codeOf(read()), read()];
    await second.settle(early);
    expect(isAlive()).toBe(true);
    await advance(LIMIT_MS / 2);
    expect(taken.state).toBe('error');
    expect(isAlive()).toBe(true);
    await advance(LIMIT_MS / 2);
    expect(await first).toBe('TIMEOUT');
    expect(isAlive()).toBe(false);
  });

  const hang = (value: unknown): unknown => (value === 'guess' ? value : new Promise(() => 0));

  test('its source is final, its last step hangs → the limit of the step keeps no process alive', async () => {
    const { read, isAlive, advance, binding } = hung();
    const result = read().speculate(hang);
    await result.settle(early);
    binding.calls[0]!.view('sure', 'strong');
    await settled();
    expect(isAlive()).toBe(false);
    await advance(LIMIT_MS);
    expect(result.state).toBe('error');
  });

  test('a step begins only then, and asks what hangs → its limit keeps no process alive', async () => {
    const { read, isAlive, binding } = hung();
    const result = read().chain(read);
    await result.settle(early);
    binding.calls[0]!.view('sure', 'strong');
    await settled();
    expect(binding.calls).toHaveLength(3);
    expect(isAlive()).toBe(false);
  });
});
