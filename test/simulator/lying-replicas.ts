/**
 * Sites that do all that they should and tell their clients something else: what planted faults of
 * answers are made of.
 */
import { CorrectableError } from '../../src/correctable/errors.ts';
import type { ErrorCode } from '../../src/correctable/errors.ts';
import type { Submission } from '../../src/server/replica/core/submissions.ts';
import { SiteMachine } from '../../src/server/site/site-machine.ts';
import type { SiteOptions, SiteOutput } from '../../src/server/site/site-options.ts';
import type { MachineFactory } from '../../src/testing/simulator/simulated-site-options.ts';

type View = SiteOutput & { kind: 'view' };
type SubmitterOutput = SiteOutput & { kind: 'view' | 'failed' };

/** The outputs in the place of a view, for a write or a read. */
type Lie = (view: View, isUpdate: boolean) => readonly SubmitterOutput[];

/** Replaces every n-th view. */
const replaceEvery =
  (everyNth: number, lie: Lie): MachineFactory =>
  (...args) => {
    let views = 0;
    class Machine extends SiteMachine {
      readonly #updates = new Set<number>();

      override submit(submission: Submission, nowMs: number, wallMs?: number): void {
        if (submission.identity !== undefined) this.#updates.add(submission.serial);
        super.submit(submission, nowMs, wallMs);
      }

      override takeOutputs(): SiteOutput[] {
        return super.takeOutputs().flatMap((output): readonly SiteOutput[] => {
          if (output.kind !== 'view' || (views += 1) % everyNth !== 0) return [output];
          return lie(output, this.#updates.has(output.serial));
        });
      }
    }
    return new Machine(...args);
  };

function failed({ serial }: Pick<SubmitterOutput, 'serial'>, code: ErrorCode): SubmitterOutput {
  return {
    kind: 'failed',
    serial,
    stage: undefined,
    error: new CorrectableError(code, 'Nothing was done.'),
  };
}

/** Reports abandoned operations as not done, however far they have got. */
class ReassuringMachine extends SiteMachine {
  #given: number | undefined;

  override abandon(serial: number): void {
    this.#given = serial;
    super.abandon(serial);
  }

  override takeOutputs(): SiteOutput[] {
    const value = this.#given;
    this.#given = undefined;
    return super.takeOutputs().map((output) => {
      const isUnknown =
        output.kind === 'failed' && output.serial === value && output.error.code === 'UNKNOWN';
      return isUnknown ? failed(output, 'ABORTED') : output;
    });
  }
}

/** Rejects sooner than its limits allow. */
const hasty =
  (change: (options: SiteOptions) => Partial<SiteOptions>): MachineFactory =>
  (options, ...found) =>
    new SiteMachine({ ...options, ...change(options) }, ...found);

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
  given: (...args: Parameters<MachineFactory>) => new ReassuringMachine(...args),
  /** It executes nothing a second time, and reports that it has tried. */
  attempts: hasty(() => ({ maxAttempts: 1 })),
  halfFull: hasty(({ maxRedInFlight = Infinity }) => ({ maxRedInFlight: maxRedInFlight / 2 })),
  behindAtOnce: hasty(({ sessionTimeoutMs }) => ({ sessionTimeoutMs: sessionTimeoutMs / 2 })),
  rightsAwayAtOnce: hasty(({ reachTimeoutMs }) => ({ reachTimeoutMs: reachTimeoutMs / 4 })),
} satisfies Readonly<Record<string, MachineFactory>>;
