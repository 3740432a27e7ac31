/** The goals of the wire. */
import {
  limitTime,
  estimate,
  isUndecided,
  reported,
  type GoalResult,
  type Estimate,
} from '../harness/goals.ts';
import { median, pairedRatios, rounded } from '../harness/statistics.ts';
import { LOOKS } from '../harness/adaptive-rounds.ts';
import type { Mode, Name } from './messages.ts';
import type { Measured } from './processes.ts';

export const MODES: readonly Mode[] = [
  'gateway',
  'gateway-views',
  'echo-equal',
  'echo-equal-views',
];
/** The modes that are also measured of another checkout, if one is named. */
export const OTHERS = ['gateway', 'gateway-views'] as const satisfies readonly Mode[];
export const WINDOWS = [1, 64, 1024] as const;
/** The window of the aims. */
export const AIMED = 64;
/**
 * The aim for the processor time of both processes, as a multiple of that of an echo with the same
 * number of bytes.
 */
const TIME_AIM = 2;
/**
 * The maximum difference in bytes between the gateway and the echo, in either direction. With a
 * larger one, they cannot be compared.
 */
const BYTES_OFF_MAX = 0.05;
const VALIDATION_SHARE_MAX = 0.05;

/** The samples by contender, one for each round. */
export type Samples = ReadonlyMap<Name, readonly Measured[]>;

/** The pairs of systems that are compared, by the requested views. */
export const PAIRS = [
  { name: 'one-view', views: 'one view', of: 'gateway', to: 'echo-equal' },
  { name: 'both-views', views: 'both views', of: 'gateway-views', to: 'echo-equal-views' },
] as const;

/**
 * Computes the goals from the samples of each window. `validationShare` is a share of the server's
 * busy time. If it is null, it was not sampled, and there is no bar for it.
 */
export function computeGoalResults(
  samples: ReadonlyMap<number, Samples>,
  validationShare: number | null,
): GoalResult[] {
  const at = (window: number): Samples => samples.get(window) ?? new Map();
  return [
    ...timeBarsOf(at(AIMED)),
    ...PAIRS.flatMap(({ name, of, to }) =>
      WINDOWS.map((window) => {
        const [title, off] = [
          `equal-echo-bytes-off-${name}-${window}`,
          bytesOff(at(window), of, to),
        ];
        return window === AIMED
          ? limitTime(title, off, { floor: BYTES_OFF_MAX }, 'fraction')
          : reported(title, off, 'fraction');
      }),
    ),
    ...PAIRS.flatMap(({ name, of, to }) =>
      WINDOWS.flatMap((window) => [
        reported(`rate-vs-equal-echo-${name}-${window}`, ratio(at(window), of, to, 'opsPerSecond')),
        reported(
          `server-time-vs-equal-echo-${name}-${window}`,
          ratio(at(window), of, to, 'serverUsPerOp'),
        ),
        reported(
          `client-time-vs-equal-echo-${name}-${window}`,
          ratio(at(window), of, to, 'clientUsPerOp'),
        ),
      ]),
    ),
    ...OTHERS.flatMap((mode) => besideOther(at(AIMED), mode)),
    ...(validationShare === null
      ? []
      : [
          limitTime(
            'validation-share',
            rounded(validationShare),
            { aim: VALIDATION_SHARE_MAX },
            'fraction',
          ),
        ]),
  ];
}

/** Returns whether more rounds would change no verdict on a goal. */
export function isDecided(samples: Samples): boolean {
  return !timeBarsOf(samples).some(isUndecided);
}

function timeBarsOf(samples: Samples): GoalResult[] {
  return PAIRS.map(({ name, of, to }) =>
    limitTime(`time-vs-equal-echo-${name}-${AIMED}`, ratio(samples, of, to, 'usPerOp'), {
      aim: TIME_AIM,
    }),
  );
}

/** Compares with the gateway and the client of another checkout, if they were measured. */
function besideOther(samples: Samples, of: 'gateway' | 'gateway-views'): GoalResult[] {
  const to: Name = `other ${of}`;
  if (!samples.has(to)) return [];
  return (['serverUsPerOp', 'clientUsPerOp'] as const).map((figure) =>
    reported(
      `${of}-${figure === 'serverUsPerOp' ? 'server' : 'client'}-time-vs-other`,
      ratio(samples, of, to, figure),
    ),
  );
}

/**
 * Returns how much the bytes of an operation differ from those of the gateway: the larger
 * difference of both directions, by medians.
 */
function bytesOff(samples: Samples, of: Name, to: Name): number {
  const middle = (mode: Name, figure: keyof Measured): number =>
    median((samples.get(mode) ?? []).map((item) => item[figure]));
  const off = (['bytesSentPerOp', 'bytesReceivedPerOp'] as const).map((figure) =>
    Math.abs(middle(to, figure) / middle(of, figure) - 1),
  );
  return rounded(Math.max(...off));
}

function ratio(samples: Samples, of: Name, to: Name, figure: keyof Measured): Estimate {
  return estimate(ratios(samples, of, to, figure), LOOKS);
}

function ratios(samples: Samples, of: Name, to: Name, figure: keyof Measured): number[] {
  const values = (mode: Name): number[] => (samples.get(mode) ?? []).map((item) => item[figure]);
  return pairedRatios(values(of), values(to));
}
