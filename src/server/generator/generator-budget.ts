/**
 * What one run of a generator may take: steps, effects and time. The clock comes from outside, since a replica has none;
 * so does the guard that can stop a generator which neither returns nor reads.
 */
import type { CorrectableError } from '../../correctable/errors.ts';
import type { ReadNotes } from './table-readers.ts';
import type { ReadRange } from '../records/key-range.ts';
import { ownError } from '../records/own-errors.ts';
import { fieldName, removalName, rowName, type ReadSet } from './read-set.ts';
import { OPERATION_BYTES_MAX, OPERATION_PARTS_MAX } from '../records/bounds.ts';
import type { Effect } from '../records/effect.ts';
import { VALUE_BYTES, textBytes, writtenBytes } from '../../values/size.ts';
import type { Choice, Reply } from '../records/reply.ts';

/** Bounds of a run, and how often a run is repeated to see whether it gives the same. */
export interface GeneratorLimits {
  /** Fields and rows read, rows scanned, identifiers and random numbers drawn, in all. */
  readonly stepsMax: number;
  /** Effects of the chosen shadow operation. */
  readonly effectsMax: number;
  readonly timeMaxMs: number;
  /** The share of runs that are repeated and compared, from 0 to 1. */
  readonly repeatedShare: number;
}

export const GENERATOR_LIMITS: GeneratorLimits = {
  stepsMax: 100_000,
  effectsMax: 10_000,
  timeMaxMs: 1000,
  repeatedShare: 0.01,
};

/** `who` threw, in words. */
export type OnThrown = (who: string, thrown: unknown) => void;

/** What limits need of the world outside. */
export interface GeneratorPorts {
  /** Told what a generator threw that its contract does not declare, and which part of it did: nothing else is. */
  readonly onThrown?: OnThrown | undefined;
  /** A clock that never goes back, in milliseconds. Without one time is not measured. */
  readonly elapsedMs?: (() => number) | undefined;
  /** Calls `run` and stops it after so many milliseconds by throwing. Without one it is just called. */
  readonly guard?: ((run: () => unknown, timeMaxMs: number) => unknown) | undefined;
}

const NOTHING_READ: ReadSet = { names: new Set(), ranges: [] };

/** Steps between two looks at the clock. */
const STEPS_PER_LOOK = 64;

/** Counts one run at a time, and notes what it reads. */
export class GeneratorBudget implements ReadNotes {
  #names: Set<string> | undefined;
  #ranges: ReadRange[] | undefined;
  readonly #limits: GeneratorLimits;
  readonly #elapsedMs: (() => number) | undefined;
  #operation = '';
  #isNoting = true;
  #steps = 0;
  #startedAtMs = 0;
  #isLate = false;

  constructor(limits: GeneratorLimits, elapsedMs: (() => number) | undefined) {
    this.#limits = limits;
    this.#elapsedMs = elapsedMs;
  }

