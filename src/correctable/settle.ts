/** Taking a view before the final one (C9). What waits for it leaves nothing behind on the source. */
import type { SettleOptions, WhenOptions } from './correctable.ts';
import { CorrectableError, invalidArgument } from './errors.ts';
import type { Levels } from './level.ts';
import { FunctionListener } from './listener.ts';
import type { Source } from './source.ts';
import type { AnyView } from './view.ts';

/** Each gives the view to answer with, `undefined` to wait on, or throws to refuse. */
interface Rules<T> {
  readonly onView: (view: AnyView<T>) => AnyView<T> | undefined;
  readonly onTime: () => AnyView<T> | undefined;
  readonly onFailure: (error: CorrectableError) => AnyView<T> | undefined;
}

export function settle<T>(source: Source<T>, options: SettleOptions<T, Levels, string>): Promise<AnyView<T>> {
  const { when: isEnough, withinMs, orLatest, rest } = options;
  let isLate = false;
  const rules: Rules<T> = {
    onView: (view) => (isLate || isEnough?.(view) === true ? view : undefined),
    onTime: () => {
      isLate = true;
      return source.latest;
    },
    onFailure: (error) => {
      if (orLatest === true && source.latest !== undefined) return source.latest;
      throw error;
    },
  };
  return waitFor(source, rules, { withinMs, abortsRest: rest === 'abort' });
}

export function when<T>(source: Source<T>, level: string, options?: WhenOptions): Promise<AnyView<T>> {
  const { ladder } = source;
  const giveUp = (why: string, cause?: CorrectableError): never => {
    const details = { level, lastView: source.latest, levelErrors: cause?.levelErrors, cause };
    throw new CorrectableError('LEVEL_NOT_REACHED', `No view at level "${level}" or above came ${why}`, details);
  };
  const rules: Rules<T> = {
    onView: (view) => (ladder.rankOf(view.level) >= ladder.rankOf(level) ? view : undefined),
    onTime: () => giveUp('in time'),
    onFailure: (error) => giveUp('before the operation failed; see cause', error),
  };
  return waitFor(source, rules, { ...options, level });
}

interface Limits extends WhenOptions {
  readonly abortsRest?: boolean;
  /** A level that must exist. */
  readonly level?: string;
}

function waitFor<T>(source: Source<T>, rules: Rules<T>, { withinMs, abortsRest, level }: Limits): Promise<AnyView<T>> {
  return new Promise((resolve, reject) => {
    if (level !== undefined) source.ladder.requireLevel(level, 'level');
    if (withinMs !== undefined && !(withinMs >= 0)) {
      throw invalidArgument('withinMs', 'give a number of milliseconds, 0 or more');
    }
    const leave = (): void => {
      timer?.cancel();
      source.leave(listener);
    };
    const decide = (rule: () => AnyView<T> | undefined): void => {
      try {
        const view = rule();
        if (view === undefined) return;
        leave();
        if (source.state === 'updating') source.more().answeredEarly = true;
        resolve(view);
        if (abortsRest === true) source.cancel('settled early');
      } catch (error) {
        leave();
        reject(error);
      }
    };
    const listener = new FunctionListener<T>(
      (view) => decide(() => (view.final ? view : rules.onView(view))),
      (error) => decide(() => rules.onFailure(error)),
    );
    source.observed = true;
    source.join(listener);
    const timer =
      withinMs === undefined ? undefined : source.environment.clock.setTimer(() => decide(rules.onTime), withinMs);
  });
}
