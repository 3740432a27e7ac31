/**
 * Limits one run of a generator: its steps, its effects and its time. The clock is passed in,
 * because this code must be pure.
 */
import type { CorrectableError } from '../../../correctable/errors.ts';
import type { ReadListener } from './table-readers.ts';
import type { ReadRange } from '../records/read-range.ts';
import { createInternalError } from '../records/internal-errors.ts';
import { toFieldName, toRemovalName, toRowName, type ReadSet } from './read-set.ts';
import { MAX_OPERATION_BYTES, MAX_OPERATION_PARTS } from '../records/retention-limits.ts';
import type { Effect } from '../records/effect.ts';
import {
  VALUE_BYTES,
  estimateStringBytes,
  estimateEncodedBytes,
} from '../../../values/estimate-bytes.ts';
import type { Choice, Reply } from '../records/reply.ts';

/** Limits of one generator run, and how often a run is repeated and compared. */
export interface GeneratorLimits {
  /**
   * Maximum number of fields and rows read, rows scanned, identifiers and random numbers, in total.
   * Default: 100 000
   */
  readonly maxSteps: number;
  /** Maximum number of effects of the chosen shadow operation. Default: 10 000 */
  readonly maxEffects: number;
  /** How long a run may take, in milliseconds. Default: 1000 */
  readonly timeoutMs: number;
  /** Share of the runs that are repeated and compared, from 0 to 1. Default: 0.01 */
  readonly determinismCheckRate: number;
}

export const GENERATOR_LIMITS: GeneratorLimits = {
  maxSteps: 100_000,
  maxEffects: 10_000,
  timeoutMs: 1000,
  determinismCheckRate: 0.01,
};

/** Receives an error that the code named `caller` threw. */
export type OnGeneratorError = (caller: string, thrown: unknown) => void;

/** Functions of the caller that the limits use. */
export interface GeneratorPorts {
  /**
   * Receives errors that a generator threw and its contract does not declare, with the part that
   * threw them.
   */
  readonly onGeneratorError?: OnGeneratorError | undefined;
  /** Throws if a shadow operation may not have these effects yet. */
  readonly checkChoice?: ((shadow: string, effects: readonly Effect[]) => void) | undefined;
  /** Returns a time in milliseconds that never goes back. Without it, time is not measured. */
  readonly elapsedMs?: (() => number) | undefined;
}

const NOTHING_READ: ReadSet = { names: new Set(), ranges: [] };

/** Steps between two readings of the clock. */
const STEPS_PER_CLOCK_CHECK = 64;

/** Counts the steps of one run at a time, and notes what it reads. */
export class GeneratorBudget implements ReadListener {
  #names: Set<string> | undefined;
  #ranges: ReadRange[] | undefined;
  readonly #limits: GeneratorLimits;
  readonly #elapsedMs: (() => number) | undefined;
  #operation = '';
  #isWrite = true;
  #isRecording = true;
  #steps = 0;
  #startedAtMs = 0;
  #isLate = false;

  constructor(limits: GeneratorLimits, elapsedMs: (() => number) | undefined) {
    this.#limits = limits;
    this.#elapsedMs = elapsedMs;
  }

