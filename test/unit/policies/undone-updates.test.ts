/**
 * COR-8, COR-15: an update of a run that was undone is not tried again: it would be done after its
 * undo, for good.
 */
import { expect, test } from 'vitest';
import type { Correctable } from '../../../src/index.ts';
import { all } from '../../../src/index.ts';
import { get, put } from '../../../src/operations/index.ts';
import type { Three } from '../correctable/support.ts';
import { manual } from '../correctable/support.ts';
import type { SetUp } from './support.ts';
import { failure, refuteBetweenAttempts, retry, setUp, STEP_MS } from './support.ts';

const keys = ({ binding }: SetUp): unknown[][] =>
  binding.calls.map(({ operation: { name, key, args } }) => [
    name,
    key,
    (args as { value?: unknown }).value,
  ]);

const WAYS: readonly (readonly [string, (write: Correctable<unknown, Three>) => unknown])[] = [
  ['the write itself', (write) => write],
  ['what is mapped from it', (write) => write.map(String)],
  ['a join of it', (write) => all([write])],
  ['what it is a step of', (write) => write.chain(() => write)],
  [
    'one with another listener',
    (write) => {
      write.onError(() => 0);
      return write;
    },
  ],
];

test.each(WAYS)('undone between two attempts, %s → not done any more', async (_what, made) => {
  const all = setUp({ retry });
  const { client } = all;
  const undone: unknown[] = [];
  await refuteBetweenAttempts(
    all,
    (job) => made(client.invoke(put('running', job)) as Correctable<unknown, Three>),
    (job) => void undone.push(job),
  );
  expect(undone).toEqual(['job-1']);
  expect(keys(all).slice(1)).toEqual([
    ['put', 'running', 'job-1'],
    ['put', 'running', 'job-2'],
  ]);
  expect(client.stats.retried).toBe(0);
});

test.each(WAYS)(
  'undone during an attempt that then fails as busy, %s → not done any more',
  async (_what, made) => {
    const { clock, binding, client } = setUp({ retry });
    const result = client.invoke(get('next')).speculate(
      (job) => made(client.invoke(put('running', job)) as Correctable<unknown, Three>),
      () => {},
    );
    const read = await binding.next();
    read.view('job-1', 'weak');
    const refuted = await binding.next();
    read.view('job-2', 'strong');
    refuted.fail(failure());
    (await binding.next()).view(null, 'strong');
    await result;
    await clock.advance(1_000);
    expect(binding.calls).toHaveLength(3);
  },
);

test('undone during an attempt that then fails as busy → reported at once, since there is no next attempt', async () => {
  const { binding, client } = setUp({ retry });
  const errors: unknown[] = [];
  const result = client.invoke(get('next')).speculate(
    (job) => {
      const write = client.invoke(put('running', job));
      write.onError((error) => errors.push(error));
      return write;
    },
    () => {},
  );
  const read = await binding.next();
  read.view('job-1', 'weak');
  const refuted = await binding.next();
  read.view('job-2', 'strong');
  refuted.fail(failure());
  (await binding.next()).view(null, 'strong');
  await result;
  expect(errors).toHaveLength(1);
});

/** What a step does with an update that it does not return. */
const UNSEEN_WAYS: readonly (readonly [string, (write: Correctable<unknown, Three>) => unknown])[] =
  [
    ['one that the step awaits', async (write) => await write],
    ['one that the step waits for beside others', (write) => Promise.all([write.map(String), 1])],
    ['one that begins beside what the step returns', (write) => void write.onError(() => 0)],
  ];

test.each(UNSEEN_WAYS)(
  'undone between two attempts, %s → not done any more',
  async (_what, retained) => {
    const all = setUp({ retry });
    const { client } = all;
    await refuteBetweenAttempts(all, (job) =>
      retained(client.invoke(put('running', job)) as Correctable<unknown, Three>),
    );
    expect(keys(all).slice(1)).toEqual([
      ['put', 'running', 'job-1'],
      ['put', 'running', 'job-2'],
    ]);
  },
);

