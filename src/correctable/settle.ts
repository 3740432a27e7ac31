/** Taking a view before the final one (C9). What waits for it leaves nothing behind on the source. */
import { leave, listenToAll, relax } from './audience.ts';
import type { SettleOptions } from './correctable.ts';
import type { CorrectableError } from './errors.ts';
import { check, checkOptions } from './errors.ts';
import type { Levels } from './level.ts';
import { NO_RANK, rankOf, requireLevel } from './ladder.ts';
import type { Source } from './source.ts';
import { cancel, extrasOf, nameOf, withFacts } from './source.ts';
import type { AnyView } from './view.ts';

type Options<T> = SettleOptions<T, Levels, string>;

const SETTLE_OPTIONS = 'enough:function,withinMs:number,orLatest:boolean,rest:string';

/** Takes one view early. With `level`, takes the first view at that level or stronger, and fails if there is none. */
export function settle<T>(source: Source<T>, options: Options<T> = {}, level?: string): Promise<AnyView<T>> {
  return new Promise((resolve, reject) => {
    const { ladder } = source;
    const rank = level === undefined ? NO_RANK : requireLevel(ladder, level, 'level');
    const kinds = level ? ('withinMs:number' as typeof SETTLE_OPTIONS) : SETTLE_OPTIONS;
    const { enough, withinMs, orLatest, rest } = checkOptions(options, kinds);
    check(!rest || rest === 'abort' || rest === 'detach', 'rest', "give 'detach' or 'abort'");
    check(withinMs === undefined || withinMs >= 0, 'withinMs', 'give milliseconds from 0');
    const isEnough = (view: AnyView<T>): unknown =>
      level ? rankOf(ladder, view.level) >= rank : enough?.(view) || view.final;
    let isLate = false;
    /** Takes `view`, or fails. A later failure is no caller's error, whether there was a view or none in time. */
    const end = (view: AnyView<T> | undefined, error?: unknown): void => {
      timer?.cancel();
      leave(source, seat);
      if (source.state === 'updating') {
        const taken = (extrasOf(source).takenEarly ??= new Set());
        if (view) taken.add(view);
        relax(source);
      }
      if (!view) return reject(error);
      resolve(view);
      if (rest === 'abort') cancel(source, 'settled early');
    };
    const miss = (why: string, cause?: CorrectableError): void => {
      const message = `${nameOf(source.subject)}: no view at level "${level}" or above ${why}`;
      end(
        undefined,
        withFacts(source, 'LEVEL_NOT_REACHED', message, { level, levelErrors: cause?.levelErrors, cause }),
      );
    };
    const seat = listenToAll(
      source,
      (_value, view) => {
        try {
          if (isLate || isEnough(view)) end(view);
          else if (view.final) miss('before the end');
        } catch (error) {
          end(undefined, error);
        }
      },
      (error) => {
        if (level) miss('before the end', error);
        else end(orLatest ? source.latest : undefined, error);
      },
    );
    const onTime = (): void => {
      isLate = true;
      if (level) miss('in time');
      else if (source.latest) end(source.latest);
    };
    const timer = withinMs === undefined ? undefined : source.environment.clock.setTimer(onTime, withinMs);
  });
}
