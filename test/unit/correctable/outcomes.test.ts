/**
 * The outcome of an operation whose end is unknown: a write is never reported as not done if it may
 * be (COR-1, COR-10, COR-14).
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import type {
  Binding,
  Client,
  Correctable,
  ErrorCode,
  Levels,
  SubmissionStatus,
} from '../../../src/index.ts';
import { all, correctable, CorrectableError, createClient } from '../../../src/index.ts';
import { get, put } from '../../../src/operations/index.ts';
import type { ScriptedBinding, VirtualClock } from '../../../src/testing/index.ts';
import { scriptedBinding } from '../../../src/testing/scripted-binding.ts';
import { virtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Three } from './support.ts';
import { LEVELS } from './support.ts';

interface SetUp {
  readonly clock: VirtualClock;
  readonly binding: ScriptedBinding<Three>;
  readonly client: Client<Three>;
}

const TIMEOUT_MS = 10;

/** A store that answers only when a test makes it answer. */
function silent(whereabouts?: SubmissionStatus): SetUp {
  const clock = virtualClock();
  const binding = scriptedBinding(LEVELS, {
    onCall: ({ context }) => {
      if (whereabouts) context.submissionStatus = whereabouts;
    },
  });
  return { clock, binding, client: createClient(binding, { clock, timeoutMs: TIMEOUT_MS }) };
}

type Any = Correctable<unknown, Three>;

async function errorOf(c: PromiseLike<unknown>): Promise<CorrectableError> {
  return c.then(
    (value) => expect.fail(`no error but ${String(value)}`),
    (error: unknown) => error as CorrectableError,
  );
}

const never = (): Promise<never> => new Promise(() => {});

/** Ways to make one Correctable of an update. */
const DERIVED: Record<
  string,
  (update: Any, { client }: SetUp) => Correctable<unknown, Levels, string>
> = {
  'the write': (update) => update,
  map: (update) => update.map(() => 'saved'),
  'map of map': (update) => update.map(() => 1).map(() => 2),
  speculate: (update) => update.speculate(() => 'saved'),
  'chain to a write': (_update, { client }) => {
    const read = client.invoke(get('k'));
    return read.chain(() => client.invoke(put('k', 2)));
  },
  'join with a read': (update, { client }) => all([client.invoke(get('k')), update]),
};

describe('a write that may have taken effect', () => {
  for (const [name, derive] of Object.entries(DERIVED)) {
    test(`${name}: cancelled → UNKNOWN`, async () => {
      const setUp = silent();
      const update = setUp.client.invoke(put('k', 1));
      update.onError(() => 0);
      const derived = derive(update, setUp);
      for (const call of setUp.binding.calls)
        if (call.operation.access === 'read') call.view(1, 'weak');
      const last = derived.map((value) => value);
      last.cancel();
      derived.cancel();
      for (const c of [derived, last]) {
        expect(await errorOf(c)).toMatchObject({ code: 'UNKNOWN', retryable: false });
      }
    });

    test(`${name}: the deadline passes → UNKNOWN, not retryable`, async () => {
      const setUp = silent();
      const update = setUp.client.invoke(put('k', 1));
      update.onError(() => 0);
      const derived = derive(update, setUp);
      for (const call of setUp.binding.calls)
        if (call.operation.access === 'read') call.view(1, 'strong');
      const error = errorOf(derived);
      await setUp.clock.advance(TIMEOUT_MS);
      expect(await error).toMatchObject({ code: 'UNKNOWN', retryable: false });
      expect((await error).message).toMatch(
        /^put "k": no final view in time; the write may take effect all the same/,
      );
    });
  }

  test('the timeout of the strongest level passes → UNKNOWN with that level, and the signal of the binding aborts', async () => {
    const { client, clock, binding } = silent();
    const error = errorOf(client.invoke(put('k', 1), { levelTimeoutsMs: { strong: 5 } }));
    const { signal } = binding.calls[0]!.context;
    await clock.advance(5);
    expect(await error).toMatchObject({ code: 'UNKNOWN', level: 'strong', retryable: false });
    expect((await error).levelErrors).toMatchObject({ strong: { code: 'UNKNOWN' } });
    expect(signal.aborted).toBe(true);
  });

  test('it has ended, a step on its result hangs → UNKNOWN', async () => {
    for (const step of ['speculate', 'chain'] as const) {
      const { client, clock, binding } = silent();
      const update = client.invoke(put('k', 1)).map(() => 1);
      const error = errorOf(update[step](never));
      binding.calls[0]!.view(undefined, 'strong');
      await clock.advance(TIMEOUT_MS);
      expect(await error).toMatchObject({ code: 'UNKNOWN', retryable: false });
    }
  });

  test('a read that follows it fails with what is retryable → UNKNOWN with the cause', async () => {
    const { client, binding } = silent();
    const chained = client.invoke(put('k', 1)).chain(() => client.invoke(get('k')));
    binding.calls[0]!.view(undefined, 'strong');
    binding.calls[1]!.fail(new CorrectableError('OVERLOADED', 'later'));
    const cause = { code: 'OVERLOADED', message: 'later', operation: 'get' };
    expect(await errorOf(chained)).toMatchObject({ code: 'UNKNOWN', retryable: false, cause });
  });

  test('another part of a join fails with what is retryable, or is cancelled → UNKNOWN with the cause', async () => {
    const { client, binding } = silent();
    const joined = all([client.invoke(put('k', 1)), client.invoke(get('k'))]);
    binding.calls[1]!.fail(new CorrectableError('OVERLOADED', 'later'));
    expect(await errorOf(joined)).toMatchObject({ code: 'UNKNOWN', cause: { code: 'OVERLOADED' } });
    const read = client.invoke(get('k'));
    const other = all([client.invoke(put('k', 1)), read]);
    read.cancel();
    expect(await errorOf(other)).toMatchObject({ code: 'UNKNOWN', cause: { code: 'ABORTED' } });
  });

  test('the write itself fails with what is retryable → so do those made of it', async () => {
    const { client, binding } = silent();
    const update = client.invoke(put('k', 1));
    const read = client.invoke(get('k'));
    const made = [update.map(String), update.chain(() => 1), all([update, read])];
    const errors = made.map(errorOf);
    binding.calls[0]!.fail(new CorrectableError('OVERLOADED', 'nothing was done'));
    for (const error of errors)
      expect(await error).toMatchObject({ code: 'OVERLOADED', retryable: true });
    read.cancel();
  });
});

