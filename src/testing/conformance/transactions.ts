/**
 * Checks `readVersions` and `commit`. A transaction depends on these two: with a version that does
 * not change, or a read of two states, it loses an update without an error.
 */
import type { Binding } from '../../correctable/binding.ts';
import { isCorrectableError } from '../../correctable/errors.ts';
import { get, put } from '../../operations/index.ts';
import {
  commit,
  readVersions,
  type BufferedWrite,
  type CommitResult,
  type Version,
  type VersionedRead,
  type VersionedValue,
} from '../../operations/versioned.ts';
import {
  assertHolds,
  ConformanceError,
  formatValue,
  runConcurrently,
  type AnyClient,
  type TestContext,
} from './test-context.ts';

/** The number of concurrent commits of the same key. */
const RIVALS = 6;
/** How often a pair of keys is written while other clients read both. */
const PAIR_WRITES = 12;
/** How often each worker increments the counter. */
const ADDITIONS = 4;
const WORKERS = 3;

/** The values of one key in sequence. Even if two are equal, their versions must differ. */
const REPEATED_VALUES = [1, 2, 1, null, 2, 1];

/** How often a store may refuse one operation with `CONFLICT`. */
const MAX_REFUSALS = 20;

const UNSUPPORTED_ADVICE =
  'If the store has no transactions, supports() must return false for readVersions and commit';

interface TransactionSubject {
  readonly binding: Binding;
  readonly client: AnyClient;
  /** A client of another binding to the same store, if there is one. */
  readonly rival: AnyClient;
}

/** Runs `body` if the store has transactions. A store without them passes. */
function withTransactions(
  context: TestContext,
  body: (subject: TransactionSubject) => Promise<void>,
): Promise<void> {
  return context.withBinding(async (binding, { secondBinding }) => {
    const client = context.createClient(binding);
    if (!(await hasTransactions(binding, client))) return;
    const other = await secondBinding?.();
    try {
      const rival = other === undefined ? client : context.createClient(other);
      await body({ binding, client, rival });
    } finally {
      await other?.close();
    }
  });
}

/** A binding that accepts any name, as `tiered` does, may fail with `UNSUPPORTED` later. */
async function hasTransactions(binding: Binding, client: AnyClient): Promise<boolean> {
  const probe = readVersions(['probe']);
  const [canRead, canCommit] = [probe, commit([], [])].map((operation) =>
    binding.supports(operation),
  );
  assertHolds(canRead === canCommit, 'supports(): readVersions without commit, or the reverse');
  if (canRead !== true) return false;
  try {
    await client.invokeStrong(probe);
    return true;
  } catch (error) {
    return !isCorrectableError(error, 'UNSUPPORTED');
  }
}

interface Reader {
  readonly trial: TestContext;
  readonly client: AnyClient;
}

async function read(
  { trial: context, client }: Reader,
  keys: readonly string[],
  known?: ReadonlyMap<string, Version>,
): Promise<readonly VersionedValue[]> {
  const { value } = await retryConflicts(() =>
    context.getFinal(client, readVersions(keys, known), [client.strongest]),
  );
  assertVersions(value, keys);
  return value;
}

function assertVersions(
  value: unknown,
  keys: readonly string[],
): asserts value is readonly VersionedValue[] {
  assertHolds(
    Array.isArray(value) && value.length === keys.length,
    () =>
      `readVersions of ${keys.length} keys: ${formatValue(value)}, not one { version, value } for each. ${UNSUPPORTED_ADVICE}`,
  );
  for (const item of value as readonly (VersionedValue | null | undefined)[]) {
    const type = typeof item?.version;
    assertHolds(
      type === 'string' || type === 'number',
      `readVersions: a version must be a string or a number, got ${type}. A key without a value has one too. ${UNSUPPORTED_ADVICE}`,
    );
  }
}

async function write(
  { trial: context, client }: Reader,
  reads: readonly VersionedRead[],
  writes: readonly BufferedWrite[],
): Promise<CommitResult> {
  const { value } = await retryConflicts(() =>
    context.getFinal(client, commit(reads, writes), [client.strongest]),
  );
  const { committed, changed } = (value ?? {}) as CommitResult;
  assertHolds(
    typeof committed === 'boolean' && Array.isArray(changed),
    () => `commit: ${formatValue(value)}, not { committed, changed }. ${UNSUPPORTED_ADVICE}`,
  );
  return { committed, changed };
}

/**
 * Retries after `CONFLICT`. A store may refuse a read or a commit with that error, and has then
 * written nothing.
 */
