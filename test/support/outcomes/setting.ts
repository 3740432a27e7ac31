/** Under which circumstances a schedule is played. */
import fc from 'fast-check';
import type { GatewayBounds } from '../../../src/server/gateway/limits/limits.ts';
import { BOUNDLESS } from '../wire.ts';

type Bound = 'clientIdleMs' | 'operationsPerSecondMax' | 'inFlightMax' | 'budget';

export interface Setting {
  readonly codec: 'json' | 'msgpack';
  /** Of the gateways; the others are the usual ones. */
  readonly bounds: Partial<Pick<GatewayBounds, Bound>>;
}

export const CODECS = ['json', 'msgpack'] as const;
const codec = fc.constantFrom(...CODECS);

const usual = fc.constant<Setting['bounds']>({});

/** Gateways as they usually are, some that forget soon, and some that refuse much. */
export const settings: fc.Arbitrary<Setting> = fc.record({
  codec,
  bounds: fc.oneof(
    usual,
    fc.record({ clientIdleMs: fc.constant(1_500) }),
    fc.record(
      {
        clientIdleMs: fc.constant(1_500),
        operationsPerSecondMax: fc.constant(2),
        inFlightMax: fc.constantFrom(1, 3),
        // Room for the replies of few updates.
        budget: fc.constantFrom(1_000, 2_000).map((client) => ({ ...BOUNDLESS, client })),
      },
      { requiredKeys: [] },
    ),
  ),
});

export const usualSettings: fc.Arbitrary<Setting> = fc.record({ codec, bounds: usual });