const NO_CONNECTION = new CorrectableError(
  'UNAVAILABLE',
  'no connection to ws://shop since 12:00: refused',
);

/** By whereabouts and effect: what the deadline and cancelling say. */
const CASES: readonly (readonly [
  string,
  SubmissionStatus | undefined,
  'read' | 'write',
  ErrorCode,
  ErrorCode,
])[] = [
  ['nothing is known', undefined, 'read', 'TIMEOUT', 'ABORTED'],
  ['nothing is known', undefined, 'write', 'UNKNOWN', 'UNKNOWN'],
  [
    'sent, connected',
    { mayHaveBeenSent: true, blockedBy: undefined },
    'read',
    'TIMEOUT',
    'ABORTED',
  ],
  [
    'sent, connected',
    { mayHaveBeenSent: true, blockedBy: undefined },
    'write',
    'UNKNOWN',
    'UNKNOWN',
  ],
  [
    'sent, no connection since',
    { mayHaveBeenSent: true, blockedBy: NO_CONNECTION },
    'read',
    'UNAVAILABLE',
    'ABORTED',
  ],
  [
    'sent, no connection since',
    { mayHaveBeenSent: true, blockedBy: NO_CONNECTION },
    'write',
    'UNKNOWN',
    'UNKNOWN',
  ],
  [
    'not sent',
    { mayHaveBeenSent: false, blockedBy: NO_CONNECTION },
    'read',
    'UNAVAILABLE',
    'ABORTED',
  ],
  [
    'not sent',
    { mayHaveBeenSent: false, blockedBy: NO_CONNECTION },
    'write',
    'UNAVAILABLE',
    'ABORTED',
  ],
  [
    'not sent, nothing is wrong',
    { mayHaveBeenSent: false, blockedBy: undefined },
    'read',
    'TIMEOUT',
    'ABORTED',
  ],
  [
    'not sent, nothing is wrong',
    { mayHaveBeenSent: false, blockedBy: undefined },
    'write',
    'UNAVAILABLE',
    'ABORTED',
  ],
];

