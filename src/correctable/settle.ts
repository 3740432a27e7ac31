/**
 * Takes a view before the final one (COR-9). A caller that waits leaves nothing behind on the
 * source.
 */
import { removeSubscriber, subscribeToViews, unrefTimers } from './subscribers.ts';
import type { SettleOptions } from './correctable.ts';
import type { CorrectableError } from './errors.ts';
import { check, checkOptions } from './errors.ts';
import type { Levels } from './level-types.ts';
import { NO_RANK, getRank, checkLevel } from './level-order.ts';
import type { Source } from './source.ts';
import { cancelSource, getExtras } from './source.ts';
import { formatLabel, createOperationError } from './operation-error.ts';
import type { AnyView } from './view.ts';

type Options<T> = SettleOptions<T, Levels, string>;

const SETTLE_OPTIONS = 'enough:function,withinMs:number,orLatest:boolean,afterEarly:string';

/**
 * Takes one view early. With `level`, takes the first view at that level or stronger, and fails if
 * there is none.
 */
export function settleSource<T>(
  source: Source<T>,
  options: Options<T> = {},
  level?: string,
): Promise<AnyView<T>> {
  return new Promise((resolve, reject) => {
    const { levelOrder } = source;
    const rank = level === undefined ? NO_RANK : checkLevel(levelOrder, level, 'level');
    const kinds = level ? ('withinMs:number' as typeof SETTLE_OPTIONS) : SETTLE_OPTIONS;
    const { enough, withinMs, orLatest, afterEarly } = checkOptions(options, kinds);
    const isKnown = !afterEarly || afterEarly === 'cancel' || afterEarly === 'continue';
    check(isKnown, 'afterEarly', "give 'continue' or 'cancel'");
    check(withinMs === undefined || withinMs >= 0, 'withinMs', 'give milliseconds from 0');
    const isEnough = (view: AnyView<T>): unknown =>
      level ? getRank(levelOrder, view.level) >= rank : enough?.(view) || view.final;
    let isLate = false;
    /**
     * Takes `view`, or fails with `error`. After that, a failure of the operation is not reported
     * as unhandled, even if no view was taken.
     */
    const end = (view: AnyView<T> | undefined, error?: unknown): void => {
      timer?.cancel();
      removeSubscriber(source, subscriber);
      if (source.state === 'pending') {
        const taken = (getExtras(source).earlyViews ??= new Set());
        if (view) taken.add(view);
        unrefTimers(source);
      }
      if (!view) return reject(error);
      resolve(view);
      if (afterEarly === 'cancel') cancelSource(source, 'settled early');
    };
    const miss = (cause?: CorrectableError): void => {
      const when = isLate ? 'in time' : 'before the end';
      const message = `${formatLabel(source.label)}: no view at level "${level}" or above ${when}`;
      end(
        undefined,
        createOperationError(source, 'LEVEL_NOT_REACHED', message, {
          level,
          levelErrors: cause?.levelErrors,
          cause,
        }),
      );
    };
    const subscriber = subscribeToViews(
      source,
      (_value, view) => {
        try {
          if (isLate || isEnough(view)) end(view);
          else if (view.final) miss();
        } catch (error) {
          end(undefined, error);
        }
      },
      (error) => {
        if (level) miss(error);
        else end(orLatest ? source.latest : undefined, error);
      },
    );
    const onTime = (): void => {
      isLate = true;
      if (level) miss();
      else if (source.latest) end(source.latest);
    };
    const timer =
      withinMs === undefined ? undefined : source.environment.clock.setTimer(onTime, withinMs);
  });
}
