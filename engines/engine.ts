/**
 * What an engine is to the launcher: something that can be started, asked about and stopped by
 * name.
 */
import { UsageError } from './usage-error.ts';

/** Options of `up`, as given on the command line: each engine checks the ones that it knows. */
export type UpOptions = Readonly<Record<string, unknown>>;

/** One option of `up`, for the help. */
export interface EngineOption {
  /** As in `--nodes <n>`. */
  readonly flag: string;
  readonly about: string;
}

export interface Engine {
  readonly name: string;
  readonly about: string;
  readonly options: readonly EngineOption[];
  /**
   * Starts the engine unless it runs already, and waits until it serves.
   *
   * @param progress gets lines for a person
   * @throws UsageError for an option that makes no sense; EngineUnavailable where something that it
   * needs is missing
   */
  up(options: UpOptions, progress: (text: string) => void): Promise<void>;
  /** One line a part of it, empty where it is down. */
  status(): Promise<readonly string[]>;
  /** The same for a program, as plain data; undefined where it is down. */
  describe(): unknown;
  /** Stops what `up` started; returns whether there was anything. */
  down(): Promise<boolean>;
}

/** The machine lacks what an engine needs: the message says what, and how to get it. */
export class EngineUnavailable extends Error {
  override readonly name = 'EngineUnavailable';
}

/** The value of `--name`, which must be one of `allowed`. */
export function oneOf<const T extends readonly string[]>(
  options: UpOptions,
  name: string,
  { allowed, unlessGiven }: { readonly allowed: T; readonly unlessGiven: T[number] },
): T[number] {
  const value = String(options[name] ?? unlessGiven);
  if (allowed.includes(value)) return value;
  throw new UsageError(`--${name} takes one of ${allowed.join(', ')}, not "${value}"`);
}