  /** Begins a run. With `isNoting: false`, its reads are not listed. */
  begin(operation: string, isWrite: boolean, isNoting = isWrite): void {
    this.#isWrite = isWrite;
    this.#isRecording = isNoting;
    this.#names = undefined;
    this.#ranges = undefined;
    this.#operation = operation;
    this.#steps = 0;
    this.#isLate = false;
    if (this.#elapsedMs !== undefined) this.#startedAtMs = this.#elapsedMs();
  }

  /** Whether the last run that began is of a write, so that its reads are certified. */
  get isWrite(): boolean {
    return this.#isWrite;
  }

  get isLate(): boolean {
    return this.#isLate;
  }

  get reads(): ReadSet {
    if (this.#names === undefined && this.#ranges === undefined) return NOTHING_READ;
    return {
      names: this.#names ?? NOTHING_READ.names,
      ranges: this.#ranges ?? NOTHING_READ.ranges,
    };
  }

  onField(table: string, key: string, field: string): void {
    if (this.#isRecording) this.#noteName(toFieldName(table, key, field));
    this.step();
  }

  onRow(table: string, key: string): void {
    if (this.#isRecording) this.#noteName(toRowName(table, key));
    this.step();
  }

  onRemoval(table: string, key: string): void {
    if (this.#isRecording) this.#noteName(toRemovalName(table, key));
    this.step();
  }

  onRange(range: ReadRange): void {
    if (this.#isRecording) (this.#ranges ??= []).push(range);
    this.step();
  }

  onScanned(): void {
    this.step();
  }

  step(): void {
    this.#steps += 1;
    if (this.#steps > this.#limits.maxSteps)
      throw this.timeoutError(`took more than ${this.#limits.maxSteps} steps`);
    if (this.#steps % STEPS_PER_CLOCK_CHECK === 0) this.checkTime();
  }

  /** @throws CorrectableError if the run has taken too long */
  checkTime(): void {
    if (this.#elapsedMs === undefined) return;
    const tookMs = this.#elapsedMs() - this.#startedAtMs;
    if (tookMs <= this.#limits.timeoutMs) return;
    this.#isLate = true;
    throw this.timeoutError(`ran for more than ${this.#limits.timeoutMs} ms`);
  }

  /** @throws CorrectableError if there are too many */
  checkEffects(count: number): void {
    if (count > this.#limits.maxEffects)
      throw this.timeoutError(`has more than ${this.#limits.maxEffects} effects`);
  }

  #noteName(name: string): void {
    (this.#names ??= new Set()).add(name);
  }

  timeoutError(how: string): CorrectableError {
    const message = `The generator of '${this.#operation}' ${how}. Nothing was changed: let it do less, or raise the limit.`;
    return createInternalError('FINAL_FAILED', message, `generators.${this.#operation}`);
  }
}

interface SizedOutcome {
  readonly reads: ReadSet;
  readonly choice: Choice | undefined;
  readonly reply: Reply;
  readonly domainError?: CorrectableError;
}

/**
 * Estimated memory for an effect: an object of up to five fields. A red effect that creates a row
 * may contain its key once more.
 */
const EFFECT_BYTES = 12 * VALUE_BYTES;

interface SizeLimits {
  readonly maxBytes: number;
  /** Maximum size of an operation in the red log, in bytes. */
  readonly maxRedBytes: number;
  readonly maxParts: number;
}

/**
 * Throws `INVALID_VALUE` if a write is too large, with the limit, and with its largest part as the
 * field.
 */
export function checkOperationSize(
  { choice, reads, reply, domainError }: SizedOutcome,
  limits: Partial<SizeLimits> = {},
): void {
  const isRed = choice?.color !== 'blue';
  const {
    maxBytes: largest = MAX_OPERATION_BYTES,
    maxRedBytes = largest,
    maxParts = MAX_OPERATION_PARTS,
  } = limits;
  const maxBytes = isRed ? Math.min(maxRedBytes, largest) : largest;
  if (isRed) checkReadParts(reads, maxParts);
  const effects = choice === undefined ? 0 : measureEffects(choice.effects);
  const result =
    estimateEncodedBytes(reply.value) +
    (reply.meta === undefined ? 0 : estimateEncodedBytes(reply.meta));
  const read = isRed ? measureReads(reads) : 0;
  const args = isRed && choice !== undefined ? estimateEncodedBytes(choice.args) : 0;
  const errors =
    domainError === undefined
      ? 0
      : estimateStringBytes(domainError.message) + estimateEncodedBytes(domainError.domain?.data);
  const bytes = effects + result + read + args + errors;
  if (bytes <= maxBytes) return;
  throw tooLargeError({ effects, reads: read, result, shadow: args, errors }, bytes, maxBytes);
}

/**
 * Limits the number of parts that were read. The number of effects is limited by their bytes, and
 * so is the number of rows that they create.
 */
function checkReadParts({ names, ranges }: ReadSet, maxParts: number): void {
  const parts = Math.max(names.size, ranges.length);
  if (parts <= maxParts) return;
  const message = `reads: an operation may have read ${maxParts} fields, rows and intervals, and this one has read ${parts}. Nothing was changed: divide it into several.`;
  throw createInternalError('INVALID_VALUE', message, 'reads');
}

function measureEffects(effects: readonly Effect[]): number {
  let bytes = 0;
  for (const { table, key, field, action, value } of effects) {
    bytes +=
      EFFECT_BYTES +
      2 * estimateStringBytes(key) +
      estimateStringBytes(table) +
      estimateStringBytes(field) +
      estimateStringBytes(action);
    bytes += estimateEncodedBytes(value);
  }
  return bytes;
}

function measureReads({ names, ranges }: ReadSet): number {
  let bytes = 0;
  for (const name of names) bytes += estimateStringBytes(name);
  for (const range of ranges) bytes += estimateEncodedBytes(range);
  return bytes;
}

function tooLargeError(
  parts: Readonly<Record<string, number>>,
  bytes: number,
  maxBytes: number,
): CorrectableError {
  const [[field] = ['effects']] = Object.entries(parts).toSorted(([, a], [, b]) => b - a);
  const message = `${field}: an operation may come to ${maxBytes} bytes between sites, with ${VALUE_BYTES} for each value in it, and this one comes to ${Math.ceil(bytes)}. Nothing was changed: divide it into several.`;
  return createInternalError('INVALID_VALUE', message, field);
}
