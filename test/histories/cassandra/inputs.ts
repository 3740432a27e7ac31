/**
 * What calls were asked, as the history has it in their `input`: all that checkers know of the
 * statements.
 */

/** Of a key its value; null where there is none, or where it is to be deleted. */
export interface Entry {
  readonly key: string;
  readonly value: string | null;
}

/**
 * Writes of registers. Each value is written once in a history, so that a view identifies its
 * write.
 */
export interface WriteInput {
  readonly writes: readonly Entry[];
  /** Of a condition (`IF`): what has to be there, null for nothing. */
  readonly expected?: string | null;
  /** How long Cassandra is to keep it; for good unless given. */
  readonly keepMs?: number;
}

/** Reads of registers: a view has a value for each of them, null where there is none. */
export interface ReadInput {
  readonly reads: readonly string[];
  /** After all was healed: the last word on this key. */
  readonly isAfterwards?: boolean;
}

/** Elements that are appended to lists. Each element is appended by one call of a history alone. */
export interface AppendInput {
  readonly appends: readonly { readonly key: string; readonly element: string }[];
}

/** Reads of lists: a view has all elements of each. */
export interface ListsInput {
  readonly lists: readonly string[];
}

/** Counters of which each grows by one. */
export interface CountInput {
  readonly counts: readonly string[];
}

/** Reads of counters: a view has the number of each. */
export interface CountersInput {
  readonly counters: readonly string[];
}

/** The column with a type that changes is created again; `shape` is its content afterwards. */
export interface ReshapeInput {
  readonly shape: string;
}

/** Reads of that column: a view has its shape, null where it is empty. */
export interface ShapeInput {
  readonly isShape: true;
}

/** Whether the call was made in the caller's session: its views must not be behind those before. */
interface Kept {
  readonly isKept?: boolean;
}

/** Any of them: which one, its fields tell. */
export type Input = Kept &
  Partial<
    WriteInput &
      ReadInput &
      AppendInput &
      ListsInput &
      CountInput &
      CountersInput &
      ReshapeInput &
      ShapeInput
  >;

export function getInput({ input }: { readonly input?: unknown }): Input {
  return (input ?? {}) as Input;
}

/** Who reads the final state, past the binding. */
export const INDEPENDENT = 'independent';
/** Who does harm: its calls are what was done to whom, and for how long. */
export const NEMESIS = 'nemesis';
