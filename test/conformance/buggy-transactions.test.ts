/**
 * Each store that breaks a rule of transactions fails the suite with a message that explains it. A
 * store that keeps the rules in an unusual way passes.
 */
import { describe, expect, test } from 'vitest';
import { memory } from '../../src/bindings/memory/index.ts';
import { CorrectableError, type Binding, type Operation } from '../../src/index.ts';
import {
  commit,
  get,
  put,
  readVersions,
  type CommitArgs,
  type ReadVersionsArgs,
  type Version,
  type VersionedValue,
} from '../../src/operations/index.ts';
import { collectFailure } from './collect-failures.ts';

type MemoryBinding = ReturnType<typeof memory>;
type Submit = MemoryBinding['submitOperation'];

/** A memory binding that submits each operation as `submit` says. */
function withSubmit(submit: (inner: MemoryBinding) => Submit): () => Promise<{ binding: Binding }> {
  return async () => {
    const inner = memory({ delaysMs: { weak: 0, strong: 2 } });
    const binding = Object.create(inner, { submitOperation: { value: submit(inner) } });
    return { binding: binding as Binding };
  };
}

/** Passes another operation on in the place of `name`. */
const replacing = (name: string, replace: (args: never) => Operation) =>
  withSubmit((inner) => (operation, levels, sink, context) => {
    const actual = operation.name === name ? replace(operation.args as never) : operation;
    inner.submitOperation(actual as Operation<never>, levels, sink as never, context);
  });

/** Reads the second of two keys a while after the first. */
const readsTwice = withSubmit((inner) => (operation, levels, sink, context) => {
  const { keys = [] } = operation.args as { keys?: readonly string[] };
  if (operation.name !== 'readVersions' || keys.length !== 2)
    return inner.submitOperation(operation, levels, sink, context);

  const parts: VersionedValue[] = [];
  const readPart = (key: string): void => {
    const view = (value: VersionedValue[]): number => {
      parts.push(...value);
      if (parts.length === 1) setTimeout(() => readPart(keys[1]!), 3);
      else sink.view(parts as never, 'strong');
      return 0;
    };
    const part = { ...sink, view } as never;
    void inner.submitOperation(readVersions([key]) as never, ['strong'], part, context);
  };
  readPart(keys[0]!);
});

/** Counts the writes of a key from 0 again and again. */
const versionsModulo = (count: number) =>
  withSubmit((inner) => (operation, levels, sink, context) => {
    const repeat = (value: unknown, level: 'weak' | 'strong'): number => {
      const items = value as VersionedValue[];
      const shown = items.map((item) => ({ ...item, version: Number(item.version) % count }));
      return sink.view(shown as never, level);
    };
    const isRead = operation.name === 'readVersions';
    inner.submitOperation(operation, levels, isRead ? { ...sink, view: repeat } : sink, context);
  });

/** Changes what is read with versions, and how a commit names them. */
const withVersions = (
  toForeign: (version: Version) => unknown,
  fromForeign: (version: never) => Version,
): (() => Promise<{ binding: Binding }>) =>
  withSubmit((inner) => (operation, levels, sink, context) => {
    const { reads, ...args } = operation.args as CommitArgs;
    const known = reads?.map(({ key, version }) => ({
      key,
      version: fromForeign(version as never),
    }));
    const actual =
      known === undefined ? operation : { ...operation, args: { ...args, reads: known } };
    const view = (value: unknown, ...where: [never, never]): number =>
      sink.view(
        (operation.name === 'readVersions'
          ? (value as VersionedValue[]).map((item) => ({
              ...item,
              version: toForeign(item.version),
            }))
          : value) as never,
        ...where,
      );
    inner.submitOperation(
      actual as Operation<never>,
      levels,
      { ...pass(sink), view } as never,
      context,
    );
  });

/** The functions of `sink`, which may be methods of a class. */
function pass<S extends { confirm: unknown; fail: unknown }>(sink: S): Pick<S, 'confirm' | 'fail'> {
  const call =
    (name: 'confirm' | 'fail') =>
    (...args: unknown[]): unknown =>
      (sink[name] as (...all: unknown[]) => unknown).apply(sink, args);
  return { confirm: call('confirm'), fail: call('fail') } as never;
}

const isOfTransactions = ({ name }: Operation): boolean => /^(readVersions|commit)$/.test(name);

/** Keeps what transactions write apart from what `put` writes. */
const keepsPutsApart = withSubmit((inner) => {
  const apart = memory({ delaysMs: { weak: 0, strong: 2 } });
  return (operation, ...how) =>
    (isOfTransactions(operation) ? apart : inner).submitOperation(operation, ...how);
});

