/** Runs the contract suite on a binding that is expected to fail it. */
import { expect } from 'vitest';
import {
  testBindingConformance,
  type ConformanceSubject,
} from '../../src/testing/binding-conformance.ts';

/** The names of all tests that fail for `subject`. */
export async function collectFailures(subject: ConformanceSubject): Promise<readonly string[]> {
  const failures: string[] = [];
  for (const [name, body] of testsOf(subject)) await body().catch(() => failures.push(name));
  return failures;
}

/**
 * How one test of the suite fails for `subject`; it alone is run, for what hangs makes many of them
 * wait.
 */
export async function collectFailure(subject: ConformanceSubject, name: string): Promise<unknown> {
  const body = testsOf(subject).get(name);
  if (body === undefined) throw new Error(`the suite has no test '${name}' for ${subject.name}`);
  return body().catch((error: unknown) => error);
}

function testsOf(subject: ConformanceSubject): ReadonlyMap<string, () => Promise<void>> {
  const bodies = new Map<string, () => Promise<void>>();
  testBindingConformance(subject, {
    describe: (_name, body) => body(),
    test: (name, body) => void bodies.set(name, body),
    expect,
  });
  return bodies;
}
