/** Taking a view before the final one (C9). What waits for it leaves nothing behind on the source. */
import type { SettleOptions, WhenOptions } from './correctable.ts';
import { CorrectableError, invalidArgument } from './errors.ts';
import type { Levels } from './level.ts';
import { FunctionListener } from './listener.ts';
import type { Source } from './source.ts';
import type { AnyView } from './view.ts';

/** Gives the view to answer with, `undefined` to wait on, or throws to refuse. */
type Rule<T, I = void> = (input: I) => AnyView<T> | undefined;

/** When to answer, and with what. */
interface Rules<T> {
  readonly onView: Rule<T, AnyView<T>>;
  readonly onTime: Rule<T>;
  readonly onFailure: Rule<T, CorrectableError>;
  readonly withinMs: number | undefined;
  readonly abortsRest?: boolean;
}

export function settle<T>(source: Source<T>, options: SettleOptions<T, Levels, string>): Promise<AnyView<T>> {
  const { when: isEnough, withinMs, orLatest, rest } = options;
  let isLate = false;
  return waitFor(source, {
    onView: (view) => (isLate || isEnough?.(view) === true ? view : undefined),
    onTime: () => {
      isLate = true;
      return source.latest;
    },
    onFailure: (error) => {
      if (orLatest === true && source.latest !== undefined) return source.latest;
      throw error;
    },
    withinMs,
    abortsRest: rest === 'abort',
  });
}

export async function when<T>(source: Source<T>, level: string, options?: WhenOptions): Promise<AnyView<T>> {
  const { ladder } = source;
  ladder.requireLevel(level, 'level');
  const giveUp = (why: string, cause?: CorrectableError): never => {
    const details = { level, lastView: source.latest, levelErrors: cause?.levelErrors, cause };
    throw new CorrectableError('LEVEL_NOT_REACHED', `No view at level "${level}" or above came ${why}`, details);
  };
  return waitFor(source, {
    onView: (view) => (ladder.rankOf(view.level) >= ladder.rankOf(level) ? view : undefined),
    onTime: () => giveUp('in time'),
    onFailure: (error) => giveUp('before the operation failed; see cause', error),
    withinMs: options?.withinMs,
  });
}

function waitFor<T>(source: Source<T>, rules: Rules<T>): Promise<AnyView<T>> {
  const { onView, onTime, onFailure, withinMs, abortsRest } = rules;
  return new Promise((resolve, reject) => {
    if (withinMs !== undefined && !(withinMs >= 0)) {
      throw invalidArgument('withinMs', 'give a number of milliseconds, 0 or more');
    }
    const decide = <I>(rule: Rule<T, I>, input: I): void => {
      let view: AnyView<T> | undefined;
      try {
        view = rule(input);
        if (view === undefined) return;
        if (source.state === 'updating') source.more().answeredEarly = true;
        resolve(view);
      } catch (error) {
        reject(error);
      }
      timer?.cancel();
      source.leave(listener);
      if (abortsRest === true && view !== undefined) source.cancel('settled early');
    };
    const listener = new FunctionListener<T>(
      (view) => decide(view.final ? () => view : onView, view),
      (error) => decide(onFailure, error),
    );
    source.observed = true;
    source.join(listener);
    const timer =
      withinMs === undefined ? undefined : source.environment.clock.setTimer(() => decide(onTime, undefined), withinMs);
  });
}