/** Has sessions, and reads a copy that is far behind in spite of them. */
async function forgetsSessions(): Promise<{ binding: Binding }> {
  const inner: MemoryBinding = memory({ lagMs: 60_000 });
  const submit: Submit = (operation, levels, sink, context) =>
    inner.submitOperation(operation, levels, sink, {
      signal: context.signal,
      deadlineAt: undefined,
      session: undefined,
      trace: undefined,
    });
  return { binding: Object.create(inner, { submitOperation: { value: submit } }) as Binding };
}

/** Takes any operation, as a `tiered` binding without `supports` does. */
function acceptsAnyName(
  answer: (sink: Parameters<Submit>[2]) => unknown,
): () => Promise<{ binding: Binding }> {
  return async () => {
    const { binding } = await withSubmit((inner) => (operation, levels, sink, context) => {
      if (isOfTransactions(operation)) answer(sink as never);
      else inner.submitOperation(operation, levels, sink, context);
    })();
    return { binding: Object.create(binding, { supports: { value: () => true } }) as Binding };
  };
}

/**
 * Refuses each third operation of transactions, as a database does that cannot order two of them.
 */
const refusesSome = withSubmit((inner) => {
  let count = 0;
  return (operation, levels, sink, context) => {
    if (isOfTransactions(operation) && ++count % 3 === 0)
      sink.fail(new CorrectableError('CONFLICT', 'two transactions cannot be ordered'));
    else inner.submitOperation(operation, levels, sink, context);
  };
});

const addsFields = withSubmit((inner) => (operation, levels, sink, context) => {
  const view = (value: object, ...where: [never, never]): number =>
    sink.view((operation.name === 'commit' ? { ...value, at: 7 } : value) as never, ...where);
  inner.submitOperation(
    operation as Operation<never>,
    levels,
    { ...pass(sink), view } as never,
    context,
  );
});

const FAULTS = {
  'versions are not checked': {
    createBinding: replacing('commit', ({ writes }: CommitArgs) => commit([], writes)),
    message: 'commit with a version of "a" that is out of date',
  },
  'one of the writes is left out': {
    createBinding: replacing('commit', ({ reads, writes }: CommitArgs) =>
      commit(reads, writes.slice(0, 1)),
    ),
    message: 'of two states',
  },
  'a second state is read for the second key': {
    createBinding: readsTwice,
    message: 'of two states',
  },
  'a version comes back after two writes': {
    createBinding: versionsModulo(2),
    message: 'comes back',
  },
  'all values are sent, known or not': {
    createBinding: replacing('readVersions', ({ keys }: ReadVersionsArgs) =>
      readVersions(keys, new Map<string, Version>()),
    ),
    message: 'a value that the caller has',
  },
  'versions of another type': {
    createBinding: withVersions(BigInt, Number),
    message: 'readVersions: a version must be a string or a number, got bigint',
  },
  'a key without a value has no version': {
    createBinding: withVersions(
      (version) => (version === 0 ? undefined : version),
      (version: Version | undefined) => version ?? 0,
    ),
    message: 'a version must be a string or a number, got undefined',
  },
  'put changes no version': {
    createBinding: keepsPutsApart,
    message: 'readVersions after put',
  },
  'a session does not see what refused its commit': {
    createBinding: forgetsSessions,
    message: 'in the session of a commit that was refused',
  },
  'all names are accepted, and answered with nothing': {
    createBinding: acceptsAnyName((sink) => sink.view(undefined as never, 'strong')),
    message: 'supports() must return false for readVersions and commit',
  },
};

const KEPT = {
  'all names are accepted, and those of transactions fail with UNSUPPORTED': acceptsAnyName(
    (sink) => sink.fail(new CorrectableError('UNSUPPORTED', 'the store has no transactions')),
  ),
  'some operations are refused with CONFLICT': refusesSome,
  'a commit returns further fields': addsFields,
};

const TITLES = [
  'transaction: versions out of date → refused with the keys, nothing written',
  'transaction: keys written together → never read apart',
  'transaction: versions that the caller knows → values left out',
  'transaction: each write of a key → a version that it never had',
  'transaction: several commits of one version at once → one is committed',
  'transaction: concurrent additions → none is lost',
  'transaction: put and get beside it → each sees what the other has written',
  'transaction: refused in a session → its next read shows why',
];

describe('planted bindings', () => {
  test.each(Object.entries(FAULTS))('%s → caught, with the message', async (name, fault) => {
    const { createBinding, message } = fault;
    const subject = { name, createBinding, write: put('k', 1), read: get('k'), expected: 1 };
    const failures = await Promise.all(TITLES.map((title) => collectFailure(subject, title)));
    expect(failures.map(String).join('\n')).toContain(message);
  });

  test.each(Object.entries(KEPT))('%s → passes', async (name, createBinding) => {
    const subject = { name, createBinding, write: put('k', 1), read: get('k'), expected: 1 };
    for (const title of TITLES) expect(await collectFailure(subject, title)).toBeUndefined();
  });
});
