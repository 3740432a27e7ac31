/**
 * The errors of an operation that has led to others, by steps and effects of `onCommit` (COR-10,
 * COR-14).
 */
import { describe, expect, test, vi } from 'vitest';
import type { Client, Correctable, Levels } from '../../../src/index.ts';
import {
  all,
  correctable,
  correctableFromPromise,
  CorrectableError,
  createClient,
} from '../../../src/index.ts';
import { get, put } from '../../../src/operations/index.ts';
import type { ScriptedBinding, VirtualClock } from '../../../src/testing/index.ts';
import { scriptedBinding } from '../../../src/testing/scripted-binding.ts';
import { virtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Three } from './support.ts';
import { LEVELS, manual, settled, unhandledDuring } from './support.ts';

interface SetUp {
  readonly clock: VirtualClock;
  readonly binding: ScriptedBinding<Three>;
  readonly client: Client<Three>;
  /** A read of which the weak view has come. */
  readonly read: Correctable<unknown, Three>;
}

const TIMEOUT_MS = 10;

function setUp(): SetUp {
  const clock = virtualClock();
  const binding = scriptedBinding(LEVELS);
  const client = createClient(binding, { clock, timeoutMs: TIMEOUT_MS });
  const read = client.invoke(get('k'));
  binding.calls[0]!.view(1, 'weak');
  return { clock, binding, client, read };
}

async function errorOf(c: PromiseLike<unknown>): Promise<CorrectableError> {
  return c.then(
    (value) => expect.fail(`no error but ${String(value)}`),
    (error: unknown) => error as CorrectableError,
  );
}

const UNSEEN = '; a step of it may take effect all the same';

const never = (): Promise<never> => new Promise(() => {});
const awayError = new CorrectableError('UNAVAILABLE', 'away', { retryAfterMs: 5 });

/** The ways in which a read ends badly. */
const ENDS: Record<string, (item: SetUp) => void | Promise<void>> = {
  'fails with what is retryable': ({ binding }) => binding.calls[0]!.fail(awayError),
  'meets its deadline': ({ clock }) => clock.advance(TIMEOUT_MS),
  'is cancelled': ({ read }) => read.cancel(),
};

for (const step of ['speculate', 'chain'] as const) {
  for (const [name, end] of Object.entries(ENDS)) {
    describe(`${step}: the source ${name}`, () => {
      test('a step that is a write was executed → UNKNOWN', async () => {
        const item = setUp();
        const error = errorOf(item.read[step](() => item.client.invoke(put('k', 2))));
        await settled();
        item.binding.calls[1]!.view(undefined, 'strong');
        await end(item);
        expect(await error).toMatchObject({ code: 'UNKNOWN', retryable: false });
      });

      test('a step that is a read is in flight → the error of the source', async () => {
        const item = setUp();
        const result = item.read[step](() => item.client.invoke(get('other')));
        const errors = Promise.all([errorOf(item.read), errorOf(result)]);
        await settled();
        await end(item);
        const [expected, error] = await errors;
        expect(error).toMatchObject({ code: expected.code, retryable: expected.retryable });
      });

      test('a step returned a promise → not retryable, since its effects are unknown', async () => {
        for (const step of [never, () => Promise.resolve(1)]) {
          const item = setUp();
          const errors = Promise.all([errorOf(item.read), errorOf(item.read.chain(step))]);
          await settled();
          await end(item);
          const [{ code, message }, error] = await errors;
          expect(error).toMatchObject({ code, retryable: false });
          expect(error.message).toBe(message + UNSEEN);
        }
      });
    });
  }
}

describe('a step of a confirmed input', () => {
  test.each([
    ['a promise', never],
    ['correctableFrom', () => correctableFromPromise(never())],
    ['correctable', () => correctable(LEVELS, never)],
    [
      'all, which joins it to a read',
      (client: Client<Three>) => all([client.invoke(get('k')), correctableFromPromise(never())]),
    ],
  ])('it gave %s, the deadline passes → TIMEOUT, not retryable, and why', async (_, step) => {
    const { read, binding, clock, client } = setUp();
    const error = errorOf(read.chain<unknown, string>(() => step(client)));
    binding.calls[0]!.view(1, 'strong');
    await clock.advance(TIMEOUT_MS);
    expect(await error).toMatchObject({ code: 'TIMEOUT', retryable: false });
    expect((await error).message.endsWith(UNSEEN)).toBe(true);
  });

  test('it returned all of a failing read and a promise → not retryable', async () => {
    const { read, binding, client } = setUp();
    const error = errorOf(
      read.chain(() => all([client.invoke(get('other')), correctableFromPromise(never())])),
    );
    await settled();
    binding.calls[0]!.view(1, 'strong');
    binding.calls[1]!.fail(awayError);
    expect(await error).toMatchObject({ code: 'UNAVAILABLE', retryable: false });
    expect((await error).message.endsWith(UNSEEN)).toBe(true);
  });

  test.each<[string, (error: Error) => PromiseLike<number>]>([
    ['a promise', (error) => Promise.reject(error)],
    ['a correctableFromPromise', (error) => correctableFromPromise(Promise.reject(error))],
  ])('it returned %s with a retryable error → so is the result', async (_, step) => {
    const { read, binding } = setUp();
    const error = errorOf(read.chain(() => step(awayError)));
    binding.calls[0]!.view(1, 'strong');
    expect(await error).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
  });

  test('it fails without effect, but one of an input refuted before returned a promise → not retryable', async () => {
    const { read, binding } = setUp();
    const error = errorOf(
      read.chain((value) => (value === 1 ? never() : Promise.reject(awayError))),
    );
    await settled();
    binding.calls[0]!.view(2, 'strong');
    expect(await error).toMatchObject({ code: 'UNAVAILABLE', retryable: false, cause: awayError });
  });
});

