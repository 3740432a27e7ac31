/**
 * Sites that do all that they should and tell their clients something else: what planted faults of
 * answers are made of.
 */
import { CorrectableError } from '../../src/correctable/errors.ts';
import type { ErrorCode } from '../../src/correctable/errors.ts';
import { Site } from '../../src/server/site/site.ts';
import type { Answer, ViewAnswer } from '../../src/server/site/answer.ts';
import type { SiteOptions } from '../../src/server/site/site-options.ts';
import type { RunParts } from '../../src/testing/simulator/run-parts.ts';
import { replaceArguments, replaceMethods } from '../support/replace-methods.ts';

/** The answers in the place of a view, for a write or a read. */
type Lie = (view: ViewAnswer, isUpdate: boolean) => readonly Answer[];

/** Replaces every n-th view of a site. */
const replaceEvery = (everyNth: number, lie: Lie): Partial<RunParts> => ({
  Site: replaceMethods(Site, (original) => {
    const updates = new Set<number>();
    let views = 0;
    return {
      submit: (submission, nowMs, wallMs) => {
        if (submission.identity !== undefined) updates.add(submission.serial);
        original.submit(submission, nowMs, wallMs);
      },
      takeReady: () => {
        const ready = original.takeReady();
        const answers = ready.answers.flatMap((answer): readonly Answer[] => {
          if (answer.kind !== 'view' || (views += 1) % everyNth !== 0) return [answer];
          return lie(answer, updates.has(answer.serial));
        });
        return { ...ready, answers };
      },
    };
  }),
});

function failed({ serial }: Pick<Answer, 'serial'>, code: ErrorCode): Answer {
  return {
    kind: 'failed',
    serial,
    stage: undefined,
    error: new CorrectableError(code, 'Nothing was done.'),
  };
}

/** Rejects sooner than its limits allow. */
const hasty = (change: (options: SiteOptions) => Partial<SiteOptions>): Partial<RunParts> => ({
  Site: replaceArguments(Site, (options, ...found) => [
    { ...options, ...change(options) },
    ...found,
  ]),
});

/** What a site can lie about, by name. */
export const LYING_REPLICAS = {
  /** A write that is done is reported as rejected. */
  done: replaceEvery(5, (view, isUpdate) =>
    isUpdate && view.isLast ? [failed(view, 'OVERLOADED')] : [view],
  ),
  guesses: replaceEvery(1, (view) => [
    view.stage === 'tentative' ? { ...view, reply: { value: 'garbage' } } : view,
  ]),
  meta: replaceEvery(1, (view) => {
    const { reply } = view;
    return [
      reply.meta === undefined ? view : { ...view, reply: { ...reply, meta: { remaining: -7 } } },
    ];
  }),
  weakViews: replaceEvery(1, (view) => {
    if (view.isLast || view.stage !== 'causal') return [view];
    const error = new CorrectableError('FINAL_FAILED', 'Not here.');
    return [{ kind: 'failed', serial: view.serial, stage: view.stage, error }];
  }),
  codes: replaceEvery(20, (view, isUpdate) =>
    isUpdate || !view.isLast ? [view] : [failed(view, 'CONFLICT')],
  ),
  twice: replaceEvery(10, (view) => (view.isLast ? [view, { ...view }] : [view])),
  levels: replaceEvery(1, (view) => [
    view.stage === 'committed' ? { ...view, stage: 'strong' } : view,
  ]),
  /** Reports abandoned operations as not done, however far they have got. */
  given: {
    Site: replaceMethods(Site, (original) => {
      let abandoned: number | undefined;
      return {
        abandon: (serial) => {
          abandoned = serial;
          original.abandon(serial);
        },
        takeReady: () => {
          const value = abandoned;
          abandoned = undefined;
          const ready = original.takeReady();
          const answers = ready.answers.map((answer) => {
            const isUnknown =
              answer.kind === 'failed' &&
              answer.serial === value &&
              answer.error.code === 'UNKNOWN';
            return isUnknown ? failed(answer, 'ABORTED') : answer;
          });
          return { ...ready, answers };
        },
      };
    }),
  },
  /** It executes nothing a second time, and reports that it has tried. */
  attempts: hasty(() => ({ maxAttempts: 1 })),
  halfFull: hasty(({ maxRedInFlight = Infinity }) => ({ maxRedInFlight: maxRedInFlight / 2 })),
  behindAtOnce: hasty(({ sessionTimeoutMs }) => ({ sessionTimeoutMs: sessionTimeoutMs / 2 })),
  rightsAwayAtOnce: hasty(({ reachTimeoutMs }) => ({ reachTimeoutMs: reachTimeoutMs / 4 })),
} satisfies Readonly<Record<string, Partial<RunParts>>>;
