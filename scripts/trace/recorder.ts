/** Records the functions that run while it is on. The compiled code of a walk calls it. */

/** A function that has run, and how deep in the stack. A depth of 0 is a turn of the event loop. */
export interface TraceStep {
  readonly functionId: number;
  readonly depth: number;
}

export interface Trace {
  readonly steps: readonly TraceStep[];
  /** For each use of the watched name as a key: the index of the last step before it. */
  readonly lookups: readonly number[];
  /** Objects and arrays that were created by an expression. */
  readonly created: number;
}

/** More would be no operation, but an endless loop. */
const MAX_STEPS = 200_000;

let isRecording = false;
let watchedName = '';
let depth = 0;
let steps: TraceStep[] = [];
let lookups: number[] = [];
let created = 0;

Object.assign(globalThis, {
  __traceEnter(functionId: number): void {
    if (isRecording && steps.length < MAX_STEPS) steps.push({ functionId, depth });
    depth += 1;
  },
  __traceExit(): void {
    depth -= 1;
  },
  __traceKey<T>(key: T): T {
    if (isRecording && key === watchedName) lookups.push(steps.length - 1);
    return key;
  },
  __traceCreated<T>(object: T): T {
    if (isRecording) created += 1;
    return object;
  },
});

/** Starts to record. Uses of `name` as a key are counted. */
export function startRecording(name: string): void {
  [isRecording, watchedName, steps, lookups, created] = [true, name, [], [], 0];
}

/** Returns how many functions have run since the recording began. */
export function countSteps(): number {
  return steps.length;
}

export function stopRecording(): Trace {
  isRecording = false;
  return { steps, lookups, created };
}