test('a write on an input that was refuted was executed, that on the next one was not → UNKNOWN', async () => {
  const { read, binding, client } = setUp();
  const error = errorOf(read.chain((value) => client.invoke(put('k', value)), vi.fn()));
  await settled();
  binding.calls[1]!.view(undefined, 'strong');
  binding.calls[0]!.view(2, 'strong');
  await settled();
  binding.calls[2]!.fail(awayError);
  expect(await error).toMatchObject({ code: 'UNKNOWN', retryable: false });
});

test('chain to a write on a preliminary view, without an undo → UNKNOWN that asks for an undo; on the final → succeeds', async () => {
  const { read, binding, client } = setUp();
  const order = read.chain((value) => client.invoke(put('k', value)));
  const late = client.invoke(get('other'));
  const final = late.chain((value) => client.invoke(put('k', value)));
  const error = errorOf(order);
  await settled();
  binding.calls.find(({ operation }) => operation.key === 'other')!.view(7, 'strong');
  await settled();
  expect(await error).toMatchObject({
    code: 'UNKNOWN',
    message: expect.stringContaining('needs an undo'),
  });
  binding.calls.at(-1)!.view(undefined, 'strong');
  expect(await final).toBeUndefined();
});

test('… and the write fails afterwards → no unhandled rejection', async () => {
  const { read, binding, client } = setUp();
  const reasons = await unhandledDuring(async () => {
    expect(await errorOf(read.chain((value) => client.invoke(put('k', value))))).toMatchObject({
      code: 'UNKNOWN',
    });
    binding.calls[1]!.fail(awayError);
  });
  expect(reasons).toEqual([]);
});

test('no write was executed, neither on the refuted input nor on the next one → retryable', async () => {
  const { read, binding, client } = setUp();
  const error = errorOf(read.chain((value) => client.invoke(put('k', value)), vi.fn()));
  await settled();
  binding.calls[1]!.fail(awayError);
  binding.calls[0]!.view(2, 'strong');
  await settled();
  binding.calls[2]!.fail(awayError);
  expect(await error).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
});

test('a refuted step reads first and then writes → what comes of it later counts too', async () => {
  const { read, binding, client } = setUp();
  const readThenUpdate = (): Correctable<unknown, Three> =>
    client.invoke(get('other')).chain(() => client.invoke(put('k', 2)));
  const error = errorOf(read.chain((value) => (value === 1 ? readThenUpdate() : never())));
  await settled();
  binding.calls[0]!.view(2, 'weak');
  binding.calls[0]!.view(2, 'causal');
  await settled();
  binding.calls[1]!.view(0, 'strong');
  await settled();
  expect(binding.calls.map(({ operation }) => operation.name)).toEqual(['get', 'get', 'put']);
  binding.calls[0]!.fail(awayError);
  expect(await error).toMatchObject({ code: 'UNKNOWN' });
});

