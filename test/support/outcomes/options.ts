/** The settings under which a schedule runs. */
import fc from 'fast-check';
import type { InternalLimits } from '../../../src/server/gateway/limits/limits.ts';
import { BOUNDLESS } from '../wire.ts';

type Bound = 'clientIdleMs' | 'maxOperationsPerSecond' | 'maxInFlight' | 'budget';

export interface OutcomeOptions {
  readonly codec: 'json' | 'msgpack';
  /** Bounds of the gateways that differ from the defaults. */
  readonly bounds: Partial<Pick<InternalLimits, Bound>>;
}

export const CODECS = ['json', 'msgpack'] as const;
const codec = fc.constantFrom(...CODECS);

const usual = fc.constant<OutcomeOptions['bounds']>({});

/**
 * Draws gateways with the usual bounds, gateways that forget clients soon, and gateways that refuse
 * many operations.
 */
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
        // Space for the replies of only a few updates.
        budget: fc.constantFrom(1_000, 2_000).map((client) => ({ ...BOUNDLESS, client })),
      },
      { requiredKeys: [] },
    ),
  ),
});

export const usualSettings: fc.Arbitrary<OutcomeOptions> = fc.record({ codec, bounds: usual });