async function retryConflicts<T>(submit: () => Promise<T>): Promise<T> {
  for (let refusals = 1; ; refusals++) {
    try {
      return await submit();
    } catch (error) {
      const cause = error instanceof ConformanceError ? error.cause : error;
      if (!isCorrectableError(cause, 'CONFLICT') || refusals > MAX_REFUSALS) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, refusals));
  }
}

/**
 * Checks that a key without a value has a version, and that each write changes the versions of its
 * keys.
 */
export function certifiesVersions(context: TestContext): Promise<void> {
  return withTransactions(context, async ({ client }) => {
    const store = { trial: context, client };
    const [absent, other] = await read(store, ['a', 'b']);
    context.assertSame(absent!.value, undefined, 'readVersions of a key without a value');

    const reads = [
      { key: 'a', version: absent!.version },
      { key: 'b', version: other!.version },
    ];
    const first = await write(store, reads, [{ key: 'a', value: 1 }]);
    context.assertSame(first, { committed: true, changed: [] }, 'commit of unchanged reads');

    const second = await write(store, reads, [{ key: 'b', value: 2 }]);
    const stale = { committed: false, changed: ['a'] };
    context.assertSame(second, stale, 'commit with a version of "a" that is out of date');

    const blind = await write(store, [], [{ key: 'b', value: 3 }]);
    context.assertSame(blind, { committed: true, changed: [] }, 'commit of a write without a read');

    const present = await read(store, ['a', 'b']);
    const values = present.map(({ value }) => value);
    context.assertSame(values, [1, 3], 'readVersions after two commits, and one that was refused');

    const onlyReads = await write(store, reads, []);
    context.assertSame(
      onlyReads,
      { committed: false, changed: ['a', 'b'] },
      'commit without writes, with versions that are out of date',
    );
  });
}

/** Checks that no version occurs twice. Otherwise a commit would ignore all writes in between. */
export function givesNewVersions(context: TestContext): Promise<void> {
  return withTransactions(context, async ({ client }) => {
    const store = { trial: context, client };
    const versions: unknown[] = [(await read(store, ['k']))[0]?.version];
    for (const value of REPEATED_VALUES) {
      await write(store, [], [{ key: 'k', value }]);
      versions.push((await read(store, ['k']))[0]?.version);
    }
    assertHolds(
      new Set(versions).size === versions.length,
      () => `readVersions: a version comes back after other writes: ${formatValue(versions)}`,
    );
  });
}

/** Checks that a value that the caller already has is not sent again, unless it has changed. */
export function omitsKnownValues(context: TestContext): Promise<void> {
  return withTransactions(context, async ({ client }) => {
    const store = { trial: context, client };
    await write(
      store,
      [],
      [
        { key: 'a', value: 'old' },
        { key: 'b', value: 'same' },
      ],
    );
    const [a, b] = await read(store, ['a', 'b']);
    await write(store, [], [{ key: 'a', value: 'new' }]);

    const known = new Map([
      ['a', a!.version],
      ['b', b!.version],
    ]);
    const [changed, unchanged] = await read(store, ['a', 'b'], known);
    context.assertSame(changed?.value, 'new', 'readVersions: the value of a key that has changed');
    context.assertSame(unchanged?.version, b!.version, 'readVersions: the version of an old key');
    context.assertSame(unchanged?.value, undefined, 'readVersions: a value that the caller has');
  });
}

/** Checks that of several commits that have read the same version, one succeeds. */
export function commitsOneOfSeveral(context: TestContext): Promise<void> {
  return withTransactions(context, async ({ client, rival }) => {
    const [hot] = await read({ trial: context, client }, ['hot']);
    const reads = [{ key: 'hot', version: hot!.version }];
    const won: number[] = [];
    const rivals = Array.from({ length: RIVALS }, (_, at) => at);
    await runConcurrently(rivals, async (at) => {
      const store = { trial: context, client: at % 2 === 0 ? client : rival };
      const writes = [
        { key: 'hot', value: at },
        { key: `own ${at}`, value: at },
      ];
      if ((await write(store, reads, writes)).committed) won.push(at);
    });
    assertHolds(
      won.length === 1,
      () => `commit: ${won.length} of ${RIVALS} with the same version were committed, not 1`,
    );

    const keys = ['hot', ...rivals.map((at) => `own ${at}`)];
    const values = (await read({ trial: context, client }, keys)).map(({ value }) => value);
    const expected = [won[0], ...rivals.map((at) => (at === won[0] ? at : undefined))];
    context.assertSame(values, expected, 'after several commits of one key: all writes of one');
  });
}