describe('whereabouts', () => {
  for (const [name, whereabouts, effect, atDeadline, atCancel] of CASES) {
    test(`${effect}, ${name}: deadline → ${atDeadline}, cancel → ${atCancel}`, async () => {
      const operation = effect === 'read' ? get('k') : put('k', 1);
      const { client, clock } = silent(whereabouts);
      const late = errorOf(client.invoke(operation));
      const left = client.invoke(operation);
      left.cancel('page left');
      await clock.advance(TIMEOUT_MS);
      const error = await late;
      expect(error).toMatchObject({ code: atDeadline, retryable: atDeadline !== 'UNKNOWN' });
      expect(error.message).toContain(operation.name);
      if (whereabouts?.blockedBy) {
        expect(error.message).toContain('no connection to ws://shop since 12:00: refused');
        expect(error.cause).toBe(NO_CONNECTION);
      }
      expect(await errorOf(left)).toMatchObject({ code: atCancel, cause: 'page left' });
    });
  }

  test.each([
    ['read', true],
    ['read', false],
    ['write', false],
  ] as const)(
    '%s, it may have left: %s, an obstacle that stays → deadline: that one',
    async (effect, mayHaveBeenSent) => {
      const blockedBy = new CorrectableError('UNAUTHENTICATED', 'who are you?', { field: 'token' });
      const { client, clock } = silent({ mayHaveBeenSent, blockedBy });
      const late = errorOf(client.invoke(effect === 'read' ? get('k') : put('k', 1)));
      await clock.advance(TIMEOUT_MS);
      expect(await late).toMatchObject({
        code: 'UNAUTHENTICATED',
        retryable: false,
        field: 'token',
        cause: blockedBy,
      });
    },
  );

  test('single levels have failed, and the sink was not called → the error has those failures', async () => {
    const levelErrors = { weak: 'from before', causal: 'busy' };
    const { client, clock } = silent({ mayHaveBeenSent: true, blockedBy: undefined, levelErrors });
    const late = errorOf(client.invoke(get('k'), { levelTimeoutsMs: { weak: 1 } }));
    await clock.advance(TIMEOUT_MS);
    expect((await late).levelErrors).toMatchObject({ weak: { code: 'TIMEOUT' }, causal: 'busy' });
  });

  test('the binding reports later that it was sent → the moment of the end counts', async () => {
    const whereabouts = { mayHaveBeenSent: false, blockedBy: undefined };
    const { client } = silent(whereabouts);
    const update = client.invoke(put('k', 1));
    whereabouts.mayHaveBeenSent = true;
    update.cancel();
    expect(await errorOf(update)).toMatchObject({ code: 'UNKNOWN' });
  });

  test('a write that has not left is cancelled → what is made of it, and of it and others, is ABORTED too', async () => {
    const { client } = silent({ mayHaveBeenSent: false, blockedBy: undefined });
    const update = client.invoke(put('k', 1));
    const read = client.invoke(get('k'));
    const errors = [update.map(String), all([update, read])].map(errorOf);
    update.cancel();
    for (const error of errors) expect(await error).toMatchObject({ code: 'ABORTED' });
    read.cancel();
  });

  test('what is derived of a write that has not left is cancelled → UNKNOWN, since the write goes on', async () => {
    const { client } = silent({ mayHaveBeenSent: false, blockedBy: undefined });
    const derived = client.invoke(put('k', 1)).map(String);
    derived.cancel();
    expect(await errorOf(derived)).toMatchObject({ code: 'UNKNOWN' });
  });
});

test('a promise as a view → of a read INVALID_VALUE, of a write and what is made of it UNKNOWN', async () => {
  const { client, binding } = silent();
  const [read, update] = [client.invoke(get('k')), client.invoke(put('k', 1))];
  const mapped = client.invoke(put('k', 1)).map<unknown>(never);
  const codes = [read, update, mapped].map(async (c) => (await errorOf(c)).code);
  binding.calls[0]!.view(never(), 'strong');
  binding.calls[1]!.view(never(), 'strong');
  binding.calls[2]!.view(1, 'strong');
  expect(await Promise.all(codes)).toEqual(['INVALID_VALUE', 'UNKNOWN', 'UNKNOWN']);
});

test('the binding throws when asked where a write is → UNKNOWN, reported, other deadlines pass', async () => {
  const clock = virtualClock();
  const uncaught = vi.fn();
  const boom = new Error('boom');
  const whereabouts: SubmissionStatus = {
    get mayHaveBeenSent(): boolean {
      throw boom;
    },
    blockedBy: undefined,
  };
  const binding = scriptedBinding(LEVELS, {
    onCall: ({ context, operation }) => {
      if (operation.access === 'write') context.submissionStatus = whereabouts;
    },
  });
  const client = createClient(binding, { clock, timeoutMs: TIMEOUT_MS, onUncaught: uncaught });
  const ends = [client.invoke(put('k', 1)), client.invoke(get('k'))].map(errorOf);
  const cancelled = client.invoke(put('k', 1));
  cancelled.cancel();
  await clock.advance(TIMEOUT_MS);
  expect((await Promise.all([...ends, errorOf(cancelled)])).map(({ code }) => code)).toEqual([
    'UNKNOWN',
    'TIMEOUT',
    'UNKNOWN',
  ]);
  expect(uncaught.mock.calls).toEqual([[boom], [boom]]);
});

