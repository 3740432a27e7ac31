/** Each store that breaks a rule of transactions fails the suite with a message that explains it. */
import { describe, expect, test } from 'vitest';
import { memory } from '../../src/bindings/memory/index.ts';
import type { Binding, Operation } from '../../src/index.ts';
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

const FAULTS = {
  'versions are not checked': {
    createBinding: replacing('commit', ({ writes }: CommitArgs) => commit([], writes)),
    message: 'commit with a version of "a" that is out of date',
  },
  'one of the writes is left out': {
    createBinding: replacing('commit', ({ reads, writes }: CommitArgs) => commit(reads, writes.slice(0, 1))),
    message: 'of two states',
  },
  'a second state is read for the second key': { createBinding: readsTwice, message: 'of two states' },
  'a version comes back after two writes': { createBinding: versionsModulo(2), message: 'comes back' },
  'all values are sent, known or not': {
    createBinding: replacing('readVersions', ({ keys }: ReadVersionsArgs) =>
      readVersions(keys, new Map<string, Version>()),
    ),
    message: 'a value that the caller has',
  },
};

const TITLES = [
  'transaction: versions out of date → refused with the keys, nothing written',
  'transaction: keys written together → never read apart',
  'transaction: versions that the caller knows → values left out',
  'transaction: each write of a key → a version that it never had',
];

describe('planted bindings', () => {
  test.each(Object.entries(FAULTS))('%s → caught, with the message', async (name, fault) => {
    const { createBinding, message } = fault;
    const subject = { name, createBinding, write: put('k', 1), read: get('k'), expected: 1 };
    const failures = await Promise.all(TITLES.map((title) => collectFailure(subject, title)));
    expect(failures.map(String).join('\n')).toContain(message);
  });
});
