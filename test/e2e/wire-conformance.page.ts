/**
 * What the page of the wire's browser test runs: the contract of bindings, over a gateway, by the
 * browser's own WebSocket.
 */
import { memory } from '../../src/bindings/memory/index.ts';
import { remote } from '../../src/bindings/remote/index.ts';
import { structurallyEqual } from '../../src/correctable/structural-equality.ts';
import { createClient } from '../../src/index.ts';
import { get, put } from '../../src/operations/index.ts';
import { testBindingConformance, type Expectation } from '../../src/testing/binding-conformance.ts';

type Test = readonly [name: string, run: () => unknown];

function expectation(actual: unknown): Expectation {
  const hold = (isMet: boolean, description: string, expected: unknown): void => {
    if (!isMet) throw new Error(`expected ${show(actual)} ${description} ${show(expected)}`);
  };
  return {
    toEqual: (expected: unknown) => hold(structurallyEqual(actual, expected), 'to equal', expected),
  };
}

function show(value: unknown): string {
  return (
    JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part)) ??
    String(value)
  );
}

/** Runs the contract; gives a line for each test: its name, and what failed. */
async function runContract(url: string, codec: 'json' | 'msgpack'): Promise<string[]> {
  const tests: Test[] = [];
  const levels = memory().consistencyLevels();
  testBindingConformance(
    {
      name: codec,
      createBinding: () => {
        const binding = remote({ url, levels, operations: ['get', 'put'], codec });
        return Promise.resolve({ binding, release: () => Promise.resolve() });
      },
      write: put(`${codec}:k`, { n: 1 }),
      read: get(`${codec}:k`),
      expected: { n: 1 },
    },
    {
      describe: (_: string, body: () => void) => body(),
      test: (name: string, run: () => unknown) => void tests.push([name, run]),
      expect: expectation,
    },
  );
  const lines: string[] = [];
  for (const [name, run] of tests) {
    try {
      await run();
      lines.push(`ok ${name}`);
    } catch (error) {
      lines.push(`FAILED ${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return lines;
}

/**
 * Gives a read up once it has shown a preliminary view; its connection stays. @returns with which
 * code it ended
 */
async function giveUp(url: string, codec: 'json' | 'msgpack'): Promise<string> {
  const levels = memory().consistencyLevels();
  const store = createClient(remote({ url, levels, operations: ['get', 'put'], codec }));
  const leaving = new AbortController();
  const read = store.invoke(get(codec), { signal: leaving.signal }).onUpdate(() => leaving.abort());
  const error: unknown = await read.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return (error as { readonly code?: string } | undefined)?.code ?? 'success';
}

Object.assign(globalThis, { runContract, giveUp });
