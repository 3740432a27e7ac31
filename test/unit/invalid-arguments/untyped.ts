/** What a program without types calls, and the little that wrong calls need of what is right. */
import * as z from 'zod';
import { defineContract } from '../../../src/contract/index.ts';
import { memory } from '../../../src/bindings/memory/index.ts';

/** A function or a class whose types are not checked. */
export interface Untyped {
  (...args: readonly unknown[]): unknown;
  new (...args: readonly unknown[]): unknown;
}

/** What an entry exports. */
export type Entry = Readonly<Record<string, unknown>>;

/**
 * What was called wrongly, the field that the error names, the call, and the code where it is not
 * that of the function.
 */
export type Mistake = readonly [
  what: string,
  field: string,
  call: (f: Untyped, entry: Entry) => unknown,
  code?: string,
];

/** The mistakes with one function, or why it can be called by none. */
export type MistakesWith =
  | string
  | {
      /** The example in the message of a call that is wrong as a whole. */
      readonly shows: string;
      readonly whole: readonly Mistake[];
      /** Mistakes whose message is about one option or part. */
      readonly parts: readonly Mistake[];
      /** The expected code. Default: `INVALID_ARGUMENT`. */
      readonly code?: string;
    };

/** By function. */
export type Mistakes = Readonly<Record<string, MistakesWith>>;

/** A method of what an untyped function gave. */
export function method(of: unknown, name: string): (...args: readonly unknown[]) => unknown {
  const target = of as Readonly<Record<string, (...args: readonly unknown[]) => unknown>>;
  return (...args) => target[name]?.(...args);
}

export const binding = () => memory();

export const contract = () =>
  defineContract('wrong-calls', {
    get: { access: 'read', args: z.object({ key: z.string() }), result: z.unknown() },
  });
