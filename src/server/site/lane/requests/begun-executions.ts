/**
 * The own executions of globals whose holds may stand. A limited number begins at a time, and the
 * others hold nothing meanwhile: if all of a burst held their rows at once, none would end before
 * all others have got as far.
 *
 * Each set of red logs has its own places. So globals whose home is away leave the places of others
 * free.
 */
import type { ExecutionName } from '../../../service/records/records.ts';

interface LogSet {
  readonly begun: Set<ExecutionName>;
  /** In the order in which they came. */
  readonly waiting: Set<ExecutionName>;
}

export class BegunExecutions {
  readonly #max: number;
  /** By the ordinals of the logs. */
  readonly #sets = new Map<string, LogSet>();
  readonly #setOf = new Map<ExecutionName, string>();

  /** @param max the number of executions over the same logs */
  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Whether the execution may take its holds. Otherwise it waits for a place.
   *
   * @param logs the ordinals of the partitions concerned
   */
  enter(execution: ExecutionName, logs: readonly number[]): boolean {
    const name = this.#setOf.get(execution) ?? toSetName(logs);
    const set = this.#getSet(name);
    if (set.begun.has(execution)) return true;
    this.#setOf.set(execution, name);
    const hasPlace = set.begun.size < this.#max && set.waiting.size === 0;
    (hasPlace ? set.begun : set.waiting).add(execution);
    return hasPlace;
  }

  /**
   * The execution has ended, or was given up. Returns the one that gets its place, if one waits.
   */
  leave(execution: ExecutionName): ExecutionName | undefined {
    const name = this.#setOf.get(execution);
    const set = name === undefined ? undefined : this.#sets.get(name);
    if (name === undefined || set === undefined) return undefined;
    this.#setOf.delete(execution);
    set.waiting.delete(execution);
    const [next] = set.begun.delete(execution) ? set.waiting : [];
    if (next !== undefined) {
      set.waiting.delete(next);
      set.begun.add(next);
    }
    if (set.begun.size === 0) this.#sets.delete(name);
    return next;
  }

  #getSet(name: string): LogSet {
    const present = this.#sets.get(name);
    if (present !== undefined) return present;
    const set = {
      begun: new Set<ExecutionName>(),
      waiting: new Set<ExecutionName>(),
    };
    this.#sets.set(name, set);
    return set;
  }
}

function toSetName(logs: readonly number[]): string {
  return logs.toSorted((a, b) => a - b).join();
}