  /** `isNoting` unless nobody will ask what was read. */
  begin(operation: string, isNoting: boolean): void {
    this.#isNoting = isNoting;
    this.#names = undefined;
    this.#ranges = undefined;
    this.#operation = operation;
    this.#steps = 0;
    this.#isLate = false;
    if (this.#elapsedMs !== undefined) this.#startedAtMs = this.#elapsedMs();
  }

  /** Whether the last run that began may change something, so that what it has read counts. */
  get isOfUpdate(): boolean {
    return this.#isNoting;
  }

  /** Whether the run has been told that it took too long. */
  get isLate(): boolean {
    return this.#isLate;
  }

  /** What the run has read. */
  get reads(): ReadSet {
    if (this.#names === undefined && this.#ranges === undefined) return NOTHING_READ;
    return { names: this.#names ?? NOTHING_READ.names, ranges: this.#ranges ?? NOTHING_READ.ranges };
  }

  field(table: string, key: string, field: string): void {
    if (this.#isNoting) this.#name(fieldName(table, key, field));
    this.step();
  }

  row(table: string, key: string): void {
    if (this.#isNoting) this.#name(rowName(table, key));
    this.step();
  }

  removal(table: string, key: string): void {
    if (this.#isNoting) this.#name(removalName(table, key));
    this.step();
  }

  range(range: ReadRange): void {
    if (this.#isNoting) (this.#ranges ??= []).push(range);
    this.step();
  }

  scanned(): void {
    this.step();
  }

  step(): void {
    this.#steps += 1;
    if (this.#steps > this.#limits.stepsMax) throw this.tooLong(`took more than ${this.#limits.stepsMax} steps`);
    if (this.#steps % STEPS_PER_LOOK === 0) this.checkTime();
  }

  /** @throws CorrectableError when the run has taken too long. */
  checkTime(): void {
    if (this.#elapsedMs === undefined) return;
    const tookMs = this.#elapsedMs() - this.#startedAtMs;
    if (tookMs <= this.#limits.timeMaxMs) return;
    this.#isLate = true;
    throw this.tooLong(`ran for more than ${this.#limits.timeMaxMs} ms`);
  }

  /** @throws CorrectableError when there are too many. */
  checkEffects(count: number): void {
    if (count > this.#limits.effectsMax) throw this.tooLong(`has more than ${this.#limits.effectsMax} effects`);
  }

  #name(name: string): void {
    (this.#names ??= new Set()).add(name);
  }

  tooLong(how: string): CorrectableError {
    const message = `The generator of '${this.#operation}' ${how}. Nothing was changed: let it do less, or raise the limit.`;
    return ownError('FINAL_FAILED', message, `generators.${this.#operation}`);
  }
}

/** What came of a run. */
interface Sized {
  readonly reads: ReadSet;
  readonly choice: Choice | undefined;
  readonly reply: Reply;
  readonly refusal?: CorrectableError;
}

/** An effect is an object of five fields at most, with the key once more where a red one brings its row in. */
const EFFECT_BYTES = 12 * VALUE_BYTES;

/** How large one may be. */
interface SizeBounds {
  readonly bytesMax: number;
  readonly partsMax: number;
}

const BOUNDS: SizeBounds = { bytesMax: OPERATION_BYTES_MAX, partsMax: OPERATION_PARTS_MAX };

/**
 * Checks what came of a run of an update.
 *
 * @param bounds those of messages between sites unless given
 * @throws CorrectableError `INVALID_VALUE` with the bound, and the largest part as the field: `effects`, `reads`, `result`,
 * `shadow` (arguments of a shadow operation that makes the reply) or `errors`
 */
export function checkOperationSize({ choice, reads, reply, refusal }: Sized, bounds: SizeBounds = BOUNDS): void {
  const { bytesMax, partsMax } = bounds;
  const isRed = choice?.colour !== 'blue';
  if (isRed) checkReadParts(reads, partsMax);
  const effects = choice === undefined ? 0 : effectsBytes(choice.effects);
  const result = writtenBytes(reply.value) + (reply.meta === undefined ? 0 : writtenBytes(reply.meta));
  const read = isRed ? readBytes(reads) : 0;
  const args = isRed && choice !== undefined ? writtenBytes(choice.args) : 0;
  const errors = refusal === undefined ? 0 : textBytes(refusal.message) + writtenBytes(refusal.domain?.data);
  const bytes = effects + result + read + args + errors;
  if (bytes <= bytesMax) return;
  throw tooLarge({ effects, reads: read, result, shadow: args, errors }, bytes, bytesMax);
}

/** Effects are bounded by their bytes, and rows that come into being by the effects. */
function checkReadParts({ names, ranges }: ReadSet, partsMax: number): void {
  const parts = Math.max(names.size, ranges.length);
  if (parts <= partsMax) return;
  const message = `reads: an operation may have read ${partsMax} fields, rows and intervals, and this one has read ${parts}. Nothing was changed: divide it into several.`;
  throw ownError('INVALID_VALUE', message, 'reads');
}

function effectsBytes(effects: readonly Effect[]): number {
  let bytes = 0;
  for (const { table, key, field, action, value } of effects) {
    bytes += EFFECT_BYTES + 2 * textBytes(key) + textBytes(table) + textBytes(field) + textBytes(action);
    bytes += writtenBytes(value);
  }
  return bytes;
}

function readBytes({ names, ranges }: ReadSet): number {
  let bytes = 0;
  for (const name of names) bytes += textBytes(name);
  for (const range of ranges) bytes += writtenBytes(range);
  return bytes;
}

function tooLarge(parts: Readonly<Record<string, number>>, bytes: number, bytesMax: number): CorrectableError {
  const [[field] = ['effects']] = Object.entries(parts).toSorted(([, a], [, b]) => b - a);
  const message = `${field}: an operation may come to ${bytesMax} bytes between sites, with ${VALUE_BYTES} for each value in it, and this one comes to ${Math.ceil(bytes)}. Nothing was changed: divide it into several.`;
  return ownError('INVALID_VALUE', message, field);
}
