/** Runs the contract suite on the bindings of this package, with longer timeouts. */
import { describe, expect, test } from 'vitest';
import {
  testBindingConformance,
  type ConformanceSubject,
} from '../../src/testing/binding-conformance.ts';

/** A long timeout, so that a test does not fail because the machine is busy. */
const PATIENCE_MS = 30_000;

/** Registers the contract suite for `subject`. */
export function runConformance(subject: ConformanceSubject): void {
  testBindingConformance({ timeoutMs: PATIENCE_MS, ...subject }, { describe, test, expect });
}
