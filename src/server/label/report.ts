/** What labelling a service has given, as plain data. */
import type { Colour } from '../records/effect.ts';

/**
 * `blue`: no run has shown anything against it. `red`: it has to be, and is declared so. `unsafe`: it is declared blue and
 * must not be, or is wrong at one site already. `undecided`: it was not tried.
 */
export type Verdict = 'blue' | 'red' | 'unsafe' | 'undecided';

/** An operation, as a client asks for it. */
export interface CalledOperation {
  readonly operation: string;
  readonly args: unknown;
}

/** What shows that a shadow operation must not be blue, or not be at all: the simplest that was found. */
export interface Counterexample {
  /** Told line by line. */
  readonly story: readonly string[];
  /** What both sites have seen. */
  readonly past: readonly CalledOperation[];
  /** What the first site then does. */
  readonly here: CalledOperation;
  /** What the second does meanwhile. */
  readonly there: readonly CalledOperation[];
  /** The seed of a run that shows it. */
  readonly seed: number;
}

/** Of one shadow operation, where one operation chooses it. */
export interface ShadowVerdict {
  readonly name: string;
  /** The operation of the contract; `null` where no run has chosen the shadow operation. */
  readonly operation: string | null;
  readonly declared: Colour;
  readonly verdict: Verdict;
  readonly reason: string;
  readonly counterexample?: Counterexample;
}

/** What was found of a generator, beside its shadow operations. */
export interface GeneratorNote {
  readonly operation: string;
  /** Whether it is wrong in itself: others could only not be tried, or failed with what was drawn for them. */
  readonly isFault: boolean;
  readonly problem: string;
  readonly times: number;
}

/** The numbers of RedBlue's Table 2 (OSDI 2012): colours are those that are declared. */
export interface LabelTable {
  /** What users of the application ask for, where its module says so. */
  readonly requests: number | null;
  /** Operations of the contract. */
  readonly transactions: number;
  readonly readOnly: number;
  readonly updates: number;
  /** A read changes nothing: its shadow operation does nothing. */
  readonly shadowBlueNoop: number;
  readonly shadowBlue: number;
  readonly shadowRed: number;
}

/** All of it. */
export interface LabelReport {
  readonly service: string;
  /** So many were made. */
  readonly runs: number;
  readonly seed: number;
  readonly shadows: readonly ShadowVerdict[];
  readonly generators: readonly GeneratorNote[];
  readonly table: LabelTable;
}

/** What is noted of an operation for which nothing could be drawn. */
export const UNDRAWN = 'no arguments were drawn that its contract takes';

/** Whether the service is wrong as it is declared. */
export function isRefused({ shadows, generators }: LabelReport): boolean {
  return shadows.some(({ verdict }) => verdict === 'unsafe') || generators.some(({ isFault }) => isFault);
}