describe('a part is open, and its steps have not begun', () => {
  const PARTS: Record<string, (item: SetUp) => Correctable<unknown, Levels, string>> = {
    'a chain': ({ client, read }) => read.chain(() => client.invoke(put('k', 2))),
    'a speculation': ({ client, read }) => read.speculate(() => client.invoke(put('k', 2))),
    'what is mapped from a chain': ({ client, read }) =>
      read.chain(() => client.invoke(put('k', 2))).map(String),
    'a join with a chain': ({ client, read }) =>
      all([read.chain(() => client.invoke(put('k', 2)))]),
  };

  /** Invoked before the weak view has come. */
  function begun(): SetUp {
    const item = setUp();
    const read = item.client.invoke(get('other'));
    return { ...item, read };
  }

  for (const [name, make] of Object.entries(PARTS)) {
    test(`${name} in a join of which another part fails → not retryable, since the step still comes`, async () => {
      const item = begun();
      const { binding, client } = item;
      const error = errorOf(all([make(item), client.invoke(get('user'))]));
      await settled();
      binding.calls[2]!.fail(awayError);
      expect(await error).toMatchObject({
        code: 'UNAVAILABLE',
        retryable: false,
        message: `away${UNSEEN}`,
      });
      binding.calls[1]!.view(1, 'strong');
      await settled();
      expect(binding.calls.at(-1)!.operation.name).toBe('put');
    });

    test(`${name} returned by the step of a chain that is cancelled → the message has the possible effects`, async () => {
      const item = begun();
      const outer = item.client.invoke(get('k')).chain(() => make(item));
      const error = errorOf(outer);
      item.binding.calls[2]!.view(1, 'strong');
      await settled();
      outer.cancel();
      expect(await error).toMatchObject({
        code: 'ABORTED',
        message: `get "k": cancelled${UNSEEN}`,
      });
      item.read.cancel();
    });
  }

  test('a speculation of which the input is confirmed → as before, since effects may come', async () => {
    const { read, binding, client } = setUp();
    const effects: unknown[] = [];
    const part = read.speculate((_, { onCommit }) =>
      client.invoke(get('other')).map((value) => onCommit(() => void effects.push(value))),
    );
    const error = errorOf(all([part, client.invoke(get('user'))]));
    binding.calls[0]!.view(1, 'strong');
    await settled();
    binding.calls[1]!.fail(awayError);
    expect(await error).toMatchObject({ retryable: false });
    binding.calls[2]!.view('charged', 'strong');
    await settled();
    expect(effects).toEqual(['charged']);
  });

  test('a chain on its final input, whose step is a read → retryable: no other step comes', async () => {
    const { read, binding, client } = setUp();
    const part = read.chain(() => client.invoke(get('other')));
    const errors = [all([part, client.invoke(get('user'))]), part].map(errorOf);
    binding.calls[0]!.view(1, 'strong');
    await settled();
    binding.calls[1]!.fail(awayError);
    expect(await errors[0]).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
    part.cancel();
    await errors[1];
  });

  test('a chain that has failed → retryable: its step does not come any more', async () => {
    const { read, binding, client } = begun();
    const part = read.chain(() => client.invoke(put('k', 2)));
    const error = errorOf(all([part, client.invoke(get('user'))]));
    binding.calls[1]!.fail(awayError);
    expect(await error).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
  });
});

test('map throws what is retryable over a write → UNKNOWN with the cause', async () => {
  const { binding, client } = setUp();
  const mapped = client.invoke(put('k', 1)).map(() => {
    throw awayError;
  });
  const error = errorOf(mapped);
  binding.calls[1]!.view(undefined, 'strong');
  expect(await error).toMatchObject({
    code: 'UNKNOWN',
    retryable: false,
    cause: { cause: awayError },
  });
});

test('an effect of onCommit is in flight: the deadline passes, or cancelled → UNKNOWN', async () => {
  for (const end of [(item: SetUp) => item.clock.advance(TIMEOUT_MS), undefined]) {
    const element = setUp();
    const result = element.read.speculate((value, { onCommit }) => {
      onCommit(never);
      return value;
    });
    const error = errorOf(result);
    element.binding.calls[0]!.view(1, 'strong');
    await (end ? end(element) : result.cancel());
    expect(await error).toMatchObject({ code: 'UNKNOWN', retryable: false });
  }
});

test('onCommit was asked for, the input is not confirmed → as if it were not there', async () => {
  const item = setUp();
  const error = errorOf(
    item.read.speculate((value, { onCommit }) => {
      onCommit(never);
      return value;
    }),
  );
  await item.clock.advance(TIMEOUT_MS);
  expect(await error).toMatchObject({ code: 'TIMEOUT', retryable: true });
});

test('a write that certainly did nothing has failed → a join and a chain with it stay retryable', async () => {
  const { binding, client } = setUp();
  const update = client.invoke(put('k', 1));
  const other = client.invoke(get('k'));
  const errors = [all([update.map(String), other]), update.chain(() => other)].map(errorOf);
  binding.calls[1]!.fail(awayError);
  for (const error of errors)
    expect(await error).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
  other.onError(() => 0).cancel();
});

test.each([
  ['executed', true],
  ['in flight', false],
])(
  'a write on an input that was refuted is %s, many steps follow → it counts all the same',
  async (_, isDone) => {
    const { binding, client } = setUp();
    const { c, sink } = manual<number>({ isRefining: true });
    const order = (value: number): Correctable<unknown, Three> =>
      client.invoke(value === 0 ? put('k', value) : get(`k${value}`));
    const error = errorOf(c.chain(order, vi.fn()));
    for (let value = 0; value < 40; value += 1) {
      sink.view(value, 'weak');
      await settled();
      if (value > 0 || isDone) binding.calls.at(-1)!.view(value, 'strong');
    }
    sink.fail(awayError);
    expect(await error).toMatchObject({ code: 'UNKNOWN', retryable: false });
  },
);

test('a step fails with ABORTED of its own → what it did unseen is not known, so it is not retryable', async () => {
  const { read, binding } = setUp();
  const error = errorOf(
    read.chain(() => Promise.reject(new CorrectableError('ABORTED', 'left', { retryable: false }))),
  );
  const joined = errorOf(
    all([read.chain(() => Promise.reject(new CorrectableError('ABORTED', 'left')))]),
  );
  binding.calls[0]!.view(1, 'strong');
  for (const item of [error, joined])
    expect(await item).toMatchObject({ code: 'ABORTED', retryable: false });
  expect((await error).message).toBe(`left${UNSEEN}`);
});
