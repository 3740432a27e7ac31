/** How the contract suite says what is wrong. */
import type { Operation } from '../../correctable/operation.ts';
import { isCorrectableError } from '../../correctable/errors.ts';

/** A promise of bindings that the one under test does not keep: its message is a sentence that says which, and how. */
export class ContractBreach extends Error {
  override readonly name = 'ContractBreach';
}

/**
 * Goes on where `isKept` is true.
 *
 * @throws ContractBreach with the sentence
 */
export function hold(isKept: boolean, sentence: string | (() => string), cause?: unknown): asserts isKept {
  if (isKept) return;
  const message = typeof sentence === 'string' ? sentence : sentence();
  throw new ContractBreach(message, cause === undefined ? undefined : { cause });
}

/** The operation, as sentences name it. */
export function nameOf({ name, key }: Operation): string {
  return key === undefined ? `"${name}"` : `"${name}" of "${key}"`;
}

/** A value, as sentences show it. */
export function show(value: unknown): string {
  try {
    return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part)) ?? String(value);
  } catch {
    return String(value);
  }
}

/** A failure, as sentences tell it; `undefined` is of what closed without one. */
export function tell(error: unknown): string {
  if (error === undefined) return 'closed with a final view';
  if (isCorrectableError(error)) return `${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}
