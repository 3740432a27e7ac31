/** A caller of one operation, and what it was told: views in order, then the end. */
import { isDeepStrictEqual, inspect } from 'node:util';
import type { Correctable, Levels } from '../../../src/index.ts';
import type { AnyView } from '../../../src/correctable/view.ts';
import { toldOf, type Told } from '../hostile/outcomes.ts';
import type { Account, SaidView } from './recorded-binding.ts';

export class Caller {
  readonly views: AnyView[] = [];
  told: Told | undefined;
  toldAtMs: number | undefined;
  /** What it was told after the end. */
  readonly late: string[] = [];
  #isOver = false;

  /** @param onTold called once, at the end */
  constructor(operation: Correctable<unknown, Levels, string>, onTold: () => void) {
    operation.subscribe({
      next: (view) => (this.#isOver ? this.late.push(`a view at ${view.level}`) : this.views.push(view)),
      error: () => this.#end('a failure'),
      complete: () => this.#end('the end'),
    });
    void toldOf(operation).then((reported) => {
      this.told = reported;
      onTold();
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

/** What is wrong with what a caller saw, where the store said `accounts` of its operation, one for each submission. */
export function wrongViews(caller: Caller, accounts: readonly Account[], levels: readonly string[]): string[] {
  const wrongs = caller.late.map((description) => `told ${description} after the end`);
  let before: AnyView | undefined;
  for (const view of caller.views) {
    if (before !== undefined) wrongs.push(...wrongStep(before, view, levels));
    const reported = accounts.flatMap(({ views, final }) => (view.final ? (final ?? []) : views));
    if (!reported.some((item) => isThat(view, item))) {
      const kind = view.final ? 'final' : 'view';
      wrongs.push(`told the ${kind} ${inspect(view)}, of which the store said ${inspect(reported, { depth: 4 })}`);
    }
    if (view.confirms !== isDeepStrictEqual(before?.value, view.value)) {
      wrongs.push(`told that view ${inspect(view)} ${view.confirms ? 'confirms' : 'differs from'} ${inspect(before)}`);
    }
    before = view;
  }
  const hasFinal = before?.final === true;
  if (caller.told !== undefined && hasFinal !== (caller.told.code === 'success')) {
    wrongs.push(`told ${caller.told.code} with ${hasFinal ? 'a' : 'no'} final view`);
  }
  return wrongs;
}

function wrongStep(before: AnyView, view: AnyView, levels: readonly string[]): string[] {
  if (before.final) return [`told a view at ${view.level} after the final`];
  if (levels.indexOf(view.level) > levels.indexOf(before.level)) return [];
  return [`told a view at ${view.level} after one at ${before.level}`];
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
