/** The contract suite on the bindings of this package, with the patience of its tests. */
import { describe, expect, test } from 'vitest';
import { testBindingConformance, type ConformanceSubject } from '../../src/testing/binding-conformance.ts';

/** A machine with busy cores is no failure. */
const PATIENCE_MS = 30_000;

/** Registers the contract suite for `subject`. */
export function runConformance(subject: ConformanceSubject): void {
  testBindingConformance({ timeoutMs: PATIENCE_MS, ...subject }, { describe, test, expect });
}