test('the table of the specification → the same as here', () => {
  const text = readFileSync(new URL('../../../docs/spec/correctable.md', import.meta.url), 'utf8');
  const written = [
    ...text.matchAll(/^\| a (read|write) \| (.*?) \| (.*?) \| `(\w+)` \| `(\w+)` \|$/gm),
  ];
  expect(written).toHaveLength(4);
  for (const [, whereabouts, effect, atDeadline, atCancel] of CASES) {
    const left = whereabouts?.mayHaveBeenSent === false ? 'no' : 'yes, or unknown';
    const obstacle = whereabouts?.blockedBy ? 'yes' : 'no';
    const row = written.find(
      (item) =>
        item[1] === effect && ['–', left].includes(item[2]!) && ['–', obstacle].includes(item[3]!),
    );
    expect(row?.slice(4)).toEqual([atDeadline, atCancel]);
  }
});

test('time-outs of a read → name the operation and its key, and the level where it has its own limit', async () => {
  const { client, clock } = silent();
  const whole = errorOf(client.invoke(get('k')).map(String));
  const level = errorOf(client.invoke(get('k'), { levelTimeoutsMs: { weak: 1, strong: 2 } }));
  await clock.advance(TIMEOUT_MS);
  expect((await whole).message).toBe('get "k": no final view in time');
  expect(await level).toMatchObject({
    message: 'get "k": no view at level "strong" in time',
    retryable: true,
  });
  expect((await level).levelErrors['weak']).toMatchObject({
    message: 'get "k": no view at level "weak" in time',
  });
});

/** What ends an operation of `get('user:7')` on a silent store with an error, by its code. */
const ENDS: { readonly [C in ErrorCode]?: (setUp: SetUp, read: Any) => PromiseLike<unknown> } = {
  TIMEOUT: ({ clock }, read) => clock.advance(TIMEOUT_MS).then(() => read),
  ABORTED: (_, read) => {
    read.cancel();
    return read;
  },
  UNKNOWN: ({ client }) => {
    const update = client.invoke(put('user:7', 1));
    update.cancel();
    return update;
  },
  UNAVAILABLE: ({ clock, binding }, read) => {
    binding.calls[0]!.context.submissionStatus = {
      mayHaveBeenSent: true,
      blockedBy: NO_CONNECTION,
    };
    return clock.advance(TIMEOUT_MS).then(() => read);
  },
  FINAL_FAILED: ({ binding }, read) => {
    binding.calls[0]!.fail(new Error('down'), 'strong');
    return read;
  },
  PROTOCOL: ({ binding }, read) => {
    binding.calls[0]!.confirm('strong', 3);
    return read;
  },
  INVALID_VALUE: ({ binding }, read) => {
    binding.calls[0]!.view(never(), 'strong');
    return read;
  },
  LEVEL_NOT_REACHED: ({ clock }, read) => {
    const causal = errorOf(read.when('causal', { withinMs: 1 }));
    return clock.advance(1).then(async () => Promise.reject(await causal));
  },
  SPECULATION_FAILED: ({ binding }, read) => {
    binding.calls[0]!.view(1, 'strong');
    return read.speculate(() => Promise.reject(new Error('mine')));
  },
  ABORT_HANDLER_FAILED: ({ binding }, read) => {
    const result = read.speculate(String, () => Promise.reject(new Error('mine')));
    binding.calls[0]!.view(1, 'weak');
    binding.calls[0]!.view(2, 'strong');
    return result;
  },
};

describe('messages', () => {
  test.each(Object.entries(ENDS))(
    '%s → begins with the operation and its key',
    async (code, end) => {
      const setUp = silent();
      // Watched from the start: the clock may run for longer than an unwatched failure stays
      // unreported.
      const read = setUp.client.invoke(get('user:7')).onError(() => 0);
      const error = await errorOf(end(setUp, read));
      expect(error.code).toBe(code);
      expect(error.message).toMatch(code === 'UNKNOWN' ? /^put "user:7": / : /^get "user:7": /);
      read.cancel();
    },
  );

  test('CLOSED_WITHOUT_FINAL → begins with the operation and its key', async () => {
    const binding: Binding<Three> = {
      name: 'ends at once',
      consistencyLevels: () => LEVELS,
      supports: () => true,
      submitOperation: async () => {},
      close: async () => {},
    };
    const error = await errorOf(createClient(binding).invoke(get('user:7')));
    expect(error).toMatchObject({
      code: 'CLOSED_WITHOUT_FINAL',
      message: 'get "user:7": no final view',
    });
  });

  test('an operation without a key, and no operation → by name alone', async () => {
    const { client, clock } = silent();
    const latest = errorOf(client.invoke({ name: 'latestNews', args: {}, access: 'read' }));
    const made = errorOf(correctable(LEVELS, never, { clock, timeoutMs: TIMEOUT_MS }));
    await clock.advance(TIMEOUT_MS);
    expect((await latest).message).toBe('latestNews: no final view in time');
    expect((await made).message).toBe('operation: no final view in time');
  });
});
