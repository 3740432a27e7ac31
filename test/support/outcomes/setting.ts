/** Under which circumstances a schedule is played. */
import fc from 'fast-check';
import type { GatewayLimits } from '../../../src/server/gateway/limits/limits.ts';

type Limit = 'clientIdleMs' | 'operationsPerSecondMax' | 'inFlightMax' | 'repliesMax';

export interface Setting {
  readonly codec: 'json' | 'msgpack';
  /** Of the gateways; the others are the usual ones. */
  readonly limits: Partial<Pick<GatewayLimits, Limit>>;
}

export const CODECS = ['json', 'msgpack'] as const;
const codec = fc.constantFrom(...CODECS);

const usual = fc.constant<Setting['limits']>({});

/** Gateways as they usually are, some that forget soon, and some that refuse much. */
export const settings: fc.Arbitrary<Setting> = fc.record({
  codec,
  limits: fc.oneof(
    usual,
    fc.record({ clientIdleMs: fc.constant(1_500) }),
    fc.record(
      {
        clientIdleMs: fc.constant(1_500),
        operationsPerSecondMax: fc.constant(2),
        inFlightMax: fc.constantFrom(1, 3),
        repliesMax: fc.constantFrom(1, 3),
      },
      { requiredKeys: [] },
    ),
  ),
});

export const usualSettings: fc.Arbitrary<Setting> = fc.record({ codec, limits: usual });
