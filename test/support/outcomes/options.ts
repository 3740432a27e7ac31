/** Under which circumstances a schedule is played. */
import fc from 'fast-check';
import type { InternalLimits } from '../../../src/server/gateway/limits/limits.ts';
import { BOUNDLESS } from '../wire.ts';

type Bound = 'clientIdleMs' | 'maxOperationsPerSecond' | 'maxInFlight' | 'budget';

export interface OutcomeOptions {
  readonly codec: 'json' | 'msgpack';
  /** Of the gateways; the others are the usual ones. */
  readonly bounds: Partial<Pick<InternalLimits, Bound>>;
}

export const CODECS = ['json', 'msgpack'] as const;
const codec = fc.constantFrom(...CODECS);

const usual = fc.constant<OutcomeOptions['bounds']>({});

/** Gateways as they usually are, some that forget soon, and some that refuse much. */
export const drawOutcomeOptions: fc.Arbitrary<OutcomeOptions> = fc.record({
  codec,
  bounds: fc.oneof(
    usual,
    fc.record({ clientIdleMs: fc.constant(1_500) }),
    fc.record(
      {
        clientIdleMs: fc.constant(1_500),
        maxOperationsPerSecond: fc.constant(2),
        maxInFlight: fc.constantFrom(1, 3),
        // Room for the replies of few updates.
        budget: fc.constantFrom(1_000, 2_000).map((client) => ({ ...BOUNDLESS, client })),
      },
      { requiredKeys: [] },
    ),
  ),
});

export const usualSettings: fc.Arbitrary<OutcomeOptions> = fc.record({ codec, bounds: usual });
