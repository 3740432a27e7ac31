/** Records the views and the end that the caller of one operation receives. */
import { isDeepStrictEqual, inspect } from 'node:util';
import type { Correctable, Levels } from '../../../src/index.ts';
import type { AnyView } from '../../../src/correctable/view.ts';
import { getCallOutcome, type CallOutcome } from '../hostile/outcomes.ts';
import type { Account, SaidView } from './recorded-binding.ts';

export class Caller {
  readonly views: AnyView[] = [];
  outcome: CallOutcome | undefined;
  endedAtMs: number | undefined;
  /** Calls that came after the end. */
  readonly late: string[] = [];
  #isOver = false;

  /** @param onEnded called once, when the operation ends */
  constructor(operation: Correctable<unknown, Levels, string>, onEnded: () => void) {
    operation.subscribe({
      next: (view) =>
        this.#isOver ? this.late.push(`a view at ${view.level}`) : this.views.push(view),
      error: () => this.#end('a failure'),
      complete: () => this.#end('the end'),
    });
    void getCallOutcome(operation).then((reported) => {
      this.outcome = reported;
      onEnded();
    });
  }

  get value(): unknown {
    return this.views.at(-1)?.value;
  }

  #end(description: string): void {
    if (this.#isOver) this.late.push(description);
    this.#isOver = true;
  }
}

/**
 * Returns what is wrong with a caller's views. The store reported `accounts` for its operation, one
 * for each submission.
 */
export function wrongViews(
  caller: Caller,
  accounts: readonly Account[],
  levels: readonly string[],
): string[] {
  const wrongs = caller.late.map((description) => `reported ${description} after the end`);
  let before: AnyView | undefined;
  for (const view of caller.views) {
    if (before !== undefined) wrongs.push(...wrongStep(before, view, levels));
    const reported = accounts.flatMap(({ views, final }) => (view.final ? (final ?? []) : views));
    if (!reported.some((item) => isThat(view, item))) {
      const kind = view.final ? 'final' : 'view';
      wrongs.push(
        `reported the ${kind} ${inspect(view)}, for which the store reported ${inspect(reported, { depth: 4 })}`,
      );
    }
    if (view.confirms !== isDeepStrictEqual(before?.value, view.value)) {
      wrongs.push(
        `reported that view ${inspect(view)} ${view.confirms ? 'confirms' : 'differs from'} ${inspect(before)}`,
      );
    }
    before = view;
  }
  const hasFinal = before?.final === true;
  if (caller.outcome !== undefined && hasFinal !== (caller.outcome.code === 'success')) {
    wrongs.push(`reported ${caller.outcome.code} with ${hasFinal ? 'a' : 'no'} final view`);
  }
  return wrongs;
}

function wrongStep(before: AnyView, view: AnyView, levels: readonly string[]): string[] {
  if (before.final) return [`reported a view at ${view.level} after the final`];
  if (levels.indexOf(view.level) > levels.indexOf(before.level)) return [];
  return [`reported a view at ${view.level} after one at ${before.level}`];
}

function isThat(view: AnyView, reported: SaidView): boolean {
  const { level, value, version, meta } = view;
  return (
    level === reported.level &&
    isDeepStrictEqual(value, reported.value) &&
    isDeepStrictEqual(version, reported.version) &&
    isDeepStrictEqual(meta, reported.meta)
  );
}