/** Checks that values that are always written together are read together, at every level. */
export function readsOneState(context: TestContext): Promise<void> {
  return withTransactions(context, async ({ client, rival }) => {
    const progress = { isWritten: false };
    const writing = writePairs({ trial: context, client: rival }).finally(
      () => (progress.isWritten = true),
    );
    const reading = (async () => {
      while (!progress.isWritten) await checkPair({ trial: context, client });
    })();
    await runConcurrently([writing, reading], (work) => work);
  });
}

async function writePairs(store: Reader): Promise<void> {
  for (let value = 1; value <= PAIR_WRITES; value++) {
    const writes = ['left', 'right'].map((key) => ({ key, value }));
    await write(store, [], writes);
  }
}

async function checkPair({ trial: context, client }: Reader): Promise<void> {
  const keys = ['left', 'right'];
  const views = await retryConflicts(() => context.collectViews(client, readVersions(keys)));
  for (const { value, level } of views) {
    assertVersions(value, keys);
    const [left, right] = value.map((item) => item.value);
    assertHolds(
      left === right,
      () =>
        `readVersions at ${level}: ${formatValue(left)} beside ${formatValue(right)}, of two states`,
    );
  }
}

/** Checks that each committed addition counts once. */
export function losesNoUpdate(context: TestContext): Promise<void> {
  return withTransactions(context, async ({ client, rival }) => {
    const workers = Array.from({ length: WORKERS }, (_, at) => (at % 2 === 0 ? client : rival));
    await runConcurrently(workers, async (worker) => {
      const store = { trial: context, client: worker };
      for (let added = 0, refused = 0; added < ADDITIONS;) {
        if (await tryAdd(store)) added++;
        else refused++;
        // Each refusal requires another addition that was committed after its read.
        assertHolds(
          refused <= (WORKERS - 1) * ADDITIONS,
          'commit: refused more often than other commits have changed what it had just read',
        );
      }
    });
    const [total] = await read({ trial: context, client }, ['count']);
    context.assertSame(total?.value, WORKERS * ADDITIONS, 'additions that were committed');
  });
}

async function tryAdd(store: Reader): Promise<boolean> {
  const [count] = await read(store, ['count']);
  const reads = [{ key: 'count', version: count!.version }];
  const value = ((count!.value as number | undefined) ?? 0) + 1;
  const { committed } = await write(store, reads, [{ key: 'count', value }]);
  return committed;
}

/** Checks that a `put` conflicts with a transaction too. */
export function certifiesPuts(context: TestContext): Promise<void> {
  return withTransactions(context, async ({ binding, client, rival }) => {
    if (!binding.supports(put('k', 1)) || !binding.supports(get('k'))) return;
    const store = { trial: context, client };
    const [absent] = await read(store, ['k']);
    await context.getFinal(rival, put('k', 1), [rival.strongest]);

    const [present] = await read(store, ['k']);
    context.assertSame(present?.value, 1, 'readVersions after put');
    const stale = [{ key: 'k', version: absent!.version }];
    const refused = await write(store, stale, [{ key: 'k', value: 2 }]);
    const changed = { committed: false, changed: ['k'] };
    context.assertSame(refused, changed, 'commit with a version from before a put');

    await write(store, [{ key: 'k', version: present!.version }], [{ key: 'k', value: 3 }]);
    const { value } = await context.getFinal(rival, get('k'), [rival.strongest]);
    context.assertSame(value, 3, 'get after a commit');
  });
}

/**
 * Checks that the refused state is not returned again. Otherwise each further run would begin with
 * it and be refused again.
 */
export function showsRefusals(context: TestContext): Promise<void> {
  return withTransactions(context, async ({ binding, client, rival }) => {
    if (binding.openSession === undefined) return;
    const [absent] = await read({ trial: context, client }, ['k']);
    await write({ trial: context, client: rival }, [], [{ key: 'k', value: 1 }]);

    using session = client.session();
    const stale = [{ key: 'k', version: absent!.version }];
    const { committed } = await retryConflicts(() =>
      Promise.resolve(client.invokeStrong(commit(stale, []), { session })),
    );
    context.assertSame(committed, false, 'commit with a version that is out of date');
    const near = { session, levels: [client.weakest] as [string] };
    const [shown] = await retryConflicts(() =>
      Promise.resolve(client.invoke(readVersions(['k']), near)),
    );
    context.assertSame(
      shown?.value,
      1,
      `readVersions at ${client.weakest}, in the session of a commit that was refused`,
    );
  });
}