test('a write beside a step, or of a step that is confirmed → tried again', async () => {
  const all = setUp({ retry });
  const { clock, binding, client } = all;
  const result = client.invoke(get('next')).speculate(
    async (job) => await client.invoke(put('running', job)),
    () => {},
  );
  const read = await binding.next();
  read.view('job-1', 'weak');
  const confirmed = await binding.next();
  // The step has waited: this is no part of it.
  const beside = client.invoke(put('beside', 1));
  read.view('job-1', 'strong');
  confirmed.fail(failure());
  (await binding.next()).fail(failure());
  await clock.advance(STEP_MS);
  (await binding.next()).view(null, 'strong');
  (await binding.next()).view(null, 'strong');
  await Promise.all([result, beside]);
  expect(keys(all).map(([, key]) => key)).toEqual([
    'next',
    'running',
    'beside',
    'running',
    'beside',
  ]);
});

test('a write invoked after the step has awaited, with the signal of its run → not done after the undo', async () => {
  const { clock, binding, client } = setUp({ retry });
  const result = client.invoke(get('next')).speculate(
    async (job, { signal }) => {
      await client.invoke(get('place'));
      return await client.invoke(put('running', job), { signal });
    },
    () => {},
  );
  const read = await binding.next();
  read.view('job-1', 'weak');
  (await binding.next()).view('here', 'strong');
  (await binding.next()).fail(failure());
  result.cancel();
  await clock.advance(1_000);
  expect(binding.calls.map(({ operation }) => operation.key)).toEqual(['next', 'place', 'running']);
});

test('a read of a run that was undone → retried for its other callers', async () => {
  const { clock, binding, client } = setUp({ retry });
  const shared = client.invoke(get('place'));
  const first = await binding.next();
  const result = client.invoke(get('next')).speculate(
    () => shared,
    () => {},
  );
  (await binding.next()).view('job-1', 'weak');
  result.cancel();
  first.fail(failure());
  await clock.advance(STEP_MS);
  (await binding.next()).view('here', 'strong');
  expect(await shared).toBe('here');
});

/**
 * A step that sets something off; its run is undone while an update that is none of its own waits
 * for the next attempt.
 */
async function setOff(
  other: (client: SetUp['client'], sink: ReturnType<typeof manual>) => () => void,
) {
  const all = setUp({ retry });
  const { clock, binding, client } = all;
  const listened = manual();
  const start = other(client, listened);
  const outer = manual();
  const result = outer.c.speculate((value) => {
    if (value === 1) start();
    return value;
  });
  outer.sink.view(1, 'weak');
  const update = await binding.next();
  outer.sink.view(2, 'strong');
  await result;
  update.fail(failure());
  await clock.advance(STEP_MS);
  expect(keys(all)).toHaveLength(2);
  (await binding.next()).view(null, 'strong');
}

test('a step refutes another run, whose undo is a write → that is tried again', async () => {
  let undone: unknown;
  await setOff((client, { c, sink }) => {
    undone = c.speculate(
      () => 1,
      async () => {
        await client.invoke(put('undo', 1));
      },
    );
    sink.view(1, 'weak');
    return () => sink.view(2, 'strong');
  });
  expect(await undone).toBe(1);
});

test('a step registers its undo too late, with a write → that write is retried', async () => {
  const { clock, binding, client } = setUp({ retry });
  const outer = manual();
  const result: Correctable<unknown, Three> = outer.c.speculate((_value, { onAbort }) => {
    result.cancel();
    onAbort(async () => {
      await client.invoke(put('undo', 1));
    });
  });
  result.onError(() => 0);
  outer.sink.view(1, 'weak');
  (await binding.next()).fail(failure());
  await clock.advance(STEP_MS);
  expect(binding.calls).toHaveLength(2);
  (await binding.next()).view(null, 'strong');
});
